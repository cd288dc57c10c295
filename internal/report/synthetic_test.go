package report_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"goserini/internal/benchmark"
	"goserini/internal/bm25"
	"goserini/internal/demo"
	"goserini/internal/eval"
	"goserini/internal/experiment"
	"goserini/internal/judge"
	"goserini/internal/report"
	"goserini/internal/trajectory"
	"goserini/internal/trec"
)

// size says how large an invented run is.
type size struct {
	questions int
	// readBytes is about how much text one read shows.
	readBytes int
	// depth is how many documents a search ranks, at least 160.
	depth     int
	resamples int
}

// invent makes a run directory of the proportions of a real one: mostly searches, some reads, answers
// that cite, some time-outs, failures and retries, one question that was not run.
func invent(t testing.TB, name string, s size) report.Run {
	t.Helper()
	g := inventor{rand: rand.New(rand.NewPCG(7, uint64(len(name)))), size: s, dir: t.TempDir()}
	docs, err := demo.Documents()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		g.lines = append(g.lines, strings.Split(strings.TrimSpace(d.Text), "\n")...)
		g.words = append(g.words, strings.Fields(d.Text)...)
	}
	if err := os.MkdirAll(filepath.Join(g.dir, "trajectories"), 0o755); err != nil {
		t.Fatal(err)
	}
	in := eval.Input{Evidence: trec.Qrels{}, Gold: trec.Qrels{}, Judge: "invented/judge", Bootstrap: eval.Bootstrap{Resamples: s.resamples}}
	in.Price = func(_ string, u trajectory.Usage) (float64, bool) {
		return float64(u.Input+u.CacheRead/10+8*u.Output) * 1.25e-6, true
	}
	run := report.Run{Name: name, Dir: g.dir}
	for i := range s.questions {
		id := fmt.Sprintf("%d", 1000+7*i)
		in.QuerySet = append(in.QuerySet, id)
		in.Evidence[id], in.Gold[id] = g.judgments(i)
		q := benchmark.Question{ID: id, Text: g.sentence(90), Answer: &benchmark.Answer{Text: g.sentence(3)}}
		run.Questions = append(run.Questions, q)
		if i == s.questions-1 && i > 0 {
			continue // not run
		}
		rec := g.research(t, i, q)
		run.Records = append(run.Records, rec)
		run.Verdicts = append(run.Verdicts, g.verdict(rec, q))
	}
	in.Records = run.Records
	in.Outcomes = judge.Outcomes(run.Verdicts, in.Judge)
	if run.Scores, err = eval.Evaluate(in); err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 3, 8, 0, 0, 0, time.UTC)
	end := start.Add(5 * time.Hour)
	run.Manifest = experiment.Manifest{Format: 1, Name: name, Finished: true, PriceTable: "2026-10-17",
		Program:  json.RawMessage(`{"version":"(devel)","go":"go1.26"}`),
		Sessions: []experiment.Session{{StartedAt: start, EndedAt: &end, Concurrency: 8}},
		Spec: experiment.Spec{Benchmark: "invented", Questions: s.questions, Retrieval: experiment.Retrieval{Retriever: "index", BM25: bm25.Params{K1: 25, B: 1}, Depth: 1000},
			Model: experiment.Model{Name: "invented/" + name}, Budget: experiment.Budget{TimeoutSeconds: 300}}}
	return run
}

type inventor struct {
	rand *rand.Rand
	size size
	dir  string
	// lines and words are those of the embedded collection: real prose, whose entropy decides how
	// small a report can be.
	lines, words []string
}

func (g *inventor) sentence(words int) string {
	at := g.rand.IntN(len(g.words) - words)
	return strings.Join(g.words[at:at+words], " ")
}

// document is what a question's documents hold: lines from a place of its own.
func (g *inventor) document(question int) []string {
	return g.lines[question*13%(len(g.lines)-400):][:400]
}

// judgments are six evidence documents of a question, three of them gold.
func (g *inventor) judgments(question int) (evidence, gold map[string]int) {
	evidence, gold = map[string]int{}, map[string]int{}
	for k := range 6 {
		id := fmt.Sprintf("%d", 50000+question*10+k)
		evidence[id] = 1
		if k < 3 {
			gold[id] = 1
		}
	}
	return evidence, gold
}

// telling writes the events of one question.
type telling struct {
	events []trajectory.Event
	at     int64
}

