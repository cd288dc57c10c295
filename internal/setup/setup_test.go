package setup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"goserini/internal/benchmark"
	"goserini/internal/browsecompplus"
	"goserini/internal/fetch"
	"goserini/internal/hub"
	"goserini/internal/hub/hubtest"
)

const canary = "invented canary of the tests"

type doc struct {
	DocID string `parquet:"docid"`
	Text  string `parquet:"text"`
	URL   string `parquet:"url"`
}

type row struct {
	QueryID  string `parquet:"query_id"`
	Query    string `parquet:"query"`
	Answer   string `parquet:"answer"`
	Gold     []doc  `parquet:"gold_docs,list"`
	Evidence []doc  `parquet:"evidence_docs,list"`
}

func parquetOf[T any](t *testing.T, rows []T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// evidenceOf and foundOf are those of the collection that the golden query sets were made from.
func evidenceOf(qid int) int { return 1 + 7*qid%11 }
func foundOf(qid int) int    { return 13 * qid % (evidenceOf(qid) + 1) }

// invented is a hub with a dataset of the benchmark's form: 1266 queries, each with its own
// evidence documents, of which the first is gold.
func invented(t *testing.T) *hubtest.Hub {
	t.Helper()
	key := browsecompplus.NewKey(canary)
	var rows []row
	for qid := 1; qid <= 1266; qid++ {
		r := row{QueryID: fmt.Sprint(qid), Query: key.Encrypt(fmt.Sprint("query ", qid)), Answer: key.Encrypt(fmt.Sprint("secret ", qid))}
		for i := range evidenceOf(qid) {
			d := doc{DocID: key.Encrypt(fmt.Sprint(100*qid + i)), Text: key.Encrypt("text")}
			r.Evidence = append(r.Evidence, d)
			if i == 0 {
				r.Gold = append(r.Gold, d)
			}
		}
		rows = append(rows, r)
	}
	h := hubtest.New(t)
	h.Put("inv/questions", "data/test-00000-of-00002.parquet", parquetOf(t, rows[:700]))
	h.Put("inv/questions", "data/test-00001-of-00002.parquet", parquetOf(t, rows[700:]))
	h.Put("inv/corpus", "data/train-00000-of-00001.parquet", parquetOf(t, []doc{{"1", "salt", "https://a"}, {"2", "sand", ""}}))
	h.Put("inv/corpus", "README.md", []byte("x"))
	return h
}

func described() benchmark.Description {
	sum := sha256.Sum256([]byte(canary))
	return benchmark.Description{
		Name: "invented", Private: true, Convert: benchmark.BrowseCompPlus, Canary: hex.EncodeToString(sum[:4]),
		Corpus: []string{"corpus/*.parquet"}, Queries: []string{queriesFile}, Answers: []string{answersFile}, Evidence: []string{evidenceFile}, Gold: []string{goldFile},
		DefaultSet: "q9", Sets: map[string]benchmark.Set{"q9": {File: "sets/q9.txt"}, "q100": {File: "sets/q100.txt"}, "q300": {File: "sets/q300.txt"}, "qfull": {File: "sets/qfull.txt"}},
		Expect: benchmark.Expect{Questions: 1266, Documents: 2, Gold: 7},
		Sources: []benchmark.Source{
			{Dataset: "inv/questions", Revision: hubtest.DefaultCommit, Files: "data/test-*.parquet", Into: "source"},
			{Dataset: "inv/corpus", Files: "data/*.parquet", Into: "corpus"},
		},
	}
}

func newSetup(t *testing.T, h *hubtest.Hub, d benchmark.Description) *Setup {
	t.Helper()
	c := &hub.Client{Endpoint: h.URL, Cache: t.TempDir(), Fetcher: &fetch.Client{
		Tries: 3, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}}
	return New(d, filepath.Join(t.TempDir(), "benchmarks", d.Name), c, canary)
}

func do(t *testing.T, s *Setup) error {
	t.Helper()
	if err := s.Ready(); err != nil {
		return err
	}
	p, err := s.Plan(t.Context())
	if err != nil {
		return err
	}
	return s.Fetch(t.Context(), p)
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Fatalf("got error %v, want one with %q", err, part)
		}
	}
}

