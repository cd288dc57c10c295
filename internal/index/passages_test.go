package index

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
	"goserini/internal/corpus"
)

// longDocs are random documents of several passages, some with titles, some empty.
func longDocs(r *rand.Rand, n int) []corpus.Document {
	docs := randomDocs(r, n, 400, 1500)
	for i := range docs {
		switch i % 5 {
		case 1:
			docs[i].Title = fmt.Sprintf("w%d title", i%7)
		case 2:
			docs[i].Text = strings.ReplaceAll(docs[i].Text, "\n", " ")
		case 3:
			docs[i].Text = docs[i].Text[:i%2*len(docs[i].Text)]
		}
	}
	return docs
}

func searchPassages(t testing.TB, ix *Index, text string, params bm25.Params, depth int) []Passage {
	t.Helper()
	found, err := ix.SearchPassages(context.Background(), Query{Text: text, Params: params, Depth: depth})
	if err != nil {
		t.Fatalf("search passages for %q: %v", text, err)
	}
	return found
}

// textOf reads the text of a passage by its lines.
func textOf(t testing.TB, ix *Index, p Passage) string {
	t.Helper()
	lines, err := ix.Lines(p.Ordinal, p.FirstLine, p.LastLine-p.FirstLine+1)
	if err != nil {
		t.Fatal(err)
	}
	if p.End > 0 {
		lines[len(lines)-1] = lines[len(lines)-1][:p.End]
	}
	lines[0] = lines[0][p.Begin:]
	return strings.Join(lines, "\n")
}

// passageModel ranks the passages of documents by the definition, as documents of their own.
func passageModel(t testing.TB, docs []corpus.Document) (*model, []int, []string) {
	t.Helper()
	var all []corpus.Document
	var of []int
	var texts []string
	for i, d := range docs {
		c := cutPassages(d.Contents(), d.Title)
		pieces := piecesOf(d.Contents(), c)
		for j, text := range pieces {
			texts = append(texts, text)
			if j < len(pieces)-1 { // whose last line ends with it
				texts[len(texts)-1] = strings.TrimSuffix(text, "\n")
			}
			if j > 0 {
				text = d.Contents()[:c.titleEnd] + "\n" + text
			}
			// Their docids are in the order in which they stand.
			all = append(all, corpus.Document{DocID: fmt.Sprintf("%09d", len(all)), Text: text})
			of = append(of, i)
		}
	}
	return newModel(t, all), of, texts
}

func TestBestPassagesEqualThoseByTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(72, 0))
	for _, size := range []int{1, 30, 400} {
		docs := longDocs(r, size)
		docs[0].Text += " w1"
		ix := buildDocs(t, docs, BuildOptions{Passages: true})
		m, of, texts := passageModel(t, docs)
		if s := ix.Stats().Passages; s == nil || s.Passages != int64(len(of)) || s.WithTokens != m.n || s.Tokens != m.tokens || s.Terms != int64(len(m.df)) {
			t.Fatalf("stats are %+v, want %d passages, %d with %d tokens, %d terms", s, len(of), m.n, m.tokens, len(m.df))
		}
		for i := range 40 {
			q := fmt.Sprintf("w%d w%d w%d", r.IntN(20), r.IntN(100), r.IntN(450))
			params := settings[i%len(settings)]
			depth := []int{1, 2, 5, 50, 1000, 1 << 30}[r.IntN(6)]
			var want []Passage
			seen := map[int]bool{}
			for _, h := range m.search(t, q, params, 1<<30) {
				if doc := of[h.Ordinal]; !seen[doc] {
					seen[doc] = true
					want = append(want, Passage{DocID: docs[doc].DocID, Ordinal: h.Ordinal, Score: h.Score})
				}
			}
			slices.SortStableFunc(want, func(a, b Passage) int {
				return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.DocID, b.DocID))
			})
			want = want[:min(depth, len(want))]
			got := searchPassages(t, ix, q, params, depth)
			if len(got) != len(want) {
				t.Fatalf("%q at depth %d: %d documents, want %d", q, depth, len(got), len(want))
			}
			for j, p := range got {
				if p.DocID != want[j].DocID || p.Score != want[j].Score {
					t.Fatalf("%q with %v at depth %d: rank %d is %+v, want %+v", q, params, depth, j+1, p, want[j])
				}
				if text := textOf(t, ix, p); text != texts[want[j].Ordinal] {
					t.Fatalf("%q: passage %+v has the text %.80q, want %.80q", q, p, text, texts[want[j].Ordinal])
				}
			}
		}
	}
}

