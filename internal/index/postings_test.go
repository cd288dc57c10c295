package index

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
)

// mapped makes a section of bytes in memory, with checksums that fit.
func mapped(b []byte) section {
	w := newFileWriter(discard{})
	w.mapped = 0
	_, _ = w.Write(b)
	_ = w.flush()
	r := newRegion(b, w.sums, 0, []sectionSpan{{"test", 0, int64(len(b))}}, "dir")
	return section{r: r, name: "test", data: b}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// drawList draws postings of any density for an index of that many documents.
func drawList(t *rapid.T, documents uint32) *list {
	l := &list{}
	gap := rapid.SampledFrom([]uint32{1, 2, 5, 40, 300, 5000}).Draw(t, "gap")
	tf := rapid.OneOf(rapid.Uint32Range(1, 3), rapid.Uint32Range(10, 20), rapid.Uint32Range(1, math.MaxUint32))
	doc := rapid.Uint32Range(0, gap).Draw(t, "first")
	for doc < documents {
		l.append(doc, tf.Draw(t, "tf"), byte(rapid.Uint32Range(0, 255).Draw(t, "places")))
		doc += rapid.Uint32Range(1, gap).Draw(t, "next")
		if len(l.docs) > 700 {
			doc += rapid.Uint32Range(1, 100).Draw(t, "skip")
		}
		if len(l.docs) > 1500 {
			break
		}
	}
	return l
}

// all decodes a list by going through it as a search does.
func (c *cursor) all() (docs, tfs []uint32, err error) {
	if c.layout != chunkLayout {
		for c.next != done {
			docs, tfs = append(docs, c.docs...), append(tfs, c.tfs...)
			if c.layout == shortLayout {
				break
			}
			if err := c.nextGroup(); err != nil {
				return nil, nil, err
			}
		}
		return docs, tfs, nil
	}
	for chunk := c.first; chunk <= c.lastChunk(); chunk++ {
		w, err := c.chunk(chunk)
		if err != nil {
			return nil, nil, err
		}
		of := map[uint32]uint32{}
		for i := range len(w.words) / 2 {
			of[uint32(wordAt(w.words, i)>>4)] = uint32(wordAt(w.words, i)&15) + 1
		}
		tfs32 := w.tfs
		for i := range len(w.wide) / 4 {
			tf := wideAt(w.wide, i) & wideTFMask
			if tf == wideTFMask {
				tf, tfs32 = wideAt(tfs32, 0), tfs32[4:]
			}
			of[wideAt(w.wide, i)>>wideTFBits] = tf
		}
		for _, d := range slices.Sorted(maps.Keys(of)) {
			docs, tfs = append(docs, chunk*chunkDocs+d), append(tfs, of[d])
		}
	}
	return docs, tfs, nil
}

func TestPostingsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		documents := rapid.SampledFrom([]uint32{1, 60, 5000, 20_000, 900_000}).Draw(t, "documents")
		l := drawList(t, documents)
		if len(l.docs) == 0 {
			t.Skip("no postings")
		}
		norms := make([]byte, (documents+chunkDocs-1)/chunkDocs*chunkDocs)
		for i := range documents {
			norms[i] = byte(i * 2654435761 >> 24)
		}
		postings := appendPostings(nil, l, norms, int64(documents))
		places := appendPlaces(nil, l, norms, int64(documents))
		info := termInfo{df: int64(len(l.docs)), offset: 3, postings: int64(len(postings)), places: int64(len(places))}
		stored := slices.Concat([]byte{1, 2, 3}, postings, places)
		var c cursor
		if err := c.open(mapped(stored), info, int64(documents)); err != nil {
			t.Fatal(err)
		}
		checkImpacts(t, &c, l, norms)
		docs, tfs, err := c.all()
		if err != nil || !slices.Equal(docs, l.docs) || !slices.Equal(tfs, l.tfs) {
			t.Fatalf("%v: got %d postings, %v, want %d", c.layout, len(docs), err, len(l.docs))
		}
		ix := &Index{postings: mapped(stored), norms: mapped(norms)}
		ix.stats.Documents = int64(documents)
		for i, doc := range l.docs {
			if i%7 != 0 && len(l.docs) > 100 {
				continue
			}
			p, err := ix.find(info, Ordinal(doc))
			if err != nil || p.tf != l.tfs[i] {
				t.Fatalf("%v: document %d has tf %d, %v, want %d", c.layout, doc, p.tf, err, l.tfs[i])
			}
			got, err := ix.placesOf(info, Ordinal(doc), p)
			if want := bitmapOf(l.places[i], l.tfs[i], norms[doc]); err != nil || got != want {
				t.Fatalf("%v: document %d has places %016b, %v, want %016b", c.layout, doc, got, err, want)
			}
			if other := doc + 1; other < documents && !slices.Contains(l.docs, other) {
				if p, err := ix.find(info, Ordinal(other)); err != nil || p.tf != 0 {
					t.Fatalf("%v: document %d, which lacks the term, has tf %d, %v", c.layout, other, p.tf, err)
				}
			}
		}
	})
}

