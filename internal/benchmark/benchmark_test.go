package benchmark

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"goserini/internal/sharedtest"
)

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func loaded(t *testing.T, name string) *Benchmark {
	t.Helper()
	b, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func questionIDs(t *testing.T, b *Benchmark, set string) string {
	t.Helper()
	questions, err := b.Questions(set)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, q := range questions {
		ids = append(ids, q.ID)
	}
	return strings.Join(ids, " ")
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Fatalf("got error %v, want one with %q", err, part)
		}
	}
}

func TestBuiltInDescriptionsAreWhole(t *testing.T) {
	if got := fmt.Sprint(Names()); got != "[browsecomp-plus demo msmarco-v1-passage]" {
		t.Errorf("got %s", got)
	}
	t.Setenv("XDG_DATA_HOME", "/data")
	for _, name := range Names() {
		d, dir, err := Describe(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d.Name != name || d.Title == "" || dir != filepath.Join("/data", "goserini", "benchmarks", name) {
			t.Errorf("%s: got %+v in %s", name, d, dir)
		}
		if d.Private && d.Canary == "" {
			t.Errorf("%s is private and a wrong canary would not be recognised", name)
		}
		for _, s := range d.Sources {
			if s.Dataset != "" && len(s.Revision) != 40 {
				t.Errorf("%s: %s is not pinned to a commit", name, s)
			}
		}
	}
}

func TestDemoIsThere(t *testing.T) {
	b := loaded(t, "demo")
	questions, err := b.Questions("")
	if err != nil || len(questions) != 12 || questions[0].Answer == nil {
		t.Errorf("got %d questions, %v", len(questions), err)
	}
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	docids := map[string]bool{}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		d, err2 := rec.Document()
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		docids[d.DocID] = true
	}
	if found := b.Findings(questions, func(id string) bool { return docids[id] }); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

func TestWhatIsNotSetUpSaysHowToSetItUp(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	for _, name := range []string{"browsecomp-plus", "msmarco-v1-passage"} {
		_, err := Load(name)
		var e *NotSetUpError
		if !errors.As(err, &e) || e.Name != name || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
		wantError(t, err, "goserini setup "+name)
	}
}

const described = `
name = "mine"
title = "My own"
corpus = ["docs/*.jsonl"]
queries = ["dev.tsv", "test.tsv"]
answers = ["answers.jsonl"]
evidence = ["a.txt", "b.txt"]
evidence_grade = 2
gold = ["gold.txt"]
k1 = 2.5
b = 0.5
default_set = "few"
set.few.ids = ["q3", "1"]
set.dev.file = "dev.tsv"
`

func describedFiles() map[string]string {
	return map[string]string{
		"bench.toml":   described,
		"docs/1.jsonl": `{"id": "d1", "contents": "salt"}` + "\n", "docs/2.jsonl": `{"id": "d2", "contents": "sand"}` + "\n",
		"dev.tsv": "1\tone\nq2\ttwo\n", "test.tsv": "q3\tthree\n",
		"answers.jsonl": `{"query_id": 1, "answer": "I", "aliases": ["eins"]}` + "\n" + `{"query_id": "q3", "unanswerable": true}` + "\n",
		"a.txt":         "1 0 d1 3\n1 0 d2 1\n", "b.txt": "q2 0 d2 2\n", "gold.txt": "1 0 d1 1\n",
	}
}

func TestDescriptionIsLoaded(t *testing.T) {
	b := loaded(t, filepath.Join(folder(t, describedFiles()), "bench.toml"))
	if got := questionIDs(t, b, ""); got != "q3 1" {
		t.Errorf("default set: got %s", got)
	}
	if got := questionIDs(t, b, "all"); got != "1 q2 q3" {
		t.Errorf("all: got %s", got)
	}
	if got := fmt.Sprint(b.SetNames()); got != "[all dev few]" {
		t.Errorf("got sets %s", got)
	}
	questions, _ := b.Questions("")
	if !questions[0].Answer.Unanswerable || questions[1].Answer.Text != "I" || questions[1].Answer.Aliases[0] != "eins" {
		t.Errorf("got answers %+v %+v", questions[0].Answer, questions[1].Answer)
	}
	evidence, gold := b.Qrels()
	if evidence["1"]["d1"] != 3 || evidence["1"]["d2"] != 0 || evidence["q2"]["d2"] != 2 || gold["1"]["d1"] != 1 {
		t.Errorf("got judgments %v, %v", evidence, gold)
	}
	if b.BM25.K1 != 2.5 || b.BM25.B != 0.5 || b.Private || b.Index != "" {
		t.Errorf("got %+v", b)
	}
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if rec, err := r.Next(); err != nil || rec.Location().Line != 1 {
		t.Errorf("corpus: %v %v", rec, err)
	}
	for _, role := range []string{"queries", "queries 2", "answers", "evidence", "evidence 2", "gold", "set dev"} {
		if b.Files[role] == "" {
			t.Errorf("no input %q among %v", role, b.Files)
		}
	}
}

func TestBadDescriptionsAreRefusedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"name = \"x\"\ncolour = 1":                                                             `line 2: there is no key "colour"`,
		"name = \"x\"\ntitle = 7":                                                              "line 2, column",
		"name = \"../x\"":                                                                      "letters, digits",
		"name = \"x\"\nk1 = 1.0":                                                               "give both or neither",
		"name = \"x\"\njudge = \"me\"":                                                         "gold-answer or reference-free",
		"name = \"x\"\ndefault_set = \"s\"":                                                    "not among the sets",
		"name = \"x\"\nset.all.ids = [\"1\"]":                                                  "under another name",
		"name = \"x\"\nset.s = {}":                                                             "give ids or a file",
		"name = \"x\"\nconvert = \"y\"":                                                        "there is only browsecomp-plus",
		"name = \"x\"\n[[source]]\ninto = \"c\"":                                               "source 1: give a dataset",
		"name = \"x\"\n[[source]]\nurl = \"http://h/f\"\ninto = \"../../f\"":                   "a path in the benchmark's folder",
		"name = \"x\"\nevidence_grade = -1":                                                    "want at least 0",
		"name = \"x\"":                                                                         "names no queries",
		"name = \"x\"\nqueries = [\"none.tsv\"]":                                               "none.tsv",
		"name = \"x\"\nqueries = [\"q.tsv\", \"q2.tsv\"]":                                      `query id "1" is also in`,
		"name = \"x\"\nqueries = [\"q.tsv\"]\nset.s.ids = [\"1\", \"1\"]":                      `names query "1" twice`,
		"name = \"x\"\nqueries = [\"q.tsv\"]\nset.s.file = \"empty.txt\"":                      `query set "s" is empty`,
		"name = \"x\"\nqueries = [\"q.tsv\"]\nevidence = [\"e1.txt\", \"e2.txt\"]":             "is judged 2 here and 1 in another file",
		"name = \"x\"\nqueries = [\"q.tsv\"]\nk1 = -1.0\nb = 0.5":                              "k1",
		"name = \"x\"\nqueries = [\"q.tsv\"]\nanswers = [\"bad.jsonl\"]":                       "bad.jsonl:1: needs the fields",
		"name = \"x\"\nqueries = [\"q.tsv\"]\nanswers = [\"twice.jsonl\"]":                     "twice.jsonl:2: a second answer",
		"name = \"x\"\nqueries = [\"q.tsv\"]\nanswers = [\"torn.jsonl\"]":                      "torn.jsonl:1: not a JSON object",
		"name = \"x\"\nqueries = [\"q.tsv\"]\nset.s.ids = [\"9\"]\ndefault_set = \"s\"\n#asks": "names query \"9\"",
	} {
		dir := folder(t, map[string]string{"bench.toml": text, "q.tsv": "1\tx\n", "q2.tsv": "1\tx\n", "empty.txt": "\n",
			"e1.txt": "1 0 d 1\n", "e2.txt": "1 0 d 2\n", "bad.jsonl": `{"query_id": "1"}`, "torn.jsonl": `{"query_id"`,
			"twice.jsonl": "{\"query_id\": \"1\", \"answer\": \"\"}\n{\"query_id\": 1, \"answer\": \"\"}\n"})
		b, err := Load(filepath.Join(dir, "bench.toml"))
		if err == nil {
			_, err = b.Questions("")
		}
		wantError(t, err, want)
	}
	_, err := Load("no-such-benchmark")
	wantError(t, err, "no-such-benchmark", "browsecomp-plus, demo")
}

