package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func seconds(values ...float64) []time.Duration {
	var out []time.Duration
	for _, v := range values {
		out = append(out, time.Duration(v*float64(time.Second)))
	}
	return out
}

func TestContestantsTakeTurnsInRotatedOrder(t *testing.T) {
	var order strings.Builder
	contestant := func(name string) Contestant {
		return Contestant{Name: name, Run: func(context.Context) (Batch, error) {
			order.WriteString(name)
			return Batch{Wall: seconds(1, 2)}, nil
		}}
	}
	r, err := Interleave(t.Context(), []Contestant{contestant("a"), contestant("b"), contestant("c")}, Plan{Rounds: 4})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := order.String(), "abc"+"abc"+"bca"+"cab"+"abc"; got != want {
		t.Errorf("order is %s, want %s: one batch each to warm up, then rounds", got, want)
	}
	if len(r.Batches) != 3 || len(r.Batches[2]) != 4 || r.Discarded+r.Unquiet != 0 {
		t.Errorf("rounds are %+v", r)
	}
}

func TestUnquietRoundsAreRepeatedAndThenKept(t *testing.T) {
	c := Contestant{Name: "a", Run: func(context.Context) (Batch, error) { return Batch{Wall: seconds(1)}, nil }}
	r, err := Interleave(t.Context(), []Contestant{c}, Plan{Rounds: 2, Tolerance: -1}) // no change is that small
	if err != nil {
		t.Fatal(err)
	}
	if r.Discarded != 2*patience || r.Unquiet != 2 || len(r.Batches[0]) != 2 {
		t.Errorf("discarded %d, unquiet %d, rounds %d", r.Discarded, r.Unquiet, len(r.Batches[0]))
	}
}

func TestAFailureNamesTheContestant(t *testing.T) {
	for name, c := range map[string]Contestant{
		"lucene: no such index":        {"lucene", func(context.Context) (Batch, error) { return Batch{}, errors.New("no such index") }},
		"lucene: nothing was measured": {"lucene", func(context.Context) (Batch, error) { return Batch{}, nil }},
	} {
		_, err := Interleave(t.Context(), []Contestant{c}, Plan{Rounds: 1})
		if err == nil || err.Error() != name {
			t.Errorf("error is %v, want %s", err, name)
		}
	}
}

func TestStatistics(t *testing.T) {
	var d []time.Duration
	for i := range 200 {
		d = append(d, time.Duration(200-i)*time.Second)
	}
	for name, test := range map[string]struct {
		got, want float64
	}{
		"p50":    {P50(d), 100},
		"p95":    {P95(d), 190},
		"p99":    {P99(d), 198},
		"mean":   {Mean(d), 100.5},
		"median": {Of([]Batch{{Wall: seconds(1)}, {Wall: seconds(9)}, {Wall: seconds(2)}, {Wall: seconds(3)}}, Mean), 2.5},
	} {
		if math.Abs(test.got-test.want) > 1e-9 {
			t.Errorf("%s is %g, want %g", name, test.got, test.want)
		}
	}
}

func TestRatioIsTheMedianOfRoundsWithAnIntervalAroundIt(t *testing.T) {
	var ours, theirs []Batch
	for r := range 5 {
		noise := 1 + 0.02*float64(r) // the machine slows both alike
		var a, b []float64
		for q := range 100 {
			v := (1 + float64(q%10)) * noise
			a, b = append(a, v*0.25), append(b, v)
		}
		ours, theirs = append(ours, Batch{Wall: seconds(a...)}), append(theirs, Batch{Wall: seconds(b...)})
	}
	got := Ratio(ours, theirs, P50)
	if math.Abs(got.Value-0.25) > 1e-6 || got.Low > got.Value || got.High < got.Value || got.High-got.Low > 0.01 {
		t.Errorf("ratio is %v, want 0.25 with a narrow interval", got)
	}
	ours[2].Wall = seconds(1, 1)[:1]
	mean := Ratio([]Batch{{Wall: seconds(2)}, {Wall: seconds(4)}}, []Batch{{Wall: seconds(1)}, {Wall: seconds(1)}}, Mean)
	if mean.Value != 3 || mean.Low != 2 || mean.High != 4 {
		t.Errorf("ratio of means is %v, want 3 (2 to 4)", mean)
	}
}

func TestCanaryReadsTheMachine(t *testing.T) {
	c := NewCanary()
	if r := c.Read(); r.Integer <= 0 || r.Memory <= 0 {
		t.Errorf("reading is %+v", r)
	}
	if got := (Reading{12, 20}).Change(Reading{10, 20}); math.Abs(got-0.2) > 1e-9 {
		t.Errorf("change is %g, want 0.2", got)
	}
}

func TestClosedLoopCountsTasks(t *testing.T) {
	load, err := ClosedLoop(t.Context(), 2, 3, 5*time.Millisecond, func(_ context.Context, i int) error {
		if i < 0 || i > 2 {
			return fmt.Errorf("task %d", i)
		}
		return nil
	})
	if err != nil || load.PerSecond <= 0 || load.P99 < 0 {
		t.Errorf("load is %+v, %v", load, err)
	}
	if load, err := ClosedLoop(t.Context(), 1, 1, 0, func(context.Context, int) error { return nil }); err != nil || load.PerSecond <= 0 {
		t.Errorf("load in no time is %+v, %v", load, err)
	}
	broken := errors.New("broken")
	if _, err := ClosedLoop(t.Context(), 2, 3, time.Hour, func(context.Context, int) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error is %v, want %v", err, broken)
	}
}

func TestMeasureOfAProcess(t *testing.T) {
	if os.Getenv("GOSERINI_BENCH_CHILD") != "" {
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestMeasureOfAProcess")
	cmd.Env = append(os.Environ(), "GOSERINI_BENCH_CHILD=1")
	u, err := Measure(cmd)
	if err != nil || u.Wall <= 0 || u.CPU <= 0 {
		t.Errorf("usage is %+v, %v", u, err)
	}
	if m, err := ReadMemory(); err == nil && m.Anonymous < 1<<20 {
		t.Errorf("this process holds only %+v", m)
	}
}

func TestEachTimesTasksOneByOne(t *testing.T) {
	var done []int
	c := Each("tasks", 3, func(_ context.Context, i int) error {
		done = append(done, i)
		return nil
	})
	b, err := c.Run(t.Context())
	if err != nil || fmt.Sprint(done) != "[0 1 2]" || len(b.Wall) != 3 || b.Thread != nil && len(b.Thread) != 3 {
		t.Errorf("batch is %+v, %v, tasks done %v", b, err, done)
	}
	if onThread := OnThread([]Batch{{Wall: seconds(2), Thread: seconds(1)}}); Of(onThread, Mean) != 1 {
		t.Errorf("on the thread it is %v", onThread)
	}
	if onThread := OnThread([]Batch{{Wall: seconds(2)}}); onThread != nil {
		t.Errorf("unknown thread time is %v", onThread)
	}
	broken := errors.New("broken")
	if _, err := Each("tasks", 3, func(context.Context, int) error { return broken }).Run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}
