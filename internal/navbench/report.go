package navbench

import (
	"goserini/internal/bm25"
	"goserini/internal/eval"
)

// Report is what was measured on one collection.
type Report struct {
	Collection string `json:"collection"`
	Documents  int64  `json:"documents"`
	// MeanTerms is the mean length of a document in terms.
	MeanTerms float64 `json:"mean_terms"`
	// Asked is the number of questions of the collection, Questions of those measured, Items
	// of the known-item questions among these, and Researched of those that builtin/lexical
	// answered.
	Asked      int            `json:"asked"`
	Questions  int            `json:"questions"`
	Items      int            `json:"items"`
	Researched int            `json:"researched"`
	Own        Setting        `json:"own"`
	Other      bm25.Params    `json:"other"`
	Bootstrap  eval.Bootstrap `json:"bootstrap"`
	Variants   []Figures      `json:"variants"`
	// Uses are the parts that act only when asked, with a reader who asks.
	Uses []Use `json:"uses"`
	// Skipped are variants that the index cannot serve, with the reason.
	Skipped []string `json:"skipped,omitempty"`
}

// longDocuments is the least mean length of documents, in terms, of a collection of long ones.
const longDocuments = 600

// Long reports whether the documents are long.
func (r Report) Long() bool { return r.MeanTerms >= longDocuments }

// Figures are those of one variant. Means are nil where nothing could be measured.
type Figures struct {
	Variant string `json:"variant"`
	// Shown is the share of gold documents whose excerpt holds a span, by band of ranks, at
	// the setting of --bm25 auto; ShownOther at the other.
	Shown      [bands]*eval.Mean `json:"shown"`
	ShownOther [bands]*eval.Mean `json:"shown_other"`
	// Holding is the share of those that hold a span anywhere, which no excerpt can exceed, at
	// the setting of --bm25 auto.
	Holding [bands]*eval.Mean `json:"holding"`
	// Ranks are how well gold documents are ranked, at the setting of --bm25 auto.
	Ranks Ranks `json:"ranks"`
	// FirstTokens and PageTokens are the mean tokens of the page that search returns, and of a
	// page behind it, which holds PageHits hits unless more are asked for.
	FirstTokens *eval.Mean `json:"first_tokens"`
	PageTokens  *eval.Mean `json:"page_tokens"`
	PageHits    int        `json:"page_hits"`
	// Definitions are the tokens of the names, descriptions and schemas of the tools.
	Definitions float64 `json:"definitions"`
	// First, ToTwenty and Lexical are the three readers.
	First    Yield `json:"first"`
	ToTwenty Yield `json:"to_twenty"`
	Lexical  Yield `json:"lexical"`
	// Item is the reader of known items, ItemReading the same where excerpts do not count.
	Item        *Seeking `json:"item,omitempty"`
	ItemReading *Seeking `json:"item_reading,omitempty"`
	// Research is what builtin/lexical came to.
	Research *Research `json:"research,omitempty"`
}

// Yield is evidence per 1,000 tokens of tool output.
type Yield struct {
	// Previewed counts evidence documents that stand on a page of hits; Shown counts gold
	// documents of which a span was shown.
	Previewed *eval.Mean `json:"previewed"`
	Shown     *eval.Mean `json:"shown"`
}

// Seeking is about known items.
type Seeking struct {
	// Found is the share of questions whose line was shown.
	Found *eval.Mean `json:"found"`
	// Tokens is the mean of tokens until then, or until the reader gave up; ToPaper their sum
	// over all questions as a share of the sum of the paper's tools.
	Tokens  *eval.Mean `json:"tokens"`
	ToPaper *eval.Mean `json:"to_paper"`
	// Median of the tokens.
	Median float64 `json:"median"`
}

// Research are the recalls of evidence, means over questions, and the accuracy by builtin/exact.
type Research struct {
	Surfaced  *eval.Mean `json:"surfaced"`
	Previewed *eval.Mean `json:"previewed"`
	Opened    *eval.Mean `json:"opened"`
	Cited     *eval.Mean `json:"cited"`
	Accuracy  *eval.Mean `json:"accuracy"`
	Calls     *eval.Mean `json:"calls"`
	Tokens    *eval.Mean `json:"tokens"`
}
