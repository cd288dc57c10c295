// Package wordmask tells where the words of a text stand, 64 bytes at a time.
package wordmask

// Width is the number of bytes that a mask tells of.
const Width = 64

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// Of returns two masks about the bytes of text from offset at on: bit i is about byte at+i,
// and 0 behind the end. In words it is set where the byte is an ASCII letter or digit or lies
// outside ASCII, in foreign where it lies outside ASCII.
func Of(text string, at int) (words, foreign uint64) {
	text = text[at:]
	if len(text) < Width {
		for i := range len(text) {
			if w, f := classify(uint64(text[i])); w != 0 {
				words |= 1 << i
				foreign |= f >> 7 << i
			}
		}
		return words, foreign
	}
	text = text[:Width]
	for i := 0; i < Width; i += 8 {
		w, f := classify(load(text, i))
		words |= gather(w) << i
		if f != 0 {
			foreign |= gather(f) << i
		}
	}
	return words, foreign
}

// classify tells the same of eight bytes by the highest bit of each.
func classify(x uint64) (words, foreign uint64) {
	// No sum below carries into the next byte: what is added to is below 0x80.
	low := x &^ highs
	letter := low | 0x20*ones // lower case, and no other character becomes a letter
	letter = (letter + (0x80-'a')*ones) &^ (letter + (0x7F-'z')*ones)
	digit := (low + (0x80-'0')*ones) &^ (low + (0x7F-'9')*ones)
	return (letter | digit | x) & highs, x & highs
}

// gather puts the highest bits of eight bytes side by side.
func gather(x uint64) uint64 {
	return x >> 7 * 0x0102040810204080 >> 56
}

// load returns the eight bytes of text from offset at on, the first one lowest.
func load(text string, at int) uint64 {
	b := text[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
