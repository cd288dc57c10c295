package index

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/zeebo/xxh3"
)

// FileName is the name of the index file in its directory.
const FileName = "index.goserini"

// FormatVersion is the version of the file format that this program reads and
// writes; docs/formats/index.md draws it.
//
//	1  the first
const FormatVersion = 1

const (
	magic    = "goserini"
	endMagic = "goserEND"
	// The header holds the magic, the version and flags; the tail the offset,
	// length and checksum of the footer and the end magic.
	headerBytes = 16
	tailBytes   = 32
	// maxFooterBytes bounds what Open reads and parses before any checksum.
	maxFooterBytes = 1 << 24
)

// sectionID numbers the sections in the order in which they stand in the file.
type sectionID int

const (
	textSection sectionID = iota
	postingsSection
	blocksSection
	wordsSection
	termsSection
	termIndexSection
	normsSection
	docsSection
	docIndexSection
	docGroupsSection
	orderSection
	// Those about passages are only in an index that has them.
	passagePostingsSection
	passageTermsSection
	passageTermIndexSection
	passageNormsSection
	passagesSection
	checksSection
	sectionCount
)

var sectionNames = [sectionCount]string{
	"text", "postings", "blocks", "words", "terms", "term index", "norms", "documents", "document index",
	"document groups", "docid order", "passage postings", "passage terms", "passage term index", "passage norms", "passages", "checksums",
}

// footer is the table of contents of an index file.
type footer struct {
	Stats    Stats         `json:"stats"`
	Sections []sectionSpan `json:"sections"`
	// Checks is the checksum of the section of checksums.
	Checks checksum `json:"checks"`
	// Gaps says that document records begin with two numbers more: the bytes and line
	// ends of dropped text between the document before and this one.
	Gaps bool `json:"gaps,omitempty"`
}

// sectionsOf lists the sections of an index in order.
func sectionsOf(passages bool) []sectionID {
	var ids []sectionID
	for id := range sectionCount {
		if passages || id < passagePostingsSection || id > passagesSection {
			ids = append(ids, id)
		}
	}
	return ids
}

// section returns the entry of a section that the index has.
func (f footer) section(id sectionID) sectionSpan {
	if f.Stats.Passages == nil && id > passagesSection {
		id -= passagesSection + 1 - passagePostingsSection
	}
	return f.Sections[id]
}

// sectionSpan is one entry of the footer.
type sectionSpan struct {
	Name   string `json:"name"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
}

// checksum is 64 bits of xxh3, in JSON as 16 hexadecimal digits.
type checksum uint64

func (c checksum) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(c)), nil }

func (c *checksum) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 16, 64)
	*c = checksum(v)
	return err
}

// The header's flags. A program opens no index with flags it does not know.
const flagPassages = 1

func appendHeader(b []byte, passages bool) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, FormatVersion)
	flags := uint32(0)
	if passages {
		flags |= flagPassages
	}
	return binary.LittleEndian.AppendUint32(b, flags)
}

// headerPassages tells whether the index has passages, and whether its flags are known.
func headerPassages(b []byte) (passages, known bool) {
	flags := binary.LittleEndian.Uint32(b[len(magic)+4:])
	return flags&flagPassages != 0, flags&^flagPassages == 0
}

// headerVersion returns the version in a header, false if it is not one of ours.
func headerVersion(b []byte) (uint32, bool) {
	if len(b) < headerBytes || string(b[:len(magic)]) != magic {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b[len(magic):]), true
}

// appendEnd appends footer and tail; the footer begins at offset.
func appendEnd(b []byte, offset int64, f footer) ([]byte, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if len(text) > maxFooterBytes {
		return nil, fmt.Errorf("footer of %d bytes is too long", len(text))
	}
	b = append(b, text...)
	b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(text)))
	b = binary.LittleEndian.AppendUint64(b, xxh3.Hash(text))
	return append(b, endMagic...), nil
}

// parseTail returns where the footer of a file of that size stands.
func parseTail(tail []byte, size int64) (offset int64, length int, sum uint64, ok bool) {
	if len(tail) != tailBytes || string(tail[24:]) != endMagic {
		return 0, 0, 0, false
	}
	off := binary.LittleEndian.Uint64(tail)
	n := binary.LittleEndian.Uint64(tail[8:])
	if n > maxFooterBytes || off > math.MaxInt64 || int64(off) < headerBytes || int64(off)+int64(n)+tailBytes != size {
		return 0, 0, 0, false
	}
	return int64(off), int(n), binary.LittleEndian.Uint64(tail[16:]), true
}

// parseFooter checks the footer, which begins at offset, and what can be checked of
// its contents without the sections.
func parseFooter(text []byte, offset int64, sum uint64) (footer, error) {
	var f footer
	if xxh3.Hash(text) != sum {
		return f, fmt.Errorf("the footer does not match its checksum")
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("footer: %w", err)
	}
	ids := sectionsOf(f.Stats.Passages != nil)
	if len(f.Sections) != len(ids) {
		return f, fmt.Errorf("the footer lists %d sections, want %d", len(f.Sections), len(ids))
	}
	at := int64(headerBytes)
	for i, s := range f.Sections {
		if s.Name != sectionNames[ids[i]] || s.Offset != at || s.Length < 0 || s.Length > offset-at {
			return f, fmt.Errorf("section %q is out of place", s.Name)
		}
		at += s.Length
	}
	if at != offset {
		return f, fmt.Errorf("the sections end at %d, the footer begins at %d", at, offset)
	}
	if p := f.Stats.Passages; p != nil {
		if err := p.check(); err != nil {
			return f, err
		}
	}
	if f.Stats.Documents < 1 || f.Stats.Documents > maxDocuments {
		return f, fmt.Errorf("%d documents are out of range", f.Stats.Documents)
	}
	if f.Stats.WithTokens < 0 || f.Stats.WithTokens > f.Stats.Documents || f.Stats.Tokens < f.Stats.WithTokens {
		return f, fmt.Errorf("%d documents with %d tokens are out of range", f.Stats.WithTokens, f.Stats.Tokens)
	}
	return f, nil
}

// maxDocuments bounds the documents of one index: offsets inside the postings of one
// term have 32 bits.
const maxDocuments = 1 << 30
