package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"goserini/internal/index"
)

type readOptions struct {
	dir           string
	offset, limit int
	json          bool
	plain         bool
}

func newRead(term *terminal) *cobra.Command {
	var o readOptions
	cmd := &cobra.Command{
		Use:   "read --index DIR [--] DOCID",
		Short: "Read a document by lines",
		Long: `Read lines of a document, with their numbers. A docid may carry a line range, as
citations do: DOCID:L40 or DOCID:L40-L58.`,
		Example: `  goserini read --index my.index doc42
  goserini read --index my.index doc42 --offset 201 --limit 50`,
		Args: exactly("DOCID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.dir == "" {
				return usagef(cmd, "--index DIR is missing: name the folder of the index")
			}
			if o.offset < 1 || o.limit < 1 {
				return usagef(cmd, "--offset %d --limit %d: both are at least 1", o.offset, o.limit)
			}
			return runRead(cmd.Context(), term, args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "index", "", "the folder of the index")
	f.IntVar(&o.offset, "offset", 1, "first line, from 1")
	f.IntVar(&o.limit, "limit", 200, "number of lines")
	f.BoolVar(&o.json, "json", false, "print as JSON")
	f.BoolVar(&o.plain, "plain", false, "print the lines alone, without numbers")
	return cmd
}

// readResult is the JSON form of a chunk of a document.
type readResult struct {
	DocID      string   `json:"docid"`
	Title      string   `json:"title,omitempty"`
	URL        string   `json:"url,omitempty"`
	Date       string   `json:"date,omitempty"`
	Offset     int      `json:"offset"`
	TotalLines int      `json:"total_lines"`
	NextOffset int      `json:"next_offset,omitempty"`
	Lines      []string `json:"lines"`
}

func runRead(ctx context.Context, term *terminal, docid string, o readOptions) error {
	ix, err := openIndex(o.dir)
	if err != nil {
		return err
	}
	defer ix.Close()
	ord, ok := ix.Lookup(docid)
	if !ok {
		base, first, last, ranged := cutLineRange(docid)
		if ord, ok = ix.Lookup(base); !ranged || !ok {
			return withHint(fmt.Errorf("no document %q in %s", docid, o.dir), "find docids with: goserini search --index %s QUERY", shellQuote(o.dir))
		}
		docid, o.offset, o.limit = base, first, last-first+1
	}
	meta, err := ix.Meta(ord)
	if err != nil {
		return err
	}
	if o.offset > meta.Lines {
		return fmt.Errorf("document %q has %s lines: --offset %d is past the end", docid, count(meta.Lines), o.offset)
	}
	lines, err := ix.Lines(ord, o.offset, o.limit)
	if err != nil {
		return err
	}
	r := readResult{DocID: docid, Title: meta.Title, URL: meta.URL, Date: meta.Date, Offset: o.offset, TotalLines: meta.Lines, Lines: lines}
	if next := o.offset + len(lines); next <= meta.Lines {
		r.NextOffset = next
	}
	if o.json {
		return term.json(r)
	}
	showLines(term, r, o)
	return ctx.Err()
}

func showLines(term *terminal, r readResult, o readOptions) {
	for i, line := range r.Lines {
		if o.plain {
			term.print("%s\n", line)
			continue
		}
		term.print("%s  %s\n", term.paint(dim, fmt.Sprintf("%6d", r.Offset+i)), printable(line))
	}
	if r.NextOffset > 0 {
		term.hint("lines %d-%d of %s; next: goserini read --index %s %s --offset %d",
			r.Offset, r.NextOffset-1, count(r.TotalLines), shellQuote(o.dir), shellQuote(r.DocID), r.NextOffset)
	}
}

// cutLineRange splits DOCID:L40-L58 or DOCID:L40 into its parts.
func cutLineRange(s string) (docid string, first, last int, ok bool) {
	i := strings.LastIndex(s, ":L")
	if i <= 0 {
		return "", 0, 0, false
	}
	span := s[i+1:]
	if n, err := fmt.Sscanf(span, "L%d-L%d", &first, &last); err != nil || n != 2 {
		if n, err := fmt.Sscanf(span, "L%d", &first); err != nil || n != 1 {
			return "", 0, 0, false
		}
		last = first
	}
	return s[:i], first, last, first >= 1 && last >= first
}

type explainOptions struct {
	dir  string
	bm25 bm25Flags
	json bool
}

func newExplain(term *terminal) *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:     "explain --index DIR [--] QUERY DOCID",
		Short:   "Show how a document's score for a query comes about",
		Example: `  goserini explain --index my.index "harbour survey" doc42`,
		Args:    exactly("QUERY", "DOCID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.dir == "" {
				return usagef(cmd, "--index DIR is missing: name the folder of the index")
			}
			return runExplain(term, cmd, args[0], args[1], o)
		},
	}
	cmd.Flags().StringVar(&o.dir, "index", "", "the folder of the index")
	o.bm25.register(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

func runExplain(term *terminal, cmd *cobra.Command, query, docid string, o explainOptions) error {
	ix, err := openIndex(o.dir)
	if err != nil {
		return err
	}
	defer ix.Close()
	params, source, err := o.bm25.resolve(cmd, ix.Stats(), anseriniDefault)
	if err != nil {
		return err
	}
	ord, ok := ix.Lookup(docid)
	if !ok {
		return withHint(fmt.Errorf("no document %q in %s", docid, o.dir), "find docids with: goserini search --index %s QUERY", shellQuote(o.dir))
	}
	e, err := ix.Explain(index.Query{Text: query, Params: params, Depth: 1}, ord)
	if err != nil {
		return err
	}
	if o.json {
		return term.json(e)
	}
	term.print("%s  score %v\n", printable(oneLine(e.DocID)), e.Score)
	term.print("BM25 (%s), %s (%s)\n", e.Variant, e.Params, source)
	term.print("N %s documents, avgdl %v, dl %d (exactly %d tokens)\n", count(e.Documents), e.AverageLength, e.Length, e.Tokens)
	term.print("%-24s %5s %6s %9s %10s %12s\n", "term", "count", "tf", "df", "idf", "contribution")
	for _, t := range e.Terms {
		term.print("%-24s %5d %6d %9s %10.6f %12.6f\n", printable(t.Term), t.Count, t.TF, count(t.DF), t.IDF, t.Contribution)
	}
	if len(e.Terms) == 0 {
		return errors.New("no searchable term is left of the query: it holds only stop words or punctuation")
	}
	return nil
}