func TestSourcesAreKeptInTheDataDirectory(t *testing.T) {
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	dir := folder(t, map[string]string{"bench.toml": "name = \"x\"\nqueries = [\"q.tsv\"]\n[[source]]\nurl = \"http://127.0.0.1/q\"\ninto = \"q.tsv\"\n"})
	file := filepath.Join(dir, "bench.toml")
	_, err := Load(file)
	wantError(t, err, "goserini setup "+file)
	home := filepath.Join(data, "goserini", "benchmarks", "x")
	if err := os.MkdirAll(filepath.Join(home, IndexFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "q.tsv"), []byte("1\tx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b := loaded(t, file); b.Index != "" {
		t.Errorf("an index whose build was stopped counts as made: %s", b.Index)
	}
	if err := os.WriteFile(filepath.Join(home, IndexFolder, "index.goserini"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if b := loaded(t, file); b.Index != filepath.Join(home, IndexFolder) {
		t.Errorf("got index %q", b.Index)
	}
}

func TestQuerySetsWhoseFileIsNotThere(t *testing.T) {
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	text := "name = \"x\"\nqueries = [\"q.tsv\"]\ndefault_set = \"few\"\nset.few.file = \"few.txt\"\n"
	_, err := Load(filepath.Join(folder(t, map[string]string{"bench.toml": text, "q.tsv": "1\tx\n2\ty\n"}), "bench.toml"))
	wantError(t, err, "few.txt")

	// Setup draws some sets last. Until then the default one is not all questions instead.
	file := filepath.Join(folder(t, map[string]string{"bench.toml": text + "[[source]]\nurl = \"http://127.0.0.1/q\"\ninto = \"q.tsv\"\n"}), "bench.toml")
	home := filepath.Join(data, "goserini", "benchmarks", "x")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "q.tsv"), []byte("1\tx\n2\ty\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := loaded(t, file)
	if got := questionIDs(t, b, "all") + " " + b.SetName(""); got != "1 2 few" {
		t.Errorf("got %s", got)
	}
	_, err = b.Questions("")
	wantError(t, err, `query set "few"`, "goserini setup "+file)
}

func TestBEIRFolderHasASetForEachSplit(t *testing.T) {
	b := loaded(t, folder(t, map[string]string{
		"corpus.jsonl":    `{"_id": "d1", "title": "t", "text": "x"}` + "\n",
		"queries.jsonl":   `{"_id": "1", "text": "a"}` + "\n" + `{"_id": "2", "text": "b"}` + "\n" + `{"_id": "3", "text": "c"}` + "\n",
		"qrels/test.tsv":  "query-id\tcorpus-id\tscore\n2\td1\t1\n",
		"qrels/train.tsv": "query-id\tcorpus-id\tscore\n1\td1\t2\n",
	}))
	if got := fmt.Sprint(b.SetNames()) + b.SetName(""); got != "[all test train]test" {
		t.Errorf("got %s", got)
	}
	if got := questionIDs(t, b, ""); got != "2" {
		t.Errorf("got %s", got)
	}
	evidence, gold := b.Qrels()
	if evidence["1"]["d1"] != 2 || evidence["2"]["d1"] != 1 || gold != nil {
		t.Errorf("got %v, %v", evidence, gold)
	}
}

func TestQrelsTakeTheRoleThatIsFree(t *testing.T) {
	base := map[string]string{"queries.tsv": "1\tx\n", "corpus.jsonl": "{}", "qrels.txt": "1 0 all 1\n"}
	for _, c := range []struct {
		more           string
		evidence, gold string
	}{
		{"", "all", ""},
		{"qrel_evidence.txt", "special", "all"},
		{"qrel_gold.txt", "all", "special"},
		{"qrel_golds.txt", "all", "special"},
	} {
		files := map[string]string{}
		for name, text := range base {
			files[name] = text
		}
		if c.more != "" {
			files[c.more] = "1 0 special 1\n"
		}
		evidence, gold := loaded(t, folder(t, files)).Qrels()
		if evidence["1"][c.evidence] != 1 || c.gold != "" && gold["1"][c.gold] != 1 || c.gold == "" && gold != nil {
			t.Errorf("%q: got evidence %v, gold %v", c.more, evidence, gold)
		}
	}
}

func TestFoldersThatAreNoBenchmark(t *testing.T) {
	_, err := Load(folder(t, map[string]string{"corpus.jsonl": "{}"}))
	wantError(t, err, "no queries.tsv or queries.jsonl")
	b := loaded(t, folder(t, map[string]string{"queries.tsv": "1\tx\n"}))
	_, err = b.Open()
	wantError(t, err, "give --index")
	_, err = b.Questions("some")
	wantError(t, err, `no query set "some": it has [all]`)
}

func TestSetOfFindsTheSmallestThatFits(t *testing.T) {
	b := loaded(t, filepath.Join(folder(t, describedFiles()), "bench.toml"))
	for want, ids := range map[string][]string{"few": {"1", "q3"}, "dev": {"q2"}, "all": {"q2", "q3"}} {
		if got, err := b.SetOf(ids); err != nil || got != want {
			t.Errorf("%v: got %s, %v; want %s", ids, got, err, want)
		}
	}
	_, err := b.SetOf([]string{"q9"})
	wantError(t, err, `does not have 1 of the 1 queries, for example "q9"`)
}

func TestFindingsCountWhatIsMissing(t *testing.T) {
	b := loaded(t, folder(t, map[string]string{
		"corpus.jsonl": "{}", "queries.tsv": "1\ta\n2\tb\n3\tc\n",
		"answers.jsonl": `{"query_id": "1", "answer": "x"}` + "\n" + `{"query_id": "9", "answer": "x"}` + "\n",
		"qrels.txt":     "1 0 d1 1\n8 0 d1 1\n1 0 ghost 1\n",
	}))
	questions, _ := b.Questions("")
	var got []string
	for _, f := range b.Findings(questions, func(id string) bool { return id == "d1" }) {
		got = append(got, f.String())
	}
	want := []string{
		"1 answers are to questions that the benchmark does not have: 9",
		"2 questions have no known answer and cannot be judged against one: 2, 3",
		"2 questions have no evidence judgments and count 0 in recall over all queries: 2, 3",
		"1 queries with evidence judgments are not among the benchmark's questions: 8",
		"1 evidence documents are not in the collection and can never be found: ghost",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestCaseJudgmentsForUnknownDocumentsAndQueries(t *testing.T) {
	b := loaded(t, sharedtest.Path(t, "cases", "TRV-21"))
	questions, _ := b.Questions("")
	corpus, err := os.ReadFile(sharedtest.Path(t, "cases", "TRV-21", "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(b.Findings(questions, func(id string) bool { return strings.Contains(string(corpus), `"`+id+`"`) }))
	for _, want := range []string{"not in the collection and can never be found: ghost", "not among the benchmark's questions: q7"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want %q", text, want)
		}
	}
}

func TestCaseOneQueryIDTwice(t *testing.T) {
	queries, err := os.ReadFile(sharedtest.Path(t, "cases", "RUN-07", "queries.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t, map[string]string{"queries.tsv": string(queries)})
	_, err = Load(dir)
	wantError(t, err, `"q2"`, `"q3"`, "queries.tsv:3", "queries.tsv:5")
}

func TestCaseQueryFileWithoutTabs(t *testing.T) {
	queries, err := os.ReadFile(sharedtest.Path(t, "cases", "QRY-12", "queries.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Load(folder(t, map[string]string{"queries.tsv": string(queries)}))
	wantError(t, err, "queries.tsv:7", "no tab")
	whole := strings.TrimSuffix(strings.TrimSpace(string(queries)), "no-tab-here")
	b := loaded(t, folder(t, map[string]string{"queries.tsv": whole}))
	questions, _ := b.Questions("")
	if len(questions) != 5 || questions[1].Text != `"Half quoted title and the rest` || questions[2].Text != "left\tright" {
		t.Errorf("got %+v", questions)
	}
}

func TestRealCollectionsLoad(t *testing.T) {
	for name, want := range map[string]int{"musique100": 50, "sec10q": 98, "cacm": 64, "wice": 316} {
		b := loaded(t, sharedtest.Path(t, "data", name))
		questions, err := b.Questions("")
		evidence, _ := b.Qrels()
		if err != nil || len(questions) != want || len(evidence) == 0 {
			t.Errorf("%s: got %d questions, %d judged; %v", name, len(questions), len(evidence), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(described))
	f.Add([]byte("name = \"x\"\n[[source]]\nurl=\"a\"\ninto=\"b\""))
	f.Add([]byte("[set]\nset = 1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parse(text)
		if err == nil && !name.MatchString(d.Name) {
			t.Errorf("a description named %q is taken", d.Name)
		}
	})
}

func FuzzReadAnswers(f *testing.F) {
	f.Add(`{"query_id": 1, "answer": "x", "aliases": ["y"]}` + "\n\n" + `{"query_id": "2", "unanswerable": true}`)
	f.Add(`{"query_id": {}}`)
	f.Add("\ufeff{}")
	path := filepath.Join(f.TempDir(), "answers.jsonl")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		known := map[string]*Answer{}
		if err := readAnswers(path, known); err != nil {
			return
		}
		for id, a := range known {
			if id == "" || a == nil {
				t.Fatalf("%q gives the answer %v to %q", text, a, id)
			}
		}
	})
}
