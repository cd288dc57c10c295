package experiment

import (
	"fmt"
	"os"
	"path/filepath"

	"goserini/internal/trajectory"
)

// attempt is one try at a question while its trajectory is being written. The trajectory of a
// question that has a result already, and is tried again, gets a name of its own until the new result
// is kept: until then the old result and its trajectory stand.
type attempt struct {
	*trajectory.Writer
	d       *runDir
	queryID string
	// path is where it is written, final where the question's trajectory belongs.
	path, final string
}

// againSuffix marks the trajectory of a question that is tried again. No other has such a name: see
// FileName.
const againSuffix = ".again.jsonl"

// trajectoryPath is the path of a query's trajectory in a run directory, with slashes.
func trajectoryPath(queryID string) string {
	return trajectoriesDir + "/" + FileName(queryID) + ".jsonl"
}

func (d *runDir) place(queryID string) (final, again string) {
	stem := filepath.Join(d.dir, trajectoriesDir, FileName(queryID))
	return stem + ".jsonl", stem + againSuffix
}

// begin starts the trajectory of a question; what an interrupted session left under its name is
// set aside.
func (d *runDir) beginAttempt(queryID string) (*attempt, error) {
	a := &attempt{d: d, queryID: queryID}
	var again string
	a.final, again = d.place(queryID)
	a.path = a.final
	if d.has(queryID) {
		a.path = again
	}
	if err := d.setAside(queryID, a.path); err != nil {
		return nil, err
	}
	w, err := trajectory.Create(a.path)
	a.Writer = w
	return a, err
}

// setAside moves a trajectory that stands for no result out of the way, if there is one.
func (d *runDir) setAside(queryID, path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Size() == 0 {
		return nil //nolint:nilerr // nothing is there, or nothing is in it
	}
	aside, err := d.aside(FileName(queryID))
	if err != nil {
		return err
	}
	if err := os.Rename(path, aside); err != nil {
		return fmt.Errorf("set a trajectory aside: %w", err)
	}
	return nil
}

// stand makes the trajectory of a result that was kept the question's own.
func (a *attempt) stand() error { return a.d.promote(a.queryID, a.path, a.final) }

func (d *runDir) promote(queryID, path, final string) error {
	if path == final {
		return nil
	}
	if err := d.setAside(queryID, final); err != nil {
		return err
	}
	if err := os.Rename(path, final); err != nil {
		return fmt.Errorf("name a trajectory: %w", err)
	}
	return nil
}

// dropUnpaid removes the trajectory of a question that could not begin.
func (a *attempt) dropUnpaid(rec trajectory.Record) error {
	if rec.Usage != (trajectory.Usage{}) || rec.UncountedCalls > 0 {
		return nil
	}
	return os.Remove(a.path)
}

// dropEmpty removes a trajectory in which nothing was written.
func (a *attempt) dropEmpty() error {
	if info, err := os.Stat(a.path); err != nil || info.Size() > 0 {
		return nil //nolint:nilerr // one that is not there is not empty
	}
	return os.Remove(a.path)
}

// recover keeps the results of questions that came to their end while nobody could keep them: the
// process was killed between the last event and the result, which follows from the events; or between
// the result of a new try and the naming of its trajectory.
func (d *runDir) recover() error {
	for _, q := range d.questions {
		final, again := d.place(q.ID)
		path := final
		if d.has(q.ID) {
			path = again
		}
		rec, ok := readEnded(path, q)
		if !ok {
			continue
		}
		d.mu.Lock()
		kept := d.byID[q.ID].started.Equal(rec.StartedAt)
		d.mu.Unlock()
		if !kept || path == final {
			if _, err := d.keep(rec); err != nil {
				return err
			}
		}
		if err := d.promote(q.ID, path, final); err != nil {
			return err
		}
	}
	return nil
}

// readEnded reads the record that follows from a trajectory with its end. One without, or one that
// says that the question was interrupted, is no result.
func readEnded(path string, q Question) (trajectory.Record, bool) {
	file, err := trajectory.ReadFile(path)
	if err != nil || !file.Whole {
		return trajectory.Record{}, false
	}
	rec := trajectory.Replay(file.Events)
	if rec.QueryID != q.ID || rec.Reason == trajectory.Interrupted || rec.Reason == runBudget {
		return rec, false
	}
	rec.Question, rec.Trajectory = q.Text, trajectoryPath(q.ID)
	return rec, true
}

// runBudget is the reason of a question that could not begin; see docs/agent.md.
const runBudget = "run_budget"
