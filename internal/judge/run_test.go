package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"goserini/internal/jsonl"
	"goserini/internal/llm"
	"goserini/internal/llm/llmtest"
	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
)

// counting is a judge that counts how often it is asked; it finds right what is exactly equal.
type counting struct {
	name, prompt string
	asked        *atomic.Int32
	fail         func(Item) error
}

func (c counting) Name() string        { return c.name }
func (c counting) Mode() Mode          { return GoldAnswer }
func (c counting) Fingerprint() string { return c.prompt }
func (c counting) Judge(_ context.Context, it Item) (Verdict, error) {
	c.asked.Add(1)
	v := newVerdict(c, it)
	if c.fail != nil {
		if err := c.fail(it); err != nil {
			return v, err
		}
	}
	correct := it.Exact == it.Reference.Answer
	v.State, v.Correct = Judged, &correct
	return v, nil
}

func newCounting(name string) counting {
	return counting{name: name, prompt: "1", asked: new(atomic.Int32)}
}

func items(n int) []Item {
	var out []Item
	for i := range n {
		id := fmt.Sprintf("q%d", i)
		out = append(out, Item{QueryID: id, Status: trajectory.Completed, Exact: id, Response: id, Reference: Reference{Answer: "q1"}})
	}
	return out
}

func TestVerdictsComeInTheOrderOfTheItems(t *testing.T) {
	verdicts, err := Run(t.Context(), newCounting("j"), items(40), Options{Workers: 7})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range verdicts {
		if v.QueryID != fmt.Sprintf("q%d", i) || *v.Correct != (i == 1) {
			t.Fatalf("place %d holds the verdict on %s, correct %v", i, v.QueryID, *v.Correct)
		}
	}
}