func bitmapOf(places byte, tf uint32, norm byte) uint16 {
	switch {
	case !hasPlaces(norm):
		return 1<<placeRanges - 1
	case tf == 1:
		return 1 << (places & 15)
	}
	return 1<<(places&15) | 1<<(places>>4)
}

// checkImpacts makes sure that no posting scores higher than all impacts.
func checkImpacts(t *rapid.T, c *cursor, l *list, norms []byte) {
	if c.layout == shortLayout {
		return
	}
	for _, p := range settings {
		inv := bm25.InverseNorms(p, 70)
		bound := float32(0)
		for _, im := range c.impacts {
			bound = max(bound, bm25.TermScore(1, im.tf, inv[im.norm]))
		}
		for i, doc := range l.docs {
			if s := bm25.TermScore(1, l.tfs[i], inv[norms[doc]]); s > bound {
				t.Fatalf("document %d scores %v, the bound of the list is %v", doc, s, bound)
			}
		}
	}
}

func TestPackedValuesComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, maxPackedWidth).Draw(t, "width")
		values := rapid.SliceOfN(rapid.Uint64Range(0, 1<<width-1), 1, 200).Draw(t, "values")
		other := rapid.IntRange(0, maxPackedWidth-width).Draw(t, "other width")
		var p packer
		for _, v := range values {
			p.append(v, width)
			p.append(v&(1<<other-1), other)
		}
		p.finish()
		if want := packedBytes(int64(len(values)), width+other); int64(len(p.out)) != want {
			t.Fatalf("%d values of %d bits take %d bytes, want %d", len(values), width, len(p.out), want)
		}
		for i, v := range values {
			if got, err := (packed{mapped(p.out), width, width + other, 0}).at(i); err != nil || got != v {
				t.Fatalf("value %d is %d, %v, want %d", i, got, err, v)
			}
			if got, err := (packed{mapped(p.out), other, width + other, width}).at(i); err != nil || got != v&(1<<other-1) {
				t.Fatalf("the other value %d is %d, %v, want %d", i, got, err, v&(1<<other-1))
			}
		}
	})
}

func TestBestKeysAreThoseOfAFullSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 50).Draw(t, "k")
		distinct := rapid.SampledFrom([]float64{1, 3, 1000}).Draw(t, "distinct scores")
		n := rapid.SampledFrom([]int{1, 40, 3000, 9000}).Draw(t, "documents")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		ranks := r.Perm(n)
		rank := func(o Ordinal) (uint32, error) { return uint32(ranks[o]), nil }
		var all []uint64
		var best top
		best.reset(k)
		for doc := range n {
			sum := 1 + math.Floor(r.Float64()*distinct)/8
			all = append(all, keyOf(sum, uint32(doc)))
			if sum >= best.least {
				best.keys = append(best.keys, keyOf(sum, uint32(doc)))
			}
			if doc%50 == 0 {
				if err := best.trim(rank); err != nil {
					t.Fatal(err)
				}
			}
		}
		slices.SortFunc(all, func(a, b uint64) int {
			if a>>32 != b>>32 {
				return int(b>>32) - int(a>>32)
			}
			return ranks[uint32(a)] - ranks[uint32(b)]
		})
		got, err := best.ordered(rank)
		for from, to := 0, 0; from < len(got); from = to {
			for to = from + 1; to < len(got) && got[to]>>32 == got[from]>>32; to++ {
			}
			var entries []entry
			for _, key := range got[from:to] {
				entries = append(entries, entry{key, uint32(ranks[uint32(key)])})
			}
			sortTied(got[from:to], entries, nil)
			for i, e := range entries {
				if e.offset&math.MaxUint32 != got[from+i]&math.MaxUint32 {
					t.Fatalf("entry %d is not that of its key", i)
				}
			}
		}
		if err != nil || !slices.Equal(got, all[:min(k, n)]) {
			t.Fatalf("got %v, %v, want %v", got, err, all[:min(k, n)])
		}
	})
}

func TestNoLowerSumRoundsToTheScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Float32Range(math.SmallestNonzeroFloat32, 1e20).Draw(t, "score")
		least := roundsTo(s)
		if below := math.Nextafter(least, 0); float32(below) >= s {
			t.Fatalf("%v is below %v but rounds to %v", below, least, float32(below))
		}
		if above := math.Nextafter(least, math.Inf(1)); float32(above) < s {
			t.Fatalf("%v is above %v but rounds to %v, below %v", above, least, float32(above), s)
		}
	})
}

func TestPagesOfLinesTileTheDocument(t *testing.T) {
	var docs []corpus.Document
	line := rapid.StringOfN(rapid.SampledFrom([]rune("ab c\t.é灯\n\n")), 0, 60, -1)
	rapid.Check(t, func(t *rapid.T) {
		docs = append(docs, corpus.Document{DocID: fmt.Sprint(len(docs)), Text: line.Draw(t, "text")})
	})
	r := rand.New(rand.NewPCG(11, 0))
	for range 3 { // long ones, with lines around the size of a block
		var b []byte
		for len(b) < 6*blockBytes {
			b = append(b, make([]byte, r.IntN(3*blockBytes/2))...)
			for i := range b {
				if b[i] == 0 {
					b[i] = "xyz "[r.IntN(4)]
				}
			}
			b = append(b, "\n\n"[:r.IntN(3)]...)
		}
		docs = append(docs, corpus.Document{DocID: fmt.Sprint(len(docs)), Text: string(b)})
	}
	ix := buildDocs(t, docs, BuildOptions{})
	checkStored(t, ix, docs, nil)
	for i, d := range docs {
		checkPages(t, ix, Ordinal(i), d.Contents(), 1+r.IntN(7))
	}
}

// checkPages reads a document in pages of lines and in slices, and compares with the whole.
func checkPages(t *testing.T, ix *Index, ord Ordinal, want string, limit int) {
	t.Helper()
	m, err := ix.Meta(ord)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for offset := 1; offset <= m.Lines; offset += limit {
		lines, err := ix.Lines(ord, offset, limit)
		if err != nil || len(lines) != min(limit, m.Lines-offset+1) {
			t.Fatalf("document %d: %d lines from %d on, %v", ord, len(lines), offset, err)
		}
		for i, line := range lines {
			if offset+i > 1 {
				got += "\n"
			}
			if at, err := ix.LineAt(ord, int64(len(got))); err != nil || at != offset+i {
				t.Fatalf("document %d: byte %d is in line %d, %v, want %d", ord, len(got), at, err, offset+i)
			}
			part, length, err := ix.LineBytes(ord, offset+i, int64(len(line)/2), 10)
			if err != nil || length != int64(len(line)) || part != line[len(line)/2:min(len(line)/2+10, len(line))] {
				t.Fatalf("document %d, line %d: got %q of %d bytes, %v", ord, offset+i, part, length, err)
			}
			got += line
		}
	}
	if got != want {
		t.Fatalf("document %d: the pages joined are %d bytes, want %d", ord, len(got), len(want))
	}
	if past, err := ix.Lines(ord, m.Lines+1, limit); err != nil || len(past) != 0 {
		t.Fatalf("document %d: past the end: %q, %v", ord, past, err)
	}
	if part, err := ix.Slice(ord, 3, int64(len(want))-1); err != nil || part != want[min(3, len(want)):max(len(want)-1, min(3, len(want)))] {
		t.Fatalf("document %d: a slice is %q, %v", ord, part, err)
	}
}

