package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/judge"
	"goserini/internal/trajectory"
	"goserini/internal/trec"
)

type contextT = context.Context

func keys(m map[string]int) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// sharded returns the plan of a shard of a run over n questions.
func sharded(t *testing.T, n int, shard Shard) Plan {
	t.Helper()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("q", i))
	}
	plan, _ := answering(names...)
	hash, err := HashQuestions(plan.Questions)
	if err != nil {
		t.Fatal(err)
	}
	plan.Spec.QuestionsHash, plan.Spec.Shard = hash, shard
	plan.Inputs = map[string]Input{"queries": {Path: "q.tsv", SHA256: "s"}}
	plan.Questions = Select(shard, plan.Questions)
	return plan
}

func TestShardsAreDisjointAndWhole(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	var got []int
	for i := range 4 {
		got = append(got, Select(Shard{i + 1, 4}, all)...)
	}
	slices.Sort(got)
	if !slices.Equal(got, all) {
		t.Errorf("got %v", got)
	}
	if got := Select(Shard{2, 4}, all); !slices.Equal(got, []int{1, 5, 9}) {
		t.Errorf("2/4: got %v", got)
	}
	if s, err := ParseShard("2/4"); err != nil || s != (Shard{2, 4}) || s.String() != "2/4" {
		t.Errorf("got %v, %v", s, err)
	}
	for _, text := range []string{"", "2", "0/4", "5/4", "a/b", "1/0", "-1/2", "1/99999"} {
		if _, err := ParseShard(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// bare reads a run directory without what depends on time.
func bare(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	records, err := ReadResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, rec := range records {
		rec.StartedAt = time.Time{}
		out[fmt.Sprintf("result %d", i)] = fmt.Sprintf("%+v", rec)
		events, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(rec.Trajectory)))
		if err != nil {
			t.Fatal(err)
		}
		out[rec.Trajectory] = string(events)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	out["spec"], out["finished"] = fmt.Sprintf("%+v", m.Spec), fmt.Sprint(m.Finished)
	return out
}

func TestMergedShardsEqualOneRun(t *testing.T) {
	tmp := t.TempDir()
	one := filepath.Join(tmp, "one")
	mustRun(t, one, sharded(t, 10, Shard{}), Options{})
	var dirs []string
	for _, i := range []int{3, 1, 4, 2} {
		dir := filepath.Join(tmp, fmt.Sprint("shard", i))
		mustRun(t, dir, sharded(t, 10, Shard{i, 4}), Options{})
		if err := os.WriteFile(filepath.Join(dir, VerdictsFile), []byte(fmt.Sprintf("{\"query_id\":\"%d\"}\n", i)), 0o644); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	out := filepath.Join(tmp, "merged")
	m, err := Merge(out, dirs, false)
	if err != nil || m.Results != 10 || len(m.Notes) != 0 {
		t.Fatalf("got %+v, %v", m, err)
	}
	if d := cmp.Diff(bare(t, one), bare(t, out)); d != "" {
		t.Errorf("(-one run +merged):\n%s", d)
	}
	manifest, _ := ReadManifest(out)
	if len(manifest.Sessions) != 4 || fmt.Sprint(manifest.Merged) != "[shard1 shard2 shard3 shard4]" || manifest.Inputs["queries"].SHA256 != "s" {
		t.Errorf("got manifest %+v", manifest)
	}
	if v, err := os.ReadFile(filepath.Join(out, VerdictsFile)); err != nil || strings.Count(string(v), "\n") != 4 {
		t.Errorf("got verdicts %s, %v", v, err)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, ".*partial*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	// The merged directory is a run like any other: the same command has nothing to do.
	if s := mustRun(t, out, sharded(t, 10, Shard{}), Options{}); s.Kept != 10 {
		t.Errorf("got %+v", s)
	}
}

func TestWhatIsMissingFromAMergeCanBeRunAfterIt(t *testing.T) {
	tmp := t.TempDir()
	a := filepath.Join(tmp, "a")
	mustRun(t, a, sharded(t, 7, Shard{2, 3}), Options{})
	out := filepath.Join(tmp, "out")
	if _, err := Merge(out, []string{a}, false); err == nil || !strings.Contains(err.Error(), "shard 1/3, 3/3 is not there") {
		t.Errorf("got %v", err)
	}
	if m, err := Merge(out, []string{a}, true); err != nil || m.Results != 2 {
		t.Fatalf("got %+v, %v", m, err)
	}
	if s := mustRun(t, out, sharded(t, 7, Shard{}), Options{}); s.Ran != 5 || s.Completed != 7 {
		t.Errorf("got %+v", s)
	}
	if got := strings.Join(ids(t, out), " "); got != "q0 q1 q2 q3 q4 q5 q6" {
		t.Errorf("got %s", got)
	}
}

func TestMergesThatMakeNoSenseAreRefused(t *testing.T) {
	tmp := t.TempDir()
	run := func(name string, shard Shard, change func(*Plan)) string {
		plan := sharded(t, 6, shard)
		if change != nil {
			change(&plan)
		}
		mustRun(t, filepath.Join(tmp, name), plan, Options{})
		return filepath.Join(tmp, name)
	}
	a, b := run("a", Shard{1, 2}, nil), run("b", Shard{2, 2}, nil)
	again := run("again", Shard{1, 2}, nil)
	third := run("third", Shard{1, 3}, nil)
	other := run("other", Shard{2, 2}, func(p *Plan) { p.Spec.Model.Name = "other" })
	input := run("input", Shard{2, 2}, func(p *Plan) { p.Inputs = map[string]Input{"queries": {SHA256: "another"}} })
	full := run("full", Shard{}, nil)
	for want, dirs := range map[string][]string{
		"no run directories":      nil,
		"is a whole run":          {a, full},
		"are both shard 1/2":      {a, again},
		"divide the questions":    {a, third},
		"model.name":              {a, other},
		"different input files":   {a, input},
		"not a run directory":     {a, tmp},
		"use another --out":       {a, b, "into " + full},
		"is not there: give its ": {b},
	} {
		out := filepath.Join(tmp, "out")
		if n := len(dirs); n > 0 && strings.HasPrefix(dirs[n-1], "into ") {
			out, dirs = strings.TrimPrefix(dirs[n-1], "into "), dirs[:n-1]
		}
		if _, err := Merge(out, dirs, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestStandingOfARun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a", "b", "c", "d")
	good := plan.Research
	plan.Research = func(ctx contextT, q Question, emit func(trajectory.Event)) (trajectory.Record, error) {
		rec, err := good(ctx, q, emit)
		rec.Model, rec.ExecutedCalls = "m", 3
		rec.Surfaced, rec.Previewed, rec.Opened, rec.Cited = []string{"d1", "d2", "x"}, []string{"d1", "d2"}, []string{"d1"}, []string{}
		rec.Usage = trajectory.Usage{Input: 100, CacheRead: 300, Output: 10}
		if q.ID == "d" {
			rec.Status, rec.Reason = trajectory.Failed, "refusal"
		}
		return rec, err
	}
	known := Known{
		Answers:  map[string]judge.Reference{"a": {Answer: "A-a"}, "b": {Answer: "something else entirely"}, "d": {Answer: "A-d"}},
		Evidence: trec.Qrels{"a": {"d1": 1, "d2": 1}, "b": {"d1": 1, "d9": 2, "d8": 0}},
		Price:    func(_ string, u trajectory.Usage) (float64, bool) { return float64(u.Output) / 10, true },
	}
	started := time.Now()
	w := NewWatch(4, started, known)
	mustRun(t, dir, plan, Options{Observe: w.Observe})
	s := w.Standing(started.Add(2 * time.Minute))
	want := Standing{
		Questions: 4, Done: 4, Completed: 3, Failed: 1, Reasons: map[string]int{"refusal": 1},
		Answerable: 3, Correct: 1, Judged: 2, Surfaced: 0.75, Previewed: 0.75, Opened: 0.5, Cited: 0,
		ToolCalls: 12, Usage: trajectory.Usage{Input: 400, CacheRead: 1200, Output: 40}, CostUSD: ptr(4.0),
		ElapsedSeconds: 120, PerMinute: 2, LeftSeconds: ptr(0.0),
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if s.CachedShare() != 0.75 {
		t.Errorf("got cached share %v", s.CachedShare())
	}
	st, err := ReadStatus(dir, known)
	if err != nil {
		t.Fatal(err)
	}
	st.ElapsedSeconds, st.PerMinute, st.LeftSeconds = 120, 2, ptr(0.0)
	if d := cmp.Diff(want, st.Standing); d != "" {
		t.Errorf("from outside (-want +got):\n%s", d)
	}
	if !st.Finished || st.Owner != nil || st.Sessions != 1 {
		t.Errorf("got %+v", st)
	}
	spent, err := ReadSpent(dir)
	if err != nil || spent.Total() != want.Usage {
		t.Errorf("spent %+v, %v", spent, err)
	}
}

func ptr(v float64) *float64 { return &v }

func TestStatusOfARunUnderWay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a", "b", "c")
	good := plan.Research
	under, release := make(chan struct{}), make(chan struct{})
	plan.Research = func(ctx contextT, q Question, emit func(trajectory.Event)) (trajectory.Record, error) {
		if q.ID == "b" {
			emit(header(q))
			close(under)
			<-release
			return trajectory.Record{Status: trajectory.Completed}, nil
		}
		return good(ctx, q, emit)
	}
	done := make(chan error)
	go func() {
		_, err := Run(context.WithoutCancel(t.Context()), dir, plan, Options{Command: "goserini run"})
		done <- err
	}()
	<-under
	st, err := ReadStatus(dir, Known{})
	if err != nil || st.Owner == nil || st.Owner.Command != "goserini run" || st.Done != 1 || st.Running != 1 || st.Finished || st.CostUSD != nil {
		t.Errorf("got %+v, %v", st, err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestInterruptedQuestionsCountAsSpent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a")
	good := plan.Research
	ctx, cancel := context.WithCancel(t.Context())
	plan.Research = func(ctx contextT, q Question, emit func(trajectory.Event)) (trajectory.Record, error) {
		emit(header(q))
		emit(trajectory.Event{Type: trajectory.TypeTurn, Seq: 2, Turn: &trajectory.Turn{Turn: 1, Usage: trajectory.Usage{Input: 5}}})
		cancel()
		return trajectory.Record{Status: trajectory.Failed}, ctx.Err()
	}
	if _, err := Run(ctx, dir, plan, Options{}); err == nil {
		t.Fatal("not interrupted")
	}
	plan.Research = good
	mustRun(t, dir, plan, Options{})
	spent, err := ReadSpent(dir)
	if err != nil || spent.Total().Input != 15 { // 5 in vain, 10 for the answer
		t.Errorf("got %+v, %v", spent, err)
	}
	none, err := ReadSpent(filepath.Join(dir, "none"))
	if err != nil || len(none.ByModel) != 0 {
		t.Errorf("got %+v, %v", none, err)
	}
}

func TestWhatEndedWithoutAResultCountsAsSpent(t *testing.T) {
	events := func(q Question, reason string) []trajectory.Event {
		u := trajectory.Usage{Input: 5}
		return []trajectory.Event{header(q), {Type: trajectory.TypeTurn, Seq: 2, Turn: &trajectory.Turn{Turn: 1, Usage: u}},
			{Type: trajectory.TypeEnd, Seq: 3, End: &trajectory.End{Status: trajectory.Failed, Reason: reason, Usage: u}}}
	}
	spent := func(dir string, want int64) {
		t.Helper()
		s, err := ReadSpent(dir)
		if err != nil || s.Total().Input != want {
			t.Errorf("got %+v, %v; want %d tokens", s, err, want)
		}
	}
	for _, reason := range []string{runBudget, "model_failed"} { // given up in its middle; and killed before its result was kept
		dir := filepath.Join(t.TempDir(), "run")
		plan, _ := answering("a")
		good := plan.Research
		plan.Research = func(_ contextT, q Question, emit func(trajectory.Event)) (trajectory.Record, error) {
			for _, e := range events(q, reason) {
				emit(e)
			}
			return trajectory.Record{Status: trajectory.Failed, Reason: reason, Usage: trajectory.Usage{Input: 5}}, ErrStop
		}
		if _, err := Run(t.Context(), dir, plan, Options{}); !errors.Is(err, ErrStop) {
			t.Fatal(err)
		}
		spent(dir, 5)
		plan.Research = good
		mustRun(t, dir, plan, Options{Retry: []string{"model_failed"}})
		spent(dir, 15)
	}
}

func TestVerdictsAreMergedByLines(t *testing.T) {
	tmp := t.TempDir()
	var dirs []string
	for i, verdicts := range []string{"{\"a\":1}\n{\"torn", "", "{\"b\":2}"} {
		dir := filepath.Join(tmp, fmt.Sprint(i))
		mustRun(t, dir, sharded(t, 6, Shard{i + 1, 3}), Options{})
		dirs = append(dirs, dir)
		if verdicts == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, VerdictsFile), []byte(verdicts), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(tmp, "out")
	if _, err := Merge(out, dirs, false); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(out, VerdictsFile))
	if want := "{\"a\":1}\n{\"b\":2}\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestPrivateRunsAreForTheirUserAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a")
	plan.Private = true
	mustRun(t, dir, plan, Options{})
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, ignoreFile)); err != nil || string(b) != "*\n" {
		t.Errorf("got %q, %v", b, err)
	}
	if m, err := ReadManifest(dir); err != nil || !m.Private {
		t.Errorf("got %+v, %v", m, err)
	}
}
