package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
	"goserini/internal/trec"
)

// answering returns a plan whose research completes every question, counting the calls by query.
func answering(ids ...string) (Plan, func() map[string]int) {
	var mu sync.Mutex
	ran := map[string]int{}
	plan := Plan{Name: "test", Spec: Spec{Questions: len(ids)}}
	for _, id := range ids {
		plan.Questions = append(plan.Questions, Question{ID: id, Text: "what is " + id})
	}
	plan.Research = func(_ context.Context, q Question, emit func(trajectory.Event)) (trajectory.Record, error) {
		mu.Lock()
		ran[q.ID]++
		mu.Unlock()
		emit(header(q))
		return trajectory.Record{Status: trajectory.Completed, Answer: trajectory.Answer{Exact: "A-" + q.ID}, Usage: trajectory.Usage{Input: 10}}, nil
	}
	return plan, func() map[string]int { mu.Lock(); defer mu.Unlock(); return ran }
}

func header(q Question) trajectory.Event {
	return trajectory.Event{Type: trajectory.TypeHeader, Seq: 1, Time: time.Unix(0, 0).UTC(),
		Header: &trajectory.Header{Version: trajectory.Version, QueryID: q.ID, Question: q.Text, Prompt: "p", Model: "m"}}
}

func mustRun(t *testing.T, dir string, plan Plan, opts Options) Summary {
	t.Helper()
	s, err := Run(t.Context(), dir, plan, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ids(t *testing.T, dir string) []string {
	t.Helper()
	records, err := ReadResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range records {
		out = append(out, r.QueryID)
	}
	return out
}

func TestResultsStandInTheOrderOfTheQuestions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("c", "a", "b")
	s := mustRun(t, dir, plan, Options{Concurrency: 3})
	if s.Completed != 3 || s.Ran != 3 || s.Unfinished != 0 {
		t.Errorf("got %+v", s)
	}
	if got := strings.Join(ids(t, dir), " "); got != "c a b" {
		t.Errorf("got order %q, want c a b", got)
	}
	m, err := ReadManifest(dir)
	if err != nil || !m.Finished || len(m.Sessions) != 1 || m.Sessions[0].EndedAt == nil {
		t.Errorf("manifest %+v, error %v", m, err)
	}
}

func TestAFinishedQuestionIsNeverRunAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, ran := answering("a", "b")
	mustRun(t, dir, plan, Options{})
	s := mustRun(t, dir, plan, Options{Retry: []string{"failed", "timeout"}})
	if s.Ran != 0 || s.Kept != 2 {
		t.Errorf("got %+v", s)
	}
	for id, n := range ran() {
		if n != 1 {
			t.Errorf("query %s ran %d times", id, n)
		}
	}
}

func TestFailedQuestionsAreResultsAndRunAgainOnlyWhenAsked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a", "b", "c", "d", "e")
	good := plan.Research
	plan.Research = func(ctx context.Context, q Question, emit func(trajectory.Event)) (trajectory.Record, error) {
		if q.ID == "b" || q.ID == "d" {
			return trajectory.Record{Usage: trajectory.Usage{Input: 7}}, errors.New("refused")
		}
		return good(ctx, q, emit)
	}
	s := mustRun(t, dir, plan, Options{Concurrency: 2})
	if s.Completed != 3 || s.Failed != 2 || strings.Join(s.FailedIDs, " ") != "b d" {
		t.Errorf("got %+v", s)
	}
	plan.Research = good
	if s := mustRun(t, dir, plan, Options{}); s.Ran != 0 || s.Failed != 2 {
		t.Errorf("without --retry: got %+v", s)
	}
	s = mustRun(t, dir, plan, Options{Retry: []string{"failed"}})
	if s.Ran != 2 || s.Completed != 5 {
		t.Errorf("with --retry failed: got %+v", s)
	}
	records, err := ReadResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	if e := records[1].Earlier; len(e) != 1 || e[0].Status != trajectory.Failed || e[0].Usage.Input != 7 {
		t.Errorf("the earlier attempt is lost: %+v", e)
	}
}

func TestInterruptedQuestionsHaveNoResultAndRunAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a", "b", "c")
	good := plan.Research
	ctx, cancel := context.WithCancel(t.Context())
	plan.Research = func(ctx context.Context, q Question, emit func(trajectory.Event)) (trajectory.Record, error) {
		if q.ID != "b" {
			return good(ctx, q, emit)
		}
		emit(header(q))
		cancel()
		<-ctx.Done()
		return trajectory.Record{Status: trajectory.Failed, Reason: "interrupted"}, ctx.Err()
	}
	s, err := Run(ctx, dir, plan, Options{})
	if !errors.Is(err, context.Canceled) || s.Completed != 1 || s.Unfinished != 2 {
		t.Fatalf("got %+v, %v", s, err)
	}
	plan.Research = good
	if s := mustRun(t, dir, plan, Options{}); s.Ran != 2 || s.Completed != 3 {
		t.Errorf("after going on: got %+v", s)
	}
	if got := strings.Join(ids(t, dir), " "); got != "a b c" {
		t.Errorf("got %q", got)
	}
	if old, err := filepath.Glob(filepath.Join(dir, asideDir, "b.*.jsonl")); err != nil || len(old) != 1 {
		t.Errorf("the interrupted trajectory was not set aside: %v %v", old, err)
	}
}