func TestALongLineIsReadInPieces(t *testing.T) {
	long := make([]byte, 3<<20)
	for i := range long {
		long[i] = byte('a' + i*i>>7%26)
	}
	docs := []corpus.Document{{DocID: "a", Text: "before"}, {DocID: "b", Title: "t", Text: string(long) + "\nafter"}}
	ix := buildDocs(t, docs, BuildOptions{})
	for _, from := range []int{0, blockBytes - 1, 1 << 20, len(long) - 5, len(long), len(long) + 9} {
		got, length, err := ix.LineBytes(1, 2, int64(from), 1000)
		want := string(long[min(from, len(long)):min(from+1000, len(long))])
		if err != nil || length != int64(len(long)) || got != want {
			t.Errorf("from %d: got %d bytes of %d, %v, want %d", from, len(got), length, err, len(want))
		}
	}
	if _, _, err := ix.LineBytes(1, 4, 0, 1); err == nil {
		t.Error("a line that is not there is read")
	}
}

func TestTheDensestPartHoldsTheQuery(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 0))
	var docs []corpus.Document
	var wants []int
	for i := range 60 {
		var b []byte
		at := r.IntN(1800)
		for j := range 2000 {
			if j == at {
				wants = append(wants, len(b))
				b = append(b, "zinc onyx krill "...)
			}
			b = fmt.Appendf(b, "w%d ", r.IntN(3000))
			if j%400 == 0 {
				b = append(b, "onyx "...)
			}
		}
		docs = append(docs, corpus.Document{DocID: fmt.Sprint(i), Text: string(b)})
	}
	docs = append(docs, texts("zinc onyx")...)
	ix := buildDocs(t, docs, BuildOptions{})
	l, err := ix.Locator("the zinc krill onyx absent")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range wants {
		from, to, err := l.Densest(Ordinal(i))
		if err != nil || int64(want) < from || int64(want) >= to || to-from > int64(len(docs[i].Text)/7) {
			t.Errorf("document %d: got %d to %d, %v, want it to hold %d", i, from, to, err, want)
		}
	}
	if from, to, err := l.Densest(60); err != nil || from != 0 || to != 9 {
		t.Errorf("a short document: got %d to %d, %v", from, to, err)
	}
}

// FuzzPostings opens any bytes as postings: there must be postings in order or an error.
func FuzzPostings(f *testing.F) {
	r := rand.New(rand.NewPCG(13, 0))
	norms := make([]byte, chunkDocs*3)
	for _, n := range []int{3, 100, 500} {
		l := &list{}
		for doc := range uint32(n) {
			l.append(doc*7+r.Uint32N(7), 1+r.Uint32N(40), 0)
		}
		for _, documents := range []int64{chunkDocs * 3, 100_000} {
			b := appendPostings(nil, l, append(norms, make([]byte, 100_000)...), documents)
			f.Add(b, int64(n), documents)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, df, documents int64) {
		documents = documents&(1<<17-1) + 1
		df = df&(1<<16-1) + 1
		ix := &Index{postings: mapped(b), norms: mapped(make([]byte, (documents+chunkDocs-1)/chunkDocs*chunkDocs))}
		ix.stats.Documents, ix.stats.WithTokens, ix.stats.Tokens = documents, documents, documents
		info := termInfo{df: df, postings: int64(len(b))}
		s := ix.searcher()
		if err := s.open([]QueryTerm{{Term: "x", Count: 1, DF: int(df)}}, []termInfo{info}, bm25.Anserini); err == nil {
			s.top.reset(10)
			if err := s.run(t.Context(), true); err == nil {
				for _, key := range s.top.keys {
					_ = keyScore(key)
				}
			}
		}
		for _, ord := range []Ordinal{0, 5, Ordinal(documents - 1)} {
			if p, err := ix.find(info, ord); err == nil && p.tf > 0 {
				_, _ = ix.placesOf(info, ord, p)
			}
		}
	})
}

func TestSumsThatStandForZeroTie(t *testing.T) {
	for sum, want := range map[float64]float32{
		barely: barely, 7 * barely: barely, scoredZero / 2: barely, 0: barely,
		scoredZero: scoredZero, 1: 1, 0.1: 0.1, 3e38: 3e38,
	} {
		if got := scoreOf(sum); got != want {
			t.Errorf("%v rounds to %v, want %v", sum, got, want)
		}
	}
}
