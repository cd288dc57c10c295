// Package trec reads, checks and writes the file formats of the retrieval
// community: topics (what is asked), qrels (what is relevant) and runs (what a
// system returned).
//
//	topics, err := trec.ReadTopics("queries.tsv")
//	qrels, err := trec.ReadQrels("qrels.txt")
//	run, err := trec.ReadRun("bm25.txt")
//
// Ids are compared as exact text everywhere: 7 and "7" are one query, 007 is
// another. Nothing is dropped silently: a line that does not fit is an error with
// file, line, reason and fix.
package trec

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// MaxLine bounds a line of the files read here, in bytes.
const MaxLine = 64 << 20

// maxErrors is how many bad lines of a file are named before the rest are counted.
const maxErrors = 10

// ErrEmpty is wrapped when a file holds no topic, judgment or result.
var ErrEmpty = errors.New("file holds no lines")

// line is one line of a file, without its end and without a byte-order mark.
type line struct {
	number int
	text   string
}

// blank tells whether the line holds nothing but ASCII white space.
func (l line) blank() bool { return strings.Trim(l.text, asciiSpace) == "" }

// asciiSpace is what separates columns, as isspace does in the C locale.
const asciiSpace = " \t\r\n\v\f"

// fields splits at runs of ASCII white space: a no-break space belongs to an id.
func (l line) fields() []string {
	return strings.FieldsFunc(l.text, func(r rune) bool { return r < 0x80 && strings.ContainsRune(asciiSpace, r) })
}

// openText opens a file, through gzip if its first bytes say so.
func openText(path string) (io.Reader, io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(f, 64<<10)
	if head, _ := r.Peek(2); string(head) != "\x1f\x8b" {
		return r, f, nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		_ = f.Close()
		return nil, nil, fmt.Errorf("%s: gzip: %w", path, err)
	}
	return z, f, nil
}

// eachLine calls each for every line of the stream, blank ones included. name is
// what errors call the stream.
func eachLine(r io.Reader, name string, each func(line) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for number := 1; ; number++ {
		long = long[:0]
		piece, err := br.ReadSlice('\n')
		for err == bufio.ErrBufferFull {
			if long = append(long, piece...); len(long) > MaxLine {
				return fmt.Errorf("%s:%d: line longer than %d bytes", name, number, MaxLine)
			}
			piece, err = br.ReadSlice('\n')
		}
		long = append(long, piece...)
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if len(long) == 0 && err == io.EOF {
			return nil
		}
		text := bytes.TrimPrefix(long, []byte("\xef\xbb\xbf"))
		text = bytes.TrimSuffix(text, []byte("\n"))
		text = bytes.TrimSuffix(text, []byte("\r"))
		if each := each(line{number: number, text: string(text)}); each != nil {
			return each
		}
		if err == io.EOF {
			return nil
		}
	}
}

// complaints collects the bad lines of one file.
type complaints struct {
	name  string
	first []error
	count int
}

func (c *complaints) add(number int, format string, args ...any) {
	c.count++
	if len(c.first) < maxErrors {
		c.first = append(c.first, fmt.Errorf("%s:%d: %w", c.name, number, fmt.Errorf(format, args...)))
	}
}

// err joins the complaints; nil if there are none.
func (c *complaints) err() error {
	if c.count > len(c.first) {
		return errors.Join(append(c.first, fmt.Errorf("%s: and %d more such lines", c.name, c.count-len(c.first)))...)
	}
	return errors.Join(c.first...)
}

// shorten quotes a foreign string for an error message.
func shorten(s string) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%.*q…", most, s)
	}
	return fmt.Sprintf("%q", s)
}