func TestCaseJudgingTheSameAnswersTwice(t *testing.T) {
	var c struct{ Expect struct{ Calls []any } }
	readJSON(t, sharedtest.Path(t, "cases", "JDG-09", "case.json"), &c)
	if fmt.Sprint(c.Expect.Calls) != "[1 all 0]" {
		t.Fatalf("the case expects %v", c.Expect.Calls)
	}
	path := filepath.Join(t.TempDir(), "verdicts.jsonl")
	j, all := newCounting("j"), items(5)
	judgeNow := func() int {
		t.Helper()
		before := j.asked.Load()
		verdicts, asked, err := RunFile(t.Context(), path, j, all, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := int(j.asked.Load() - before); n != asked || len(verdicts) != 5 {
			t.Fatalf("asked %d times, %d reported, %d verdicts", n, asked, len(verdicts))
		}
		return asked
	}
	judgeNow()
	all[2].Response = "changed"
	if got := judgeNow(); got != 1 {
		t.Errorf("%d calls after one answer changed, want 1", got)
	}
	j.prompt = "2"
	if got := judgeNow(); got != 5 {
		t.Errorf("%d calls after the prompt changed, want 5", got)
	}
	before := read(t, path)
	if got := judgeNow(); got != 0 {
		t.Errorf("%d calls after nothing changed, want 0", got)
	}
	if after := read(t, path); before != after {
		t.Errorf("judging twice changed the file:\n%s\n%s", before, after)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCaseNothingIsAskedAboutEmptyAndUnfinishedAnswers(t *testing.T) {
	var all []Item
	for line := range strings.Lines(read(t, sharedtest.Path(t, "cases", "JDG-05", "run.jsonl"))) {
		var r struct {
			QueryID string `json:"query_id"`
			Status  string
			Answer  string
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		// The other statuses of the case are reasons of failed questions here.
		status := trajectory.Failed
		if r.Status == "completed" {
			status = trajectory.Completed
		}
		all = append(all, Item{QueryID: r.QueryID, Status: status, Response: r.Answer, Reference: Reference{Answer: "Orrin"}})
	}
	j := newCounting("j")
	verdicts, err := Run(t.Context(), j, all, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := j.asked.Load(); got != 1 {
		t.Errorf("the judge was asked %d times, want once: only s0 has an answer", got)
	}
	if len(verdicts) != 7 {
		t.Fatalf("%d verdicts, want 7", len(verdicts))
	}
	for _, v := range verdicts[1:] {
		if v.State != NotJudged || v.Correct == nil || *v.Correct || v.Error == "" {
			t.Errorf("%s: got %+v, want not judged, not correct, with a reason", v.QueryID, v)
		}
	}
}

func TestAQuestionWithoutKnownAnswerIsNotCalledWrong(t *testing.T) {
	all := items(2)
	all[0].Reference = Reference{Answer: "  "}
	j := newCounting("j")
	verdicts, err := Run(t.Context(), j, all, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := verdicts[0]; v.State != NoReference || v.Correct != nil || v.Outcome().Decided || j.asked.Load() != 1 {
		t.Errorf("got %+v after %d questions to the judge", v, j.asked.Load())
	}
	if c := Count(verdicts); c.NoReference != 1 || c.Correct != 1 {
		t.Errorf("counts %+v", c)
	}
	free := NewModel(replies(`{"correct": true}`), ModelOptions{Name: "m", Mode: ReferenceFree})
	if verdicts, err = Run(t.Context(), free, all, Options{}); err != nil || verdicts[0].State != Judged || verdicts[0].CorrectAnswer != nil {
		t.Errorf("reference-free: %+v, %v", verdicts, err)
	}
}

func TestUnparsedAndBrokenVerdictsAreAskedForAgain(t *testing.T) {
	j := newCounting("j")
	known, err := Run(t.Context(), j, items(4), Options{})
	if err != nil {
		t.Fatal(err)
	}
	known[0].State, known[0].Correct = Unparsed, nil
	known[1].State, known[1].Correct = Broken, nil
	known[2].State, known[2].Correct = Judged, nil // made by hand: no decision is no verdict
	j.asked.Store(0)
	if _, err := Run(t.Context(), j, items(4), Options{Known: known}); err != nil {
		t.Fatal(err)
	}
	if got := j.asked.Load(); got != 3 {
		t.Errorf("asked %d times, want 3", got)
	}
}

func TestABrokenCallMakesAVerdictARefusedKeyEndsTheRun(t *testing.T) {
	j := newCounting("j")
	j.fail = func(it Item) error {
		if it.QueryID == "q1" {
			return &llm.Error{Provider: "p", Status: 503, Retryable: true, Message: "busy"}
		}
		return nil
	}
	verdicts, err := Run(t.Context(), j, items(3), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := verdicts[1]; v.State != Broken || v.Correct != nil || !strings.Contains(v.Error, "busy") {
		t.Errorf("got %+v", v)
	}
	if c := Count(verdicts); c.Broken != 1 || c.Wrong != 2 {
		t.Errorf("counts %+v", c)
	}
	j.fail = func(Item) error { return &llm.Error{Provider: "p", Status: 401, Message: "bad key"} }
	if _, err := Run(t.Context(), j, items(30), Options{Workers: 1}); err == nil || !strings.Contains(err.Error(), "bad key") {
		t.Errorf("got %v, want the refused key", err)
	}
}

func TestAnInterruptedRunKeepsWhatItHas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.jsonl")
	j := newCounting("j")
	ctx, cancel := context.WithCancel(t.Context())
	j.fail = func(it Item) error {
		if it.QueryID == "q3" {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	if _, _, err := RunFile(ctx, path, j, items(6), Options{Workers: 1}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want a cancelled context", err)
	}
	// A process that was killed may leave half a line, too.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"query_id":"q`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err := ReadVerdicts(path); err != nil || len(kept) != 3 {
		t.Fatalf("kept %d verdicts, %v, want 3", len(kept), err)
	}
	j.fail = nil
	verdicts, asked, err := RunFile(t.Context(), path, j, items(6), Options{})
	if err != nil || asked != 3 || len(verdicts) != 6 {
		t.Errorf("asked %d times for %d verdicts, %v, want 3 for 6", asked, len(verdicts), err)
	}
	if kept, err := ReadVerdicts(path); err != nil || len(kept) != 6 {
		t.Errorf("the file holds %d verdicts, %v, want 6", len(kept), err)
	}
}

func TestVerdictsOfSeveralJudgesShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.jsonl")
	for _, j := range []Judge{newCounting("zeta"), Exact{}} {
		if _, _, err := RunFile(t.Context(), path, j, items(3), Options{}); err != nil {
			t.Fatal(err)
		}
	}
	// A smaller set later does not throw the rest away.
	if _, _, err := RunFile(t.Context(), path, newCounting("zeta"), items(1), Options{}); err != nil {
		t.Fatal(err)
	}
	verdicts, err := ReadVerdicts(path)
	if err != nil {
		t.Fatal(err)
	}
	if names := Names(verdicts); !slices.Equal(names, []string{"builtin/exact", "zeta"}) || len(verdicts) != 6 {
		t.Errorf("%d verdicts of %v, want 6 of builtin/exact and zeta", len(verdicts), names)
	}
	if o := Outcomes(verdicts, "zeta"); len(o) != 3 || !o["q1"].Correct || o["q0"].Correct {
		t.Errorf("outcomes of zeta: %+v", o)
	}
}

func TestBadVerdictFilesAreRefusedWithTheirPlace(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":        "{\"query_id\":\"q\",\"judge\":\"j\"}\nnonsense\n",
		"no query id":    "{\"judge\":\"j\"}\n",
		"wrong type":     "{\"query_id\":\"q\",\"judge\":\"j\",\"correct\":\"yes\"}\n",
		"not an object":  "[]\n",
		"negative tries": "{\"query_id\":\"q\",\"judge\":\"j\",\"tries\":\"x\"}\n",
	} {
		path := filepath.Join(t.TempDir(), "verdicts.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadVerdicts(path); err == nil || !strings.Contains(err.Error(), "verdicts.jsonl:") {
			t.Errorf("%s: got %v, want an error with file and line", name, err)
		}
	}
	if v, err := ReadVerdicts(filepath.Join(t.TempDir(), "none")); err != nil || v != nil {
		t.Errorf("a missing file: got %v, %v, want nothing", v, err)
	}
}

func TestTwoAnswersToOneQueryAreRefused(t *testing.T) {
	if _, err := Run(t.Context(), newCounting("j"), append(items(2), items(1)...), Options{}); err == nil {
		t.Error("no error")
	}
}

func TestAFullDiskEndsTheRun(t *testing.T) {
	full := errors.New("no space left")
	if _, err := Run(t.Context(), newCounting("j"), items(3), Options{Emit: func(Verdict) error { return full }}); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}

func TestProgressCountsEveryItem(t *testing.T) {
	var last [2]int
	_, err := Run(t.Context(), newCounting("j"), items(5), Options{Progress: func(done, total int) { last = [2]int{done, total} }})
	if err != nil || last != [2]int{5, 5} {
		t.Errorf("progress ended at %v, %v", last, err)
	}
}

func TestModelsJudgeConcurrently(t *testing.T) {
	reached := make(chan struct{}, 8)
	open := make(chan struct{})
	client := llmtest.ClientFunc(func(context.Context, llm.Request) (llm.Response, error) {
		reached <- struct{}{}
		<-open
		return llm.Response{Message: llm.Message{Text: `{"correct": false}`}}, nil
	})
	done := make(chan error)
	go func() {
		_, err := Run(t.Context(), NewModel(client, ModelOptions{Name: "m"}), items(8), Options{Workers: 8})
		done <- err
	}()
	for range 8 {
		<-reached // would hang if one call waited for another
	}
	close(open)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestKappa(t *testing.T) {
	// 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, expected 0.5, kappa 0.4.
	var verdicts []Verdict
	add := func(n int, a, b bool) {
		for range n {
			id := fmt.Sprint(len(verdicts))
			verdicts = append(verdicts,
				Verdict{QueryID: id, Judge: "A", State: Judged, Correct: &a}, Verdict{QueryID: id, Judge: "B", State: Judged, Correct: &b})
		}
	}
	add(20, true, true)
	add(5, true, false)
	add(10, false, true)
	add(15, false, false)
	no := false
	verdicts = append(verdicts,
		Verdict{QueryID: "u", Judge: "A", State: Unparsed}, Verdict{QueryID: "u", Judge: "B", State: Judged, Correct: &no},
		Verdict{QueryID: "n", Judge: "A", State: NotJudged, Correct: &no}, Verdict{QueryID: "n", Judge: "B", State: NotJudged, Correct: &no},
		Verdict{QueryID: "h", Judge: "A", State: Judged}, Verdict{QueryID: "h", Judge: "B", State: Judged, Correct: &no},
		Verdict{QueryID: "alone", Judge: "A", State: Judged, Correct: &no})
	got := Agree(verdicts, "A", "B")
	if got.Queries != 50 || got.Agree != 35 || got.Kappa == nil || *got.Kappa < 0.39999 || *got.Kappa > 0.40001 {
		t.Errorf("got %d of %d, kappa %v, want 35 of 50 and 0.4", got.Agree, got.Queries, got.Kappa)
	}
	if len(got.Disagreements) != 15 || !slices.Equal(got.Undecided, []string{"u", "h"}) {
		t.Errorf("%d disagreements, undecided %v, want 15 and [u h]", len(got.Disagreements), got.Undecided)
	}
	if k := Agree(verdicts[:2], "A", "B").Kappa; k != nil {
		t.Errorf("kappa %v of judges who always say the same, want none", *k)
	}
}

func FuzzVerdicts(f *testing.F) {
	f.Add([]byte(`{"query_id":"q","judge":"A","state":"judged","correct":true}` + "\n" + `{"query_id":"q","judge":"B","state":"judged"}` + "\n"))
	f.Add([]byte(`{"query_id":"q","judge":"A","state":"nonsense","correct":null}` + "\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := collector{at: map[[2]string]int{}}
		if _, err := jsonl.ReadFrom(bytes.NewReader(data), "verdicts.jsonl", 0, c.add); err != nil {
			return
		}
		Count(c.verdicts)
		Agree(c.verdicts, "A", "B")
		for _, v := range c.verdicts {
			if o := v.Outcome(); o.Decided && v.Correct == nil {
				t.Fatalf("%+v has an outcome without a decision", v)
			}
		}
	})
}
