package oracle_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/sharedtest"
	"goserini/internal/trec"
)

const (
	rankingGoldens = "../../internal/index/testdata/lucene"
	depth          = 1000
	// shown is how many hits of a ranking a golden line shows.
	shown = 3
)

// settings are k1 and b as the goldens write them.
var settings = []string{"0.9,0.4", "1.2,0.75", "16,1", "25,1", "0,0"}

func TestRankingsEqualLucene(t *testing.T) {
	for _, collection := range collections(t) {
		if testing.Short() && collection != "adi" && collection != "cacm" {
			continue
		}
		t.Run(collection, func(t *testing.T) {
			t.Parallel()
			ix := buildIndex(t, sharedtest.Path(t, "data", collection, "corpus.jsonl.gz"))
			topics := sharedtest.Path(t, "data", collection, "queries.tsv")
			compareRankings(t, ix, topics, readGolden(t, collection))
		})
	}
}

// TestRankingsEqualLiveLucene compares with Lucene itself, and shows where a ranking
// differs. GOSERINI_ORACLE_CORPUS and GOSERINI_ORACLE_QUERIES name a corpus and a
// query file of your own, a synthetic one for example; without them it runs over the
// collections.
func TestRankingsEqualLiveLucene(t *testing.T) {
	requireLucene(t)
	if path := os.Getenv("GOSERINI_ORACLE_CORPUS"); path != "" {
		compareLive(t, path, os.Getenv("GOSERINI_ORACLE_QUERIES"))
		return
	}
	for _, collection := range collections(t) {
		t.Run(collection, func(t *testing.T) {
			compareLive(t, sharedtest.Path(t, "data", collection, "corpus.jsonl.gz"),
				sharedtest.Path(t, "data", collection, "queries.tsv"))
		})
	}
}

func compareLive(t *testing.T, corpusPath, topicsPath string) {
	t.Helper()
	ix := buildIndex(t, corpusPath)
	for _, generation := range generations {
		folder := filepath.Join(t.TempDir(), "lucene-"+generation)
		lucene(t, generation, nil, "index", corpusPath, folder)
		args := []string{"summary", folder, topicsPath, strconv.Itoa(depth)}
		summary := lucene(t, generation, nil, append(args, settings...)...)
		differing := compareRankings(t, ix, topicsPath, string(summary))
		if differing == nil {
			continue
		}
		one := filepath.Join(t.TempDir(), "one.tsv")
		line := differing.topic.ID + "\t" + differing.topic.Text + "\n"
		if err := os.WriteFile(one, []byte(line), 0o666); err != nil {
			t.Fatal(err)
		}
		hits := lucene(t, generation, nil, "search", folder, one, strconv.Itoa(depth), differing.setting)
		t.Logf("Lucene %s, %s, query %q:\n%s", generation, differing.setting, differing.topic.Text,
			firstDifference(differing.lines, string(hits)))
	}
}

// firstDifference shows the first hit that is not the same, ours and theirs.
func firstDifference(ours []string, hits string) string {
	theirs := strings.SplitAfter(hits, "\n")
	for i := range max(len(ours), len(theirs)-1) {
		var got, want string
		if i < len(ours) {
			got = ours[i]
		}
		if i < len(theirs)-1 {
			want = strings.Join(strings.Split(theirs[i], "\t")[3:], "\t")
		}
		if got != want {
			return fmt.Sprintf("rank %d: got %q, want %q", i+1, got, want)
		}
	}
	return "the hits are the same"
}

// ranking is one of ours.
type ranking struct {
	setting string
	topic   trec.Topic
	lines   []string
}

// compareRankings holds our rankings against a summary by Lucene and returns the
// first that differs.
func compareRankings(t *testing.T, ix *index.Index, topicsPath, summary string) (first *ranking) {
	t.Helper()
	topics, err := trec.ReadTopics(topicsPath)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(summary, "\n"), "\n")
	if n := 1 + len(settings)*len(topics); len(want) != n {
		t.Fatalf("the summary has %d lines, want %d for %d topics", len(want), n, len(topics))
	}
	if got := statistics(ix); got != want[0] {
		t.Errorf("statistics: got %q, want %q", got, want[0])
	}
	differences := 0
	for i, setting := range settings {
		for j, topic := range topics {
			lines := search(t, ix, topic.Text, setting)
			wantLine := want[1+i*len(topics)+j]
			gotLine := summarize(setting, topic.ID, lines)
			if gotLine == wantLine {
				continue
			}
			if first == nil {
				first = &ranking{setting, topic, lines}
			}
			if differences++; differences <= 5 {
				t.Errorf("ranking for %q:\n got %s\nwant %s", topic.Text, gotLine, wantLine)
			}
		}
	}
	if differences > 0 {
		t.Errorf("%d of %d rankings differ from Lucene's", differences, len(want)-1)
	}
	return first
}

// search returns a line for every hit: docid, rank, bits of the score.
func search(t *testing.T, ix *index.Index, query, setting string) []string {
	t.Helper()
	found, err := ix.Search(t.Context(), index.Query{Text: query, Params: params(t, setting), Depth: depth})
	if err != nil {
		t.Fatalf("search %q: %v", query, err)
	}
	lines := make([]string, len(found.Hits))
	for i, hit := range found.Hits {
		lines[i] = fmt.Sprintf("%s\t%d\t%08x\n", hit.DocID, i+1, math.Float32bits(hit.Score))
	}
	return lines
}

// summarize writes the line of a golden for a ranking; README.md describes it.
func summarize(setting, queryID string, lines []string) string {
	digest := sha256.New()
	for _, line := range lines {
		io.WriteString(digest, line)
	}
	columns := append(strings.Split(setting, ","), queryID, strconv.Itoa(len(lines)), hex.EncodeToString(digest.Sum(nil)[:8]))
	for _, line := range lines[:min(shown, len(lines))] {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		columns = append(columns, fields[0], fields[2])
	}
	return strings.Join(columns, "\t")
}

func statistics(ix *index.Index) string {
	s := ix.Stats()
	return fmt.Sprintf("#\tdocuments\t%d\ttokens\t%d\tpostings\t%d", s.WithTokens, s.Tokens, s.Postings)
}

func params(t *testing.T, setting string) bm25.Params {
	t.Helper()
	k1, b, _ := strings.Cut(setting, ",")
	return bm25.Params{K1: float(t, k1), B: float(t, b)}
}

func float(t *testing.T, s string) float32 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 32)
	if err != nil {
		t.Fatal(err)
	}
	return float32(f)
}

func buildIndex(t *testing.T, path string) *index.Index {
	t.Helper()
	source, err := corpus.Open([]string{path}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	folder := filepath.Join(t.TempDir(), "index")
	if _, err := index.Build(t.Context(), folder, source, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix
}

func readGolden(t *testing.T, collection string) string {
	t.Helper()
	zipped, err := os.ReadFile(filepath.Join(rankingGoldens, collection+".tsv.gz"))
	if err != nil {
		t.Fatalf("%v\nrun bench/oracle/run.sh goldens %s", err, collection)
	}
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
