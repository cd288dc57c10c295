package experiment

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"goserini/internal/eval"
	"goserini/internal/judge"
	"goserini/internal/lockfile"
	"goserini/internal/trajectory"
)

// Known is what is known about a run's questions, to say how it stands while it goes on. Any of
// it may be missing.
type Known struct {
	// Answers are the right answers by query id.
	Answers map[string]judge.Reference
	// Evidence are the judgments that recall is taken over.
	Evidence map[string]map[string]int
	// Price returns what a model's usage cost; false if the price is not known.
	Price func(model string, u trajectory.Usage) (usd float64, known bool)
}

// Standing says how far a run has come and what it has come to so far. Its shares are over the
// questions that have a result.
type Standing struct {
	Questions int `json:"questions"`
	Done      int `json:"done"`
	Completed int `json:"completed"`
	TimedOut  int `json:"timed_out"`
	Failed    int `json:"failed"`
	// Reasons count the questions that did not complete, by the reason of their record.
	Reasons map[string]int `json:"reasons,omitempty"`
	// Running is the number of questions under way.
	Running int `json:"running"`

	// Answerable results are those whose answer is known; of these Correct are right by
	// builtin/exact, and Undecided are what it cannot tell.
	Answerable int `json:"answerable"`
	Correct    int `json:"correct"`
	Undecided  int `json:"undecided"`

	// Judged results have evidence; the recalls are means over them.
	Judged    int     `json:"judged"`
	Surfaced  float64 `json:"surfaced_recall"`
	Previewed float64 `json:"previewed_recall"`
	Opened    float64 `json:"opened_recall"`
	Cited     float64 `json:"cited_recall"`

	ToolCalls int              `json:"tool_calls"`
	Usage     trajectory.Usage `json:"usage"`
	// CostUSD is what the results cost, at least, if AtLeast; nil where no price is known.
	CostUSD *float64 `json:"cost_usd"`
	AtLeast bool     `json:"cost_at_least,omitempty"`

	// ElapsedSeconds is how long this session has worked; Left is how long the rest will take at
	// its pace, nil where it has none yet.
	ElapsedSeconds float64  `json:"elapsed_seconds"`
	PerMinute      float64  `json:"questions_per_minute"`
	LeftSeconds    *float64 `json:"left_seconds"`
}

// CachedShare is the share of input tokens that came from a cache, 0 without input.
func (s Standing) CachedShare() float64 {
	all := s.Usage.Input + s.Usage.CacheRead + s.Usage.CacheWrite
	if all == 0 {
		return 0
	}
	return float64(s.Usage.CacheRead) / float64(all)
}

// Watch follows a run. It is safe for concurrent use and remembers a few numbers of each result.
type Watch struct {
	known     Known
	questions int
	started   time.Time

	mu      sync.Mutex
	byID    map[string]share
	running map[string]bool
	// fresh counts the results of this session.
	fresh int
}

// share is what one result adds to a standing.
type share struct {
	status                             trajectory.Status
	reason                             string
	answerable, correct, undecided     bool
	judged                             bool
	surfaced, previewed, opened, cited float64
	calls                              int
	usage                              trajectory.Usage
	cost                               float64
	unpriced                           bool
}

// NewWatch follows a run of so many questions whose session started at a time.
func NewWatch(questions int, started time.Time, known Known) *Watch {
	return &Watch{known: known, questions: questions, started: started, byID: map[string]share{}, running: map[string]bool{}}
}

// Observe takes what Run reports.
func (w *Watch) Observe(n Notice) {
	switch {
	case n.Record != nil:
		w.Add(*n.Record, true)
	case n.Event != nil && n.Event.Header != nil:
		w.mu.Lock()
		w.running[n.QueryID] = true
		w.mu.Unlock()
	}
}

// Add takes a result. fresh says that it is of this session.
func (w *Watch) Add(rec trajectory.Record, fresh bool) {
	s := w.known.share(rec)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.byID[rec.QueryID] = s
	delete(w.running, rec.QueryID)
	if fresh {
		w.fresh++
	}
}

func (k Known) share(rec trajectory.Record) share {
	s := share{status: rec.Status, reason: rec.Reason, calls: rec.ExecutedCalls, usage: rec.Usage}
	for _, e := range rec.Earlier {
		s.usage = s.usage.Add(e.Usage)
	}
	if ref, ok := k.Answers[rec.QueryID]; ok {
		s.answerable = true
		// The judge without a model never fails.
		if v, err := (judge.Exact{}).Judge(context.Background(), judge.NewItem(rec, ref)); err == nil && rec.Status == trajectory.Completed {
			s.correct, s.undecided = v.Correct != nil && *v.Correct, v.State == judge.Undecided
		}
	}
	if relevant := eval.Relevant(k.Evidence[rec.QueryID], 1); len(relevant) > 0 {
		s.judged = true
		n := float64(len(relevant))
		s.surfaced, s.previewed = float64(eval.Hits(rec.Surfaced, relevant))/n, float64(eval.Hits(rec.Previewed, relevant))/n
		s.opened, s.cited = float64(eval.Hits(rec.Opened, relevant))/n, float64(eval.Hits(rec.Cited, relevant))/n
	}
	s.unpriced = true
	if k.Price != nil {
		if usd, ok := k.Price(rec.Model, s.usage); ok {
			s.cost, s.unpriced = usd, false
		}
	}
	if rec.UncountedCalls > 0 {
		s.unpriced = true
	}
	return s
}

