package index

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// checkPage is the length of the pages of the mapped part that have a checksum each.
const checkPage = 1 << 16

// region is the mapped part of an index file. Its bytes are compared with their
// checksums page by page, when they are first used, so that opening costs nothing
// and no answer is made of bytes that are not as they were written.
type region struct {
	data []byte
	// sums has eight bytes for each page of data.
	sums []byte
	// seen has one bit for each page that was compared.
	seen []atomic.Uint32
	// dir is named in errors.
	dir string
	// sections tell for errors which one a page belongs to.
	sections []sectionSpan
	// start is the offset of data in the file.
	start int64
}

func newRegion(data, sums []byte, start int64, sections []sectionSpan, dir string) *region {
	return &region{data: data, sums: sums, seen: make([]atomic.Uint32, (pages(len(data))+31)/32), start: start, sections: sections, dir: dir}
}

// pages is the number of pages that n bytes take.
func pages(n int) int { return (n + checkPage - 1) / checkPage }

// touch makes sure that the n bytes at off, which lie within data, are as they were
// written.
func (r *region) touch(off, n int) error {
	first, last := uint(off)/checkPage, uint(off+max(n, 1)-1)/checkPage
	if first == last && r.known(first) {
		return nil
	}
	if n == 0 {
		return nil
	}
	return r.touchPages(int(first), int(last))
}

// known tells whether page p is there and was compared.
func (r *region) known(p uint) bool {
	return p/32 < uint(len(r.seen)) && r.seen[p/32].Load()&(1<<(p%32)) != 0
}

func (r *region) touchPages(first, last int) error {
	for p := first; p <= last; p++ {
		if r.seen[p/32].Load()&(1<<(p%32)) == 0 {
			if err := r.compare(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare checks page p against its checksum and remembers that it was right.
func (r *region) compare(p int) error {
	from := p * checkPage
	page := r.data[from:min(from+checkPage, len(r.data))]
	if xxh3.Hash(page) != binary.LittleEndian.Uint64(r.sums[8*p:]) {
		return r.corrupt(r.sectionAt(r.start+int64(from)), "checksum mismatch")
	}
	r.seen[p/32].Or(1 << (p % 32))
	return nil
}

// sectionAt names the sections that the page at that file offset holds a part of.
func (r *region) sectionAt(offset int64) string {
	name := ""
	for _, s := range r.sections {
		if s.Length > 0 && s.Offset < offset+checkPage && s.Offset+s.Length > offset {
			if name != "" {
				name += ", "
			}
			name += s.Name
		}
	}
	return name
}

func (r *region) corrupt(sectionName, detail string) error {
	return corrupt(r.dir, sectionName, detail)
}

// section is a named part of a region. All reads of mapped bytes go through it.
type section struct {
	r    *region
	name string
	// data is the section's part of the region, which begins there at off.
	data []byte
	off  int
}

// bytes returns n bytes of the section, which may lie outside it only if the index is
// not as it was written.
func (s section) bytes(from, n int) ([]byte, error) {
	if from < 0 || n < 0 || from > len(s.data) || n > len(s.data)-from {
		return nil, s.corrupt(fmt.Sprintf("it has no bytes %d to %d", from, from+n))
	}
	if err := s.r.touch(s.off+from, n); err != nil {
		return nil, err
	}
	return s.data[from : from+n : from+n], nil
}

// compared returns n bytes of the section, at most a page of them, if they are in it and were
// all compared before, else nil. It is bytes for loops in which that is nearly always so.
func (s section) compared(from, n int) []byte {
	if uint(from) > uint(len(s.data)) || n > len(s.data)-from {
		return nil
	}
	if at := uint(s.off + from); !s.r.known(at/checkPage) || !s.r.known((at+uint(n))/checkPage) {
		return nil
	}
	return s.data[from : from+n : from+n]
}

// whole returns the section's bytes if all of them were compared before, else nil. It is for
// loops that read little from all over a section.
func (s section) whole() []byte {
	if len(s.data) == 0 {
		return nil
	}
	first, last := uint(s.off)/checkPage, uint(s.off+len(s.data)-1)/checkPage
	for p := first; p <= last; p++ {
		if !s.r.known(p) {
			return nil
		}
	}
	return s.data
}

// wantBytes checks the length of the section.
func (s section) wantBytes(want int64) error {
	if int64(len(s.data)) != want {
		return s.corrupt(fmt.Sprintf("it has %d bytes, want %d", len(s.data), want))
	}
	return nil
}

func (s section) corrupt(detail string) error { return s.r.corrupt(s.name, detail) }