// wantDone checks everything that a setup leaves.
func wantDone(t *testing.T, s *Setup) {
	t.Helper()
	b, err := benchmark.LoadFrom(s.description, s.dir)
	if err != nil {
		t.Fatal(err)
	}
	questions, err := b.Questions(benchmark.AllQuestions)
	if err != nil || len(questions) != 1266 || questions[41].Text != "query 42" || questions[41].Answer.Text != "secret 42" {
		t.Fatalf("got %d questions, %v", len(questions), err)
	}
	evidence, gold := b.Qrels()
	if len(evidence["2"]) != evidenceOf(2) || len(gold["2"]) != 1 {
		t.Errorf("got judgments %v, %v", evidence["2"], gold["2"])
	}
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if d, err := rec.Document(); err != nil || d.DocID != "1" || d.Contents() != "salt" || d.URL != "https://a" {
		t.Errorf("got document %+v, %v", d, err)
	}
	for _, name := range []string{queriesFile, answersFile, evidenceFile, goldFile} {
		if info, err := os.Stat(filepath.Join(s.dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if info, err := os.Stat(s.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v, %v", s.dir, info, err)
	}
}

func TestSetupOfAnObfuscatedBenchmark(t *testing.T) {
	h := invented(t)
	s := newSetup(t, h, described())
	p, err := s.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Items) != 3 || p.Missing() == 0 || len(p.Steps) != 3 || p.Items[0].Into != "source/test-00000-of-00002.parquet" {
		t.Errorf("got plan %+v", p)
	}
	if _, err := os.Stat(filepath.Dir(s.dir)); err == nil {
		t.Error("planning wrote something")
	}
	if err := s.Fetch(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	wantDone(t, s)
	notes, err := s.CheckCounts(2)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "1266 pairs of query and gold document") {
		t.Errorf("got %v, %v", notes, err)
	}

	// A second time nothing is fetched and nothing deciphered.
	before := h.Requests()
	s.canary = ""
	if p, err = s.Plan(t.Context()); err != nil || p.Missing() != 0 || len(p.Steps) != 2 {
		t.Errorf("got %+v, %v", p, err)
	}
	if err := s.Fetch(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if n := h.Requests() - before; n != 2 { // the corpus is not indexed yet: its listing
		t.Errorf("%d more requests", n)
	}
}

func TestQuerySetsAreDrawnAsPublished(t *testing.T) {
	s := newSetup(t, invented(t), described())
	if err := do(t, s); err != nil {
		t.Fatal(err)
	}
	if !s.ToDraw() {
		t.Fatal("nothing to draw")
	}
	err := s.DrawSets(func(query string) ([]string, error) {
		var qid int
		if _, err := fmt.Sscanf(query, "query %d", &qid); err != nil {
			return nil, err
		}
		var ranked []string
		for i := range foundOf(qid) {
			ranked = append(ranked, fmt.Sprint(100*qid+i))
		}
		return append(ranked, "something else"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := benchmark.LoadFrom(s.description, s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{
		"q9":    "31e73244de5ca7aa98d96ec3fadec0ba053272ba20a345e30ad1410c91f1c7f5",
		"q100":  "ffd5acfabce4c0d26c2dab701779045bbfe21fee33c4ad6a996667ae17acedad",
		"q300":  "794026f064c8cdf6d2f2fb820a7d65069b1c9149c85c911c67ee160a39bed520",
		"qfull": "7498beca05620f245d39d4082f6e098b3517785291416bfab552c7b0659f67d2",
	} {
		questions, err := b.Questions(set)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		for _, q := range questions {
			fmt.Fprintf(h, "%s\t%s\n", q.ID, q.Text)
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("%s: got %s, want %s", set, got, want)
		}
	}
	if s.ToDraw() || b.SetName("") != "q9" {
		t.Errorf("still to draw, or default set %q", b.SetName(""))
	}
}

func TestWrongCanaryIsToldBeforeAnythingIsAsked(t *testing.T) {
	h := invented(t)
	s := newSetup(t, h, described())
	s.canary = ""
	wantError(t, do(t, s), "BROWSECOMP_PLUS_CANARY is not set")
	s.canary = canary + "\n"
	err := do(t, s)
	wantError(t, err, "BROWSECOMP_PLUS_CANARY", "not the right one")
	if !errors.Is(err, browsecompplus.ErrWrongCanary) || strings.Contains(err.Error(), canary) || h.Requests() != 0 {
		t.Errorf("got %v after %d requests", err, h.Requests())
	}
}

func TestAPlanCanBeMadeWithoutTheCanary(t *testing.T) {
	h := invented(t)
	s := newSetup(t, h, described())
	s.canary = ""
	p, err := s.Plan(t.Context())
	if err != nil || p.Missing() == 0 || !strings.Contains(p.Steps[0], "which is not set") {
		t.Errorf("got %+v, %v", p, err)
	}
	before := h.Requests()
	wantError(t, s.Fetch(t.Context(), p), "BROWSECOMP_PLUS_CANARY is not set")
	if h.Requests() != before {
		t.Error("fetched all the same")
	}
	s.canary = "wrong"
	_, err = s.Plan(t.Context())
	wantError(t, err, "not the right one")
}

// trouble makes the server fail the first times a content is asked for.
func trouble(first int, how func(w http.ResponseWriter)) func(int, http.ResponseWriter, *http.Request) bool {
	return func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n > first || !strings.Contains(r.URL.Path, "/resolve/") {
			return false
		}
		how(w)
		return true
	}
}

func TestSetupSurvivesTheNetwork(t *testing.T) {
	for name, how := range map[string]func(http.ResponseWriter){
		"429": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "", http.StatusTooManyRequests)
		},
		"503": func(w http.ResponseWriter) { http.Error(w, "", http.StatusServiceUnavailable) },
		"interrupted": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(make([]byte, 100))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		"wrong checksum once": func(w http.ResponseWriter) { _, _ = w.Write([]byte("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			h := invented(t)
			h.Trouble = trouble(1, how)
			s := newSetup(t, h, described())
			if err := do(t, s); err != nil {
				t.Fatal(err)
			}
			wantDone(t, s)
		})
	}
}

func TestSetupGoesOnAfterItGaveUp(t *testing.T) {
	for name, c := range map[string]struct {
		how  func(http.ResponseWriter)
		want string
	}{
		"404": {func(w http.ResponseWriter) { http.Error(w, "", http.StatusNotFound) }, "no dataset, revision or file"},
		"429": {func(w http.ResponseWriter) { http.Error(w, "", http.StatusTooManyRequests) }, "fewer requests"},
		"truncated": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "9")
			_, _ = w.Write([]byte("PAR1PAR1!"))
		}, "tried 3 times"},
		"other content": {func(w http.ResponseWriter) { _, _ = w.Write(bytes.Repeat([]byte("y"), 200_000)) }, "that were announced"},
	} {
		t.Run(name, func(t *testing.T) {
			h := invented(t)
			h.Trouble = trouble(1000, c.how)
			s := newSetup(t, h, described())
			wantError(t, do(t, s), c.want)
			if s.there(queriesFile) || s.there("source/test-00000-of-00002.parquet") {
				t.Error("something got its name")
			}
			h.Trouble = nil
			if err := do(t, s); err != nil {
				t.Fatal(err)
			}
			wantDone(t, s)
		})
	}
}

func TestNoSpaceIsToldBeforeItIsUsed(t *testing.T) {
	s := newSetup(t, invented(t), described())
	s.fetcher.Free = func(string) (int64, error) { return 10, nil }
	err := do(t, s)
	var space *fetch.SpaceError
	if !errors.As(err, &space) {
		t.Fatalf("got %v", err)
	}
	s.fetcher.Free = nil
	if err := do(t, s); err != nil {
		t.Fatal(err)
	}
	wantDone(t, s)
}

func archive(t *testing.T, member, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range []tar.Header{{Name: "./other.txt", Size: 1, Mode: 0o644}, {Name: "./" + member, Size: int64(len(content)), Mode: 0o644}} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSetupFromAddresses(t *testing.T) {
	packed := archive(t, "collection.tsv", "7\tsalt\n")
	sum := md5.Sum(packed)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/collection.tar.gz" {
			_, _ = w.Write(packed)
			return
		}
		fmt.Fprint(w, "1\tquestion\n")
	}))
	defer server.Close()
	d := benchmark.Description{Name: "plain", Corpus: []string{"collection.tsv"}, Queries: []string{"topics.txt"}, Sources: []benchmark.Source{
		{URL: server.URL + "/collection.tar.gz", Sum: "md5:" + hex.EncodeToString(sum[:]), About: 100, Member: "collection.tsv", Into: "collection.tsv"},
		{URL: server.URL + "/topics.txt", Into: "topics.txt"},
	}}
	s := newSetup(t, hubtest.New(t), d)
	p, err := s.Plan(t.Context())
	if err != nil || len(p.Items) != 2 || p.Missing() != 100 || !p.Items[0].About {
		t.Fatalf("got %+v, %v", p, err)
	}
	if err := s.Fetch(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(s.dir, "collection.tsv")); err != nil || string(b) != "7\tsalt\n" {
		t.Errorf("got %q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "*"+archiveSuffix+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if b, err := benchmark.LoadFrom(d, s.dir); err != nil || b.Files["queries"] == "" {
		t.Errorf("got %v", err)
	}
	if p, err := s.Plan(t.Context()); err != nil || len(p.Items) != 1 || p.Missing() != 0 {
		t.Errorf("a second time: got %+v, %v", p, err)
	}

	d.Sources[0].Member = "absent.tsv"
	wantError(t, do(t, newSetup(t, hubtest.New(t), d)), "holds no file absent.tsv")
	d.Sources[0].Sum = "md5:zz"
	wantError(t, do(t, newSetup(t, hubtest.New(t), d)), "checksum")
	d.Sources = nil
	wantError(t, do(t, newSetup(t, hubtest.New(t), d)), "nothing to set up")
}
