package judge

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"goserini/internal/atomicfile"
	"goserini/internal/eval"
	"goserini/internal/trajectory"
)

// Official is what the files of BrowseComp-Plus's evaluator are made from.
type Official struct {
	Records []trajectory.Record
	// Items are what was judged, Verdicts the decisions of one judge.
	Items    []Item
	Verdicts []Verdict
	Scores   eval.Scores
	// Model, Retriever and Link go into the summary as they are; Date is YYYY-MM-DD.
	Model, Retriever, Link, Date string
}

// officialQuery is one <query>_eval.json.
type officialQuery struct {
	JSONPath       string             `json:"json_path"`
	QueryID        string             `json:"query_id"`
	Question       string             `json:"question"`
	Response       string             `json:"response"`
	CorrectAnswer  string             `json:"correct_answer"`
	IsCompleted    bool               `json:"is_completed"`
	JudgePrompt    *string            `json:"judge_prompt"`
	JudgeResponse  *string            `json:"judge_response"`
	JudgeResult    officialResult     `json:"judge_result"`
	ToolCallCounts map[string]int     `json:"tool_call_counts"`
	Citations      *officialCitations `json:"citations"`
	Retrieval      officialRetrieval  `json:"retrieval"`
	ModelInfo      officialJudge      `json:"model_info"`
}

type officialResult struct {
	ExtractedFinalAnswer *string  `json:"extracted_final_answer"`
	Reasoning            *string  `json:"reasoning"`
	Correct              *bool    `json:"correct"`
	Confidence           *float64 `json:"confidence"`
	ParseError           bool     `json:"parse_error"`
	Error                string   `json:"error,omitempty"`
}

type officialCitations struct {
	CitedDocIDs []string `json:"cited_docids"`
	Metrics     struct {
		NumCitations int     `json:"num_citations"`
		NumRelevant  int     `json:"num_relevant"`
		Precision    float64 `json:"precision"`
		Recall       float64 `json:"recall"`
	} `json:"metrics"`
}

type officialRetrieval struct {
	RetrievedDocIDs []string `json:"retrieved_docids"`
	Recall          float64  `json:"recall"`
}

type officialJudge struct {
	JudgeModel string `json:"judge_model"`
	// MaxOutputTokens is null: the judge's limit is its provider's.
	MaxOutputTokens *int `json:"max_output_tokens"`
}

type officialSummary struct {
	LLM              string               `json:"LLM"`
	Accuracy         float64              `json:"Accuracy (%)"`
	Recall           float64              `json:"Recall (%)"`
	AvgToolStats     map[string]float64   `json:"avg_tool_stats"`
	CalibrationError float64              `json:"Calibration Error (%)"`
	Retriever        string               `json:"Retriever"`
	Link             string               `json:"Link"`
	EvaluationDate   string               `json:"Evaluation Date"`
	PerQuery         []officialQueryScore `json:"per_query_metrics"`
}

type officialQueryScore struct {
	QueryID string  `json:"query_id"`
	Correct bool    `json:"correct"`
	Recall  float64 `json:"recall"`
}

// officialColumns are those of detailed_judge_results.csv.
var officialColumns = []string{
	"query_id", "predicted_answer", "correct_answer", "judge_correct", "confidence", "is_completed", "parse_error",
	"json_path", "num_citations", "precision_positives", "recall_positives",
}

// WriteBrowseCompPlus writes a judged run into dir as the official evaluator would:
// <query>_eval.json for every record, evaluation_summary.json and detailed_judge_results.csv, with its
// keys and in percent. The denominator is the whole query set; the official one leaves queries
// without a record out.
func WriteBrowseCompPlus(dir string, in Official) error {
	if in.Scores.Accuracy == nil || in.Scores.Evidence == nil {
		return fmt.Errorf("write BrowseComp-Plus results: the run needs verdicts and evidence judgments")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write BrowseComp-Plus results: %w", err)
	}
	verdicts, items, scores := map[string]Verdict{}, map[string]Item{}, map[string]eval.QueryScores{}
	for _, v := range in.Verdicts {
		verdicts[v.QueryID] = v
	}
	for _, it := range in.Items {
		items[it.QueryID] = it
	}
	for _, q := range in.Scores.PerQuery {
		scores[q.QueryID] = q
	}
	var table bytes.Buffer
	rows := csv.NewWriter(&table)
	if err := rows.Write(officialColumns); err != nil {
		return err
	}
	for _, rec := range in.Records {
		q, ok := scores[rec.QueryID]
		if !ok {
			continue // not of the query set; the scores name it
		}
		one := officialOf(rec, items[rec.QueryID], verdicts[rec.QueryID], q)
		if err := writeJSON(filepath.Join(dir, officialName(rec.QueryID)), one); err != nil {
			return err
		}
		if err := rows.Write(one.row()); err != nil {
			return err
		}
	}
	rows.Flush()
	if err := rows.Error(); err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, "detailed_judge_results.csv"), table.Bytes(), 0o644); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "evaluation_summary.json"), in.summary())
}