func TestOtherSettingsAreRefusedWithTheFieldsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a")
	plan.Spec.Model.Name, plan.Spec.Retrieval.Depth = "builtin/lexical", 5
	mustRun(t, dir, plan, Options{})
	plan.Spec.Model.Name, plan.Spec.Retrieval.Depth, plan.Spec.Retrieval.IndexFingerprint = "other/model", 10, "f"
	_, err := Run(t.Context(), dir, plan, Options{Concurrency: 8})
	var differs *SpecError
	if !errors.As(err, &differs) {
		t.Fatalf("got %v", err)
	}
	var fields []string
	for _, d := range differs.Differences {
		fields = append(fields, d.Field)
	}
	if got := strings.Join(fields, " "); got != "model.name retrieval.depth retrieval.index_fingerprint" {
		t.Errorf("got fields %q", got)
	}
	mustRun(t, dir, plan, Options{Override: true})
	m, err := ReadManifest(dir)
	if err != nil || len(m.Sessions) != 2 || len(m.Sessions[1].Overridden) != 3 {
		t.Errorf("the override is not recorded: %+v %v", m.Sessions, err)
	}
}

func TestMoreWorkersAreNoOtherSetting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a")
	mustRun(t, dir, plan, Options{Concurrency: 1})
	mustRun(t, dir, plan, Options{Concurrency: 16})
}

func TestTwoProcessesOnOneDirectoryAreRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a")
	started, release := make(chan struct{}), make(chan struct{})
	slow := plan
	slow.Research = func(context.Context, Question, func(trajectory.Event)) (trajectory.Record, error) {
		close(started)
		<-release
		return trajectory.Record{Status: trajectory.Completed}, nil
	}
	finished := make(chan error)
	go func() {
		_, err := Run(context.WithoutCancel(t.Context()), dir, slow, Options{Command: "first"})
		finished <- err
	}()
	<-started
	if _, err := Run(t.Context(), dir, plan, Options{}); err == nil || !strings.Contains(err.Error(), "in use by process") {
		t.Errorf("got %v, want a refusal that names the owner", err)
	}
	close(release)
	if err := <-finished; err != nil {
		t.Error(err)
	}
}

func TestAFolderThatHoldsSomethingElseIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	plan, _ := answering("a")
	if _, err := Run(t.Context(), dir, plan, Options{}); !errors.Is(err, ErrNoRun) {
		t.Errorf("got %v", err)
	}
}

func TestPlansThatCannotGiveOneResultAQuestionAreRefused(t *testing.T) {
	for name, questions := range map[string][]Question{
		"no questions":  nil,
		"an empty id":   {{ID: "", Text: "x"}},
		"an empty text": {{ID: "a", Text: " "}},
		"an id twice":   {{ID: "a", Text: "x"}, {ID: "a", Text: "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			plan, _ := answering()
			plan.Questions = questions
			if _, err := Run(t.Context(), dir, plan, Options{}); err == nil {
				t.Error("accepted")
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the directory was made all the same")
			}
		})
	}
}

func TestResumeAfterAKillInTheMiddleOfALine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	topics, err := trec.ReadTopics(sharedtest.Path(t, "cases", "RUN-01", "queries.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, topic := range topics {
		names = append(names, topic.ID)
	}
	plan, ran := answering(names...)
	mustRun(t, dir, plan, Options{})
	torn, err := os.ReadFile(sharedtest.Path(t, "cases", "RUN-01", "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	// The case writes an answer as a bare text; here it is an object.
	text := strings.ReplaceAll(string(torn), `"answer": "Exact Answer: A"`, `"answer": {"text": "A"}`)
	text = strings.ReplaceAll(text, `"answer": "Exact Answer: B"`, `"answer": {"text": "B"}`)
	if err := os.WriteFile(filepath.Join(dir, resultsFile), []byte(strings.TrimRight(text, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	s := mustRun(t, dir, plan, Options{})
	if s.Kept != 2 || s.Ran != 2 || ran()["r1"] != 1 || ran()["r3"] != 2 {
		t.Errorf("got %+v, runs %v", s, ran())
	}
	if got := strings.Join(ids(t, dir), " "); got != "r1 r2 r3 r4" {
		t.Errorf("got %q", got)
	}
	if aside, err := filepath.Glob(filepath.Join(dir, asideDir, tornPrefix+"*")); err != nil || len(aside) != 1 {
		t.Errorf("the half line was not set aside: %v %v", aside, err)
	}
}

func TestQueryIDsMakeSafeAndDistinctFileNames(t *testing.T) {
	odd := []string{"../x", "a/b", "a_b", "Q1", "q1", strings.Repeat("n", 300), strings.Repeat("n", 300) + "m", ".", "..", "con", "é", "a b", `a"b`}
	seen := map[string]string{}
	for _, id := range odd {
		name := FileName(id)
		if other, twice := seen[strings.ToLower(name)]; twice {
			t.Errorf("%q and %q share the name %q", id, other, name)
		}
		seen[strings.ToLower(name)] = id
		if strings.ContainsAny(name, `/\.`) || len(name) > maxName+20 {
			t.Errorf("%q gives the unsafe name %q", id, name)
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering(odd...)
	if s := mustRun(t, dir, plan, Options{Concurrency: 4}); s.Completed != len(odd) {
		t.Errorf("got %+v", s)
	}
	if got := fmt.Sprint(ids(t, dir)); got != fmt.Sprint(odd) {
		t.Errorf("ids changed: %s", got)
	}
}
