package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// longText is about n bytes of words.
func longText(n int, every string, period int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "word%d token ", i%977)
		if i%period == period-1 {
			b.WriteString(every)
		}
	}
	return b.String()
}

// BenchmarkDocument decodes records of 32 KB, the mean length of a web page.
func BenchmarkDocument(b *testing.B) {
	table := defaultTable(b)
	for _, c := range []struct{ name, text string }{
		{"plain", longText(32<<10, "", 1000)},
		{"line breaks", longText(32<<10, "\n", 8)},
		{"accents", longText(32<<10, "é—", 4)},
		{"chinese", strings.Repeat("文書検索システム", 1400)},
	} {
		line, err := json.Marshal(map[string]string{"docid": "1", "text": c.text, "url": "https://example.org/"})
		if err != nil {
			b.Fatal(err)
		}
		rec := Record{data: line, src: newTestSource(jsonDecoder{table}, Options{})}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for range b.N {
				if _, err := rec.Document(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("small", func(b *testing.B) {
		line := []byte(`{"id": "doc123456", "contents": "four words of text"}`)
		rec := Record{data: line, src: newTestSource(jsonDecoder{table}, Options{})}
		b.SetBytes(int64(len(line)))
		b.ReportAllocs()
		for range b.N {
			if _, err := rec.Document(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkNext finds records in memory.
func BenchmarkNext(b *testing.B) {
	for _, size := range []int{60, 32 << 10} {
		line := append(bytes.Repeat([]byte{'x'}, size-1), '\n')
		data := bytes.Repeat(line, 64<<20/size)
		b.Run(fmt.Sprintf("%d bytes", size), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for range b.N {
				l := &jsonLines{c: newCutter(bytes.NewReader(data), DefaultMaxRecordBytes), notes: &notes{}}
				for {
					if _, err := l.next(); errors.Is(err, io.EOF) {
						break
					}
				}
			}
		})
	}
}

// BenchmarkHTML reads a page of many paragraphs.
func BenchmarkHTML(b *testing.B) {
	page := []byte("<html><head><title>t</title></head><body>" + strings.Repeat("<p>Some <b>words</b> of a paragraph &amp; more of <a href=\"x\">them</a>.</p>\n", 2000))
	b.SetBytes(int64(len(page)))
	for range b.N {
		htmlPage(page)
	}
}

// BenchmarkFile reads a gzip-compressed collection from disk, if there is one.
func BenchmarkFile(b *testing.B) {
	paths, _ := filepath.Glob("../../../shared/data/*/corpus.jsonl.gz")
	if len(paths) == 0 {
		b.Skip("no collections")
	}
	var size int64
	for range b.N {
		r, err := Open(paths, Options{})
		if err != nil {
			b.Fatal(err)
		}
		size = 0
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			size += int64(rec.Size())
			if _, err := rec.Document(); err != nil {
				b.Fatal(err)
			}
		}
		r.Close()
	}
	b.SetBytes(size)
}
