package trec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	got, err := ParseRun(strings.NewReader("q2 Q0 a 1 inf x\n\nq1\tQ0\tb 7 -1e-3 x\r\nq2 Q0 c\u00a0d 2 -inf y"), "f")
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "run", got, Run{
		{"q2", "a", 1, math.Inf(1), "x"}, {"q1", "b", 7, -0.001, "x"}, {"q2", "c\u00a0d", 2, math.Inf(-1), "y"},
	})
	diff(t, "queries", got.QueryIDs(), []string{"q2", "q1"})
	diff(t, "lines of q2", got.ByQuery()["q2"], []RunLine{got[0], got[2]})
}

func TestScoresThatAreNoNumbers(t *testing.T) {
	for _, s := range []string{"", "1,5", "0x1p4", "1_000", "1e999", "NaN", "--1", "1.2.3"} {
		if _, problem := parseScore(s); problem == "" {
			t.Errorf("score %q: got no problem", s)
		}
	}
}

// TestAdjustScores follows the steps by hand: rounding to four decimals, then steps of
// 1e-6 below the score before where two come within 1e-4.
func TestAdjustScores(t *testing.T) {
	scores := []float32{1.23456, 1.23456, 1.23451, 0.50004, 0.50006, -0.00005, -0.00006}
	AdjustScores(scores)
	want := []string{"1.234600", "1.234599", "1.234498", "0.500000", "0.500099", "0.000000", "-0.000101"}
	var got []string
	for _, s := range scores {
		got = append(got, formatScore(s))
	}
	diff(t, "scores", got, want)
}

func TestRunWriterKeepsTheOrderUnderAnyRuleForTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		scale := math.Pow(10, float64(rng.IntN(7))-2)
		ranking := make([]ScoredDoc, 1+rng.IntN(200))
		score := float32(rng.Float64() * scale)
		for i := range ranking {
			if rng.IntN(3) == 0 {
				score -= float32(rng.Float64() * scale * math.Pow(10, -float64(rng.IntN(6))))
			}
			ranking[i] = ScoredDoc{DocID: fmt.Sprint("d", i), Score: score}
		}
		var b bytes.Buffer
		w, err := NewRunWriter(&b, "tag")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write("q", ranking), w.Flush()); err != nil {
			t.Fatal(err)
		}
		checkDecreasing(t, b.String(), len(ranking))
	}
}

// checkDecreasing reads a run as trec_eval does, scores into a float32.
func checkDecreasing(t *testing.T, text string, lines int) {
	t.Helper()
	last := math.Inf(1)
	n := 0
	for line := range strings.Lines(text) {
		score, err := strconv.ParseFloat(strings.Fields(line)[4], 32)
		if err != nil {
			t.Fatal(err)
		}
		if score >= last {
			t.Fatalf("line %d: score %v is not below %v", n+1, score, last)
		}
		last = score
		n++
	}
	if n != lines {
		t.Fatalf("got %d lines, want %d", n, lines)
	}
	if _, err := ParseRun(strings.NewReader(text), "f"); err != nil {
		t.Fatalf("the run cannot be read back: %v", err)
	}
}

// TestRunWriterWritesAnserinisScoresWhereTheyDo says that nothing is lowered further
// where Anserini's own scores keep the order.
func TestRunWriterWritesAnserinisScoresWhereTheyDo(t *testing.T) {
	var b strings.Builder
	w, err := NewRunWriter(&b, "goserini")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write("1", []ScoredDoc{{"a", 12.34567}, {"b", 12.34567}, {"c", 3}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Write("2", nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	diff(t, "run", b.String(), "1 Q0 a 1 12.345700 goserini\n1 Q0 b 2 12.345699 goserini\n1 Q0 c 3 3.000000 goserini\n")
}

func TestRunWriterRefusesWhatItCannotCarry(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name, query string
		ranking     []ScoredDoc
		want        string
	}{
		{"a docid with a blank", "1", []ScoredDoc{{"with space", 1}}, `docid "with space" holds white space`},
		{"a docid with a no-break space", "1", []ScoredDoc{{"a\u00a0b", 1}}, "white space"},
		{"a docid with a tab", "1", []ScoredDoc{{"a\tb", 1}}, "white space"},
		{"an empty docid", "1", []ScoredDoc{{"", 1}}, "docid is empty"},
		{"a query id with a line break", "a\nb", []ScoredDoc{{"a", 1}}, "query id"},
		{"a score that is none", "1", []ScoredDoc{{"a", nan}}, "NaN"},
		{"scores that rise", "1", []ScoredDoc{{"a", 1}, {"b", 2}}, "rank 2 scores above rank 1"},
		{"a document twice", "1", []ScoredDoc{{"a", 1}, {"a", 1}}, "twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			w, err := NewRunWriter(&b, "tag")
			if err != nil {
				t.Fatal(err)
			}
			wantError(t, w.Write(c.query, c.ranking), c.want)
			if err := w.Flush(); err != nil || b.Len() > 0 {
				t.Errorf("got %q written, %v; want nothing", b.String(), err)
			}
		})
	}
	_, err := NewRunWriter(nil, "two words")
	wantError(t, err, "tag")
}

func TestJSONRunWriter(t *testing.T) {
	var b strings.Builder
	w := NewJSONRunWriter(&b)
	ranking := []ScoredDoc{{"a <b>\n", 0.1}, {"c", 1e-9}, {"d", math.SmallestNonzeroFloat32}}
	if err := errors.Join(w.Write("q 1", ranking), w.Flush()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	diff(t, "first line", lines[0], `{"query_id":"q 1","docid":"a <b>\n","rank":1,"score":0.1}`)
	for i, l := range lines {
		var hit jsonHit
		if err := json.Unmarshal([]byte(l), &hit); err != nil {
			t.Fatal(err)
		}
		diff(t, "hit", hit, jsonHit{"q 1", ranking[i].DocID, i + 1, ranking[i].Score})
	}
}

func FuzzRun(f *testing.F) {
	for _, s := range []string{"q Q0 a 1 2.5 t\n", "q Q0 a 1 inf t\nq Q0 b 2 -1e-5 t", "a b c d e f", "q Q0 a 1 nan t", "1 2 3 4 5 6 7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		run, err := ParseRun(strings.NewReader(in), "f")
		if (err == nil) != (len(run) > 0) {
			t.Fatalf("%q: got %v and error %v", in, run, err)
		}
		for _, l := range run {
			if math.IsNaN(l.Score) || l.QueryID == "" || l.DocID == "" {
				t.Fatalf("%q: got line %+v", in, l)
			}
		}
	})
}

func FuzzRunScores(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, in []byte) {
		var ranking []ScoredDoc
		last := float32(math.Inf(1))
		for i := 0; i+4 <= len(in) && i < 400; i += 4 {
			bits := uint32(in[i]) | uint32(in[i+1])<<8 | uint32(in[i+2])<<16 | uint32(in[i+3])<<24
			s := min(last, math.Float32frombits(bits))
			if s != s || math.IsInf(float64(s), 0) || math.Abs(float64(s)) > 1e12 {
				continue
			}
			last = s
			ranking = append(ranking, ScoredDoc{DocID: fmt.Sprint(i), Score: s})
		}
		var b strings.Builder
		w, err := NewRunWriter(&b, "t")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write("q", ranking), w.Flush()); err != nil {
			t.Fatal(err)
		}
		if len(ranking) > 0 {
			checkDecreasing(t, b.String(), len(ranking))
		}
	})
}
