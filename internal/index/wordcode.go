package index

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"unsafe"
)

// Before a block of text is compressed its words are replaced by the numbers that they
// have in a list of frequent words, which is made from the beginning of the source and
// stored in the index. That makes blocks smaller by a quarter and the compressor's work
// by more than half, and reading them no slower.
//
// The text is cut into pieces: words (runs of letters, up to maxPiece bytes), symbols (one
// character of general punctuation) and single bytes. In coded text
//
//	a letter        is one of the 52 most frequent pieces of the list,
//	0x80 to 0xEF    begins a number of two bytes, for the next 28,672,
//	0xF0 to 0xFF    begins a number of three bytes, for all others,
//	0x7F            precedes a length in one byte and a piece that is not in the list,
//	0x1F            says that no space stands between two words,
//	any other byte  is itself.
//
// Between two words in a row there is a space, which is not written.
const (
	literalPiece = 0x7F
	noSpace      = 0x1F
	maxPiece     = 64

	oneByteCodes   = 52
	twoByteFirst   = 0x80
	threeByteFirst = 0xF0
	twoByteCodes   = (threeByteFirst - twoByteFirst) << 8
	// listedPieces bounds the list: more would cost more than they save.
	listedPieces = oneByteCodes + twoByteCodes + 1<<16
)

// sampleBytes is how much of the source the list of words is made from.
const sampleBytes = 16 << 20

// isLetter tells for every byte whether it is a part of a word: ASCII letters and all bytes
// of characters outside ASCII, but for symbols.
var isLetter = makeLetters()

func makeLetters() (l [256]bool) {
	for c := range l {
		l[c] = c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
	}
	return l
}

// symbolLength is the length of the symbol that text begins with, 0 if it begins with none:
// U+00A0 to U+00BF, U+2000 to U+207F or U+3000 to U+303F.
func symbolLength(text []byte) int {
	if len(text) >= 2 && text[0] == 0xC2 && text[1]&0xC0 == 0x80 {
		return 2
	}
	if len(text) >= 3 && (text[0] == 0xE2 && text[1]&^1 == 0x80 || text[0] == 0xE3 && text[1] == 0x80) {
		return 3
	}
	return 0
}

// piece returns the length of the piece that text begins with and whether it is a word.
func piece(text []byte) (n int, word bool) {
	c := text[0]
	if !isLetter[c] {
		return 1, false
	}
	if c >= 0x80 {
		if n := symbolLength(text); n > 0 {
			return n, false
		}
	}
	for n < len(text) && n < maxPiece && isLetter[text[n]] {
		if text[n] >= 0xC2 && symbolLength(text[n:]) > 0 {
			break
		}
		n++
	}
	return n, true
}

// pieceCounter counts the pieces of a sample.
type pieceCounter map[string]int

func (p pieceCounter) add(text []byte) {
	for len(text) > 0 {
		n, word := piece(text)
		if word || n > 1 {
			p[string(text[:n])]++
		}
		text = text[n:]
	}
}

// list returns the pieces worth a number, the most frequent first.
func (p pieceCounter) list() []string {
	all := slices.Collect(maps.Keys(p))
	all = slices.DeleteFunc(all, func(s string) bool { return p[s] < 2 })
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(p[b], p[a]), cmp.Compare(a, b)) })
	return all[:min(len(all), listedPieces)]
}

// wordCoder codes text. It is not safe for concurrent use.
type wordCoder struct{ numbers wordTable }