func TestAPlainIndexKnowsNothingOfPassages(t *testing.T) {
	docs := longDocs(rand.New(rand.NewPCG(73, 0)), 60)
	plain, with := buildDocs(t, docs, BuildOptions{}), buildDocs(t, docs, BuildOptions{Passages: true})
	if s := plain.Stats(); s.Passages != nil || len(s.Parts) != len(sectionsOf(false)) {
		t.Errorf("a plain index has %+v and %d parts", s.Passages, len(s.Parts))
	}
	_, err := plain.SearchPassages(context.Background(), Query{Text: "w1", Params: bm25.Anserini, Depth: 5})
	for _, err := range []error{err, plain.HoldsPassages()} {
		if !errors.Is(err, ErrNoPassages) || !strings.Contains(err.Error(), "goserini index SOURCE... --index "+plain.dir+" --passages") {
			t.Errorf("got %v, want the command that makes passages", err)
		}
	}
	if err := with.HoldsPassages(); err != nil {
		t.Error(err)
	}
	// All that a plain index has stands in one with passages as well, byte by byte.
	a, b := readIndex(t, plain.dir), readIndex(t, with.dir)
	for i, part := range plain.Stats().Parts[:len(sectionsOf(false))-1] {
		if with.Stats().Parts[i] != part {
			t.Errorf("%v is %v with passages", part, with.Stats().Parts[i])
		}
	}
	end := plain.region.start + int64(len(plain.region.data))
	if !bytes.Equal(a[headerBytes:end], b[headerBytes:end]) {
		t.Error("passages change the sections of documents")
	}
	if plain.Fingerprint() == with.Fingerprint() {
		t.Error("both have one fingerprint")
	}
}

func TestPassagesAreTheSameForAllWorkersAndMemory(t *testing.T) {
	docs := longDocs(rand.New(rand.NewPCG(74, 0)), 3000)
	var first []byte
	builds := []BuildOptions{{Workers: 1}, {Workers: 8, Memory: minMemory}, {}, {Workers: 3, Memory: 1 << 30}}
	if testing.Short() {
		builds = builds[:2]
	}
	for _, opts := range builds {
		dir := t.TempDir()
		opts.Passages = true
		if _, err := Build(context.Background(), dir, corpus.FromDocuments(docs), opts); err != nil {
			t.Fatal(err)
		}
		b := readIndex(t, dir)
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Errorf("%+v gives other bytes", opts)
		}
	}
}