func (w *telling) add(ms int64, e trajectory.Event) {
	w.at += ms
	e.Seq, e.ElapsedMS = len(w.events)+1, w.at
	e.Time = time.Date(2026, 11, 3, 8, 0, 0, 0, time.UTC).Add(time.Duration(w.at) * time.Millisecond)
	switch {
	case e.Header != nil:
		e.Type = trajectory.TypeHeader
	case e.Turn != nil:
		e.Type = trajectory.TypeTurn
	case e.Call != nil:
		e.Type = trajectory.TypeCall
	case e.Observation != nil:
		e.Type = trajectory.TypeObservation
	case e.Steer != nil:
		e.Type = trajectory.TypeSteer
	case e.Attempt != nil:
		e.Type = trajectory.TypeAttempt
	case e.End != nil:
		e.Type = trajectory.TypeEnd
	}
	w.events = append(w.events, e)
}

func (g *inventor) research(t testing.TB, i int, q benchmark.Question) trajectory.Record {
	t.Helper()
	w := &telling{}
	w.add(0, trajectory.Event{Header: &trajectory.Header{Version: trajectory.Version, QueryID: q.ID, Question: q.Text, Model: "invented/model", Prompt: "Answer.\n" + q.Text, TimeoutSeconds: 300}})
	calls := 12 + g.rand.IntN(14)
	slow := i%16 == 5
	for c := range calls {
		g.turn(w, i, c, slow)
		if slow && w.at > 210_000 {
			w.add(0, trajectory.Event{Steer: &trajectory.Steer{Reason: "time", Text: "The time is nearly over. Answer now."}})
			break
		}
	}
	switch {
	case i%16 == 5 && i%32 == 5:
		w.add(300_000-min(w.at, 299_000), trajectory.Event{Attempt: &trajectory.Attempt{Turn: calls + 1, Try: 1, Error: "the time budget is over", Interrupted: true}})
		w.add(0, trajectory.Event{End: &trajectory.End{Status: trajectory.Timeout, Reason: "timeout"}})
	case i%97 == 11:
		w.add(900, trajectory.Event{End: &trajectory.End{Status: trajectory.Failed, Reason: "model", Error: "POST http://127.0.0.1/v1: 500 <b>internal</b>"}})
	default:
		g.answer(w, i)
	}
	rel := fmt.Sprintf("trajectories/%s.jsonl", q.ID)
	f, err := os.Create(filepath.Join(g.dir, rel))
	if err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(f)
	for _, e := range w.events {
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	rec := trajectory.Replay(w.events)
	rec.Trajectory = rel
	return rec
}

// turn is a model call with one tool call: reads at every fourth.
func (g *inventor) turn(w *telling, i, c int, slow bool) {
	if g.rand.IntN(60) == 0 {
		w.add(800, trajectory.Event{Attempt: &trajectory.Attempt{Turn: c + 1, Try: 1, Error: "429 too many requests", RetryMS: 2000, WillRetry: true}})
		w.add(2000, trajectory.Event{Turn: g.response(c)})
	} else {
		wait := int64(1500 + g.rand.IntN(6000))
		if slow {
			wait += 15_000
		}
		w.add(wait, trajectory.Event{Turn: g.response(c)})
	}
	id := fmt.Sprintf("call-%d", c+1)
	if c%4 == 3 {
		g.read(w, i, c, id)
		return
	}
	query := g.sentence(4)
	args, _ := json.Marshal(map[string]any{"reason": g.sentence(12), "query": query})
	w.add(0, trajectory.Event{Call: &trajectory.Call{ID: id, Tool: "search", Arguments: args}})
	var b strings.Builder
	access := trajectory.Access{}
	for r := range g.size.depth {
		access.Surfaced = append(access.Surfaced, fmt.Sprintf("%d", 900_000+g.rand.IntN(90_000)+r))
	}
	// The k-th evidence document comes up ever deeper; the last never does.
	for k := range 5 {
		if (c+k)%3 == 0 {
			access.Surfaced[k*k*8+g.rand.IntN(3)] = fmt.Sprintf("%d", 50000+i*10+k)
		}
	}
	fmt.Fprintf(&b, "ranks 1-5 of %d, search_id=s%d\nQuery: %q\n\n", g.size.depth, c+1, query)
	for r := range 5 {
		access.Previewed = append(access.Previewed, access.Surfaced[r])
		fmt.Fprintf(&b, "%d. docid=%s score=%.4f\n   Title: %s\n   Excerpt: %s...\n", r+1, access.Surfaced[r], 30-float64(r), g.sentence(5), g.sentence(34))
	}
	b.WriteString("\nMore hits: read_search_results(…)\n")
	w.add(int64(5+g.rand.IntN(60)), trajectory.Event{Observation: &trajectory.Observation{CallID: id, Tool: "search", Text: b.String(), DurationMS: 9, Access: access}})
}

func (g *inventor) response(c int) *trajectory.Turn {
	turn := &trajectory.Turn{Turn: c + 1, StopReason: "tool_calls", Calls: []string{fmt.Sprintf("call-%d", c+1)},
		Usage: trajectory.Usage{Input: 900, CacheRead: int64(c) * 1400, Output: int64(60 + g.rand.IntN(300))}}
	if c%5 == 0 {
		turn.Reasoning = g.sentence(60)
	}
	return turn
}

func (g *inventor) read(w *telling, i, c int, id string) {
	docid := fmt.Sprintf("%d", 50000+i*10+c/4%3)
	lines := g.document(i)
	args, _ := json.Marshal(map[string]any{"reason": g.sentence(10), "docid": docid, "offset": 1, "limit": 200})
	w.add(0, trajectory.Event{Call: &trajectory.Call{ID: id, Tool: "read_document", Arguments: args}})
	var b strings.Builder
	n := 0
	for n < len(lines) && b.Len() < g.size.readBytes {
		fmt.Fprintf(&b, "%d\t%s\n", n+1, lines[n])
		n++
	}
	text := fmt.Sprintf("docid=%s lines 1-%d of %d\n\n%s", docid, n, len(lines), b.String())
	w.add(int64(3+g.rand.IntN(20)), trajectory.Event{Observation: &trajectory.Observation{CallID: id, Tool: "read_document", Text: text, DurationMS: 4, Access: trajectory.Access{Opened: []string{docid}}}})
}

func (g *inventor) answer(w *telling, i int) {
	confidence := float64(g.rand.IntN(11) * 10)
	a := trajectory.Answer{Exact: g.sentence(3), Confidence: &confidence}
	doc := func(k int) string { return fmt.Sprintf("%d", 50000+i*10+k) }
	quote := strings.Join(g.document(i)[:3], " ")
	quote = quote[:min(len(quote), 60)]
	a.Explanation = fmt.Sprintf("%s: “%s” [%s]. %s [%s]. %s [%s, line 2]. %s [999].", g.sentence(20), quote, doc(0), g.sentence(25), doc(1), g.sentence(20), doc(2), g.sentence(8))
	a.Text = "Explanation: " + a.Explanation + "\nExact Answer: " + a.Exact
	for k := range 3 {
		a.Citations = append(a.Citations, trajectory.Citation{DocID: doc(k), Access: "opened"})
	}
	a.Citations = append(a.Citations, trajectory.Citation{DocID: "999", Access: "never"})
	w.add(4000, trajectory.Event{Turn: &trajectory.Turn{Turn: 99, Text: a.Text, StopReason: "stop", Usage: trajectory.Usage{Input: 500, CacheRead: 30_000, Output: 400}}})
	end := trajectory.End{Status: trajectory.Completed, Answer: a}
	if i%3 == 0 {
		g.note(w, &end, i)
	}
	w.add(0, trajectory.Event{End: &end})
}

// note gives an end what a notebook and a check of the answer leave: constraints of every status, with
// cited lines that were read and one that was not, a warning, a candidate that failed.
func (g *inventor) note(w *telling, end *trajectory.End, i int) {
	w.add(0, trajectory.Event{Steer: &trajectory.Steer{Reason: trajectory.SteerBranch, Text: "Your last 4 searches were all about \"the wrong keeper\", and nothing has been noted from them. That may be the wrong branch.\nThe question is: …"}})
	doc := fmt.Sprintf("%d", 50000+i*10)
	end.Notebook = &trajectory.Notebook{Warnings: 1, Rejected: []string{"the wrong keeper"}, Constraints: []trajectory.Constraint{
		{Text: "was the first keeper of the light", Status: "met", Candidate: "the right keeper", Lines: []trajectory.LineRange{{DocID: doc, First: 1, Last: 2, Opened: true}}},
		{Text: "kept a diary of what the lamp used", Status: "failed", Candidate: "the wrong keeper", Lines: []trajectory.LineRange{{DocID: doc, First: 900, Last: 900}}},
		{Text: "وصل إلى الميناء في عام 1871 灯台守", Status: "open"},
	}}
	end.Verification = &trajectory.Verification{Outcome: "failed", Checks: 2, Reopened: 1, Unshown: []string{"kept a diary (no line is cited for it)"}, HeldBack: []string{"the wrong keeper", "the right keeper"}}
}

func (g *inventor) verdict(rec trajectory.Record, q benchmark.Question) judge.Verdict {
	v := judge.Verdict{QueryID: rec.QueryID, Judge: "invented/judge", Mode: judge.GoldAnswer, State: judge.NotJudged}
	no := false
	v.Correct = &no
	if rec.Status == trajectory.Completed {
		correct := g.rand.Float64()*100 < *rec.Answer.Confidence*0.7+20
		reason := g.sentence(25)
		v.State, v.Correct, v.Reasoning = judge.Judged, &correct, &reason
	}
	return v
}
