package controller

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
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
	shingles := shingleHashes(text)
	if len(shingles) == 0 {
		return nil
	}
	bound := uint64(math.MaxUint64)
	for n := len(shingles); n > printSize; n /= 2 {
		bound >>= 1
	}
	kept := slices.DeleteFunc(shingles, func(h uint64) bool { return h > bound })
	slices.Sort(kept)
	return &fingerprint{bound, slices.Compact(kept)}
}

// shingleHashes hashes every run of shingleWords words, letter case aside.
func shingleHashes(text string) []uint64 {
	const prime = 1099511628211 // FNV-1a, 64 bit
	const offset = 14695981039346656037
	var ring [shingleWords]uint64
	var hashes []uint64
	words, word, inWord := 0, uint64(offset), false
	end := func() {
		ring[words%shingleWords] = word
		words++
		if words >= shingleWords {
			h := uint64(offset)
			for i := range shingleWords {
				h = (h ^ ring[(words+i)%shingleWords]) * prime
			}
			hashes = append(hashes, mix(h))
		}
		word, inWord = offset, false
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && ('a' <= r && r <= 'z' || '0' <= r && r <= '9'):
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)):
			r = unicode.ToLower(r)
		default:
			if inWord {
				end()
			}
			continue
		}
		word, inWord = (word^uint64(r))*prime, true
	}
	if inWord {
		end()
	}
	return hashes
}

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
