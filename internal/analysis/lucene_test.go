package analysis

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
)

// The goldens are Lucene's answers; bench/oracle rewrites them.

func TestTokensAndTermsEqualLucene(t *testing.T) {
	english := named(t, "english")
	for _, line := range golden(t, "testdata/lucene/texts.tsv.gz") {
		var text string
		if err := json.Unmarshal([]byte(line[0]), &text); err != nil {
			t.Fatalf("input %s: %v", line[0], err)
		}
		tokens := &answer{text: text}
		tokenizer := english.Tokenizer()
		tokenizer.Reset(text)
		for token, ok := tokenizer.Next(); ok; token, ok = tokenizer.Next() {
			tokens.add(t, text[token.Start:token.End], token)
		}
		if got, want := tokens.String(), line[1]; got != want {
			t.Errorf("tokens of %q:\n got %s\nwant %s", text, got, want)
		}
		terms := &answer{text: text}
		english.Analyze(text, func(token Token) { terms.add(t, string(token.Term), token) })
		if got, want := terms.String(), line[2]; got != want {
			t.Errorf("terms of %q:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestStemsEqualLucene(t *testing.T) {
	for _, line := range golden(t, "testdata/lucene/stems.tsv.gz") {
		if got := string(porterStem([]byte(line[0]))); got != line[1] {
			t.Errorf("stem of %q: got %q, want %q", line[0], got, line[1])
		}
	}
}

func named(t testing.TB, name string) Staged {
	t.Helper()
	a, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return a.(Staged)
}

// golden reads the lines of a compressed file of columns with tabs between them.
func golden(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(content), "\n"), "\n") {
		rows = append(rows, strings.Split(line, "\t"))
	}
	if len(rows) < 1000 {
		t.Fatalf("%s has %d lines, which is too few to be whole", path, len(rows))
	}
	return rows
}

// answer writes tokens as the goldens do: an array of term, start, end, with
// offsets in UTF-16 units.
type answer struct {
	text string
	out  bytes.Buffer
}

func (a *answer) add(t *testing.T, term string, token Token) {
	t.Helper()
	if a.out.Len() > 0 {
		a.out.WriteByte(',')
	}
	encoder := json.NewEncoder(&a.out)
	encoder.SetEscapeHTML(false)
	for _, value := range []any{term, a.units(token.Start), a.units(token.End)} {
		if err := encoder.Encode(value); err != nil {
			t.Fatal(err)
		}
		a.out.Truncate(a.out.Len() - 1)
		a.out.WriteByte(',')
	}
	a.out.Truncate(a.out.Len() - 1)
}

func (a *answer) units(offset int) int { return len(utf16.Encode([]rune(a.text[:offset]))) }

func (a *answer) String() string { return "[" + a.out.String() + "]" }
