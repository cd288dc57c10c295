package index

import (
	"math"
	"math/bits"
	"slices"
)

// top keeps the keys that can still be among the best k.
type top struct {
	k    int
	keys []uint64
	// least is a bound: documents whose sum is below it cannot be among the best k.
	least float64
	spare []uint64
}

// slack is how many keys more than 2k are collected before the worst are thrown away.
const slack = 2048

func (t *top) reset(k int) {
	t.k, t.keys, t.least = k, t.keys[:0], barely/2
}

// trim throws away keys that cannot be among the best k if there are many. rank breaks
// ties.
func (t *top) trim(rank func(Ordinal) (uint32, error)) error {
	if len(t.keys) < 2*t.k+slack {
		return nil
	}
	return t.cut(rank, t.k+slack)
}

// cut leaves the best k keys and those that tie with the last of them; where that is more
// than most, only k.
func (t *top) cut(rank func(Ordinal) (uint32, error), most int) error {
	kth := kthScore(t.keys, t.k)
	kept := t.keys[:0]
	for _, key := range t.keys {
		if uint32(key>>32) >= kth {
			kept = append(kept, key)
		}
	}
	t.keys = kept
	t.least = roundsTo(math.Float32frombits(kth))
	if len(t.keys) <= most {
		return nil
	}
	// Many tie: those with the lowest ranks stay.
	above := partition(t.keys, func(key uint64) bool { return uint32(key>>32) > kth })
	tied := t.keys[above:]
	for i, key := range tied {
		r, err := rank(Ordinal(key))
		if err != nil {
			return err
		}
		t.spare = append(t.spare[:i], uint64(r)<<32|key&math.MaxUint32)
	}
	slices.Sort(t.spare)
	tied = tied[:t.k-above]
	for i := range tied {
		tied[i] = uint64(kth)<<32 | t.spare[i]&math.MaxUint32
	}
	t.keys = t.keys[:t.k]
	return nil
}

// partition moves the keys for which first is true to the front and returns their number.
func partition(keys []uint64, first func(uint64) bool) int {
	n := 0
	for i, key := range keys {
		if first(key) {
			keys[i], keys[n] = keys[n], key
			n++
		}
	}
	return n
}

// roundsTo is the lowest float64 that can round to a float32: the middle between it and
// the float32 below.
func roundsTo(s float32) float64 {
	below := math.Float32frombits(math.Float32bits(s) - 1)
	return (float64(s) + float64(below)) / 2
}

// kthScore returns the bits of the k-th highest score of keys, of which there are more
// than k. Scores are positive, so their bits sort as they do.
func kthScore(keys []uint64, k int) uint32 {
	low, high := uint32(math.MaxUint32), uint32(0)
	for _, key := range keys {
		s := uint32(key >> 32)
		low, high = min(low, s), max(high, s)
	}
	const buckets = 1 << 11
	var counts [buckets]int32
	for {
		shift := max(bits.Len32(high-low)-11, 0)
		clear(counts[:])
		for _, key := range keys {
			if s := uint32(key>>32) - low; s <= high-low {
				counts[s>>shift]++
			}
		}
		b := int((high - low) >> shift)
		for k > int(counts[b]) {
			k -= int(counts[b])
			b--
		}
		low += uint32(b) << shift
		if shift == 0 || low == high {
			return low
		}
		high = min(high, low+(1<<shift-1))
	}
}

// ordered returns the best k keys, best first.
func (t *top) ordered(rank func(Ordinal) (uint32, error)) ([]uint64, error) {
	if len(t.keys) > t.k {
		if err := t.cut(rank, math.MaxInt); err != nil {
			return nil, err
		}
	}
	t.sortByScore()
	for from := 0; from < len(t.keys); {
		to := from + 1
		for to < len(t.keys) && t.keys[to]>>32 == t.keys[from]>>32 {
			to++
		}
		if to-from > 1 {
			if err := t.sortTied(t.keys[from:to], rank); err != nil {
				return nil, err
			}
		}
		from = to
	}
	return t.keys[:min(t.k, len(t.keys))], nil
}

// sortTied sorts keys of one score by rank.
func (t *top) sortTied(keys []uint64, rank func(Ordinal) (uint32, error)) error {
	score := keys[0] &^ math.MaxUint32
	for i, key := range keys {
		r, err := rank(Ordinal(key))
		if err != nil {
			return err
		}
		keys[i] = uint64(r)<<32 | key&math.MaxUint32
	}
	slices.Sort(keys)
	for i, key := range keys {
		keys[i] = score | key&math.MaxUint32
	}
	return nil
}

// sortByScore sorts the keys by score descending: a radix sort, since there are many.
func (t *top) sortByScore() {
	const few, radixBits = 96, 11
	if len(t.keys) < few {
		slices.SortFunc(t.keys, func(a, b uint64) int {
			switch {
			case a>>32 > b>>32:
				return -1
			case a>>32 < b>>32:
				return 1
			}
			return 0
		})
		return
	}
	from, to := t.keys, slices.Grow(t.spare[:0], len(t.keys))[:len(t.keys)]
	var counts [1 << radixBits]int32
	for shift := 32; shift < 64; shift += radixBits {
		clear(counts[:])
		for _, key := range from {
			counts[digit(key, shift)]++
		}
		if int(counts[digit(from[0], shift)]) == len(from) {
			continue
		}
		at := int32(0)
		for d := len(counts) - 1; d >= 0; d-- {
			counts[d], at = at, at+counts[d]
		}
		for _, key := range from {
			d := digit(key, shift)
			to[counts[d]] = key
			counts[d]++
		}
		from, to = to, from
	}
	t.keys, t.spare = from, to
}

func digit(key uint64, shift int) uint64 { return key >> shift & (1<<11 - 1) }
