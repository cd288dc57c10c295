// Package corpus turns files on disk into documents.
//
// A corpus is read in two steps so that the cheap one can stay sequential and
// the dear one can be spread over workers: a [Reader] yields [Record] values
// (raw bytes plus where they stand), and [Record.Document] decodes one of them.
//
//	r, err := corpus.Open([]string{"corpus.jsonl.gz", "notes/"}, corpus.Options{})
//	if err != nil { … }
//	defer r.Close()
//	for {
//		rec, err := r.Next()
//		if err == io.EOF { break }
//		if err != nil { … }
//		doc, err := rec.Document() // on any goroutine
//		if errors.Is(err, corpus.ErrSkipped) { continue }
//		if err != nil { … }
//		…
//	}
//	if r.Report().Failed() { … } // something was lost: the exit code says so
//
// What is recognised, and every policy, is described in docs/formats/corpus.md.
package corpus

import (
	"strconv"
	"strings"
	"unicode"
)

// Document is the unit of retrieval.
type Document struct {
	// DocID is the external identifier, kept byte for byte as the source has it.
	// It is never empty and always valid UTF-8.
	DocID string
	// Title may be empty.
	Title string
	// Text is the body: valid UTF-8, line ends normalised to "\n", no NUL.
	Text string
	// URL is where the document came from, if the source says so.
	URL string
	// Date is the document's date as the source writes it, if it does.
	Date string
}

// Contents is the one field that is indexed, stored and read by line:
// title, newline, text; the text alone if there is no title.
func (d Document) Contents() string {
	if d.Title == "" {
		return d.Text
	}
	return d.Title + "\n" + d.Text
}

// Location says where a record stands, for error messages and reports.
type Location struct {
	// File is the path as the user gave it; for a file inside a folder, the folder
	// as given and the path below it.
	File string
	// Line is 1-based; 0 where the file as a whole is the record.
	Line int
}

// String is file:line, or the file alone. A name that a terminal would not show as it is
// comes in quotes.
func (l Location) String() string {
	file := l.File
	if strings.ContainsFunc(file, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		file = strconv.Quote(file)
	}
	if l.Line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(l.Line)
}
