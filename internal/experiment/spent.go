package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"goserini/internal/trajectory"
)

// Spent is what a run has used so far, by model: results, attempts before them, and questions that
// were interrupted.
type Spent struct {
	ByModel map[string]trajectory.Usage
	// UncountedCalls spent tokens that no usage tells of.
	UncountedCalls int
}

func (s *Spent) add(model string, u trajectory.Usage) {
	s.ByModel[model] = s.ByModel[model].Add(u)
}

// Total is the sum over all models.
func (s Spent) Total() trajectory.Usage {
	var sum trajectory.Usage
	for _, u := range s.ByModel {
		sum = sum.Add(u)
	}
	return sum
}

// ReadSpent adds up what the run in a directory has used; a directory that is not there has used
// nothing.
func ReadSpent(dir string) (Spent, error) {
	s := Spent{ByModel: map[string]trajectory.Usage{}}
	counted, kept := map[string]bool{}, map[string]time.Time{}
	err := EachResult(dir, func(rec trajectory.Record) error {
		counted[rec.Trajectory], kept[rec.QueryID] = true, rec.StartedAt
		s.add(rec.Model, rec.Usage)
		s.UncountedCalls += rec.UncountedCalls
		for _, e := range rec.Earlier {
			s.add(rec.Model, e.Usage)
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	for _, folder := range []string{trajectoriesDir, asideDir} {
		names, err := trajectoryNames(filepath.Join(dir, folder))
		if err != nil {
			return s, err
		}
		for _, name := range names {
			if !counted[folder+"/"+name] {
				s.addUncounted(filepath.Join(dir, folder, name), folder == asideDir, kept)
			}
		}
	}
	return s, nil
}

// trajectoryNames lists the trajectories in a folder, none if it is not there.
func trajectoryNames(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read run directory: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".jsonl") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// addUncounted counts a trajectory that no result names. One with its end that was set aside was a
// result before it was tried again, and is counted there; one that was not is a result that will yet be
// kept, unless it is that of the time in kept, whose trajectory has not got its name yet. What cannot be
// read told nothing.
func (s *Spent) addUncounted(path string, aside bool, kept map[string]time.Time) {
	file, err := trajectory.ReadFile(path)
	if err != nil {
		return
	}
	rec := trajectory.Replay(file.Events)
	ended := file.Whole && rec.Reason != trajectory.Interrupted && rec.Reason != runBudget
	if at, ok := kept[rec.QueryID]; ended && (aside || ok && at.Equal(rec.StartedAt)) {
		return
	}
	s.add(rec.Model, rec.Usage)
	s.UncountedCalls += rec.UncountedCalls
}
