package controller

import "goserini/internal/retrieval"

// Options says how the tools behave. Its zero value is the paper's interface; it is
// copied in full into the manifest of a run.
type Options struct {
	// Depth is the number of hits a search asks for and caches. Default 1000.
	Depth int `json:"depth"`
	// FirstPage is the number of hits that search shows at once. Default 5.
	FirstPage int `json:"first_page"`
	// PageHits is the default limit of read_search_results. Default 10, and with Navigator.Excerpts
	// 5: a page of so many costs no more tokens than the paper's page of ten (docs/navigation.md).
	PageHits int `json:"page_hits"`
	// ReadLines is the default limit of read_document. Default 200.
	ReadLines int `json:"read_lines"`
	// ExcerptDepth is the deepest rank for which excerpts are made. Default 50. It does not
	// limit Navigator.Excerpts.
	ExcerptDepth int `json:"excerpt_depth"`
	// ExcerptLength is the length, in characters, that Navigator.Excerpts gives a hit on
	// average over a page. Default 450.
	ExcerptLength int `json:"excerpt_length"`
	// OpeningLength is the length, in characters, of the pages of a document where
	// Navigator.ReadAtBest is on and no limit is asked for. Default 4000.
	OpeningLength int `json:"opening_length"`
	// Rankings is the number of rankings kept; of older ones only the query is
	// remembered, and they are searched again when asked for. Default 32.
	Rankings int `json:"rankings"`
	// PageLines and PageBytes bound the text of one result. Defaults 2000 and 51200.
	PageLines int `json:"page_lines"`
	PageBytes int `json:"page_bytes"`
	// Stateless makes search ids that carry their query, so that any process that
	// serves the same collection resolves them, and a controller may serve many
	// conversations. Otherwise they are s1, s2, …. The parts of the navigator that
	// remember a conversation are then off: Novelty, ReadAtBest, Notebook and Verify.
	Stateless bool `json:"stateless,omitempty"`
	// Navigator are the parts of the navigator profile.
	Navigator Navigator `json:"navigator"`
	// Budget says what is left, for Navigator.BudgetLine; nil where there is no limit. It
	// is called at the end of each call, from any goroutine.
	Budget func() Budget `json:"-"`
}

// resolved returns the options with defaults in place of zero and negative values.
func (o Options) resolved() Options {
	pageHits := 10
	if o.Navigator.Excerpts {
		pageHits = 5
	}
	for _, d := range []struct {
		value *int
		def   int
	}{
		{&o.Depth, 1000},
		{&o.FirstPage, 5},
		{&o.PageHits, pageHits},
		{&o.ReadLines, 200},
		{&o.ExcerptDepth, 50},
		{&o.ExcerptLength, retrieval.PassageLength},
		{&o.OpeningLength, 4000},
		{&o.Rankings, 32},
		{&o.PageLines, 2000},
		{&o.PageBytes, 50 << 10},
	} {
		if *d.value <= 0 {
			*d.value = d.def
		}
	}
	if o.Stateless {
		o.Navigator.Novelty, o.Navigator.ReadAtBest = false, false
		o.Navigator.Notebook, o.Navigator.Verify = false, false
	}
	return o
}
