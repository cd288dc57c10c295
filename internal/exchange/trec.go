package exchange

import (
	"fmt"
	"io"
	"slices"

	"goserini/internal/experiment"
	"goserini/internal/trajectory"
	"goserini/internal/trec"
)

// readTREC reads a run of six columns: a ranking a query, in the order of its scores.
func readTREC(path string, opts Options, each func(Answered) error) (Run, error) {
	run := Run{Format: TREC}
	lines, err := trec.ReadRun(path)
	if err != nil {
		return run, err
	}
	run.Model = lines[0].Tag
	run.note("a ranking tells of no answer and no steps: its documents are surfaced, none is shown")
	byQuery := lines.ByQuery()
	for _, id := range lines.QueryIDs() {
		ranking := byQuery[id]
		slices.SortStableFunc(ranking, func(a, b trec.RunLine) int {
			switch {
			case a.Score > b.Score:
				return -1
			case a.Score < b.Score:
				return 1
			}
			return 0
		})
		rec := trajectory.Record{QueryID: id, Question: opts.question(id), Status: trajectory.Completed, Model: run.Model,
			ToolCallCounts: map[string]int{}, BestRank: map[string]int{},
			Sets: trajectory.Sets{Surfaced: []string{}, Previewed: []string{}, Opened: []string{}, Cited: []string{}}}
		for i, l := range ranking {
			rec.Surfaced = append(rec.Surfaced, l.DocID)
			rec.BestRank[l.DocID] = i + 1
		}
		if err := each(Answered{Record: rec}); err != nil {
			return run, err
		}
	}
	return run, nil
}

// Set names one of the document sets of a query.
type Set string

// The sets that can be written as rankings.
const (
	Surfaced  Set = "surfaced"
	Previewed Set = "previewed"
	Opened    Set = "opened"
	Cited     Set = "cited"
)

// Of returns the set of a record.
func (s Set) Of(rec trajectory.Record) ([]string, error) {
	switch s {
	case Surfaced:
		return rec.Surfaced, nil
	case Previewed:
		return rec.Previewed, nil
	case Opened:
		return rec.Opened, nil
	case Cited:
		return rec.Cited, nil
	}
	return nil, fmt.Errorf("set %q: want %s, %s, %s or %s", s, Surfaced, Previewed, Opened, Cited)
}

// WriteTREC writes a set of every query of a run directory as a run of six columns. The documents
// stand in the order in which they first appeared; the score is the length of the list less the
// position, so that every program keeps that order.
func WriteTREC(w io.Writer, dir string, set Set, tag string) (queries int, err error) {
	out, err := trec.NewRunWriter(w, tag)
	if err != nil {
		return 0, err
	}
	err = experiment.EachResult(dir, func(rec trajectory.Record) error {
		ids, err := set.Of(rec)
		if err != nil {
			return err
		}
		queries++
		ranking := make([]trec.ScoredDoc, len(ids))
		for i, id := range ids {
			ranking[i] = trec.ScoredDoc{DocID: id, Score: float32(len(ids) - i)}
		}
		return out.Write(rec.QueryID, ranking)
	})
	if err != nil {
		return queries, err
	}
	return queries, out.Flush()
}