func TestPassagesOfOneGreatDocumentAreWrittenInRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(75, 0))
	var b strings.Builder
	for b.Len() < 2<<20 {
		fmt.Fprintf(&b, "w%d ", r.IntN(1<<16))
	}
	docs := []corpus.Document{{DocID: "small", Text: "zinc"}, {DocID: "great", Title: "Great", Text: b.String()}, {DocID: "last", Text: "zinc onyx"}}
	a, err := analysis.ByName("")
	if err != nil {
		t.Fatal(err)
	}
	postings := func(budget int64) (runs int, terms map[string]string) {
		v, err := newInverter(a, t.TempDir(), budget, true)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.release() }()
		slot := uint32(0)
		norms := make([]byte, len(b.String())/1000)
		for i, d := range docs {
			if _, err := v.add(uint32(i), d.Contents()); err != nil {
				t.Fatal(err)
			}
			passages, err := v.addPassages(slot, d.Contents(), cutPassages(d.Contents(), d.Title))
			if err != nil {
				t.Fatal(err)
			}
			slot += uint32(len(passages))
		}
		if err := v.spill(); err != nil {
			t.Fatal(err)
		}
		if len(v.runs) != 1 {
			t.Errorf("documents take %d runs", len(v.runs))
		}
		terms = map[string]string{}
		for _, f := range v.passages.runs {
			defer closeTemporary(f)
			for run := newRunReader(f, 1<<16); ; {
				if err := run.next(); err != nil {
					t.Fatal(err)
				}
				if run.done {
					break
				}
				raw, err := run.postings(nil)
				if err != nil {
					t.Fatal(err)
				}
				var l list
				if err := decodeRun(raw, &l, norms, false); err != nil {
					t.Fatal(err)
				}
				terms[string(run.term)] += strings.Trim(fmt.Sprint(l.docs), "[]") + " "
			}
		}
		return len(v.passages.runs), terms
	}
	one, want := postings(1 << 28)
	many, got := postings(1 << 18)
	if one != 1 || many < 3 {
		t.Errorf("passages take %d and %d runs, want 1 and more", one, many)
	}
	if !maps.Equal(got, want) {
		t.Error("the runs hold other postings than the one")
	}
}

func TestPassagesOfDroppedAndSkippedDocuments(t *testing.T) {
	docs := longDocs(rand.New(rand.NewPCG(76, 0)), 40)
	docs[3].DocID, docs[7].DocID, docs[39].DocID = "same", "same", "same"
	for i, doc := range []int{3, 7, 39} {
		docs[doc].Text = strings.Repeat("filler ", 700) + fmt.Sprintf("zinc number%d ", i) + strings.Repeat("filler ", 20)
	}
	for policy, kept := range map[DuplicatePolicy]int{KeepFirst: 3, KeepLast: 39} {
		ix := buildDocs(t, docs, BuildOptions{Duplicates: policy, Passages: true})
		var left []corpus.Document
		for i, d := range docs {
			if d.DocID != "same" || i == kept {
				left = append(left, d)
			}
		}
		alone := buildDocs(t, left, BuildOptions{Passages: true})
		got, want := *ix.Stats().Passages, *alone.Stats().Passages
		if got.Passages != want.Passages || got.Tokens != want.Tokens || got.Postings != want.Postings || got.Lengths != want.Lengths {
			t.Errorf("%s: %+v, want %+v", policy, got, want)
		}
		for _, q := range []string{"zinc", "w1 filler", "w0 w3"} {
			a, b := searchPassages(t, ix, q, bm25.Anserini, 50), searchPassages(t, alone, q, bm25.Anserini, 50)
			if !slices.Equal(a, b) {
				t.Errorf("%s: %q finds\n%v, want\n%v", policy, q, a, b)
			}
			if q == "zinc" && (len(a) != 1 || !strings.Contains(textOf(t, ix, a[0]), "zinc number")) {
				t.Errorf("%s: got %v", policy, a)
			}
		}
	}
}

