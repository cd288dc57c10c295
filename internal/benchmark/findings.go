package benchmark

import (
	"fmt"

	"goserini/internal/trec"
)

// Finding is something about a benchmark that is no error and that a reader of its scores should
// know: how many, and the first few of them.
type Finding struct {
	// What completes the sentence "N …".
	What     string   `json:"what"`
	Count    int      `json:"count"`
	Examples []string `json:"examples"`
}

func (f Finding) String() string {
	text := fmt.Sprintf("%d %s: ", f.Count, f.What)
	for i, e := range f.Examples {
		if i > 0 {
			text += ", "
		}
		text += clip(e)
	}
	if f.Count > len(f.Examples) {
		text += ", …"
	}
	return text
}

// clip shortens an id to what a line has room for.
func clip(id string) string {
	const most = 60
	if r := []rune(id); len(r) > most {
		return string(r[:most]) + "…"
	}
	return id
}

// maxExamples is how many of the things found are named.
const maxExamples = 5

// findings collects what is found, in order, without what is empty.
type findings []Finding

func (fs *findings) add(what string, ids []string) {
	if len(ids) == 0 {
		return
	}
	*fs = append(*fs, Finding{What: what, Count: len(ids), Examples: ids[:min(len(ids), maxExamples)]})
}

// Findings compares the questions of a query set with judgments and answers. known tells whether
// the collection has a document; nil leaves that question out.
func (b *Benchmark) Findings(questions []Question, known func(docid string) bool) []Finding {
	var out findings
	out.add("answers are to questions that the benchmark does not have", b.strayAnswers)
	if b.answered() {
		var without []string
		for _, q := range questions {
			if q.Answer == nil {
				without = append(without, q.ID)
			}
		}
		out.add("questions have no known answer and cannot be judged against one", without)
	}
	for _, judgments := range []struct {
		name  string
		qrels trec.Qrels
	}{{"evidence", b.evidence}, {"gold", b.gold}} {
		if judgments.qrels == nil {
			continue
		}
		b.judged(&out, judgments.name, judgments.qrels, questions, known)
	}
	return out
}

func (b *Benchmark) judged(out *findings, name string, qrels trec.Qrels, questions []Question, known func(string) bool) {
	var without []string
	for _, q := range questions {
		if _, ok := qrels[q.ID]; !ok && (q.Answer == nil || !q.Answer.Unanswerable) {
			without = append(without, q.ID)
		}
	}
	out.add("questions have no "+name+" judgments and count 0 in recall over all queries", without)
	asked := make(map[string]bool, len(b.questions))
	for _, q := range b.questions {
		asked[q.ID] = true
	}
	anyDocument := known
	if anyDocument == nil {
		anyDocument = func(string) bool { return true }
	}
	docids, queries := qrels.Unknown(anyDocument, func(id string) bool { return asked[id] })
	out.add("queries with "+name+" judgments are not among the benchmark's questions", queries)
	out.add(name+" documents are not in the collection and can never be found", docids)
}

// answered reports whether any question has a known answer.
func (b *Benchmark) answered() bool {
	for _, q := range b.questions {
		if q.Answer != nil {
			return true
		}
	}
	return false
}
