package oracle_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"goserini/internal/analysis"
	"goserini/internal/sharedtest"
)

var update = flag.Bool("update", false, "rewrite the goldens of internal/analysis from live Lucene")

// analysisGoldens is where the tests of the analysis package look.
const analysisGoldens = "../../internal/analysis/testdata/lucene"

func TestEveryCharacterIsCutAsByLucene(t *testing.T) {
	requireLucene(t)
	var texts []string
	for r := rune(0); r <= 0x10FFFF; r++ {
		if r >= 0xD800 && r <= 0xDFFF || r > 0x32400 && r < 0xE0000 || r > 0xE0200 {
			continue
		}
		texts = append(texts, string(r), "a"+string(r)+"b "+string(r)+"\u0301")
	}
	for _, generation := range generations {
		compareTokens(t, generation, "tokens", texts)
	}
}

func TestRandomTextIsAnalyzedAsByLucene(t *testing.T) {
	requireLucene(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 200_000 {
		texts = append(texts, randomText(rng))
	}
	for _, generation := range generations {
		compareTokens(t, generation, "tokens", texts)
		compareTokens(t, generation, "analyze", texts)
	}
}

func TestCollectionsAreAnalyzedAsByLucene(t *testing.T) {
	requireLucene(t)
	for _, collection := range collections(t) {
		t.Run(collection, func(t *testing.T) {
			texts := documents(t, sharedtest.Path(t, "data", collection, "corpus.jsonl.gz"))
			compareTokens(t, "10", "analyze", texts)
		})
	}
}

func TestVocabularyIsStemmedAsByLucene(t *testing.T) {
	requireLucene(t)
	words := map[string]bool{}
	none := analyzer(t, "none")
	for _, collection := range collections(t) {
		for _, text := range documents(t, sharedtest.Path(t, "data", collection, "corpus.jsonl.gz")) {
			none.Analyze(text, func(token analysis.Token) { words[string(token.Term)] = true })
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		words[randomWord(rng)] = true
	}
	list := slices.Sorted(maps.Keys(words))
	t.Logf("%d words", len(list))
	english := analyzer(t, "english")
	for i, want := range luceneStems(t, list) {
		word := list[i]
		if strings.HasSuffix(word, "s") && strings.ContainsAny(word, "'’＇") {
			continue // the English chain may remove a possessive first
		}
		stem, keep := english.Normalize(nil, []byte(word))
		if keep && string(stem) != want {
			t.Errorf("stem of %q: got %q, Lucene has %q", word, stem, want)
		}
	}
}

func TestGoldensOfAnalysis(t *testing.T) {
	if !*update {
		t.Skip("nothing to do without -update")
	}
	requireLucene(t)
	rng := rand.New(rand.NewPCG(5, 6))
	texts := handwritten(t)
	for range 4000 {
		texts = append(texts, randomText(rng))
	}
	tokens := luceneTokens(t, "10", "tokens", texts)
	terms := luceneTokens(t, "10", "analyze", texts)
	var golden bytes.Buffer
	for i, text := range texts {
		fmt.Fprintf(&golden, "%s\t%s\t%s\n", quote(t, text), tokens[i], terms[i])
	}
	writeGolden(t, "texts.tsv.gz", golden.Bytes())
	var words []string
	for range 12000 {
		words = append(words, randomWord(rng))
	}
	golden.Reset()
	for i, stem := range luceneStems(t, words) {
		fmt.Fprintf(&golden, "%s\t%s\n", words[i], stem)
	}
	writeGolden(t, "stems.tsv.gz", golden.Bytes())
}

func analyzer(t *testing.T, name string) analysis.Staged {
	t.Helper()
	a, err := analysis.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return a.(analysis.Staged)
}

// compareTokens reports the first texts whose tokens differ from Lucene's. The raw
// tokens compare by their places, since ours are lower-cased.
func compareTokens(t *testing.T, generation, verb string, texts []string) {
	t.Helper()
	differences := 0
	for i, want := range luceneTokens(t, generation, verb, texts) {
		got := ourTokens(t, verb, texts[i])
		if got == want {
			continue
		}
		if differences++; differences <= 10 {
			t.Errorf("Lucene %s, %s of %q:\n got %s\nwant %s", generation, verb, texts[i], got, want)
		}
	}
	if differences > 0 {
		t.Errorf("Lucene %s, %s: %d of %d texts differ", generation, verb, differences, len(texts))
	}
}

// ourTokens prints our tokens as the driver prints Lucene's.
func ourTokens(t *testing.T, verb, text string) string {
	t.Helper()
	units := utf16Offsets(text)
	var out bytes.Buffer
	add := func(term string, token analysis.Token) {
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "%s,%d,%d", quote(t, term), units(token.Start), units(token.End))
	}
	if verb == "analyze" {
		analyzer(t, "english").Analyze(text, func(token analysis.Token) { add(string(token.Term), token) })
	} else {
		tokenizer := analyzer(t, "none").Tokenizer()
		tokenizer.Reset(text)
		for token, ok := tokenizer.Next(); ok; token, ok = tokenizer.Next() {
			add(text[token.Start:token.End], token)
		}
	}
	return "[" + out.String() + "]"
}

// utf16Offsets returns a function from byte offsets, asked for in ascending order,
// to offsets in UTF-16 units. It may go back a little for overlapping tokens.
func utf16Offsets(text string) func(int) int {
	pos, units := 0, 0
	return func(offset int) int {
		if offset < pos {
			pos, units = 0, 0
		}
		for _, r := range text[pos:offset] {
			units += utf16.RuneLen(r)
		}
		pos = offset
		return units
	}
}

func luceneTokens(t *testing.T, generation, verb string, texts []string) []string {
	t.Helper()
	var in bytes.Buffer
	for _, text := range texts {
		in.WriteString(quote(t, text))
		in.WriteByte('\n')
	}
	return lines(t, lucene(t, generation, &in, verb), len(texts))
}

func luceneStems(t *testing.T, words []string) []string {
	t.Helper()
	return lines(t, lucene(t, "10", strings.NewReader(strings.Join(words, "\n")+"\n"), "stem"), len(words))
}

func lines(t *testing.T, out []byte, want int) []string {
	t.Helper()
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(got) != want {
		t.Fatalf("the driver printed %d lines, want %d", len(got), want)
	}
	return got
}

// quote writes a JSON string as the driver does: only what must be is escaped.
func quote(t *testing.T, s string) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		t.Fatal(err)
	}
	quoted := strings.TrimSuffix(out.String(), "\n")
	quoted = strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(quoted)
	return quoted
}

// documents reads the title and text of every document.
func documents(t *testing.T, path string) []string {
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
	var texts []string
	scanner := bufio.NewScanner(unzipped)
	scanner.Buffer(nil, 1<<28)
	for scanner.Scan() {
		var document struct{ Title, Text, Contents string }
		if err := json.Unmarshal(scanner.Bytes(), &document); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		texts = append(texts, document.Title+"\n"+document.Text+document.Contents)
	}
	if err := scanner.Err(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return texts
}

// collections names the test collections that have a corpus.
func collections(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "data"), "*", "corpus.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	return names
}

// handwritten returns the texts of testdata/texts.txt, one a line.
func handwritten(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/texts.txt")
	if err != nil {
		t.Fatal(err)
	}
	return lines(t, text, strings.Count(string(text), "\n"))
}

func writeGolden(t *testing.T, name string, content []byte) {
	t.Helper()
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(analysisGoldens, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(analysisGoldens, name), zipped.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}
