package trec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/sharedtest"
)

func diff(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// wantError fails unless err holds all the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

func topicIDs(topics []Topic) []string {
	var ids []string
	for _, t := range topics {
		ids = append(ids, t.ID)
	}
	return ids
}

func TestQRY12QueryFileWithQuotesTabsAndBlankLines(t *testing.T) {
	topics, err := ReadTopics(sharedtest.Path(t, "cases", "QRY-12", "queries.tsv"))
	diff(t, "topics", topics, []Topic{
		{ID: "1", Text: "plain words", Line: 1}, {ID: "2", Text: `"Half quoted title and the rest`, Line: 2}, {ID: "3", Text: "left\tright", Line: 3},
		{ID: "4", Text: `5" bolt size`, Line: 5}, {ID: "5", Text: "trailing blank  ", Line: 6},
	})
	wantError(t, err, "queries.tsv:7", `"no-tab-here"`, "no tab")
}

func TestRUN07RepeatedTopicIDs(t *testing.T) {
	_, err := ReadTopics(sharedtest.Path(t, "cases", "RUN-07", "queries.tsv"))
	wantError(t, err, `queries.tsv:3: topic id "q2" stands on lines 2, 3`, `queries.tsv:5: topic id "q3" stands on lines 4, 5`)
}

func TestRUN08TopicIDsAreKeptByteForByte(t *testing.T) {
	path := sharedtest.Path(t, "cases", "RUN-08", "ids.tsv")
	topics, err := ReadTopics(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for l := range strings.Lines(string(data)) {
		id, _, _ := strings.Cut(l, "\t")
		want = append(want, id)
	}
	diff(t, "ids", topicIDs(topics), want)
	if len(topics) != 9 {
		t.Errorf("got %d topics, want 9", len(topics))
	}
}

func TestTRV13IDsAreExactText(t *testing.T) {
	dir := sharedtest.Path(t, "cases", "TRV-13")
	topics, err := ReadTopics(filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "topics", topics, []Topic{{ID: "7", Text: "zinc", Line: 1}, {ID: "007", Text: "onyx", Line: 2}})
	qrels, err := ReadQrels(filepath.Join(dir, "qrels.txt"))
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "qrels", qrels, Qrels{"7": {"a": 1}, "007": {"b": 1}})
	run, err := ReadRun(filepath.Join(dir, "run.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := qrels.CheckOverlap(run); err != nil {
		t.Errorf("overlapping run: %v", err)
	}
	disjoint, err := ReadRun(filepath.Join(dir, "run-disjoint.txt"))
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, qrels.CheckOverlap(disjoint), `the run has "query-7"`, `the qrels have "007", "7"`)
}

func TestTRV14ScoresInScientificNotation(t *testing.T) {
	run, err := ReadRun(sharedtest.Path(t, "cases", "TRV-14", "run.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, l := range run {
		got = append(got, l.Score)
	}
	diff(t, "scores", got, []float64{1000, 999.5, -4, -4})
}

func TestTRV15ScoresWithoutAnOrder(t *testing.T) {
	_, err := ReadRun(sharedtest.Path(t, "cases", "TRV-15", "run.txt"))
	wantError(t, err, `run.txt:1: score "nan"`, `run.txt:4: score "high"`)
	if strings.Contains(err.Error(), "run.txt:3") {
		t.Errorf("infinite scores have an order, but: %v", err)
	}
}

func TestTRV19LayoutsOfQrels(t *testing.T) {
	dir := sharedtest.Path(t, "cases", "TRV-19")
	for name, want := range map[string]struct {
		qrels Qrels
		note  string
	}{
		"beir.tsv":  {Qrels{"q1": {"a": 1, "b": 0}}, "columns read as query, docid, grade"},
		"pairs.tsv": {Qrels{"q1": {"a": 1}}, "columns read as query, docid, each with grade 1"},
		"plain.txt": {Qrels{"q1": {"a": 1}}, ""},
	} {
		got, note, err := ReadQrelsNoted(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		diff(t, name, got, want.qrels)
		if _, after, _ := strings.Cut(note, name+": "); after != want.note {
			t.Errorf("%s: got note %q, want %q", name, note, want.note)
		}
	}
}

func TestTRV21UnknownDocumentsAndQueries(t *testing.T) {
	qrels, err := ReadQrels(sharedtest.Path(t, "cases", "TRV-21", "qrels.txt"))
	if err != nil {
		t.Fatal(err)
	}
	docids, queries := qrels.Unknown(func(d string) bool { return d == "a" }, func(q string) bool { return q == "q1" })
	diff(t, "documents", docids, []string{"ghost"})
	diff(t, "queries", queries, []string{"q7"})
}

func TestTRV23FilesThatAreNoRuns(t *testing.T) {
	dir := sharedtest.Path(t, "cases", "TRV-23")
	for name, want := range map[string]string{
		"five-columns.txt": "five-columns.txt:1: 5 columns", "seven-columns.txt": "seven-columns.txt:1: 7 columns: expected query, Q0, docid, rank, score, tag (ids",
		"text-rank.txt": `text-rank.txt:1: rank "first" is not a whole number`,
	} {
		_, err := ReadRun(filepath.Join(dir, name))
		wantError(t, err, want)
	}
	_, err := ReadRun(filepath.Join(dir, "empty.txt"))
	wantError(t, err, "empty.txt")
	if !errors.Is(err, ErrEmpty) {
		t.Errorf("empty run: got %v, want ErrEmpty", err)
	}
	if _, err := ReadQrels(filepath.Join(dir, "empty.txt")); !errors.Is(err, ErrEmpty) {
		t.Errorf("empty qrels: got %v, want ErrEmpty", err)
	}
	if _, err := ReadTopics(filepath.Join(dir, "empty.txt")); !errors.Is(err, ErrEmpty) {
		t.Errorf("empty topics: got %v, want ErrEmpty", err)
	}
}

func TestTRV09RepeatedDocument(t *testing.T) {
	_, err := ReadRun(sharedtest.Path(t, "cases", "TRV-09", "run.txt"))
	wantError(t, err, "for query", "already")
}

// TestCollections reads the topics and qrels of real collections and compares their
// numbers with what their table says.
func TestCollections(t *testing.T) {
	for name, want := range map[string]struct{ topics, relevant int }{
		"adi": {35, 170}, "cacm": {64, 796}, "cisi": {112, 3114}, "scifact": {300, 339}, "covidqa": {683, 683}, "debdoc": {600, 600},
	} {
		topics, err := ReadTopics(sharedtest.Path(t, "data", name, "queries.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		qrels, err := ReadQrels(sharedtest.Path(t, "data", name, "qrels.txt"))
		if err != nil {
			t.Fatal(err)
		}
		relevant := 0
		for _, judged := range qrels {
			for _, grade := range judged {
				if grade > 0 {
					relevant++
				}
			}
		}
		if len(topics) != want.topics || relevant != want.relevant {
			t.Errorf("%s: got %d topics and %d relevant, want %d and %d", name, len(topics), relevant, want.topics, want.relevant)
		}
	}
	answers, err := ReadTopics(sharedtest.Path(t, "data", "covidqa", "answers.jsonl"))
	if err != nil || len(answers) != 683 {
		t.Errorf("answers as topics: got %d, %v; want 683", len(answers), err)
	}
}
