package navbench

import (
	"context"
	"fmt"
	"maps"

	"goserini/internal/agent"
	"goserini/internal/controller"
	"goserini/internal/eval"
	"goserini/internal/judge"
	"goserini/internal/llm/lexical"
	"goserini/internal/retrieval"
	"goserini/internal/trajectory"
)

// most is the number of calls the policy may make for a question. It stops before by itself;
// a limit of time would make the result depend on the machine.
const most = 100

// researched is what builtin/lexical made of a question.
type researched struct {
	record  trajectory.Record
	outcome eval.Outcome
	glimpse glimpse
}

// research lets builtin/lexical answer a question.
func (c *Collection) research(ctx context.Context, r retrieval.Retriever, v Variant, q question) (researched, error) {
	var out researched
	watch := newWatch(q)
	record, err := agent.Run(ctx, agent.Question{ID: q.id, Text: q.text}, agent.Config{
		Client: lexical.New(), Model: lexical.Name, Tools: controller.New(r, v.Options).Tools(),
		Budget: agent.Budget{MaxCalls: most},
		Exists: func(docid string) bool { _, ok := c.index.Lookup(docid); return ok },
		Emit:   watch.event,
	})
	if err != nil {
		return out, fmt.Errorf("question %s: %w", q.id, err)
	}
	out.record = record
	out.glimpse = glimpse{
		bytes:     watch.bytes,
		previewed: eval.Hits(record.Previewed, eval.Relevant(c.evidence[q.id], 1)),
		shown:     len(watch.shown),
	}
	if q.answer == nil {
		return out, nil
	}
	verdict, err := judge.Exact{}.Judge(ctx, judge.NewItem(record, judge.Reference{
		Answer: q.answer.Text, Aliases: q.answer.Aliases, Unanswerable: q.answer.Unanswerable,
	}))
	if err != nil {
		return out, fmt.Errorf("question %s: %w", q.id, err)
	}
	out.outcome = eval.Outcome{Judged: true, Decided: verdict.Correct != nil, Unanswerable: q.answer.Unanswerable}
	out.outcome.Correct = verdict.Correct != nil && *verdict.Correct
	return out, nil
}

// watch looks at the results of calls as they come.
type watch struct {
	question question
	bytes    int
	// shown are the gold documents that a page of hits, or the lines of a page of the
	// document, has shown a span of.
	shown map[string]bool
	read  *seen
}

func newWatch(q question) *watch {
	w := &watch{question: q, shown: map[string]bool{}}
	if q.item != nil {
		w.read = newSeen(q.item)
	}
	return w
}

func (w *watch) event(e trajectory.Event) {
	o := e.Observation
	if o == nil {
		return
	}
	w.bytes += len(o.Text)
	if o.Tool != controller.ReadTool {
		excerpts := excerptsOf(o.Text)
		maps.DeleteFunc(excerpts, func(_, text string) bool { return !holdsAny(text, w.question.spans) })
		for _, docid := range w.question.gold {
			if excerpts[docid] != "" {
				w.shown[docid] = true
			}
		}
		return
	}
	if d, ok := o.Details.(controller.ReadDetails); ok && w.read != nil && d.DocID == w.question.item.docid {
		if w.read.add(o.Text); w.read.shown() {
			w.shown[d.DocID] = true
		}
	}
}
