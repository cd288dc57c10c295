package main

import (
	"fmt"
	"strings"
	"time"

	"goserini/internal/experiment"
	"goserini/internal/trajectory"
)

func runShowTrajectory(term *terminal, path string, asJSON bool) error {
	file, err := trajectory.ReadFile(path)
	if err != nil {
		return err
	}
	if file.Torn {
		term.warn("the last line is torn: the process that wrote it was killed")
	} else if !file.Whole {
		term.warn("the trajectory has no end: its question is under way, or was interrupted")
	}
	if asJSON {
		return term.json(file.Events)
	}
	for _, e := range file.Events {
		showEvent(term, e)
	}
	return nil
}

// showEvent prints one event in full, as the model and the tools saw it.
func showEvent(term *terminal, e trajectory.Event) {
	at := term.paint(dim, fmt.Sprintf("%8.1f s", time.Duration(e.ElapsedMS*int64(time.Millisecond)).Seconds()))
	head := func(c colour, format string, args ...any) {
		term.print("%s  %s\n", at, term.paint(c, printable(oneLine(fmt.Sprintf(format, args...)))))
	}
	body := func(text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			term.print("%s\n", indent(printable(text), "            "))
		}
	}
	switch {
	case e.Header != nil:
		head(bold, "question %s, model %s", e.Header.QueryID, e.Header.Model)
		body(e.Header.Question)
	case e.Turn != nil:
		head(bold, "turn %d (%s), %d tokens in, %d out", e.Turn.Turn, e.Turn.StopReason, e.Turn.Usage.Input+e.Turn.Usage.CacheRead+e.Turn.Usage.CacheWrite, e.Turn.Usage.Output)
		body(e.Turn.Reasoning)
		body(e.Turn.Text)
	case e.Call != nil:
		arguments := string(e.Call.Arguments)
		if e.Call.RawArguments != "" {
			arguments = e.Call.RawArguments + " (as the model wrote it)"
		}
		head(cyan, "call %s %s", e.Call.Tool, arguments)
	case e.Observation != nil:
		state := ""
		if e.Observation.Blocked {
			state = ", blocked"
		} else if e.Observation.IsError {
			state = ", error"
		}
		head(cyan, "result of %s%s: %s", e.Observation.Tool, state, touched(e.Observation.Access))
		body(e.Observation.Text)
	case e.Steer != nil:
		head(yellow, "steer (%s)", e.Steer.Reason)
		body(e.Steer.Text)
	case e.Attempt != nil:
		head(yellow, "model call failed, try %d: %s", e.Attempt.Try, e.Attempt.Error)
	case e.Shorten != nil:
		head(yellow, "shortened %d results (%s)", len(e.Shorten.Calls), e.Shorten.Policy)
	case e.End != nil:
		head(bold, "%s %s", e.End.Status, e.End.Reason)
		body(e.End.Answer.Text)
		s := e.End.Sets
		term.print("            surfaced %d, previewed %d, opened %d, cited %d\n", len(s.Surfaced), len(s.Previewed), len(s.Opened), len(s.Cited))
	}
}

func indent(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }

func runShowRun(term *terminal, dir string, asJSON bool) error {
	m, err := experiment.ReadManifest(dir)
	if err != nil {
		return err
	}
	records, err := experiment.ReadResults(dir)
	if err != nil {
		return err
	}
	if asJSON {
		return term.json(struct {
			Manifest experiment.Manifest `json:"manifest"`
			Results  []trajectory.Record `json:"results"`
		}{m, records})
	}
	fields, err := experiment.Fields(m.Spec)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(fields) {
		term.print("%-34s %s\n", name, printable(fields[name]))
	}
	term.print("\n%d of %d questions have a result", len(records), m.Spec.Questions)
	if m.Finished {
		term.print("; finished")
	}
	term.print("\n\n")
	for _, r := range records {
		term.print("%-12s %-10s %6.1f s  %3d calls  %s %s\n", column(r.QueryID, 12), r.Status, r.ElapsedSeconds, r.ExecutedCalls, column(r.Answer.Exact, 40), confidence(r.Answer.Confidence))
	}
	return nil
}
