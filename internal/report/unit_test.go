package report

import (
	"encoding/csv"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"goserini/internal/sharedtest"
)

func TestTheParetoFrontHoldsWhatNothingBeats(t *testing.T) {
	all := []system{{name: "dear", usd: 9, accuracy: 0.8}, {name: "best", usd: 5, accuracy: 0.8}, {name: "cheap", usd: 1, accuracy: 0.5}, {name: "worse", usd: 2, accuracy: 0.4}, {name: "equal", usd: 1, accuracy: 0.5}}
	var got []string
	for _, s := range front(all) {
		got = append(got, s.name)
	}
	if want := []string{"cheap", "best"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCSVKeepsTextsAndStopsFormulas(t *testing.T) {
	c := csvData{head: []string{"id", "value"}}
	c.add(`=HYPERLINK("x")`, "-1.5")
	c.add("a,\"b\"\nc", "+x")
	got, err := csv.NewReader(strings.NewReader(c.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"id", "value"}, {`'=HYPERLINK("x")`, "-1.5"}, {"a,\"b\"\nc", "'+x"}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDataAddressesCarryEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		escaped := escapeURL(s)
		if strings.ContainsAny(escaped, "<>\"'&#\n% "[:7]) {
			t.Fatalf("%q has a character that is not safe", escaped)
		}
		back, err := url.PathUnescape(escaped)
		if err != nil || back != s {
			t.Fatalf("%q came back as %q, %v", s, back, err)
		}
	})
}

func TestNumbersReadAsPeopleWriteThem(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{seconds(0.041), "41 ms"}, {seconds(3.21), "3.2 s"}, {seconds(252), "4 m 12 s"}, {seconds(7500), "2 h 05 m"}, {seconds(59.97), "0 m 59 s"},
		{dollars(0), "$0"}, {dollars(0.09634), "$0.0963"}, {dollars(79.936), "$79.94"}, {dollars(1234.4), "$1,234"},
		{plainNumber(9.254), "9.25"}, {plainNumber(20.08), "20.1"}, {plainNumber(284563.2), "284,563"}, {wholeNumber(18), "18"}, {wholeNumber(18.75), "18.8"},
		{percent(0.5), "50.0 %"}, {share(1, 0), none}, {count(-1234567), "-1,234,567"},
		{clean("a\x1b[31m\u202eb\tc"), "a\ufffd[31m\ufffdb\tc"}, {clip("abcdef", 4), "abc…"}, {clip("abc", 3), "abc"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

func TestThePapersFiguresAreComplete(t *testing.T) {
	p, err := ReadPaper()
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Systems) != 15 || len(p.Settings) != 4 || len(p.Depths) != 4 {
		t.Fatalf("%d systems, %d settings, %d depths", len(p.Systems), len(p.Settings), len(p.Depths))
	}
	for i, s := range p.Systems {
		if s.Row != string(rune('a'+i)) {
			t.Errorf("row %q stands at place %d", s.Row, i+1)
		}
		sum := s.Calls.Search
		for _, v := range []*float64{s.Calls.Read, s.Calls.Browse} {
			if v != nil {
				sum += *v
			}
		}
		if d := sum - s.Calls.Total; d > 0.151 || d < -0.151 {
			t.Errorf("row %s: calls add up to %.1f, total %.1f", s.Row, sum, s.Calls.Total)
		}
	}
}

// TestThePapersFiguresAreThePapers compares with the tables of the paper itself.
func TestThePapersFiguresAreThePapers(t *testing.T) {
	raw, err := os.ReadFile(sharedtest.Path(t, "paper", "pi-serini-paper.md"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := ReadPaper()
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`\d[\d,]*\.\d+`)
	rows := map[string][]float64{}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		// Table 1 begins with the letter of the row, tables 2 and 3 with a name.
		key, rest := strings.TrimSpace(cells[1]), cells[2:]
		if len(cells) > 10 {
			rest = cells[3:]
		}
		var values []float64
		for _, c := range rest {
			for _, m := range number.FindAllString(c, -1) {
				if strings.Contains(c, "gpt") || strings.Contains(c, "qwen") || strings.Contains(c, "bm25") || strings.Contains(c, "$(") {
					continue
				}
				v, err := strconv.ParseFloat(strings.ReplaceAll(m, ",", ""), 64)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, v)
			}
		}
		rows[key] = values
	}
	optional := func(into []float64, values ...*float64) []float64 {
		for _, v := range values {
			if v != nil {
				into = append(into, *v)
			}
		}
		return into
	}
	for _, s := range p.Systems {
		got := optional([]float64{s.Accuracy}, s.CalibrationError, s.CostUSD, s.Surfaced.Evidence, s.Surfaced.Gold, s.Previewed.Evidence, s.Previewed.Gold, s.Behavior.Evidence, s.Behavior.Gold)
		if want := rows["("+s.Row+")"]; !slices.Equal(got, want) {
			t.Errorf("table 1, row %s: %v, the paper has %v", s.Row, got, want)
		}
		name := s.Model + " + " + s.Retriever
		if s.Retriever == "bm25" {
			name = s.Model + " + BM25"
		}
		// The released baseline and the paper's own system of gpt-5 have one name; the later row won.
		if s.Row == "c" {
			continue
		}
		got = optional([]float64{s.Calls.Total, s.Calls.Search}, s.Calls.Read, s.Calls.Browse)
		if want := rows[name]; !slices.Equal(got, want) {
			t.Errorf("table 2, %s: %v, the paper has %v", name, got, want)
		}
	}
	for name, of := range map[string]func(PaperSetting) float64{
		"Accuracy (%)": func(s PaperSetting) float64 { return s.Accuracy }, "Acc.† (%)": func(s PaperSetting) float64 { return s.AccuracyCompleted },
		"Surfaced (%)": func(s PaperSetting) float64 { return s.Surfaced }, "Previewed (%)": func(s PaperSetting) float64 { return s.Previewed },
		"Behavior (%)": func(s PaperSetting) float64 { return s.Behavior }, "Avg. Tool Calls": func(s PaperSetting) float64 { return s.ToolCalls },
		"Med. Total Tokens": func(s PaperSetting) float64 { return s.MedianTokens }, "Med. Cached Tokens": func(s PaperSetting) float64 { return s.MedianCachedTokens },
		"Cost ($)": func(s PaperSetting) float64 { return s.CostUSD },
	} {
		var got []float64
		for _, s := range p.Settings {
			got = append(got, of(s))
		}
		if want := rows[name]; !slices.Equal(got, want) {
			t.Errorf("table 3, %s: %v, the paper has %v", name, got, want)
		}
	}
}
