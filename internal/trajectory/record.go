package trajectory

import "time"

// Record is one line of results.jsonl: what a question came to. Key names follow
// the published BrowseComp-Plus run schema where it has a word.
type Record struct {
	QueryID  string `json:"query_id"`
	Question string `json:"question"`
	Status   Status `json:"status"`
	Reason   string `json:"reason,omitempty"`
	// Error is for the operator: the cause, where the machinery failed.
	Error  string `json:"error,omitempty"`
	Model  string `json:"model"`
	Answer Answer `json:"answer"`
	Sets
	// BestRank is, per surfaced docid, the best 1-based rank it had in any ranking.
	BestRank map[string]int `json:"best_rank,omitempty"`
	// ToolCallCounts counts calls by the name of an offered tool, refused ones included.
	ToolCallCounts map[string]int `json:"tool_call_counts"`
	// ExecutedCalls reached a tool. BlockedCalls came after research was over.
	// RejectedCalls named no tool, had arguments that are no JSON object, or were cut.
	// ToolErrors are all calls that gave an error, without the blocked ones.
	ExecutedCalls int `json:"executed_calls"`
	ToolErrors    int `json:"tool_errors,omitempty"`
	BlockedCalls  int `json:"blocked_calls,omitempty"`
	RejectedCalls int `json:"rejected_calls,omitempty"`
	Turns         int `json:"turns"`
	// Tries are model calls, failed and interrupted ones included.
	Tries int `json:"tries"`
	// Steered says that the model was told to stop its research and answer.
	Steered bool  `json:"steered,omitempty"`
	Usage   Usage `json:"usage"`
	// UncountedCalls and PrefixShare are explained at [End].
	UncountedCalls int     `json:"uncounted_calls,omitempty"`
	PrefixShare    float64 `json:"prefix_share,omitempty"`
	// Notebook and Verification are there where the model had them.
	Notebook       *Notebook     `json:"notebook,omitempty"`
	Verification   *Verification `json:"verification,omitempty"`
	StartedAt      time.Time     `json:"started_at"`
	ElapsedSeconds float64       `json:"elapsed_seconds"`
	// Earlier are the attempts at this question that were tried again, oldest first; what
	// they used was paid for as well.
	Earlier []Earlier `json:"earlier,omitempty"`
	// Trajectory is the path of the trajectory relative to the run directory.
	Trajectory string `json:"trajectory,omitempty"`
}

// Earlier is an attempt at a question that did not count in the end.
type Earlier struct {
	Status         Status  `json:"status"`
	Reason         string  `json:"reason,omitempty"`
	Usage          Usage   `json:"usage"`
	ElapsedSeconds float64 `json:"elapsed_seconds"`
}
