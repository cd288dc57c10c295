package controller

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"goserini/internal/wordmask"
)

// fingerprint tells near duplicates: the hashes of runs of shingleWords words that fall
// below a bound, so that texts of any length keep about printSize of them.
type fingerprint struct {
	bound  uint64
	hashes []uint64 // sorted, distinct, all at most bound
}

const (
	shingleWords = 4
	printSize    = 256
	// sameShare is the share of common runs (Jaccard) from which texts count as nearly
	// the same.
	sameShare = 0.9
)

// newFingerprint returns the fingerprint of text, nil where it has too few words to tell.
func newFingerprint(text string) *fingerprint {
	buffer := hashBuffers.Get().(*[]uint64)
	defer hashBuffers.Put(buffer)
	*buffer = appendWordHashes((*buffer)[:0], text)
	words := *buffer
	shingles := len(words) - (shingleWords - 1)
	if shingles <= 0 {
		return nil
	}
	bound := uint64(math.MaxUint64)
	for n := shingles; n > printSize; n /= 2 {
		bound >>= 1
	}
	kept := make([]uint64, 0, min(shingles, 2*printSize))
	for i := range shingles {
		if h := shingleHash((*[shingleWords]uint64)(words[i:])); h <= bound {
			kept = append(kept, h)
		}
	}
	slices.Sort(kept)
	return &fingerprint{bound, slices.Compact(kept)}
}

// shingleHash hashes a run of words.
func shingleHash(words *[shingleWords]uint64) uint64 {
	h := uint64(hashStart)
	for _, word := range words {
		h = (h ^ word) * hashFactor
	}
	return mix(h)
}

// hashBuffers have room for the hashes of the words of a text.
var hashBuffers = sync.Pool{New: func() any { return new([]uint64) }}

// appendWordHashes appends hashes of the words of text, letter case aside.
func appendWordHashes(hashes []uint64, text string) []uint64 {
	start, in := 0, uint64(0) // in is 1 within a run of bytes that may be of words
	for at := 0; at < len(text); at += wordmask.Width {
		words, _ := wordmask.Of(text, at)
		for edges := words ^ (words<<1 | in); edges != 0; edges &= edges - 1 {
			i := at + bits.TrailingZeros64(edges)
			if in ^= 1; in == 1 {
				start = i
			} else {
				hashes = appendRunHashes(hashes, text[start:i])
			}
		}
	}
	if in == 1 {
		hashes = appendRunHashes(hashes, text[start:])
	}
	return hashes
}

// appendRunHashes appends those of the words of a run: it is one, where all of it is ASCII.
func appendRunHashes(hashes []uint64, run string) []uint64 {
	word, all := uint64(hashStart), byte(0)
	for i := range len(run) {
		all |= run[i]
		word = (word ^ uint64(run[i]|0x20)) * hashFactor // letters in lower case, digits as they are
	}
	if all < utf8.RuneSelf {
		return append(hashes, word)
	}
	word, inWord := uint64(hashStart), false
	for _, r := range run {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			word, inWord = (word^uint64(unicode.ToLower(r)))*hashFactor, true
		case inWord:
			hashes = append(hashes, word)
			word, inWord = hashStart, false
		}
	}
	if inWord {
		hashes = append(hashes, word)
	}
	return hashes
}

// FNV-1a, 64 bit.
const (
	hashStart  = 14695981039346656037
	hashFactor = 1099511628211
)

// mix spreads a hash over all its bits, so that a bound keeps a fair sample.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// nearlySame reports whether two texts share almost all of their runs of words.
func nearlySame(a, b *fingerprint) bool {
	if a == nil || b == nil {
		return false
	}
	bound := min(a.bound, b.bound)
	var common, either int
	i, j := 0, 0
	for i < len(a.hashes) || j < len(b.hashes) {
		switch {
		case j == len(b.hashes) || i < len(a.hashes) && a.hashes[i] < b.hashes[j]:
			if a.hashes[i] <= bound {
				either++
			}
			i++
		case i == len(a.hashes) || b.hashes[j] < a.hashes[i]:
			if b.hashes[j] <= bound {
				either++
			}
			j++
		default:
			if a.hashes[i] <= bound {
				common++
				either++
			}
			i++
			j++
		}
	}
	return either > 0 && float64(common) >= sameShare*float64(either)
}
