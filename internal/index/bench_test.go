package index

import (
	"context"
	"fmt"
	"io"
	"math"
	"testing"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/synth"
)

// synthetic returns the documents of a synthetic collection.
func synthetic(c synth.Corpus) []corpus.Document {
	docs := make([]corpus.Document, c.Documents)
	for i := range docs {
		d := c.Document(i)
		docs[i] = corpus.Document{DocID: d.ID, Title: d.Title, Text: d.Text}
	}
	return docs
}

// benchCorpora are large enough to have lists of all layouts and several windows, and small
// enough to be built in a few seconds.
var benchCorpora = []synth.Corpus{{Shape: synth.Long, Documents: 1500}, {Shape: synth.Passages, Documents: 60_000}}

func BenchmarkBuild(b *testing.B) {
	for _, c := range benchCorpora {
		b.Run(string(c.Shape), func(b *testing.B) {
			docs := synthetic(c)
			size := int64(0)
			for b.Loop() {
				s, err := Build(context.Background(), b.TempDir(), corpus.FromDocuments(docs), BuildOptions{})
				if err != nil {
					b.Fatal(err)
				}
				size = s.TextBytes
			}
			b.SetBytes(size)
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, c := range benchCorpora {
		ix := buildDocs(b, synthetic(c), BuildOptions{})
		for _, set := range synth.QuerySets {
			queries, err := c.Queries(set, 50)
			if err != nil {
				b.Fatal(err)
			}
			for _, setting := range []struct {
				params bm25.Params
				depth  int
			}{{bm25.Paper, 1000}, {bm25.Anserini, 10}} {
				b.Run(fmt.Sprintf("%s/%s/%v/%d", c.Shape, set, setting.params.K1, setting.depth), func(b *testing.B) {
					i := 0
					for b.Loop() {
						q := Query{Text: queries[i%len(queries)].Text, Params: setting.params, Depth: setting.depth}
						if _, err := ix.Search(context.Background(), q); err != nil {
							b.Fatal(err)
						}
						i++
					}
				})
			}
		}
	}
}

func BenchmarkGrid(b *testing.B) {
	c := benchCorpora[0]
	ix := buildDocs(b, synthetic(c), BuildOptions{})
	queries, err := c.Queries(synth.Medium, 20)
	if err != nil {
		b.Fatal(err)
	}
	var grid []bm25.Params
	for _, k1 := range []float32{0.9, 4, 9, 16, 25, 40} {
		for _, by := range []float32{0.25, 0.5, 0.75, 1} {
			grid = append(grid, bm25.Params{K1: k1, B: by})
		}
	}
	judged := []Ordinal{1, 10, 100, 500, 900, 1200}
	b.Run("one pass", func(b *testing.B) {
		i := 0
		for b.Loop() {
			if _, err := ix.GridRanks(context.Background(), queries[i%len(queries)].Text, grid, judged, 1000); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
	b.Run("24 searches", func(b *testing.B) {
		i := 0
		for b.Loop() {
			for _, p := range grid {
				if _, err := ix.Search(context.Background(), Query{Text: queries[i%len(queries)].Text, Params: p, Depth: 1000}); err != nil {
					b.Fatal(err)
				}
			}
			i++
		}
	})
}

func BenchmarkRead(b *testing.B) {
	c := benchCorpora[0]
	docs := synthetic(c)
	ix := buildDocs(b, docs, BuildOptions{})
	var long []Ordinal
	for i, d := range docs {
		if len(d.Text) > 2*blockBytes {
			long = append(long, Ordinal(i))
		}
	}
	uncached := func() { ix.text.cache.blocks = [cachedBlocks]cachedBlock{} }
	b.Run("a line range", func(b *testing.B) {
		i := 0
		for b.Loop() {
			uncached()
			if _, err := ix.Lines(long[i%len(long)], 40, 20); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
	b.Run("a document", func(b *testing.B) {
		i := 0
		for b.Loop() {
			uncached()
			if _, err := ix.Contents(long[i%len(long)]); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
	b.Run("the densest part", func(b *testing.B) {
		queries, err := c.Queries(synth.Medium, 20)
		if err != nil {
			b.Fatal(err)
		}
		i := 0
		for b.Loop() {
			uncached()
			l, err := ix.Locator(queries[i%len(queries)].Text)
			if err != nil {
				b.Fatal(err)
			}
			from, to, err := l.Densest(long[i%len(long)])
			if err == nil {
				_, err = ix.Slice(long[i%len(long)], from, to)
			}
			if err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	if _, err := Build(context.Background(), dir, corpus.FromDocuments(synthetic(benchCorpora[0])), BuildOptions{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		ix, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		ix.Close()
	}
}

// BenchmarkInvert measures what a worker does with each document but for compressing it.
func BenchmarkInvert(b *testing.B) {
	docs := synthetic(synth.Corpus{Shape: synth.Long, Documents: 300})
	ix := buildDocs(b, docs[:1], BuildOptions{})
	size := int64(0)
	for _, d := range docs {
		size += int64(len(d.Text))
	}
	for b.Loop() {
		v, err := newInverter(ix.Analyzer(), b.TempDir(), 200<<20, false)
		if err != nil {
			b.Fatal(err)
		}
		for i, d := range docs {
			if _, err := v.add(uint32(i), d.Text); err != nil {
				b.Fatal(err)
			}
		}
		if err := v.release(); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(size)
}

// BenchmarkCode measures how fast the words of text become numbers, and text again.
func BenchmarkCode(b *testing.B) {
	docs := synthetic(synth.Corpus{Shape: synth.Long, Documents: 300})
	counter := pieceCounter{}
	var text []byte
	for _, d := range docs {
		counter.add([]byte(d.Text))
		text = append(text, d.Text...)
	}
	list := counter.list()
	coder, err := newWordCoder(list)
	if err != nil {
		b.Fatal(err)
	}
	block := text[:blockBytes]
	code := coder.code(nil, block)
	stored, _ := parseWordList(appendWordList(nil, list))
	b.Run("code", func(b *testing.B) {
		i := 0
		var out []byte
		for b.Loop() {
			at := i * blockBytes % (len(text) - blockBytes)
			out = coder.code(out[:0], text[at:at+blockBytes])
			i++
		}
		b.SetBytes(blockBytes)
	})
	for _, slots := range []int{fewSlots, math.MaxInt} {
		decoder := newWordDecoder(stored, slots)
		b.Run(fmt.Sprintf("decode with %d slots", len(decoder.slots)), func(b *testing.B) {
			out := make([]byte, 0, blockBytes)
			for b.Loop() {
				if _, ok := decoder.decode(out, code, math.MaxInt); !ok {
					b.Fatal(io.ErrUnexpectedEOF)
				}
			}
			b.SetBytes(blockBytes)
		})
		b.Run(fmt.Sprintf("make %d slots", len(decoder.slots)), func(b *testing.B) {
			for b.Loop() {
				newWordDecoder(stored, slots)
			}
		})
	}
}

func BenchmarkCutPassages(b *testing.B) {
	docs := synthetic(benchCorpora[0])[:100]
	size := int64(0)
	for _, d := range docs {
		size += int64(len(d.Contents()))
	}
	b.SetBytes(size)
	for b.Loop() {
		for _, d := range docs {
			cutPassages(d.Contents(), d.Title)
		}
	}
}
