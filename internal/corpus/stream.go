package corpus

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
)

// maxWindow bounds the memory of a zstd stream's window: what the zstd tool itself
// accepts unless told otherwise (--long=27).
const maxWindow = 128 << 20

// stream is an open file, decompressed and in UTF-8 if it began with a UTF-16 mark.
type stream struct {
	io.Reader
	closers []func() error
}

func (s *stream) Close() error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// openStream opens a file and looks through its compression, which is recognised by
// the first bytes whatever the name. Bytes read from the file are added to read.
func openStream(path string, read *atomic.Int64) (*stream, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &stream{closers: []func() error{f.Close}}
	if err := s.decompress(&countedReader{f, read}); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// countedReader adds what is read to a counter.
type countedReader struct {
	r io.Reader
	n *atomic.Int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n != nil {
		c.n.Add(int64(n))
	}
	return n, err
}

// decompress sets the reader up by the first bytes.
func (s *stream) decompress(r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if name := notText(head); name != "" {
		return unsupported(name)
	}
	opened, err := s.decompressor(head, br)
	if err != nil {
		return err
	}
	if opened == nil {
		return s.decodeUTF16(br)
	}
	inner := bufio.NewReaderSize(opened, 4<<10)
	head, err = inner.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return damaged(err)
	}
	if name := notText(head); name != "" {
		return unsupported(name + " inside compressed data")
	}
	if compression(head) != "" {
		return unsupported("data compressed twice")
	}
	return s.decodeUTF16(inner)
}

// decompressor opens the compression that head shows; nil if there is none.
func (s *stream) decompressor(head []byte, r io.Reader) (io.Reader, error) {
	switch compression(head) {
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, damaged(err)
		}
		return &damageReader{z}, nil
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, damaged(err)
		}
		s.closers = append([]func() error{func() error { z.Close(); return nil }}, s.closers...)
		return &damageReader{z}, nil
	case "bzip2":
		return &damageReader{bzip2.NewReader(r)}, nil
	}
	return nil, nil
}

// compression names the compression that head begins with, empty if there is none.
func compression(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b\x08")):
		return "gzip"
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")),
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte("\x2a\x4d\x18")):
		return "zstd"
	case len(head) >= 10 && bytes.HasPrefix(head, []byte("BZh")) &&
		(string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90"):
		return "bzip2"
	}
	return ""
}

// notText names a known format that cannot be read here, empty if head shows none.
func notText(head []byte) string {
	for _, f := range []struct{ magic, name string }{
		{"\xfd7zXZ\x00", "xz-compressed data"}, {"\x04\x22\x4d\x18", "lz4-compressed data"}, {"\x1f\x9d", "data compressed by compress (.Z)"},
		{"PK\x03\x04", "a zip archive"}, {"7z\xbc\xaf\x27\x1c", "a 7z archive"}, {"PAR1", "a Parquet file"},
		{"SQLite format 3\x00", "an SQLite database"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name
		}
	}
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return "a tar archive"
	}
	return ""
}

// errUnsupported marks files in a format that is recognised and not read.
var errUnsupported = errors.New("not supported")

func unsupported(name string) error {
	return fmt.Errorf("%s: %w; unpack it, or convert it to JSON lines, plain or compressed by gzip, zstd or bzip2", name, errUnsupported)
}

// errDamaged marks compressed data that cannot be read on.
var errDamaged = errors.New("compressed data is damaged")

func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends early; is the file cut off?", errDamaged)
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

// damageReader names the errors of a decompressor.
type damageReader struct{ r io.Reader }

func (d *damageReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged(err)
	}
	return n, err
}

// decodeUTF16 lets text through that begins with a UTF-16 byte-order mark.
func (s *stream) decodeUTF16(r *bufio.Reader) error {
	s.Reader = r
	if mark, _ := r.Peek(2); string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff" {
		s.Reader = unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder().Reader(r)
	}
	return nil
}
