// Package controller stands between a model and a retriever. It offers three tools:
//
//	search(reason, query)                         → a ranking under s1, its ranks 1-5 shown
//	read_search_results(reason, search_id, …)     → further ranks of that ranking
//	read_document(reason, docid, …)               → numbered lines of one document
//
// and it caches rankings, pages, ends a page early where it would grow too long (and
// says so), and records which documents a call surfaced, previewed and opened.
//
// That is the paper's interface and the zero value of [Options]. The parts of
// [Navigator] add optional arguments and better pages, each by itself.
//
// Documents are foreign text. On a result page they appear only inside one-line fields
// whose line breaks and control characters are replaced; in a document page every line
// of text stands behind its line number and a tab. A line that begins otherwise is the
// controller's own, so no document can imitate one. docs/tools.md shows the pages.
package controller
