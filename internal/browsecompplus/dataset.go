package browsecompplus

import (
	"fmt"
	"slices"

	"goserini/internal/parquetfile"
)

// Query is one row of the dataset, deciphered. Of the documents it names only the ids are
// read: their texts are in the corpus.
type Query struct {
	ID, Text, Answer string
	// Evidence documents are needed to answer; Gold are those of them that hold the answer.
	// Each docid once, in the order of the dataset.
	Evidence, Gold []string
}

// The columns of the dataset; the query id is the one that is published plainly.
const (
	columnID = iota
	columnQuery
	columnAnswer
	columnEvidence
	columnGold
)

var datasetColumns = []parquetfile.Column{{Name: "query_id"}, {Name: "query"}, {Name: "answer"}, {Name: "evidence_docs.docid"}, {Name: "gold_docs.docid"}}

// ReadDataset reads the queries from the dataset's Parquet files.
func ReadDataset(paths []string, key Key) ([]Query, error) {
	var queries []Query
	seen := map[string]bool{}
	for _, path := range paths {
		err := parquetfile.Read(path, datasetColumns, func(row parquetfile.Row) error {
			q, err := key.query(row)
			if err != nil {
				return fmt.Errorf("%s: row %d: %w", path, row.Number, err)
			}
			if seen[q.ID] {
				return fmt.Errorf("%s: row %d: query id %q occurs twice", path, row.Number, q.ID)
			}
			seen[q.ID] = true
			queries = append(queries, q)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return queries, nil
}

func (k Key) query(row parquetfile.Row) (q Query, err error) {
	q.ID = row.Text(columnID)
	if q.ID == "" {
		return q, fmt.Errorf("no query_id")
	}
	if q.Text, err = k.Decrypt(row.Text(columnQuery)); err != nil {
		return q, fmt.Errorf("query %s: field query: %w", q.ID, err)
	}
	if q.Answer, err = k.Decrypt(row.Text(columnAnswer)); err != nil {
		return q, fmt.Errorf("query %s: field answer: %w", q.ID, err)
	}
	if q.Evidence, err = k.docids(row.List(columnEvidence)); err != nil {
		return q, fmt.Errorf("query %s: field evidence_docs: %w", q.ID, err)
	}
	if q.Gold, err = k.docids(row.List(columnGold)); err != nil {
		return q, fmt.Errorf("query %s: field gold_docs: %w", q.ID, err)
	}
	return q, nil
}

func (k Key) docids(enciphered []string) ([]string, error) {
	out := make([]string, 0, len(enciphered))
	for _, text := range enciphered {
		id, err := k.Decrypt(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}
