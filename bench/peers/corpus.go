package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"goserini/internal/analysis"
	"goserini/internal/enginebench"
	"goserini/internal/synth"
)

// sets are the query sets that engines are compared by.
var sets = []synth.QuerySet{synth.Short, synth.Medium, synth.Verbose}

// writeText writes the collection as JSON lines of id and contents, which both Anserini and
// goserini read.
func (p *part) writeText(ctx context.Context) error {
	return p.once(p.text(), func(partial string) error {
		return enginebench.WriteDocuments(ctx, p.corpus, partial, func(b *bytes.Buffer, d synth.Document) error {
			enc := json.NewEncoder(b)
			enc.SetEscapeHTML(false)
			return enc.Encode(struct {
				ID       string `json:"id"`
				Contents string `json:"contents"`
			}{d.ID, d.Title + "\n" + d.Text})
		}, nil)
	})
}

// writeTokens writes the terms of the collection, for engines that are to index the same ones.
func (p *part) writeTokens(ctx context.Context) error {
	english, err := analysis.ByName(analysis.Default)
	if err != nil {
		return err
	}
	return p.once(p.tokens(), func(partial string) error {
		return enginebench.WriteDocuments(ctx, p.corpus, partial, func(b *bytes.Buffer, d synth.Document) error {
			b.WriteString(d.ID)
			b.WriteByte('\t')
			enginebench.WriteTerms(b, english, d.Title+"\n"+d.Text)
			b.WriteByte('\n')
			return nil
		}, nil)
	})
}

// queryFiles writes the query sets as text and as terms, and returns arguments SET=FILE for
// engines that analyse queries and for those that take terms.
func (p *part) queryFiles() (text, terms []string, err error) {
	english, err := analysis.ByName(analysis.Default)
	if err != nil {
		return nil, nil, err
	}
	dir := p.path("queries", fmt.Sprintf("%s-%d", p.name(), p.queries))
	if err := enginebench.WriteQueries(p.corpus, sets, p.queries, dir); err != nil {
		return nil, nil, err
	}
	for _, set := range sets {
		path := filepath.Join(dir, string(set)+".tsv")
		text = append(text, string(set)+"="+path)
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		var b bytes.Buffer
		for line := range strings.Lines(string(data)) {
			id, query, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			b.WriteString(id + "\t")
			enginebench.WriteTerms(&b, english, query)
			b.WriteByte('\n')
		}
		path = filepath.Join(dir, string(set)+".terms")
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			return nil, nil, err
		}
		terms = append(terms, string(set)+"="+path)
	}
	return text, terms, nil
}

// firstQuery is the first query of the short set, as text and as terms.
func (p *part) firstQuery() (text, terms string, err error) {
	queries, err := p.corpus.Queries(synth.Short, 1)
	if err != nil {
		return "", "", err
	}
	english, err := analysis.ByName(analysis.Default)
	if err != nil {
		return "", "", err
	}
	var b bytes.Buffer
	enginebench.WriteTerms(&b, english, queries[0].Text)
	return queries[0].Text, b.String(), nil
}