func TestPassagesOfUnusualText(t *testing.T) {
	line := strings.Repeat("filler ", 100_000) + "zinc onyx " + strings.Repeat("filler ", 600_000)
	docs := []corpus.Document{
		{DocID: "empty"},
		{DocID: "one line", Text: line},
		{DocID: "cjk", Title: "港口", Text: strings.Repeat("海浪。", 2000) + "灯塔守望者\n" + strings.Repeat("海浪。", 2000)},
		{DocID: "rtl", Text: strings.Repeat("البحر والسفن. ", 400) + "المنارة القديمة\n" + strings.Repeat("البحر والسفن. ", 400)},
		{DocID: "title only", Title: "Basalt"},
	}
	ix := buildDocs(t, docs, BuildOptions{Passages: true, Analyzer: "cjk"})
	for _, test := range []struct{ query, docid, holds string }{
		{"zinc onyx", "one line", "zinc onyx"},
		{"灯塔守望者", "cjk", "灯塔守望者"},
		{"المنارة القديمة", "rtl", "المنارة القديمة"},
		{"basalt", "title only", "Basalt"},
	} {
		found := searchPassages(t, ix, test.query, bm25.Anserini, 10)
		if len(found) == 0 || found[0].DocID != test.docid {
			t.Errorf("%q finds %v", test.query, found)
			continue
		}
		text := textOf(t, ix, found[0])
		if !strings.Contains(text, test.holds) || halvesOf(text) > 2*passageWords*wordHalves {
			t.Errorf("%q finds a passage of %d bytes, %+v, without it", test.query, len(text), found[0])
		}
	}
	// Each passage is found by the title of its document.
	for _, p := range searchPassages(t, ix, "港口 灯塔守望者", bm25.Anserini, 1) {
		if p.FirstLine != 1 && p.LastLine < 2 {
			t.Errorf("got %+v", p)
		}
	}
	nothing := buildDocs(t, []corpus.Document{{DocID: "a"}, {DocID: "b", Text: " \n"}}, BuildOptions{Passages: true})
	if found := searchPassages(t, nothing, "zinc", bm25.Anserini, 10); len(found) != 0 {
		t.Errorf("no text, but %v", found)
	}
	if err := nothing.Verify(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestAFlippedByteOfPassagesIsFound(t *testing.T) {
	good := buildDocs(t, longDocs(rand.New(rand.NewPCG(77, 0)), 60), BuildOptions{Passages: true})
	ask := func(ix *Index) (string, error) {
		var b strings.Builder
		for _, q := range []string{"w0 w1 w2 w7 w7", "w3 title", "w40 w100 w300 absent"} {
			found, err := ix.SearchPassages(context.Background(), Query{Text: q, Params: bm25.Anserini, Depth: 40})
			if err != nil {
				return "", err
			}
			fmt.Fprintln(&b, found)
		}
		return b.String(), nil
	}
	want, err := ask(good)
	if err != nil {
		t.Fatal(err)
	}
	raw := readIndex(t, good.dir)
	from := 0
	for id, part := range good.Stats().Parts {
		if sectionID(id) < passagePostingsSection {
			from += int(part.Bytes)
		}
	}
	step := 211
	if testing.Short() {
		step = 2111
	}
	dir := t.TempDir()
	for at := 0; at < len(raw); at += step {
		if at == step {
			at = headerBytes + from // the sections of documents have a test of their own
		}
		for _, at := range []int{at, len(raw) - 1 - at%900, 12 + at%4} {
			checkFlipped(t, dir, raw, at, want, ask)
		}
	}
}

// FuzzPassages is FuzzOpen for the sections about passages.
func FuzzPassages(f *testing.F) {
	dir := f.TempDir()
	if _, err := Build(context.Background(), dir, corpus.FromDocuments(longDocs(rand.New(rand.NewPCG(78, 0)), 30)), BuildOptions{Passages: true}); err != nil {
		f.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte{0xFF}, true)
	f.Add(uint32(600), []byte{1, 2, 3}, true)
	f.Fuzz(func(t *testing.T, back uint32, change []byte, seal bool) {
		mutated := bytes.Clone(raw)
		for i, c := range change {
			mutated[(2*len(raw)-1-int(back)%len(raw)+i)%len(raw)] ^= c
		}
		if seal {
			mutated = reseal(mutated)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), mutated, 0o644); err != nil {
			t.Fatal(err)
		}
		ix, err := Open(dir)
		if err != nil {
			return
		}
		defer ix.Close()
		for _, depth := range []int{1, 1000} {
			_, _ = ix.SearchPassages(context.Background(), Query{Text: "w0 w1 w40", Params: bm25.Paper, Depth: depth})
		}
		_ = ix.Verify(context.Background())
	})
}
