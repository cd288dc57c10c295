package analysis

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/sharedtest"
)

func TestTermsOfNamedAnalyzers(t *testing.T) {
	for _, test := range []struct {
		name, analyzer, text string
		want                 []string
	}{
		{"possessive before stop words before stem", "english", "The keeper's lamps weren't a's theirs'", []string{"keeper", "lamp", "weren't", "their"}},
		{"points, commas and low lines inside words stay", "english", "foo_bar 3.14 1,000.50 U.S.A. e-mail", []string{"foo_bar", "3.14", "1,000.50", "u.s.a", "e", "mail"}},
		{"emoji are terms", "english", "bear 🐻 👩🏽\u200d🚀 🇨🇭", []string{"bear", "🐻", "👩🏽\u200d🚀", "🇨🇭"}},
		{"Chinese becomes single characters under the English chain", "english", "潮汐", []string{"潮", "汐"}},
		{"none keeps stop words and endings", "none", "The Lamps' keeper's", []string{"the", "lamps", "keeper's"}},

		{"pairs of characters without spaces", "cjk", "図書館の検索", []string{"図書", "書館", "館の", "の検", "検索"}},
		{"a lone character stays as it is", "cjk", "猫。犬 と", []string{"猫", "犬", "と"}},
		{"other scripts take the English chain", "cjk", "端末ID=QX77の点検 running lamps", []string{"端末", "id", "qx77", "の点", "点検", "run", "lamp"}},
		{"half-width katakana are katakana", "cjk", "ﾊﾝｶｸ ｶﾞ", []string{"ハン", "ンカ", "カク", "ガ"}},
		{"full-width letters are letters", "cjk", "ＺＩＮＣ", []string{"zinc"}},
		{"circled digits are digits", "cjk", "step ①", []string{"step", "1"}},
		{"Korean words are pairs of syllables", "cjk", "감자 수확을", []string{"감자", "수확", "확을"}},
		{"Korean beside digits and letters", "cjk", "2024년에 PDF파일's", []string{"2024", "년에", "pdf", "파일", "s"}},
		{"Thai becomes pairs of characters with their marks", "cjk", "ที่นี่", []string{"ที่นี่"}},
		{"characters of the supplementary planes", "cjk", "𠀀𠀁𠀂", []string{"𠀀𠀁", "𠀁𠀂"}},
		{"joiners and soft hyphens leave no trace", "cjk", "می\u200cروم soft\u00adhyphen", []string{"میروم", "softhyphen"}},
		{"accents count without folding", "cjk", "crème", []string{"crème"}},

		{"accents do not count with folding", "folding", "Crème brûlée Łódź Ångström straße bệnh ĳssel", []string{"creme", "brule", "lodz", "angstrom", "strass", "benh", "ijssel"}},
		{"marks that are letters stay", "folding", "が नमस्ते", []string{"が", "नमस्ते"}},
		{"vowel marks and variant letters of Arabic", "folding", "كَتَبَ أحمد إلى کتاب ١٢", []string{"كتب", "احمد", "الي", "كتاب", "12"}},

		{"danish", "danish", "Husene og bådene", []string{"hus", "båd"}},
		{"german", "german", "Die Häuser werden gebaut", []string{"haus", "gebaut"}},
		{"french, with elision", "french", "L’église et les églises d'aujourd'hui", []string{"églis", "églis", "aujourd'hui"}},
		{"italian, with elision", "italian", "dell'isola alle isole", []string{"isol", "isol"}},
		{"russian", "russian", "Маяки и маяка", []string{"маяк", "маяк"}},
		{"spanish", "spanish", "los faros del puerto", []string{"far", "puert"}},
		{"turkish capital I has no point", "turkish", "IŞIK ışık İstanbul'da", []string{"ışık", "ışık", "istanbul'"}},
		{"arabic", "arabic", "كَتَبَ الحارسُ", []string{"كتب", "حارس"}},
		{"a language's analyzer divides Chinese as well", "german", "das 検索端末", []string{"検索", "索端", "端末"}},
	} {
		t.Run(test.analyzer+": "+test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Terms(named(t, test.analyzer), test.text)); diff != "" {
				t.Errorf("terms of %q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestOffsetsPointIntoTheSource(t *testing.T) {
	for _, test := range []struct {
		analyzer, text string
		want           []string
	}{
		{"english", "The keeper's ☺ Lamps", []string{"keeper's", "☺", "Lamps"}},
		{"cjk", "ﾊﾞﾝﾄﾞ ﬁne ＺＩＮＣ ½ x", []string{"ﾊﾞﾝ", "ﾝﾄﾞ", "ﬁne", "ＺＩＮＣ", "½", "x"}},
		{"cjk", "e\u0301te\u0301 감자", []string{"e\u0301te\u0301", "감자"}},
		{"cjk", "ﷺ", []string{"ﷺ", "ﷺ", "ﷺ", "ﷺ"}},
	} {
		var got []string
		named(t, test.analyzer).Analyze(test.text, func(token Token) { got = append(got, test.text[token.Start:token.End]) })
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s, source of the terms of %q (-want +got):\n%s", test.analyzer, test.text, diff)
		}
	}
}

func TestExamplesOfTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/analyzers.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	_, examples, _ := strings.Cut(string(manual), "## What they do")
	for line := range strings.Lines(examples) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || !slices.Contains(Names(), strings.Trim(cells[1], " `")) {
			continue
		}
		rows++
		analyzer, text := strings.Trim(cells[1], " `"), strings.TrimSpace(cells[2])
		got, want := strings.Join(Terms(named(t, analyzer), text), " "), strings.TrimSpace(cells[3])
		if got != want {
			t.Errorf("%s, terms of %q: got %q, the manual says %q", analyzer, text, got, want)
		}
	}
	if rows < 20 {
		t.Errorf("found %d examples in the manual", rows)
	}
	for _, name := range Names() {
		if !strings.Contains(string(manual), "`"+name+"`") {
			t.Errorf("the manual does not name %s", name)
		}
	}
}

