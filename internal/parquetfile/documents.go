package parquetfile

import (
	"iter"

	"goserini/internal/corpus"
)

// documentColumns are those of a corpus: the published BrowseComp-Plus one has the
// first three.
var documentColumns = []Column{{Name: "docid"}, {Name: "text"}, {Name: "url", Optional: true}, {Name: "title", Optional: true}, {Name: "date", Optional: true}}

// Documents reads the documents of a corpus in Parquet files, file after file: columns docid
// and text, and url, title and date where they are there.
func Documents(paths []string) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, path := range paths {
			more := true
			err := Read(path, documentColumns, func(r Row) error {
				doc := corpus.Document{DocID: r.Text(0), Text: r.Text(1), URL: r.Text(2), Title: r.Text(3), Date: r.Text(4)}
				if more = yield(doc, nil); !more {
					return errEnough
				}
				return nil
			})
			if !more {
				return
			}
			if err != nil {
				yield(corpus.Document{}, err)
				return
			}
		}
	}
}

type enough struct{}

func (enough) Error() string { return "enough documents" }

var errEnough error = enough{}
