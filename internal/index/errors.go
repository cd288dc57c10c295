package index

import (
	"errors"
	"fmt"

	"goserini/internal/corpus"
)

// What can be wrong with a directory that should hold an index. Open and Build wrap
// one of these in a sentence that names the directory and the command that helps.
var (
	ErrNoIndex    = errors.New("no such index")
	ErrNotIndex   = errors.New("not an index")
	ErrIncomplete = errors.New("incomplete index")
	ErrVersion    = errors.New("index of another version")
	ErrCorrupt    = errors.New("corrupt index")
)

// ErrNoPassages says that an index was built without passages.
var ErrNoPassages = errors.New("index without passages")

// ErrEmptyQuery is returned by Search for a query without a visible character.
var ErrEmptyQuery = errors.New("query must not be empty")

// ErrNoDocuments is returned by Build when the source holds no document.
var ErrNoDocuments = errors.New("the source holds no documents")

// problem wraps one of the sentinels with the directory and what to do about it.
func problem(kind error, dir, detail, fix string) error {
	if detail != "" {
		detail = " (" + detail + ")"
	}
	return fmt.Errorf("%w: %s%s: %s", kind, dir, detail, fix)
}

func buildFix(dir string) string {
	return fmt.Sprintf("build one with `goserini index SOURCE... --index %s`", dir)
}

func rebuild(dir string) string {
	return fmt.Sprintf("build it again with `goserini index SOURCE... --index %s`", dir)
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("docid %q occurs twice: %s and %s: make the ids unique, or choose which document to keep with `--duplicates first` or `--duplicates last`",
		e.DocID, place(e.First), place(e.Second))
}

// place formats a location as file:line.
func place(l corpus.Location) string {
	if l.Line == 0 {
		return l.File
	}
	return fmt.Sprintf("%s:%d", l.File, l.Line)
}

// corrupt is the error of an index whose section is not as it was written.
func corrupt(dir, section, detail string) error {
	return problem(ErrCorrupt, dir, "section "+section+": "+detail, "restore it from a copy or "+rebuild(dir))
}
