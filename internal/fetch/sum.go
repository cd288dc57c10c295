package fetch

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
)

// Algorithm names a checksum.
type Algorithm string

// The checksums that publishers give. MD5 and SHA-1 protect against damage, not against forgery.
const (
	SHA256 Algorithm = "sha256"
	MD5    Algorithm = "md5"
	// GitBlob is git's SHA-1 over a header with the size and the content.
	GitBlob Algorithm = "git-sha1"
)

// Sum is a checksum to expect.
type Sum struct {
	Algorithm Algorithm
	Hex       string
}

// String is algorithm:hex, "" where nothing is expected.
func (s Sum) String() string {
	if s.Algorithm == "" {
		return ""
	}
	return string(s.Algorithm) + ":" + s.Hex
}

// ParseSum reads algorithm:hex; the empty text expects nothing.
func ParseSum(text string) (Sum, error) {
	if text == "" {
		return Sum{}, nil
	}
	name, digits, ok := strings.Cut(text, ":")
	s := Sum{Algorithm(name), strings.ToLower(digits)}
	h := s.new(0)
	if !ok || h == nil {
		return Sum{}, fmt.Errorf("checksum %q: want %s:… or %s:…", text, SHA256, MD5)
	}
	if b, err := hex.DecodeString(s.Hex); err != nil || len(b) != h.Size() {
		return Sum{}, fmt.Errorf("checksum %q: want %d hexadecimal digits", text, 2*h.Size())
	}
	return s, nil
}

// new begins the checksum of a content of known size, nil without one.
func (s Sum) new(size int64) hash.Hash {
	switch s.Algorithm {
	case SHA256:
		return sha256.New()
	case MD5:
		return md5.New()
	case GitBlob:
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", size)
		return h
	}
	return nil
}

// check compares a file with the checksum.
func (s Sum) check(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := s.new(info.Size())
	if h == nil {
		return nil
	}
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != s.Hex {
		return &sumError{got: got, want: s}
	}
	return nil
}

type sumError struct {
	got  string
	want Sum
}

func (e *sumError) Error() string {
	return fmt.Sprintf("wrong content: its %s is %s, and %s was announced", e.want.Algorithm, e.got, e.want.Hex)
}
