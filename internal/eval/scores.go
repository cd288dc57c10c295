package eval

import (
	"strings"

	"goserini/internal/trajectory"
)

// ScoresVersion is the version of scores.json.
//
//	1: first version
const ScoresVersion = 1

// Scores are the measures of a run of the agent. Shares are between 0 and 1. Every query
// of the set is in every denominator, unless a name says otherwise; a figure that is
// not defined is nil.
type Scores struct {
	Version int `json:"version"`
	// Queries is the size of the query set.
	Queries int `json:"queries"`
	// NoRecord are queries of the set without a record; NotInSet have a record and are left out.
	NoRecord []string `json:"no_record,omitempty"`
	NotInSet []string `json:"not_in_set,omitempty"`

	Statuses []StatusCount `json:"statuses"`
	// Accuracy is nil if the run was not judged.
	Accuracy *Accuracy `json:"accuracy"`
	// Evidence and Gold are nil without such judgments.
	Evidence    *Coverage    `json:"evidence"`
	Gold        *Coverage    `json:"gold"`
	Citations   Citations    `json:"citations"`
	Calibration *Calibration `json:"calibration"`
	Effort      Effort       `json:"effort"`

	Interval Interval      `json:"interval"`
	PerQuery []QueryScores `json:"per_query"`
}

// Interval says what stands behind the bounds of every mean.
type Interval struct {
	Confidence float64 `json:"confidence"`
	Method     string  `json:"method"`
	Bootstrap
}

// StatusCount is a row of the table by status.
type StatusCount struct {
	// Status is completed, timeout, failed or no_record.
	Status  string `json:"status"`
	Queries int    `json:"queries"`
	// Steered counts those that were told to hurry.
	Steered int `json:"steered"`
	Correct int `json:"correct"`
	// Undecided were judged without a decision.
	Undecided int `json:"undecided"`
}

// StatusNoRecord stands for a query that was not run.
const StatusNoRecord = "no_record"

// Accuracy is the share of right answers. It names its judge: a number of builtin/exact and one of
// a model do not compare.
type Accuracy struct {
	Judge string `json:"judge"`
	// All is over every query of the set, whatever became of it.
	All *Mean `json:"accuracy"`
	// Completed is over the queries that ended with an answer.
	Completed *Mean `json:"accuracy_completed"`
	// ExcludingFailed leaves out queries that failed or were not run: what the system would have
	// scored if the machinery had not broken, if the broken queries were like the others.
	ExcludingFailed *Mean `json:"accuracy_excluding_failed"`
	Correct         int   `json:"correct"`
	// Undecided were judged without a decision, NoVerdict were not judged though they completed.
	// Both count as not correct.
	Undecided int `json:"undecided"`
	NoVerdict int `json:"no_verdict"`
	// Unanswerable questions are right if the answer says that nothing was found.
	Unanswerable        int `json:"unanswerable"`
	UnanswerableCorrect int `json:"unanswerable_correct"`
}

// Coverage follows relevant documents through a run.
type Coverage struct {
	// Surfaced, Previewed, Opened, Cited and Behavior (opened ∪ cited) are the recalls of those sets.
	Surfaced  SetRecall `json:"surfaced"`
	Previewed SetRecall `json:"previewed"`
	Opened    SetRecall `json:"opened"`
	Cited     SetRecall `json:"cited"`
	Behavior  SetRecall `json:"behavior"`
	// QueriesWithRelevant have at least one relevant document.
	QueriesWithRelevant int    `json:"queries_with_relevant"`
	Funnel              Funnel `json:"funnel"`
	// ByDepth is recall if the model had been shown everything down to a depth.
	ByDepth []DepthPoint `json:"by_depth"`
}

// Effort is what the run took.
type Effort struct {
	ToolCalls *Mean `json:"tool_calls"`
	// ByTool has every tool that was called, refused calls included.
	ByTool         map[string]*Mean `json:"tool_calls_by_tool"`
	BlockedCalls   *Mean            `json:"blocked_calls"`
	ToolErrors     *Mean            `json:"tool_errors"`
	Turns          *Mean            `json:"turns"`
	ElapsedSeconds *Mean            `json:"elapsed_seconds"`
	Tokens         *Mean            `json:"tokens"`
	Usage          trajectory.Usage `json:"usage"`
	// UncountedCalls are model calls whose tokens no server counted: where it is not 0, tokens,
	// usage and cost are lower bounds.
	UncountedCalls int `json:"uncounted_calls,omitempty"`
	// CachedShare is the share of all input tokens that the provider read from its cache.
	CachedShare *Mean `json:"cached_share"`
	Steered     *Mean `json:"steered"`
	Timeouts    *Mean `json:"timeouts"`
	// Cost is nil without a price table.
	Cost *Cost `json:"cost"`
}

// Cost is usage times prices.
type Cost struct {
	TotalUSD float64 `json:"total_usd"`
	// Unpriced is the number of records whose model has no known price: they are not in
	// the total, and the other figures are nil then.
	Unpriced      int   `json:"unpriced"`
	PerQueryUSD   *Mean `json:"per_query_usd"`
	PerCorrectUSD *Mean `json:"per_correct_usd"`
}

// QueryScores are the figures of one query.
type QueryScores struct {
	QueryID string `json:"query_id"`
	Status  string `json:"status"`
	// Correct is nil where there is no decision.
	Correct      *bool `json:"correct"`
	Unanswerable bool  `json:"unanswerable,omitempty"`
	// Confidence is between 0 and 100.
	Confidence *float64       `json:"confidence"`
	Evidence   *QueryRecall   `json:"evidence,omitempty"`
	Gold       *QueryRecall   `json:"gold,omitempty"`
	Citations  QueryCitations `json:"citations"`
	Fates      []Fate         `json:"fates,omitempty"`

	ToolCallCounts map[string]int   `json:"tool_call_counts,omitempty"`
	BlockedCalls   int              `json:"blocked_calls,omitempty"`
	ToolErrors     int              `json:"tool_errors,omitempty"`
	Turns          int              `json:"turns"`
	ElapsedSeconds float64          `json:"elapsed_seconds"`
	Steered        bool             `json:"steered,omitempty"`
	Usage          trajectory.Usage `json:"usage"`
	UncountedCalls int              `json:"uncounted_calls,omitempty"`
	CostUSD        *float64         `json:"cost_usd,omitempty"`

	outcome *Outcome
}

// QueryRecall counts relevant documents of one query by set.
type QueryRecall struct {
	Relevant  int `json:"relevant"`
	Surfaced  int `json:"surfaced"`
	Previewed int `json:"previewed"`
	Opened    int `json:"opened"`
	Cited     int `json:"cited"`
	Behavior  int `json:"behavior"`
}

// toolCalls is the number of calls of all kinds.
func (q QueryScores) toolCalls() int {
	n := 0
	for _, c := range q.ToolCallCounts {
		n += c
	}
	return n
}

// tokens counts everything that went in and came out.
func (q QueryScores) tokens() int64 { return allInput(q.Usage) + q.Usage.Output }

func allInput(u trajectory.Usage) int64 { return u.Input + u.CacheRead + u.CacheWrite }

// right reports whether the query counts as correct.
func (q QueryScores) right() bool { return q.Correct != nil && *q.Correct }

func compareText(a, b string) int { return strings.Compare(a, b) }
