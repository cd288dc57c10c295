package navbench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/benchmark"
)

func texts(spans []span) []string {
	var out []string
	for _, s := range spans {
		out = append(out, s.text)
	}
	return out
}

func TestSpansAreMarkedSentencesElseTurnsElseTheAnswer(t *testing.T) {
	answer := &benchmark.Answer{Text: "Tamsin Hale", Aliases: []string{"T. Hale"}}
	lines := []string{"A: Okay.", "B: The lamp oil came from Port Sennet by sea.", "A: The keeper wrote all of it down."}
	for _, tt := range []struct {
		name    string
		marking marking
		answer  *benchmark.Answer
		want    []string
	}{
		{"sentences", marking{sentences: []string{"She kept the light.", "of the"}, turns: [][2]int{{0, 2}}}, answer, []string{"She kept the light."}},
		{"turns of five content words and more", marking{turns: [][2]int{{0, 1}}}, answer, lines[1:2]},
		{"turns behind the end", marking{turns: [][2]int{{1, 99}, {7, 8}}}, answer, lines[1:2]},
		{"the answer and its aliases", marking{}, answer, []string{"Tamsin Hale", "T. Hale"}},
		{"no answer", marking{}, nil, nil},
		{"an unanswerable question", marking{}, &benchmark.Answer{Unanswerable: true}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, texts(spansOf(tt.marking, tt.answer, lines))); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlacesAreFoundWhateverTheBlanks(t *testing.T) {
	contents := "Title\nIn 1350 the  KEEPER\nwas born.\nThe keeper was 35, and 35 only."
	for _, tt := range []struct {
		name, span string
		want       []string
	}{
		{"over a line end", "the keeper was", []string{"the  KEEPER\nwas", "The keeper was"}},
		{"whole words only, each place", "35", []string{"35", "35"}},
		{"not there", "pilot", nil},
		{"blank", " \n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range locate(contents, []span{{text: tt.span}}) {
				got = append(got, contents[p.start:p.end])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMarkingsOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	file := "{\"query_id\": \"a\", \"evidence_sentences\": [\"one\"], \"evidence\": [\"two\"]}\n\n" +
		"{\"query_id\": 12, \"evidence\": {\"other\": 1}, \"turns\": [[\"3\", \"4\"], [5, 5]]}\n"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readMarkings(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]marking{"a": {sentences: []string{"one", "two"}}, "12": {turns: [][2]int{{3, 4}, {5, 5}}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(marking{})); diff != "" {
		t.Errorf("markings (-want +got):\n%s", diff)
	}
}

func FuzzMarking(f *testing.F) {
	for _, seed := range []string{`{"query_id":"a","turns":[["1","2"]]}`, `{"turns":[[1]]}`, `{"turns":[[2,1]]}`, `{"query_id":"\u00"}`, `[]`, `{"evidence":["x"]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		_, m, err := parseMarking(line)
		if err != nil {
			return
		}
		for _, r := range m.turns {
			if r[0] < 0 || r[1] < r[0] {
				t.Errorf("range %v was accepted", r)
			}
		}
	})
}

func TestALimitSpreadsQuestions(t *testing.T) {
	all := []question{{id: "0"}, {id: "1"}, {id: "2"}, {id: "3"}, {id: "4"}}
	for _, tt := range []struct {
		limit int
		want  string
	}{{0, "01234"}, {9, "01234"}, {2, "02"}, {3, "013"}} {
		got := ""
		for _, q := range spread(all, tt.limit) {
			got += q.id
		}
		if got != tt.want {
			t.Errorf("limit %d takes %s, want %s", tt.limit, got, tt.want)
		}
	}
}

func TestWhichDocumentsHoldTheAnswer(t *testing.T) {
	c := &Collection{index: harbour(t)}
	q := question{gold: []string{"a", "absent", "register"}, spans: makeSpans([]string{"Tamsin Hale"}, 1)}
	if err := c.hold(&q); err != nil {
		t.Fatal(err)
	}
	if q.holding["a"] || q.holding["absent"] || !q.holding["register"] {
		t.Errorf("got %v, want the register alone", q.holding)
	}
}
