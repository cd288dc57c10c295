package index

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// packedPadding follows the last value so that every value can be read with one load
// of eight bytes.
const packedPadding = 8

// maxPackedWidth is the greatest width in bits for which that holds.
const maxPackedWidth = 56

// packedWidth is the number of bits that values up to limit take.
func packedWidth(limit uint64) int { return bits.Len64(limit) }

// packedBytes is the length of n values of width bits with their padding.
func packedBytes(n int64, width int) int64 { return (n*int64(width)+7)/8 + packedPadding }

// packer writes values one after the other, without gaps.
type packer struct {
	pending uint64
	filled  int
	out     []byte
}

// append appends a value of width bits.
func (p *packer) append(v uint64, width int) {
	p.pending |= v << p.filled
	p.filled += width
	for p.filled >= 8 {
		p.out = append(p.out, byte(p.pending))
		p.pending >>= 8
		p.filled -= 8
	}
}

// drain writes what there is, if it is enough to be worth it.
func (p *packer) drain(w io.Writer) error {
	if len(p.out) < checkPage {
		return nil
	}
	_, err := w.Write(p.out)
	p.out = p.out[:0]
	return err
}

// finish appends what is pending and the padding.
func (p *packer) finish() {
	if p.filled > 0 {
		p.out = append(p.out, byte(p.pending))
	}
	p.out = append(p.out, make([]byte, packedPadding)...)
}

// packed reads values of a fixed width from a section: one of every stride bits, the first
// one at bit shift.
type packed struct {
	section
	width, stride, shift int
}

func (p packed) at(i int) (uint64, error) {
	bit := i*p.stride + p.shift
	b, err := p.bytes(bit>>3, packedPadding)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b) >> (bit & 7) & (1<<p.width - 1), nil
}
