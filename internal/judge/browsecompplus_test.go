package judge

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/eval"
	"goserini/internal/trajectory"
)

func official(t *testing.T) Official {
	t.Helper()
	records := []trajectory.Record{
		{
			QueryID: "1", Question: "Which lake?", Status: trajectory.Completed, Trajectory: "trajectories/1.jsonl",
			Answer:         trajectory.Answer{Exact: "Orrin", Text: "Orrin [a] [z]"},
			Sets:           trajectory.Sets{Surfaced: []string{"b", "a"}, Opened: []string{"a"}, Cited: []string{"z", "a"}},
			ToolCallCounts: map[string]int{"search": 3},
		},
		{QueryID: "../2", Status: trajectory.Timeout, ToolCallCounts: map[string]int{"search": 1}},
	}
	items := []Item{NewItem(records[0], Reference{Answer: "Lake Orrin"}), NewItem(records[1], Reference{Answer: "Selm"})}
	j := NewModel(replies(rightVerdict), ModelOptions{Name: "p/m"})
	verdicts, err := Run(t.Context(), j, items, Options{})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := eval.Evaluate(eval.Input{
		Records: records, Judge: "p/m", Outcomes: Outcomes(verdicts, "p/m"), Bootstrap: eval.Bootstrap{Resamples: 10},
		Evidence: map[string]map[string]int{"1": {"a": 1, "b": 1, "c": 1}, "../2": {"d": 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return Official{Records: records, Items: items, Verdicts: verdicts, Scores: scores, Model: "agent", Retriever: "BM25", Link: "https://example.org", Date: "2026-01-31"}
}

func TestOfficialFilesHaveTheKeysOfTheOfficialEvaluator(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "evals")
	if err := WriteBrowseCompPlus(dir, official(t)); err != nil {
		t.Fatal(err)
	}
	wantSummary := `{
  "LLM": "agent",
  "Accuracy (%)": 50,
  "Recall (%)": 33.33,
  "avg_tool_stats": {
    "search": 2
  },
  "Calibration Error (%)": 0,
  "Retriever": "BM25",
  "Link": "https://example.org",
  "Evaluation Date": "2026-01-31",
  "per_query_metrics": [
    {
      "query_id": "../2",
      "correct": false,
      "recall": 0
    },
    {
      "query_id": "1",
      "correct": true,
      "recall": 66.67
    }
  ]
}
`
	if diff := cmp.Diff(wantSummary, read(t, filepath.Join(dir, "evaluation_summary.json"))); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	var one map[string]json.RawMessage
	readJSON(t, filepath.Join(dir, "run_1_eval.json"), &one)
	for _, key := range strings.Fields("json_path query_id question response correct_answer is_completed judge_prompt judge_response judge_result tool_call_counts citations retrieval model_info") {
		if one[key] == nil || string(one[key]) == "null" {
			t.Errorf("key %s is missing", key)
		}
	}
	if len(one) != 13 {
		t.Errorf("%d keys, want 13", len(one))
	}
	var citations struct {
		Metrics struct {
			NumCitations int `json:"num_citations"`
			NumRelevant  int `json:"num_relevant"`
			Precision    float64
		}
	}
	if err := json.Unmarshal(one["citations"], &citations); err != nil {
		t.Fatal(err)
	}
	if m := citations.Metrics; m.NumCitations != 2 || m.NumRelevant != 1 || m.Precision != 0.5 {
		t.Errorf("citations: %+v", m)
	}

	var timeout struct {
		JudgeResult struct {
			ParseError bool `json:"parse_error"`
			Error      string
		} `json:"judge_result"`
		Citations *struct{}
	}
	readJSON(t, filepath.Join(dir, "run_..%2F2_eval.json"), &timeout)
	if !timeout.JudgeResult.ParseError || timeout.JudgeResult.Error == "" || timeout.Citations != nil {
		t.Errorf("the unfinished question: %+v", timeout)
	}

	f, err := os.Open(filepath.Join(dir, "detailed_judge_results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1", "Orrin", "Lake Orrin", "true", "100", "true", "false", "trajectories/1.jsonl", "2", "0.5", "0.3333333333333333"}
	if len(rows) != 3 || len(rows[0]) != 11 || cmp.Diff(want, rows[1]) != "" {
		t.Errorf("rows: %q", rows)
	}
}

func TestOfficialFilesNeedAJudgedRun(t *testing.T) {
	in := official(t)
	in.Scores.Accuracy = nil
	if err := WriteBrowseCompPlus(t.TempDir(), in); err == nil {
		t.Error("an unjudged run was written")
	}
}

func TestOfficialNamesStayInTheirFolder(t *testing.T) {
	for _, id := range []string{"..", "a/b", `a\b`, strings.Repeat("x", 5000), "é", "", "con"} {
		name := officialName(id)
		if filepath.Base(name) != name || len(name) > 255 {
			t.Errorf("officialName(%.20q) = %q", id, name)
		}
	}
}