func officialOf(rec trajectory.Record, it Item, v Verdict, q eval.QueryScores) officialQuery {
	one := officialQuery{
		JSONPath: rec.Trajectory, QueryID: rec.QueryID, Question: rec.Question, Response: rec.Answer.Text,
		CorrectAnswer: it.Reference.Answer, IsCompleted: rec.Status == trajectory.Completed,
		ToolCallCounts: rec.ToolCallCounts,
		Retrieval:      officialRetrieval{RetrievedDocIDs: sorted(rec.Surfaced), Recall: recallOf(q, func(r *eval.QueryRecall) int { return r.Surfaced })},
		ModelInfo:      officialJudge{JudgeModel: v.Judge},
	}
	if v.State == NotJudged || v.State == "" {
		one.JudgeResult = officialResult{ParseError: true, Error: v.Error}
		return one
	}
	confidence := 100.0 // what the official evaluator takes where none is stated
	if rec.Answer.Confidence != nil {
		confidence = *rec.Answer.Confidence
	}
	one.JudgeResult = officialResult{
		ExtractedFinalAnswer: v.ExtractedFinalAnswer, Reasoning: v.Reasoning, Correct: v.Correct, Confidence: &confidence,
		ParseError: v.State == Unparsed || v.State == WrongEcho || v.State == Broken, Error: v.Error,
	}
	if v.Reply != "" {
		one.JudgeResponse = &v.Reply
		if req, err := request(it, v.Mode); err == nil {
			prompt := req.System + "\n\n" + req.Messages[0].Text
			one.JudgePrompt = &prompt
		}
	}
	one.Citations = &officialCitations{CitedDocIDs: sorted(rec.Cited)}
	c := &one.Citations.Metrics
	c.NumCitations, c.NumRelevant = q.Citations.Cited, q.Citations.Relevant
	if c.NumCitations > 0 {
		c.Precision = float64(c.NumRelevant) / float64(c.NumCitations)
	}
	c.Recall = recallOf(q, func(r *eval.QueryRecall) int { return r.Cited })
	return one
}

func (q officialQuery) row() []string {
	predicted := ""
	if q.JudgeResult.ExtractedFinalAnswer != nil {
		predicted = *q.JudgeResult.ExtractedFinalAnswer
	}
	citations, precision, recall := "", "", ""
	if q.Citations != nil {
		citations = strconv.Itoa(q.Citations.Metrics.NumCitations)
		precision, recall = plain(q.Citations.Metrics.Precision), plain(q.Citations.Metrics.Recall)
	}
	judged, confidence := "", ""
	if q.JudgeResult.Correct != nil {
		judged = strconv.FormatBool(*q.JudgeResult.Correct)
	}
	if q.JudgeResult.Confidence != nil {
		confidence = plain(*q.JudgeResult.Confidence)
	}
	return []string{
		q.QueryID, predicted, q.CorrectAnswer, judged, confidence, strconv.FormatBool(q.IsCompleted),
		strconv.FormatBool(q.JudgeResult.ParseError), q.JSONPath, citations, precision, recall,
	}
}

func (in Official) summary() officialSummary {
	s := officialSummary{
		LLM: in.Model, Accuracy: percent(in.Scores.Accuracy.All.Value), Retriever: in.Retriever, Link: in.Link, EvaluationDate: in.Date,
		AvgToolStats: map[string]float64{},
	}
	if r := in.Scores.Evidence.Surfaced.MacroOverJudged; r != nil {
		s.Recall = percent(r.Value)
	}
	for tool, mean := range in.Scores.Effort.ByTool {
		s.AvgToolStats[tool] = mean.Value
	}
	// The official evaluator prints 0 where it has fewer than 100 answers.
	if c := in.Scores.Calibration; c != nil && c.Official != nil {
		s.CalibrationError = percent(*c.Official)
	}
	for _, q := range in.Scores.PerQuery {
		s.PerQuery = append(s.PerQuery, officialQueryScore{
			QueryID: q.QueryID, Correct: q.Correct != nil && *q.Correct,
			Recall: percent(recallOf(q, func(r *eval.QueryRecall) int { return r.Surfaced })),
		})
	}
	return s
}

func recallOf(q eval.QueryScores, hits func(*eval.QueryRecall) int) float64 {
	if q.Evidence == nil || q.Evidence.Relevant == 0 {
		return 0
	}
	return float64(hits(q.Evidence)) / float64(q.Evidence.Relevant)
}

func sorted(ids []string) []string {
	out := append([]string{}, ids...)
	slices.Sort(out)
	return slices.Compact(out)
}

// percent rounds a share to percent with two decimals.
func percent(share float64) float64 { return math.Round(share*1e4) / 1e2 }

func plain(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// officialName makes a file name of a query id, whatever it holds.
func officialName(queryID string) string {
	const most = 150
	name := url.PathEscape(queryID)
	if len(name) > most {
		sum := sha256.Sum256([]byte(queryID))
		name = name[:most] + "~" + hex.EncodeToString(sum[:8])
	}
	return "run_" + name + "_eval.json"
}

func writeJSON(path string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return atomicfile.Write(path, b.Bytes(), 0o644)
}
