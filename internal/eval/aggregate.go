package eval

import (
	"maps"
	"slices"

	"goserini/internal/trajectory"
)

// aggregate computes everything that is over queries from s.PerQuery.
func (s *Scores) aggregate(in Input) {
	m := &means{n: len(s.PerQuery)}
	s.Statuses = countStatuses(s.PerQuery)
	if in.Outcomes != nil {
		s.Accuracy = m.accuracy(s.PerQuery, in.Judge)
		s.Calibration = calibration(s.PerQuery)
	}
	if in.Evidence != nil {
		s.Evidence = m.coverage(s.PerQuery, func(q QueryScores) *QueryRecall { return q.Evidence })
		s.Evidence.trace(s.PerQuery, func(f Fate) bool { return f.Evidence })
	}
	if in.Gold != nil {
		s.Gold = m.coverage(s.PerQuery, func(q QueryScores) *QueryRecall { return q.Gold })
		s.Gold.trace(s.PerQuery, func(f Fate) bool { return f.Gold })
	}
	s.Citations = m.citations(s.PerQuery)
	s.Effort = m.effort(s.PerQuery)
	if in.Price != nil {
		s.Effort.Cost = m.cost(s.PerQuery)
	}
	m.intervals(in.Bootstrap)
}

func countStatuses(queries []QueryScores) []StatusCount {
	rows := map[string]*StatusCount{}
	for _, q := range queries {
		row := rows[q.Status]
		if row == nil {
			row = &StatusCount{Status: q.Status}
			rows[q.Status] = row
		}
		row.Queries++
		if q.Steered {
			row.Steered++
		}
		if q.right() {
			row.Correct++
		}
		if q.undecided() {
			row.Undecided++
		}
	}
	var out []StatusCount
	for _, status := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, *rows[status])
	}
	return out
}

// undecided reports whether a judge looked and gave no decision.
func (q QueryScores) undecided() bool {
	return q.outcome != nil && q.outcome.Judged && !q.outcome.Decided
}

func (m *means) accuracy(queries []QueryScores, judge string) *Accuracy {
	a := &Accuracy{Judge: judge}
	right, completed, rightCompleted := make([]float64, m.n), make([]float64, m.n), make([]float64, m.n)
	worked, rightWorked := make([]float64, m.n), make([]float64, m.n)
	for i, q := range queries {
		if q.right() {
			a.Correct++
			right[i] = 1
		}
		if q.Status == string(trajectory.Completed) {
			completed[i], rightCompleted[i] = 1, right[i]
			if q.outcome == nil {
				a.NoVerdict++
			}
		}
		if q.Status != string(trajectory.Failed) && q.Status != StatusNoRecord {
			worked[i], rightWorked[i] = 1, right[i]
		}
		if q.undecided() {
			a.Undecided++
		}
		if q.Unanswerable {
			a.Unanswerable++
			if q.right() {
				a.UnanswerableCorrect++
			}
		}
	}
	a.All = m.mean(right)
	a.Completed = m.ratio(rightCompleted, completed)
	a.ExcludingFailed = m.ratio(rightWorked, worked)
	return a
}

// calibration takes the answers that a judge decided on.
func calibration(queries []QueryScores) *Calibration {
	var claims []Claim
	for _, q := range queries {
		if q.outcome != nil && q.outcome.Judged && q.outcome.Decided {
			claims = append(claims, Claim{QueryID: q.QueryID, Confidence: q.Confidence, Correct: q.outcome.Correct})
		}
	}
	c := Calibrate(claims)
	return &c
}

func (m *means) coverage(queries []QueryScores, of func(QueryScores) *QueryRecall) *Coverage {
	c := &Coverage{}
	relevant := make([]int, m.n)
	for i, q := range queries {
		if relevant[i] = of(q).Relevant; relevant[i] > 0 {
			c.QueriesWithRelevant++
		}
	}
	shared := newRelevantCounts(relevant)
	recall := func(hits func(*QueryRecall) int) SetRecall {
		counts := make([]int, m.n)
		for i, q := range queries {
			counts[i] = hits(of(q))
		}
		return m.setRecall(counts, shared)
	}
	c.Surfaced = recall(func(r *QueryRecall) int { return r.Surfaced })
	c.Previewed = recall(func(r *QueryRecall) int { return r.Previewed })
	c.Opened = recall(func(r *QueryRecall) int { return r.Opened })
	c.Cited = recall(func(r *QueryRecall) int { return r.Cited })
	c.Behavior = recall(func(r *QueryRecall) int { return r.Behavior })
	return c
}

// trace fills in what became of the documents that count.
func (c *Coverage) trace(queries []QueryScores, counts func(Fate) bool) {
	for _, q := range queries {
		for _, f := range q.Fates {
			if counts(f) {
				c.Funnel.count(f.Stage)
			}
		}
	}
	c.ByDepth = depthCurve(queries, counts)
}

func (m *means) effort(queries []QueryScores) Effort {
	var e Effort
	tools := map[string][]float64{}
	input, cached := make([]float64, m.n), make([]float64, m.n)
	for i, q := range queries {
		for tool, n := range q.ToolCallCounts {
			if tools[tool] == nil {
				tools[tool] = make([]float64, m.n)
			}
			tools[tool][i] = float64(n)
		}
		e.Usage = e.Usage.Add(q.Usage)
		e.UncountedCalls += q.UncountedCalls
		input[i], cached[i] = float64(allInput(q.Usage)), float64(q.Usage.CacheRead)
	}
	e.ByTool = make(map[string]*Mean, len(tools))
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		e.ByTool[tool] = m.mean(tools[tool])
	}
	each := func(value func(QueryScores) float64) *Mean {
		values := make([]float64, m.n)
		for i, q := range queries {
			values[i] = value(q)
		}
		return m.mean(values)
	}
	e.ToolCalls = each(func(q QueryScores) float64 { return float64(q.toolCalls()) })
	e.BlockedCalls = each(func(q QueryScores) float64 { return float64(q.BlockedCalls) })
	e.ToolErrors = each(func(q QueryScores) float64 { return float64(q.ToolErrors) })
	e.Turns = each(func(q QueryScores) float64 { return float64(q.Turns) })
	e.ElapsedSeconds = each(func(q QueryScores) float64 { return q.ElapsedSeconds })
	e.Tokens = each(func(q QueryScores) float64 { return float64(q.tokens()) })
	e.CachedShare = m.ratio(cached, input)
	e.Steered = each(func(q QueryScores) float64 { return indicator(q.Steered) })
	e.Timeouts = each(func(q QueryScores) float64 { return indicator(q.Status == string(trajectory.Timeout)) })
	return e
}

func (m *means) cost(queries []QueryScores) *Cost {
	c := &Cost{}
	usd, right := make([]float64, m.n), make([]float64, m.n)
	for i, q := range queries {
		right[i] = indicator(q.right())
		switch {
		case q.CostUSD != nil:
			usd[i] = *q.CostUSD
		case q.Status != StatusNoRecord:
			c.Unpriced++
		}
	}
	c.TotalUSD = sum(usd)
	if c.Unpriced == 0 {
		c.PerQueryUSD, c.PerCorrectUSD = m.mean(usd), m.ratio(usd, right)
	}
	return c
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
