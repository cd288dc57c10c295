package index

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"goserini/internal/synth"

	"pgregory.net/rapid"
)

// coded codes text with a list made of sample, and decodes it again.
func coded(t interface{ Fatalf(string, ...any) }, sample, text string) []byte {
	counter := pieceCounter{}
	counter.add([]byte(sample))
	list := counter.list()
	c, err := newWordCoder(list)
	if err != nil {
		t.Fatalf("%v", err)
	}
	code := c.code(nil, []byte(text))
	l, ok := parseWordList(appendWordList(nil, list))
	if !ok {
		t.Fatalf("the stored list is refused")
	}
	for _, slots := range []int{0, oneByteCodes + 1, math.MaxInt} {
		d := newWordDecoder(l, slots)
		got, ok := d.decode(make([]byte, 0, len(text)), code, math.MaxInt)
		if !ok || string(got) != text {
			t.Fatalf("%q becomes %q, %v, by way of %q", text, got, ok, code)
		}
		if _, ok := d.decode(make([]byte, 0, max(len(text)-1, 0)), code, math.MaxInt); ok && len(text) > 0 {
			t.Fatalf("%q is decoded into too little room", text)
		}
		for want := 0; want < len(text); want += 1 + len(text)/50 {
			if part, ok := d.decode(make([]byte, 0, len(text)), code, want); !ok || len(part) < want || !strings.HasPrefix(text, string(part)) {
				t.Fatalf("%d bytes wanted of %q are %q, %v", want, text, part, ok)
			}
		}
	}
	return code
}

func TestCodedTextIsTheTextAgain(t *testing.T) {
	sample := "the of and the of and the zinc zinc naïve naïve “quoted” “quoted” 日本 日本 Ⅻ"
	for _, text := range []string{
		"", " ", "the", "the of", "the  of", " the of ", "the\nof", "the.of", "theof", "the of\x1f\x7fand", "\x00\x7f\x1f",
		"“quoted” the“ of ”the", "naïve the naïve", "日本 the 日本", "unknown the unknown unknown",
		strings.Repeat("x", 200) + " the " + strings.Repeat("é", 100), strings.Repeat("the ", 50),
		"cut \xe2\x80", "\xe2 the \xc2", "a\u00a0b the\u00a0of", "\xff\xfe the",
	} {
		coded(t, sample, text)
	}
}

func TestAnyTextIsCodedWithoutLoss(t *testing.T) {
	words := rapid.SampledFrom([]string{"the", "of", "a", " ", "  ", "\n", ".", "zinc", "\x1f", "\x7f", "é", "—", "　", "x1", strings.Repeat("y", 70), "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(words).Draw(t, "words"), "")
		sample := strings.Join(rapid.SliceOf(words).Draw(t, "sample"), " ")
		coded(t, sample, text)
	})
	rapid.Check(t, func(t *rapid.T) {
		coded(t, string(rapid.SliceOf(rapid.Byte()).Draw(t, "sample")), string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")))
	})
}

func TestListsOfAllLengthsHaveDistinctCodes(t *testing.T) {
	var b strings.Builder
	for i := range listedPieces + 100 {
		w := []byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676%26), byte('a' + i/17576%26)}
		b.Write(w)
		b.WriteByte(' ')
		b.Write(w)
		b.WriteByte('\n')
	}
	if code := coded(t, b.String(), b.String()); len(code)*4 > 3*b.Len() {
		t.Errorf("%d bytes become %d", b.Len(), len(code))
	}
}

// The first blocks are decoded with few slots, the others with all.
func TestTextIsTheSameWithFewSlotsAndAll(t *testing.T) {
	docs := synthetic(synth.Corpus{Shape: synth.Long, Documents: 120})
	ix := buildDocs(t, docs, BuildOptions{})
	if n := ix.text.blocks(); n < 2*fewBlocks {
		t.Fatalf("only %d blocks", n)
	}
	for i, d := range docs {
		text, err := ix.Contents(Ordinal(i))
		if err != nil {
			t.Fatal(err)
		}
		if text != d.Contents() {
			t.Errorf("the text of document %d differs", i)
		}
		if decoder := ix.text.decoder.Load(); i == 0 && decoder.whole() {
			t.Error("all slots are made for the first document")
		}
	}
	if !ix.text.decoder.Load().whole() {
		t.Error("not all slots are made in the end")
	}
}

// FuzzWords decodes any bytes with any list: there must be a text or a refusal.
func FuzzWords(f *testing.F) {
	f.Add(appendWordList(nil, []string{"the", "of"}), []byte("AB\x1fB\x7f\x01x\x80\x00\xf0\x00\x01"))
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 'x'}, []byte("A"))
	f.Fuzz(func(t *testing.T, stored, code []byte) {
		l, ok := parseWordList(stored)
		if !ok {
			return
		}
		text, ok := newWordDecoder(l, math.MaxInt).decode(make([]byte, 0, 1000), code, math.MaxInt)
		if len(text) > 1000 {
			t.Fatal("more text than room")
		}
		if again, ok2 := newWordDecoder(l, 0).decode(make([]byte, 0, 1000), code, math.MaxInt); ok != ok2 || !bytes.Equal(text, again) {
			t.Fatal("a decoding with fewer slots differs")
		}
	})
}
