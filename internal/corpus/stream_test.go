package corpus

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

func zstded(s string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(s), nil))
}

const (
	lineA = `{"id":"a","text":"x"}` + "\n"
	lineB = `{"id":"b","text":"y"}` + "\n"
)

func TestCompressedSourcesOfSeveralMembers(t *testing.T) {
	for name, content := range map[string]string{
		"a.jsonl.gz": gzipped(lineA) + gzipped(lineB), "a.jsonl.zst": zstded(lineA) + zstded(lineB),
		"plain.jsonl": gzipped(lineA + lineB), "skippable.jsonl": "\x50\x2a\x4d\x18\x02\x00\x00\x00hi" + zstded(lineA+lineB),
	} {
		docs, _ := mustRead(t, Options{}, file(t, name, content))
		if got := ids(docs); got != "a b" {
			t.Errorf("%s: got ids %s, want a b", name, got)
		}
	}
}

func TestCutOffCompressedDataIsAnErrorUnderAnyPolicy(t *testing.T) {
	long := strings.Repeat(lineA, 5000)
	for name, whole := range map[string]string{"a.jsonl.gz": gzipped(long), "a.jsonl.zst": zstded(long)} {
		for _, cut := range []int{len(whole) - 1, len(whole) / 2, 12} {
			for _, policy := range []OnBad{StopAtBad, SkipBad} {
				_, _, err := all(Options{OnBad: policy}, file(t, name, whole[:cut]))
				wantError(t, err, name, "damaged", "cut off")
				if !errors.Is(err, errDamaged) {
					t.Errorf("%s cut at %d: got %v", name, cut, err)
				}
			}
		}
	}
	bz, err := os.ReadFile(filepath.Join("testdata", "two.jsonl.bz2"))
	if err != nil {
		t.Fatal(err)
	}
	docs, _ := mustRead(t, Options{}, file(t, "a.jsonl.bz2", string(bz)))
	if got := ids(docs); got != "a b" {
		t.Errorf("bzip2: got ids %s, want a b", got)
	}
	_, _, err = all(Options{}, file(t, "a.jsonl.bz2", string(bz[:len(bz)-5])))
	wantError(t, err, "damaged")
}

func TestGarbageBehindCompressedDataIsAnError(t *testing.T) {
	_, _, err := all(Options{}, file(t, "a.jsonl.gz", gzipped(lineA)+"garbage garbage"))
	wantError(t, err, "damaged")
}

func TestFormatsThatCannotBeReadAreNamed(t *testing.T) {
	tar := make([]byte, 1024)
	copy(tar[257:], "ustar")
	for content, want := range map[string]string{
		"\xfd7zXZ\x00....": "xz", "PK\x03\x04....": "zip", "\x1f\x9d....": ".Z", "PAR1....": "Parquet", string(tar): "tar",
		gzipped(string(tar)): "tar archive inside compressed data", gzipped(gzipped(lineA)): "compressed twice",
	} {
		_, _, err := all(Options{}, file(t, "a.jsonl", content))
		wantError(t, err, "a.jsonl", want, "not supported", "JSON lines")
	}
}

func TestUTF16WithMarkIsRead(t *testing.T) {
	for _, little := range []bool{true, false} {
		var b bytes.Buffer
		for _, u := range utf16.Encode([]rune("\ufeff" + `{"id":"é","text":"😀"}` + "\r\n" + lineB)) {
			if little {
				b.Write([]byte{byte(u), byte(u >> 8)})
			} else {
				b.Write([]byte{byte(u >> 8), byte(u)})
			}
		}
		docs, _ := mustRead(t, Options{}, file(t, "a.jsonl", b.String()))
		diff(t, "documents", docs, []Document{{DocID: "é", Text: "😀"}, {DocID: "b", Text: "y"}})
	}
}

func TestProgressEndsAtTheTotal(t *testing.T) {
	r, err := Open([]string{file(t, "a.jsonl", lineA+lineB), file(t, "b.jsonl.gz", gzipped(strings.Repeat(lineA, 100)))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if read, total := r.Progress(); read != 0 || total == 0 {
		t.Errorf("at first: got %d of %d", read, total)
	}
	last := int64(0)
	for {
		_, err := r.Next()
		read, total := r.Progress()
		if read < last || read > total {
			t.Fatalf("got %d of %d after %d", read, total, last)
		}
		last = read
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if read, total := r.Progress(); read != total {
		t.Errorf("at the end: got %d of %d", read, total)
	}
}

func FuzzCompressed(f *testing.F) {
	for _, s := range []string{gzipped(lineA), zstded(lineA) + zstded(lineB), gzipped(lineA)[:20], "BZh91AY&SY", "\xff\xfea\x00", "\x50\x2a\x4d\x18\xff\xff\xff\xff"} {
		f.Add(s)
	}
	fuzzFormat(f, kindJSON)
}
