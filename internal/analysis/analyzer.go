// Package analysis turns text into terms.
//
// An [Analyzer] is looked up by the name that an index records ([ByName]) and is
// applied to documents and queries alike. The default, "english", equals the
// chain of Anserini's DefaultEnglishAnalyzer token for token: Lucene's standard
// tokenizer (Unicode 12.1), possessive removal, lower case, 33 stop words, Porter.
//
// Every analyzer here works in two stages, and [Staged] shows them: a [Tokenizer]
// that cuts lower-cased raw tokens, and Normalize, a pure function from one raw
// token to its term. Whoever meets the same raw tokens over and over, as an index
// builder does, caches the second stage and so stems every word once.
package analysis

// Token is one piece of the analyzed text. Each token takes one position.
type Token struct {
	// Term is valid UTF-8, never empty, and valid until the next token is made.
	Term []byte
	// Start and End are byte offsets into the analyzed text, Start < End. Starts
	// and ends never decrease from token to token; they lie on character boundaries
	// where the text is valid UTF-8.
	Start, End int
}

// Analyzer turns text into terms. It is safe for concurrent use.
type Analyzer interface {
	// Name is what [ByName] finds the analyzer by.
	Name() string
	// Analyze calls emit for every term of text, in order.
	Analyze(text string, emit func(Token))
}

// Staged is an Analyzer that can be run in two stages. Analyze(text) is equal to
// normalizing every token of the tokenizer and keeping those that Normalize keeps.
type Staged interface {
	Analyzer
	// Tokenizer returns a new first stage.
	Tokenizer() Tokenizer
	// Normalize appends the term of a raw token to dst; keep is false if the token
	// is dropped (a stop word, say). The result depends on the bytes of raw alone.
	// It is safe for concurrent use.
	Normalize(dst, raw []byte) (term []byte, keep bool)
}

// Tokenizer is the first stage: it cuts a text into raw tokens, lower-cased as the
// analyzer does it. It keeps buffers and is not safe for concurrent use.
type Tokenizer interface {
	// Reset begins with a new text. Any bytes are allowed; each byte that is not part
	// of valid UTF-8 separates tokens.
	Reset(text string)
	// Next returns the next raw token, and false at the end of the text.
	Next() (Token, bool)
}

// Terms returns the terms of text in order.
func Terms(a Analyzer, text string) []string {
	var terms []string
	a.Analyze(text, func(t Token) { terms = append(terms, string(t.Term)) })
	return terms
}
