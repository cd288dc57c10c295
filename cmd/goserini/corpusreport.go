package main

import "goserini/internal/corpus"

// showReport says what reading a corpus passed over and repaired. Nothing is dropped silently:
// losses and repairs are always shown, ignored files by number unless all are wanted.
func showReport(term *terminal, r corpus.Report, verbose bool) {
	for _, err := range r.Errors {
		term.errorf("skipped: %v", err)
	}
	if more := r.Bad - int64(len(r.Errors)); more > 0 {
		term.errorf("skipped: %s more", count(more))
	}
	for _, n := range r.Notes {
		term.warn("%s", n)
	}
	if len(r.Ignored) == 0 {
		return
	}
	if !verbose {
		term.say("%s files ignored (--verbose lists them)", count(len(r.Ignored)))
		return
	}
	for _, i := range r.Ignored {
		term.say("ignored: %s: %s", printable(i.Path), i.Reason)
	}
}