// Standing says how the run stands now.
func (w *Watch) Standing(now time.Time) Standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Standing{Questions: w.questions, Done: len(w.byID), Running: len(w.running), Reasons: map[string]int{}}
	cost, priced := 0.0, false
	for _, r := range w.byID {
		s.count(r)
		cost += r.cost
		priced = priced || !r.unpriced
		s.AtLeast = s.AtLeast || r.unpriced
	}
	if s.Judged > 0 {
		n := float64(s.Judged)
		s.Surfaced, s.Previewed, s.Opened, s.Cited = s.Surfaced/n, s.Previewed/n, s.Opened/n, s.Cited/n
	}
	if priced {
		s.CostUSD = &cost
	}
	s.ElapsedSeconds = max(0, now.Sub(w.started).Seconds())
	if w.fresh > 0 && s.ElapsedSeconds > 0 && !w.started.IsZero() {
		s.PerMinute = float64(w.fresh) / s.ElapsedSeconds * 60
		left := max(0, float64(s.Questions-s.Done)) / s.PerMinute * 60
		s.LeftSeconds = &left
	}
	return s
}

func (s *Standing) count(r share) {
	switch r.status {
	case trajectory.Completed:
		s.Completed++
	case trajectory.Timeout:
		s.TimedOut++
	default:
		s.Failed++
	}
	if r.status != trajectory.Completed {
		s.Reasons[r.reason]++
	}
	for counter, yes := range map[*int]bool{&s.Answerable: r.answerable, &s.Correct: r.correct, &s.Undecided: r.undecided, &s.Judged: r.judged} {
		if yes {
			*counter++
		}
	}
	s.Surfaced += r.surfaced
	s.Previewed += r.previewed
	s.Opened += r.opened
	s.Cited += r.cited
	s.ToolCalls += r.calls
	s.Usage = s.Usage.Add(r.usage)
}

// Status is how the run in a directory stands, seen from outside.
type Status struct {
	Standing
	Dir string `json:"dir"`
	// Owner is the process that works on it, nil if none does.
	Owner    *lockfile.Owner `json:"owner,omitempty"`
	Finished bool            `json:"finished"`
	Model    string          `json:"model"`
	// Shard is the part of a run that the directory holds.
	Shard Shard `json:"shard,omitzero"`
	// Sessions is the number of processes that have worked on it, one after the other.
	Sessions int `json:"sessions"`
	// SetAside counts trajectories that stand for no result: of questions that a session left
	// unfinished, whose use is not in Usage, and of attempts that were made again.
	SetAside int `json:"set_aside"`
}

// ReadStatus reads how a run stands, also while another process works on it.
func ReadStatus(dir string, known Known) (Status, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return Status{}, err
	}
	st := Status{Dir: dir, Finished: m.Finished, Model: m.Spec.Model.Name, Shard: m.Spec.Shard, Sessions: len(m.Sessions)}
	if owner, held, err := lockfile.ReadOwner(filepath.Join(dir, lockFile)); err == nil && held {
		st.Owner = &owner
	}
	var started time.Time
	now := time.Now()
	if n := len(m.Sessions); n > 0 {
		started = m.Sessions[n-1].StartedAt
		if end := m.Sessions[n-1].EndedAt; end != nil {
			now = *end
		}
	}
	w := NewWatch(len(Select(m.Spec.Shard, make([]struct{}, m.Spec.Questions))), started, known)
	last := started
	results := map[string]bool{}
	err = EachResult(dir, func(rec trajectory.Record) error {
		ended := rec.StartedAt.Add(time.Duration(rec.ElapsedSeconds * float64(time.Second)))
		w.Add(rec, !ended.Before(started))
		results[rec.Trajectory] = true
		if ended.After(last) {
			last = ended
		}
		return nil
	})
	if err != nil {
		return st, err
	}
	if st.Owner == nil && (len(m.Sessions) == 0 || m.Sessions[len(m.Sessions)-1].EndedAt == nil) {
		now = last // a session that was killed ended at some time after its last result
	}
	st.Standing = w.Standing(now)
	return st, st.countUnderWay(results, started)
}

// countUnderWay counts the trajectories that have led to no result.
func (st *Status) countUnderWay(results map[string]bool, started time.Time) error {
	names, err := trajectoryNames(filepath.Join(st.Dir, trajectoriesDir))
	if err != nil {
		return err
	}
	for _, name := range names {
		if results[trajectoriesDir+"/"+name] {
			continue
		}
		info, err := os.Stat(filepath.Join(st.Dir, trajectoriesDir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if st.Owner != nil && !info.ModTime().Before(started) {
			st.Running++
		} else {
			st.SetAside++
		}
	}
	aside, err := trajectoryNames(filepath.Join(st.Dir, asideDir))
	for _, name := range aside {
		if !strings.HasPrefix(name, tornPrefix) {
			st.SetAside++
		}
	}
	return err
}
