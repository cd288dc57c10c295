package enginebench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"goserini/internal/atomicfile"
	"goserini/internal/synth"
)

// WriteCorpus writes a collection as JSON lines of id, title and text. progress, if not nil,
// is told how many documents are written.
func WriteCorpus(ctx context.Context, c synth.Corpus, path string, progress func(done int)) error {
	return WriteDocuments(ctx, c, path, func(out *bytes.Buffer, d synth.Document) error {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return enc.Encode(struct {
			ID    string `json:"id"`
			Title string `json:"title"`
			Text  string `json:"text"`
		}{d.ID, d.Title, d.Text})
	}, progress)
}

// WriteDocuments writes a collection in a form of the caller's, the documents in order; format
// is called from several goroutines. The file appears when it is complete.
func WriteDocuments(ctx context.Context, c synth.Corpus, path string, format func(*bytes.Buffer, synth.Document) error, progress func(done int)) error {
	f, err := atomicfile.Create(path, 0o644)
	if err != nil {
		return fmt.Errorf("write corpus: %w", err)
	}
	defer f.Abort()
	if err := formatDocuments(ctx, c, f, format, progress); err != nil {
		return fmt.Errorf("write corpus: %w", err)
	}
	return f.Commit()
}

// part is some documents in a row, formatted.
type part struct {
	bytes.Buffer
	err  error
	done chan struct{}
}

func formatDocuments(ctx context.Context, c synth.Corpus, out io.Writer, format func(*bytes.Buffer, synth.Document) error, progress func(int)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	const partDocuments = 64
	waiting := make(chan *part, 2*runtime.GOMAXPROCS(0))
	go func() {
		defer close(waiting)
		workers := make(chan struct{}, runtime.GOMAXPROCS(0))
		for from := 0; from < c.Documents; from += partDocuments {
			p := &part{done: make(chan struct{})}
			select {
			case waiting <- p:
			case <-ctx.Done():
				return
			}
			workers <- struct{}{}
			go func() {
				defer func() { close(p.done); <-workers }()
				for i := from; i < min(from+partDocuments, c.Documents) && p.err == nil; i++ {
					p.err = format(&p.Buffer, c.Document(i))
				}
			}()
		}
	}()
	written := 0
	for p := range waiting {
		<-p.done
		if p.err != nil {
			return p.err
		}
		if _, err := p.WriteTo(out); err != nil {
			return err
		}
		written = min(written+partDocuments, c.Documents)
		if progress != nil {
			progress(written)
		}
	}
	return ctx.Err()
}

// WriteQueries writes the query sets of a collection, a file each, as lines of id, tab and
// text.
func WriteQueries(c synth.Corpus, sets []synth.QuerySet, n int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write queries: %w", err)
	}
	for _, set := range sets {
		queries, err := c.Queries(set, n)
		if err != nil {
			return err
		}
		var b strings.Builder
		for _, q := range queries {
			fmt.Fprintf(&b, "%s\t%s\n", q.ID, q.Text)
		}
		if err := atomicfile.Write(filepath.Join(dir, string(set)+".tsv"), []byte(b.String()), 0o644); err != nil {
			return fmt.Errorf("write queries: %w", err)
		}
	}
	return nil
}
