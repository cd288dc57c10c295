package analysis

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds are texts in which every path of the tokenizers has something to do.
var seeds = []string{
	"", " ", prose, "a", "8 bytes", "don't", "3.14", "U.S.A.", "1,000;5", "a.1", "1.a", "foo_bar", "_", "#1️⃣*", "x²",
	strings.Repeat("a", 255) + ".b", strings.Repeat("a", 300), strings.Repeat("1,", 200), strings.Repeat("a.", 127) + "b.c",
	strings.Repeat("𐐀", 140), "a\u0301b", "é\xff\xfe a\xc3", "\x80abc\xf0\x9f\x90", "\xed\xa0\x80",
	"図書館の検索端末ID=QX77", "ﾊﾞﾝﾄﾞ 2024년에 PDF파일's", "ภาษาไทย ที่นี่", "👩🏽\u200d🚀🇨🇭🏴\U000e0067\U000e007f", "צה\"ל ג'ירפה",
	"كَتَبَ می\u200cروم ﷺ", "IŞIK İstanbul ǅ ẞ", "e\u0301\u0301\u0301" + strings.Repeat("\u0301", 300),
}

// slowTokens cuts text by the automaton alone.
func slowTokens(text string) []Token {
	var tokens []Token
	var t standardTokenizer
	for pos := 0; pos < len(text); {
		m := longestToken(text, pos)
		if m.kind == 0 {
			pos += characterSize(text, pos)
			continue
		}
		term := t.appendLower(nil, text[pos:m.end])
		tokens = append(tokens, Token{term, pos, m.end})
		pos = m.end
	}
	return tokens
}

func FuzzFastSlow(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fast := newStandardTokenizer()
		fast.Reset(text)
		for i, want := range slowTokens(text) {
			got, ok := fast.Next()
			if !ok || got.Start != want.Start || got.End != want.End || !bytes.Equal(got.Term, want.Term) {
				t.Fatalf("token %d: got %q at %d to %d, want %q at %d to %d", i, got.Term, got.Start, got.End, want.Term, want.Start, want.End)
			}
		}
		if got, ok := fast.Next(); ok {
			t.Fatalf("a token too many: %q", got.Term)
		}
	})
}

func FuzzAnalyze(f *testing.F) {
	var analyzers []Staged
	for _, name := range Names() {
		analyzers = append(analyzers, named(f, name))
	}
	for i := range analyzers {
		f.Add(uint8(i), seeds[len(seeds)-1-i])
		f.Add(uint8(i), seeds[i])
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		a := analyzers[int(which)%len(analyzers)]
		last := Token{}
		var terms []string
		a.Analyze(text, func(token Token) {
			checkToken(t, a, text, last, token)
			last = token
			terms = append(terms, string(token.Term))
		})
		again := inTwoStages(a, text)
		if strings.Join(terms, "\n") != strings.Join(again, "\n") {
			t.Fatalf("%s: terms at once %q, in two stages %q", a.Name(), terms, again)
		}
	})
}

// checkToken checks what the comment on Token promises.
func checkToken(t *testing.T, a Analyzer, text string, last, token Token) {
	t.Helper()
	if token.Start >= token.End || token.End > len(text) || token.Start < last.Start || token.End < last.End {
		t.Fatalf("%s: token %q from %d to %d follows one from %d to %d in %d bytes",
			a.Name(), token.Term, token.Start, token.End, last.Start, last.End, len(text))
	}
	if len(token.Term) == 0 || !utf8.Valid(token.Term) {
		t.Fatalf("%s: term %q", a.Name(), token.Term)
	}
	if !onBoundary(text, token.Start) || !onBoundary(text, token.End) {
		t.Fatalf("%s: token %q from %d to %d cuts a character", a.Name(), token.Term, token.Start, token.End)
	}
}

// onBoundary reports whether pos does not lie within a valid character.
func onBoundary(text string, pos int) bool {
	for start := max(0, pos-3); start < pos; start++ {
		if r, size := utf8.DecodeRuneInString(text[start:]); r != utf8.RuneError && start+size > pos {
			return false
		}
	}
	return true
}

// inTwoStages is what an index builder does.
func inTwoStages(a Staged, text string) []string {
	var terms []string
	cache := map[string]string{}
	tokenizer := a.Tokenizer()
	tokenizer.Reset(text)
	for token, ok := tokenizer.Next(); ok; token, ok = tokenizer.Next() {
		term, seen := cache[string(token.Term)]
		if !seen {
			if normal, keep := a.Normalize(nil, token.Term); keep {
				term = string(normal)
			}
			cache[string(token.Term)] = term
		}
		if term != "" {
			terms = append(terms, term)
		}
	}
	return terms
}

func FuzzUnsegmented(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	a := named(f, "english")
	f.Fuzz(func(t *testing.T, text string) {
		want := 0
		for i := range len(text) {
			if text[i] >= utf8.RuneSelf {
				want++
			}
		}
		if got := highBytes(text); got != want {
			t.Fatalf("bytes outside ASCII: got %d, want %d", got, want)
		}
		Unsegmented(a, text)
	})
}
