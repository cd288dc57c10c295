package report

import (
	"bytes"
	_ "embed" // the paper's figures
	"encoding/json"
	"fmt"
	"strings"
)

// Paper holds the figures of the paper's tables: answer quality, recall and cost of all
// systems (table 1), tool calls (table 2), BM25 settings and ways to end (table 3), and the
// ranking depths its text gives for figure 2. Shares are in percent, as printed there; a
// figure the paper does not give is nil. Table 4 is missing: the text at hand ends before it.
type Paper struct {
	Source string `json:"source"`
	// Queries is how many questions the systems answered.
	Queries int           `json:"queries"`
	Systems []PaperSystem `json:"systems"`
	// SettingsQueries and SettingsModel are what table 3 was measured on.
	SettingsQueries int            `json:"settings_queries"`
	SettingsModel   string         `json:"settings_model"`
	Settings        []PaperSetting `json:"settings"`
	Depths          []PaperDepth   `json:"depths"`
}

// PaperSystem is a row of tables 1 and 2.
type PaperSystem struct {
	// Row is the letter of the row; Group says whose system it is.
	Row              string      `json:"row"`
	Group            string      `json:"group"`
	Model            string      `json:"model"`
	Retriever        string      `json:"retriever"`
	Accuracy         float64     `json:"accuracy"`
	CalibrationError *float64    `json:"calibration_error"`
	CostUSD          *float64    `json:"cost_usd"`
	CostNote         string      `json:"cost_note"`
	Surfaced         PaperRecall `json:"surfaced"`
	Previewed        PaperRecall `json:"previewed"`
	Behavior         PaperRecall `json:"behavior"`
	Calls            PaperCalls  `json:"calls"`
}

// PaperRecall is recall of a document set, in percent.
type PaperRecall struct {
	Evidence *float64 `json:"evidence"`
	Gold     *float64 `json:"gold"`
}

// PaperCalls are mean tool calls a question; browse is read_search_results.
type PaperCalls struct {
	Total  float64  `json:"total"`
	Search float64  `json:"search"`
	Read   *float64 `json:"read"`
	Browse *float64 `json:"browse"`
}

// PaperSetting is a column of table 3. AccuracyCompleted is its "Acc.†", read as accuracy over the questions
// that ended with an answer: the two agree where there was time for all.
type PaperSetting struct {
	Name               string  `json:"name"`
	K1                 float64 `json:"k1"`
	B                  float64 `json:"b"`
	Termination        string  `json:"termination"`
	Accuracy           float64 `json:"accuracy"`
	AccuracyCompleted  float64 `json:"accuracy_completed"`
	Surfaced           float64 `json:"surfaced"`
	Previewed          float64 `json:"previewed"`
	Behavior           float64 `json:"behavior"`
	ToolCalls          float64 `json:"tool_calls"`
	MedianTokens       float64 `json:"median_tokens"`
	MedianCachedTokens float64 `json:"median_cached_tokens"`
	CostUSD            float64 `json:"cost_usd"`
}

// PaperDepth is recall at a ranking depth, from the text on figure 2.
type PaperDepth struct {
	Depth     int      `json:"depth"`
	Surfaced  *float64 `json:"surfaced"`
	Previewed *float64 `json:"previewed"`
}

//go:embed paper.json
var paperJSON []byte

// ReadPaper returns the paper's figures.
func ReadPaper() (Paper, error) {
	var p Paper
	dec := json.NewDecoder(bytes.NewReader(paperJSON))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return p, fmt.Errorf("read the paper's figures: %w", err)
	}
	return p, nil
}

// IsPaperBenchmark reports whether a benchmark is the one the paper's systems answered.
func IsPaperBenchmark(name string) bool {
	return strings.Contains(strings.ToLower(name), "browsecomp-plus")
}

// Name is how the row is called in a table or chart.
func (s PaperSystem) Name() string {
	return fmt.Sprintf("(%s) %s + %s", s.Row, s.Model, s.Retriever)
}
