package corpus

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// all reads sources to their end.
func all(opts Options, sources ...string) ([]Document, Report, error) {
	r, err := Open(sources, opts)
	if err != nil {
		return nil, Report{}, err
	}
	defer r.Close()
	var docs []Document
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return docs, r.Report(), nil
		}
		if err != nil {
			return docs, r.Report(), err
		}
		doc, err := rec.Document()
		if errors.Is(err, ErrSkipped) {
			continue
		}
		if err != nil {
			return docs, r.Report(), err
		}
		docs = append(docs, doc)
	}
}

// mustRead is all for sources without fault.
func mustRead(t *testing.T, opts Options, sources ...string) ([]Document, Report) {
	t.Helper()
	docs, report, err := all(opts, sources...)
	if err != nil {
		t.Fatal(err)
	}
	return docs, report
}

// file writes a file into a fresh folder and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	return put(t, t.TempDir(), name, content)
}

// put writes a file below dir and returns its path.
func put(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func ids(docs []Document) string {
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.DocID)
	}
	return strings.Join(ids, " ")
}

func diff(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// wantError fails unless err holds all the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

// noted returns the count of the note that contains what.
func noted(r Report, what string) int64 {
	for _, n := range r.Notes {
		if strings.Contains(n.What, what) {
			return n.Count
		}
	}
	return 0
}
