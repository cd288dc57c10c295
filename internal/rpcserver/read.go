package rpcserver

import (
	"strings"

	"goserini/internal/lazyregexp"
)

// defaultLines is the number of lines of a read that asks for none.
const defaultLines = 200

// otherBreaks are the line breaks of Unicode besides the line feed; lineBreak is any.
const otherBreaks = "\v\f\r\u0085\u2028\u2029"

var lineBreak = lazyregexp.New("\r\n|[\n" + otherBreaks + "]")

// splitLines cuts at every line break; a text without any is one line.
func splitLines(text string) []string {
	if strings.ContainsAny(text, otherBreaks) {
		return lineBreak.Split(text, -1)
	}
	return strings.Split(text, "\n")
}

type missingData struct {
	Mode   string `json:"mode"`
	DocID  string `json:"docid"`
	Found  bool   `json:"found"`
	Error  string `json:"error"`
	Timing timing `json:"timing_ms"`
}

type readData struct {
	Mode      string `json:"mode"`
	DocID     string `json:"docid"`
	Found     bool   `json:"found"`
	Offset    int    `json:"offset"`
	Limit     int    `json:"limit"`
	Total     int    `json:"total_lines"`
	Start     int    `json:"returned_line_start"`
	End       int    `json:"returned_line_end"`
	Truncated bool   `json:"truncated"`
	Next      *int   `json:"next_offset"`
	Text      string `json:"text"`
	Timing    timing `json:"timing_ms"`
}

func (s *Server) read(p params, t func() timing) (any, error) {
	docid, err := p.text("docid", "read_document needs a non-empty string docid")
	if err != nil {
		return nil, err
	}
	offset, err := p.positive("offset", 1, "read_document offset must be a positive integer")
	if err != nil {
		return nil, err
	}
	limit, err := p.positive("limit", defaultLines, "read_document limit must be a positive integer")
	if err != nil {
		return nil, err
	}
	doc, ok, err := s.collection.Document(docid)
	if err != nil {
		return nil, err
	}
	if !ok {
		return missingData{Mode: "read_document", DocID: docid, Error: "no document has the docid '" + docid + "'", Timing: t()}, nil
	}
	d := chunk(doc.Contents, offset, limit)
	d.Mode, d.DocID, d.Found, d.Timing = "read_document", docid, true, t()
	return d, nil
}

// chunk cuts lines out of contents, which has at least one line.
func chunk(contents string, offset, limit int) readData {
	lines := splitLines(contents)
	d := readData{Offset: offset, Limit: limit, Total: len(lines)}
	from := min(offset-1, len(lines))
	to := from + min(limit, len(lines)-from)
	if from < len(lines) {
		d.Start, d.End = from+1, to
	}
	if to < len(lines) {
		next := to + 1
		d.Truncated, d.Next = true, &next
	}
	d.Text = strings.Join(lines[from:to], "\n")
	return d
}