func TestStopWordsAreDropped(t *testing.T) {
	for _, l := range languages {
		a := named(t, l.name)
		for word := range strings.FieldsSeq(l.stop) {
			if got := Terms(a, word); got != nil {
				t.Errorf("%s: stop word %q leaves %q", l.name, word, got)
			}
		}
	}
}

func TestEveryNameFindsItsAnalyzer(t *testing.T) {
	for _, name := range Names() {
		if got := named(t, name).Name(); got != name {
			t.Errorf("analyzer %q calls itself %q", name, got)
		}
		if got := Terms(named(t, name), "zinc"); len(got) != 1 {
			t.Errorf("%s: terms of one word: got %q", name, got)
		}
	}
	if got := named(t, "").Name(); got != Default {
		t.Errorf("analyzer without a name: got %q, want %q", got, Default)
	}
}

func TestUnknownAnalyzerErrorListsTheNames(t *testing.T) {
	_, err := ByName("klingon")
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range append(Names(), "klingon") {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("error %q does not name %s", err, name)
		}
	}
}

func TestAnalyzersMayBeUsedConcurrently(t *testing.T) {
	for _, name := range []string{"english", "folding", "turkish"} {
		a := named(t, name)
		want := Terms(a, prose)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					if got := Terms(a, prose); !slices.Equal(got, want) {
						t.Errorf("%s: terms differ between concurrent calls", name)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestAnalyzeMayBeNested(t *testing.T) {
	a := named(t, "english")
	var got []string
	a.Analyze("lamps boats", func(outer Token) {
		term := string(outer.Term)
		a.Analyze("tides", func(inner Token) { got = append(got, term+" "+string(inner.Term)) })
	})
	if diff := cmp.Diff([]string{"lamp tide", "boat tide"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnsegmentedTextIsFound(t *testing.T) {
	japanese := "図書館の検索端末は毎朝七時に起動する"
	for _, test := range []struct {
		name, analyzer, text string
		want                 bool
	}{
		{"Japanese", "english", japanese, true},
		{"Thai", "none", "ภาษาไทย", true},
		{"Japanese with an English name", "english", japanese + " Library", true},
		{"English with a Japanese name", "english", prose + japanese, false},
		{"Korean has spaces", "english", "감자 수확", false},
		{"Russian has spaces", "english", "Маяк стоит на берегу", false},
		{"the analyzer divides it", "cjk", japanese, false},
		{"the analyzer divides it", "german", japanese, false},
		{"nothing", "english", "", false},
		{"no letters", "english", "… — …", false},
	} {
		if got := Unsegmented(named(t, test.analyzer), test.text); got != test.want {
			t.Errorf("%s, %s: got %v, want %v", test.analyzer, test.name, got, test.want)
		}
	}
}

func TestLowerCaseIsUnicodes(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if got, want := lowerCase(r), unicode.ToLower(r); got != want {
			t.Errorf("lower case of %U: got %U, want %U", r, got, want)
		}
		if characterKind(r).uncased() && unicode.ToLower(r) != r {
			t.Errorf("%U has a lower case but is of a kind without", r)
		}
	}
}

func TestNoUpperCaseLetterBesidesSBecomesS(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.ToLower(r) == 's' && r != 's' && r != 'S' {
			t.Errorf("%U becomes s, so that removing possessives after lower case is wrong", r)
		}
	}
}

func TestEnglishTableOfCases(t *testing.T) {
	var table map[string][]string
	readCase(t, &table, "BM-13", "table.json")
	for text, want := range table {
		if got := Terms(named(t, "english"), text); !slices.Equal(got, want) {
			t.Errorf("terms of %q: got %q, want %q", text, got, want)
		}
	}
}

func TestQueriesFindTheirDocuments(t *testing.T) {
	for _, test := range []struct{ id, analyzer, documents, queries string }{
		{"COR-24", "cjk", "cjk.jsonl", "queries.json"},
		{"COR-26", "folding", "arabic.jsonl", "queries.json"},
		{"COR-26", "arabic", "arabic.jsonl", "queries.json"},
		{"QRY-16", "cjk", "mixed.jsonl", "tokens.json"},
	} {
		var queries map[string][]string
		readCase(t, &queries, test.id, test.queries)
		documents := readDocuments(t, test.id, test.documents)
		for query, want := range queries {
			if got := find(named(t, test.analyzer), documents, query); !slices.Equal(got, want) {
				t.Errorf("%s, %s, %q: found %q, want %q", test.id, test.analyzer, query, got, want)
			}
		}
	}
}

// Lucene's tokenizer passes over circled digits; all other tokens of that case find
// their documents.
func TestEnglishFindsMixedTokensExceptCircledDigits(t *testing.T) {
	var queries map[string][]string
	readCase(t, &queries, "QRY-16", "tokens.json")
	documents := readDocuments(t, "QRY-16", "mixed.jsonl")
	for query, want := range queries {
		if query == "①" {
			want = nil
		}
		if got := find(named(t, "english"), documents, query); !slices.Equal(got, want) {
			t.Errorf("%q: found %q, want %q", query, got, want)
		}
	}
}

func TestWithoutFoldingOnlyTheExactFormIsFound(t *testing.T) {
	documents := readDocuments(t, "COR-26", "arabic.jsonl")
	for _, analyzer := range []string{"english", "none", "cjk"} {
		if got := find(named(t, analyzer), documents, "كتب"); !slices.Equal(got, []string{"ar2"}) {
			t.Errorf("%s: found %q", analyzer, got)
		}
	}
}

func TestComposedAndDecomposedFormsAreEqual(t *testing.T) {
	var queries []struct {
		Q   string
		IDs []string
	}
	readCase(t, &queries, "COR-27", "queries.json")
	documents := readDocuments(t, "COR-27", "norm.jsonl")
	for _, analyzer := range []string{"cjk", "folding", "french"} {
		for _, query := range queries {
			if got := find(named(t, analyzer), documents, query.Q); !slices.Equal(got, query.IDs) {
				t.Errorf("%s, %q: found %q, want %q", analyzer, query.Q, got, query.IDs)
			}
		}
		if got := find(named(t, analyzer), documents, "a"); got != nil {
			t.Errorf("%s: a letter alone finds %q", analyzer, got)
		}
	}
}

func TestEmojiAndWordsBesideThem(t *testing.T) {
	documents := readDocuments(t, "COR-28", "emoji.jsonl")
	for _, analyzer := range []string{"english", "none", "cjk", "folding"} {
		for query, want := range map[string][]string{"report": {"m1", "m2"}, "🐻": {"m1"}, "👩🏽\u200d🚀": {"m2"}} {
			if got := find(named(t, analyzer), documents, query); !slices.Equal(got, want) {
				t.Errorf("%s, %q: found %q, want %q", analyzer, query, got, want)
			}
		}
	}
}

func TestLongWordsAreCutAlikeInDocumentsAndQueries(t *testing.T) {
	for _, document := range readDocuments(t, "QRY-14", "longtoken.jsonl") {
		for _, analyzer := range Names() {
			terms := Terms(named(t, analyzer), document.Contents)
			for word := range strings.FieldsSeq(document.Contents) {
				for _, term := range Terms(named(t, analyzer), word) {
					if !slices.Contains(terms, term) {
						t.Errorf("%s: document %s lacks a term of its word of %d letters", analyzer, document.ID, len(word))
					}
				}
			}
			for _, term := range terms {
				if len(term) > maxTokenUnits {
					t.Errorf("%s: a term of document %s has %d letters", analyzer, document.ID, len(term))
				}
			}
		}
	}
}

func TestQuerySyntaxIsPunctuation(t *testing.T) {
	var queries []string
	readCase(t, &queries, "QRY-04", "syntax.json")
	vocabulary := map[string]bool{}
	for _, document := range readDocuments(t, "QRY-04", "corpus.jsonl") {
		for _, term := range Terms(named(t, "english"), document.Contents) {
			vocabulary[term] = true
		}
	}
	for _, query := range queries {
		var known []string
		for _, term := range Terms(named(t, "english"), query) {
			if vocabulary[term] {
				known = append(known, term)
			}
		}
		want := []string{"zinc", "onyx"}
		switch query { // a colon between letters joins them
		case "title:zinc onyx":
			want = []string{"onyx"}
		case "zinc:onyx":
			want = nil
		}
		if !slices.Equal(known, want) {
			t.Errorf("known terms of %q: got %q, want %q", query, known, want)
		}
	}
}

type document struct{ ID, Contents string }

// find returns the documents that have any term of the query.
func find(a Analyzer, documents []document, query string) []string {
	var found []string
	terms := Terms(a, query)
	for _, d := range documents {
		if slices.ContainsFunc(Terms(a, d.Contents), func(term string) bool { return slices.Contains(terms, term) }) {
			found = append(found, d.ID)
		}
	}
	return found
}

func readCase(t *testing.T, into any, elem ...string) {
	t.Helper()
	content, err := os.ReadFile(sharedtest.Path(t, append([]string{"cases"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}

func readDocuments(t *testing.T, elem ...string) []document {
	t.Helper()
	content, err := os.ReadFile(sharedtest.Path(t, append([]string{"cases"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	var documents []document
	for line := range strings.Lines(string(content)) {
		var d document
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}
	return documents
}