func newWordCoder(list []string) (*wordCoder, error) {
	c := &wordCoder{}
	for i, s := range list {
		if err := c.numbers.add([]byte(s), uint32(i)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// code appends text as coded.
func (c *wordCoder) code(b, text []byte) []byte {
	afterWord := false
	for len(text) > 0 {
		n, word := piece(text)
		if word && afterWord {
			b = append(b, noSpace)
		}
		b = c.codePiece(b, text[:n])
		text = text[n:]
		afterWord = word
		if word && len(text) > 1 && text[0] == ' ' {
			if _, next := piece(text[1:]); next {
				text = text[1:]
				afterWord = false
			}
		}
	}
	return b
}

func (c *wordCoder) codePiece(b, p []byte) []byte {
	if len(p) == 1 && !isLetter[p[0]] && p[0] != literalPiece && p[0] != noSpace {
		return append(b, p[0])
	}
	number, ok := c.numbers.find(p)
	switch {
	case !ok:
		return append(append(b, literalPiece, byte(len(p))), p...)
	case number < oneByteCodes:
		return append(b, oneByteCode(number))
	case number < oneByteCodes+twoByteCodes:
		number -= oneByteCodes
		return append(b, byte(twoByteFirst+number>>8), byte(number))
	}
	number -= oneByteCodes + twoByteCodes
	return append(b, byte(threeByteFirst+number>>16), byte(number>>8), byte(number))
}

// oneByteCode is the letter for one of the first 52 numbers: A to Z, then a to z.
func oneByteCode(number uint32) byte {
	if number < 26 {
		return byte('A' + number)
	}
	return byte('a' + number - 26)
}

// appendWordList appends the list as it is stored: the number of pieces and where each ends,
// 32 bits each, and their bytes.
func appendWordList(b []byte, list []string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	end := 0
	for _, s := range list {
		end += len(s)
		b = binary.LittleEndian.AppendUint32(b, uint32(end))
	}
	for _, s := range list {
		b = append(b, s...)
	}
	return b
}

// wordList is a stored list.
type wordList struct{ ends, pieces []byte }

// parseWordList checks what can be checked at once.
func parseWordList(b []byte) (wordList, bool) {
	if len(b) < 4 {
		return wordList{}, false
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if n*4 > uint64(len(b)-4) {
		return wordList{}, false
	}
	return wordList{b[4 : 4+4*n], b[4+4*n:]}, true
}

// at returns a piece, nil if there is none of that number.
func (l *wordList) at(number uint32) []byte {
	i := uint64(number) * 4
	if i+4 > uint64(len(l.ends)) {
		return nil
	}
	from, to := uint32(0), binary.LittleEndian.Uint32(l.ends[i:])
	if number > 0 {
		from = binary.LittleEndian.Uint32(l.ends[i-4:])
	}
	if from >= to || to > uint32(len(l.pieces)) {
		return nil
	}
	return l.pieces[from:to]
}

// pieceSlot holds a piece of at most slotPiece bytes for being copied as a whole. Its last
// byte is the length, with slotWord added for words, or slotNone.
type pieceSlot [16]byte

const (
	slotPiece = len(pieceSlot{}) - 1
	slotWord  = 0x80
	// slotNone marks codes that have no piece, or one too long for a slot.
	slotNone = 0x7F

	// The slots of two-byte codes follow those of the 256 bytes, then come the others.
	twoByteSlots   = 256
	threeByteSlots = twoByteSlots + twoByteCodes
)

// codeForms tells by a code's first byte how long it is and where its slot stands: the code
// as a number less first. The factor shifts the four bytes that begin with the code so that
// the code ends up above the lower 32 bits.
var codeForms = func() (forms [256]struct {
	factor        uint64
	first, length uint32
}) {
	for c := range forms {
		f := &forms[c]
		f.length = 1
		if c >= twoByteFirst {
			f.length, f.first = 2, twoByteFirst<<8-twoByteSlots
		}
		if c >= threeByteFirst {
			f.length, f.first = 3, threeByteFirst<<16-threeByteSlots
		}
		f.factor = 1 << (8 * f.length)
	}
	return forms
}()

// wordDecoder turns coded text into text. It is safe for concurrent use.
type wordDecoder struct {
	list wordList
	// slots are those of the most frequent pieces: codes that have none take longer.
	slots []pieceSlot
}

// newWordDecoder gives slots to at most that many pieces.
func newWordDecoder(l wordList, most int) *wordDecoder {
	n := max(min(len(l.ends)/4, most), oneByteCodes)
	d := &wordDecoder{l, make([]pieceSlot, twoByteSlots+n-oneByteCodes)}
	for c := range twoByteSlots {
		s := &d.slots[c]
		switch {
		case c == noSpace:
		case !isLetter[c] && c != literalPiece:
			s[0], s[slotPiece] = byte(c), 1
		default:
			s[slotPiece] = slotNone
		}
	}
	for i := range n {
		at := i - oneByteCodes + twoByteSlots
		if i < oneByteCodes {
			at = int(oneByteCode(uint32(i)))
		}
		d.slots[at] = slotOf(l.at(uint32(i)))
	}
	return d
}

// whole says that all pieces of the list have had a slot.
func (d *wordDecoder) whole() bool {
	return len(d.slots)-twoByteSlots >= len(d.list.ends)/4-oneByteCodes
}

func slotOf(p []byte) (s pieceSlot) {
	if len(p) == 0 || len(p) > slotPiece {
		s[slotPiece] = slotNone
		return s
	}
	copy(s[:], p)
	s[slotPiece] = byte(len(p))
	if isWord(p) {
		s[slotPiece] |= slotWord
	}
	return s
}

// isWord tells words from symbols and single bytes.
func isWord(p []byte) bool { return isLetter[p[0]] && symbolLength(p) == 0 }

// decode appends the text of coded text to b, as long as it has room, and stops once b has
// want bytes or more; false if coded text is not as code writes it or there is too much.
func (d *wordDecoder) decode(b, coded []byte, want int) ([]byte, bool) {
	out, at, afterWord := b[:cap(b)], len(b), 0
	for i := 0; i < len(coded) && at < want; {
		if i, at, afterWord = copySlots(d.slots, out, coded, i, at, want, afterWord); i == len(coded) || at >= want {
			break
		}
		p, n := d.piece(coded[i:])
		word := 0
		if len(p) > 0 && isWord(p) {
			word = 1
		}
		if n == 0 || at+word&afterWord+len(p) > len(out) {
			return out[:at], false
		}
		if i += n; word&afterWord != 0 {
			out[at] = ' '
			at++
		}
		at += copy(out[at:], p)
		afterWord = word
	}
	return out[:at], true
}

// copySlots decodes from place i of coded to place at of out as far as codes have slots, at
// is less than want and both ends are far. Slots are copied whole: what is copied too much
// is overwritten by what follows. It returns the places where it ended and whether a word
// stands before.
func copySlots(slots []pieceSlot, out, coded []byte, i, at, want, afterWord int) (int, int, int) {
	from, to := unsafe.Pointer(unsafe.SliceData(coded)), unsafe.Pointer(unsafe.SliceData(out))
	lastFrom, lastTo := len(coded)-4, min(len(out)-1-len(pieceSlot{}), want-1)
	for i <= lastFrom && at <= lastTo {
		// The conditions above keep all that is read and written within coded and out.
		code := binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(from, i))[:])
		form := &codeForms[code>>24]
		number := uint32(uint64(code)*form.factor>>32) - form.first
		if uint(number) >= uint(len(slots)) {
			break
		}
		s := &slots[number]
		kind := int(s[slotPiece])
		if kind == slotNone {
			break
		}
		i += int(form.length)
		word := kind / slotWord
		*(*byte)(unsafe.Add(to, at)) = ' '
		at += afterWord & word
		*(*pieceSlot)(unsafe.Add(to, at)) = *s
		at += kind % slotWord
		afterWord = word
	}
	return i, at, afterWord
}

// piece returns the piece that coded text begins with, nil for the missing space, and the
// length of its code, 0 if there is none of that code.
func (d *wordDecoder) piece(coded []byte) (p []byte, n int) {
	c := coded[0]
	if c == noSpace {
		return nil, 1
	}
	if !isLetter[c] && c != literalPiece {
		return coded[:1], 1
	}
	if p, n = d.list.decodePiece(c, coded[1:]); len(p) == 0 {
		return nil, 0
	}
	return p, 1 + n
}

// decodePiece returns the piece whose code begins with c and goes on in rest, and how many
// bytes of rest it took. It is nil if there is none of that code.
func (l *wordList) decodePiece(c byte, rest []byte) (p []byte, n int) {
	switch {
	case c == literalPiece:
		if len(rest) == 0 || int(rest[0]) > len(rest)-1 {
			return nil, 0
		}
		n = 1 + int(rest[0]) // as a byte, the sum could wrap
		return rest[1:n], n
	case c < twoByteFirst:
		number := uint32(c - 'A')
		if c >= 'a' {
			number = uint32(c-'a') + 26
		}
		return l.at(number), 0
	case c < threeByteFirst:
		if len(rest) < 1 {
			return nil, 0
		}
		return l.at(oneByteCodes + uint32(c-twoByteFirst)<<8 + uint32(rest[0])), 1
	}
	if len(rest) < 2 {
		return nil, 0
	}
	return l.at(oneByteCodes + twoByteCodes + uint32(c-threeByteFirst)<<16 + uint32(rest[0])<<8 + uint32(rest[1])), 2
}
