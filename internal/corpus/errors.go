package corpus

import (
	"errors"
	"fmt"
	"strings"
)

// ErrSkipped is wrapped by errors of [Record.Document] that the policy [SkipBad]
// has already counted: the caller passes on to the next record.
var ErrSkipped = errors.New("record skipped")

// ErrNoDocuments is wrapped by Next when the sources are read to their end and held
// no record at all.
var ErrNoDocuments = errors.New("no documents")

// RecordError says why a record is no document, or a file no corpus, and what to do
// about it.
type RecordError struct {
	Location
	// Column is the 1-based byte of the line; 0 if the trouble has no place in it.
	Column int
	// Field is the field concerned, as the source calls it; empty if none is.
	Field string
	// Problem says what is wrong; Fix what to do, empty if that is plain.
	Problem, Fix string
	// Err is the cause, if there is one below.
	Err error

	// lost says that what follows in the file cannot be read either.
	lost bool
}

// Error is file:line:column: field: problem: cause; fix.
func (e *RecordError) Error() string {
	var b strings.Builder
	b.WriteString(e.Location.String())
	if e.Column > 0 {
		fmt.Fprintf(&b, ":%d", e.Column)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, ": field %q", e.Field)
	}
	if e.Problem != "" {
		b.WriteString(": " + e.Problem)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Fix != "" {
		b.WriteString("; " + e.Fix)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }

// shorten quotes a foreign string for a message.
func shorten[T string | []byte](s T) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%q…", string(s[:most]))
	}
	return fmt.Sprintf("%q", string(s))
}
