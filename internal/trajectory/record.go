package trajectory

import "time"

// Record is one line of results.jsonl: what a question came to. Key names follow
// the published BrowseComp-Plus run schema where it has a word.
type Record struct {
	QueryID  string `json:"query_id"`
	Question string `json:"question"`
	Status   Status `json:"status"`
	Reason   string `json:"reason,omitempty"`
	Model    string `json:"model"`
	Answer   Answer `json:"answer"`
	Sets
	// BestRank is, per surfaced docid, the best 1-based rank it had in any ranking.
	BestRank map[string]int `json:"best_rank,omitempty"`
	// ToolCallCounts counts calls by tool name, refused ones included.
	ToolCallCounts map[string]int `json:"tool_call_counts"`
	ToolErrors     int            `json:"tool_errors,omitempty"`
	BlockedCalls   int            `json:"blocked_calls,omitempty"`
	Turns          int            `json:"turns"`
	Tries          int            `json:"tries"`
	Steered        bool           `json:"steered,omitempty"`
	Usage          Usage          `json:"usage"`
	StartedAt      time.Time      `json:"started_at"`
	ElapsedSeconds float64        `json:"elapsed_seconds"`
	// Trajectory is the path of the trajectory relative to the run directory.
	Trajectory string `json:"trajectory,omitempty"`
}
