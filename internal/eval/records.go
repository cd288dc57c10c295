package eval

import (
	"fmt"
	"slices"

	"goserini/internal/trajectory"
	"goserini/internal/trec"
)

// Input is what the scores of a run are computed from.
type Input struct {
	Records []trajectory.Record
	// QuerySet names the queries that were to be run, in any order; nil means the queries of the records.
	QuerySet []string
	// Evidence and Gold are judgments of documents that are needed to answer, and of those that
	// contain the answer; grades above 0 are relevant. Either may be nil.
	Evidence, Gold trec.Qrels
	// Outcomes are one judge's decisions by query id, nil if the run was not judged.
	Outcomes map[string]Outcome
	// Judge names who decided.
	Judge string
	// Price returns what a model's usage cost; false if the price is not known. May be nil.
	Price func(model string, u trajectory.Usage) (usd float64, known bool)
	// Exists reports whether the collection has a document. May be nil.
	Exists func(docid string) bool
	// Bootstrap says how intervals are drawn; the zero value is DefaultBootstrap.
	Bootstrap Bootstrap
}

// relevantLevel is the least grade of an evidence or gold document.
const relevantLevel = 1

// Evaluate computes the scores of a run. Equal input gives equal scores, to the last bit.
func Evaluate(in Input) (Scores, error) {
	records, err := byQuery(in.Records)
	if err != nil {
		return Scores{}, fmt.Errorf("evaluate records: %w", err)
	}
	set, err := querySet(in.QuerySet, records)
	if err != nil {
		return Scores{}, fmt.Errorf("evaluate records: %w", err)
	}
	in.Bootstrap = in.Bootstrap.orDefault()
	s := Scores{
		Version:  ScoresVersion,
		Queries:  len(set),
		Interval: Interval{Confidence: Confidence, Method: "percentile bootstrap over queries", Bootstrap: in.Bootstrap},
	}
	known := asSet(set)
	for id := range records {
		if !known[id] {
			s.NotInSet = append(s.NotInSet, id)
		}
	}
	slices.Sort(s.NotInSet)
	for _, id := range set {
		if records[id] == nil {
			s.NoRecord = append(s.NoRecord, id)
		}
		s.PerQuery = append(s.PerQuery, in.query(id, records[id]))
	}
	s.aggregate(in)
	return s, nil
}

func byQuery(records []trajectory.Record) (map[string]*trajectory.Record, error) {
	out := make(map[string]*trajectory.Record, len(records))
	for i := range records {
		rec := &records[i]
		if out[rec.QueryID] != nil {
			return nil, fmt.Errorf("query %q has two records: keep one", rec.QueryID)
		}
		out[rec.QueryID] = rec
	}
	return out, nil
}

// querySet sorts the ids, so that resampling does not depend on the order of files.
func querySet(set []string, records map[string]*trajectory.Record) ([]string, error) {
	if set == nil {
		for id := range records {
			set = append(set, id)
		}
	}
	set = slices.Clone(set)
	slices.Sort(set)
	if len(set) == 0 {
		return nil, fmt.Errorf("there are no queries")
	}
	for i := range set[1:] {
		if set[i] == set[i+1] {
			return nil, fmt.Errorf("query %q stands in the query set twice", set[i])
		}
	}
	return set, nil
}

// query scores one query; rec is nil if it was not run.
func (in Input) query(id string, rec *trajectory.Record) QueryScores {
	q := QueryScores{QueryID: id, Status: StatusNoRecord}
	var sets trajectory.Sets
	if rec != nil {
		sets = rec.Sets
		q.take(rec)
		if in.Price != nil {
			if usd, known := in.Price(rec.Model, rec.Usage); known {
				q.CostUSD = &usd
			}
		}
	}
	evidence, gold := Relevant(in.Evidence[id], relevantLevel), Relevant(in.Gold[id], relevantLevel)
	if in.Evidence != nil {
		q.Evidence = countRecall(sets, evidence)
	}
	if in.Gold != nil {
		q.Gold = countRecall(sets, gold)
	}
	q.Fates = fates(rec, evidence, gold)
	q.Citations = countCitations(sets, evidence, in.Exists)
	if o, ok := in.Outcomes[id]; ok && rec != nil {
		q.outcome = &o
		q.Unanswerable = o.Unanswerable
		if o.Decided || !o.Judged {
			q.Correct = &o.Correct
		}
	}
	return q
}

func (q *QueryScores) take(rec *trajectory.Record) {
	q.Status = string(rec.Status)
	q.Confidence = rec.Answer.Confidence
	q.ToolCallCounts = rec.ToolCallCounts
	q.BlockedCalls, q.ToolErrors = rec.BlockedCalls, rec.ToolErrors
	q.Turns, q.ElapsedSeconds = rec.Turns, rec.ElapsedSeconds
	q.Steered, q.Usage, q.UncountedCalls = rec.Steered, rec.Usage, rec.UncountedCalls
}

func countRecall(sets trajectory.Sets, relevant map[string]bool) *QueryRecall {
	return &QueryRecall{
		Relevant:  len(relevant),
		Surfaced:  Hits(sets.Surfaced, relevant),
		Previewed: Hits(sets.Previewed, relevant),
		Opened:    Hits(sets.Opened, relevant),
		Cited:     Hits(sets.Cited, relevant),
		Behavior:  Hits(sets.Behavior(), relevant),
	}
}
