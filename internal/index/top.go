package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// top keeps the keys that can still be among the best k.
type top struct {
	k    int
	keys []uint64
	// limit is the number of keys from which on some are thrown away.
	limit int
	// least is a bound: documents whose sum is below it cannot be among the best k.
	least float64
	// hoped says that least is where the best k are only expected to be above.
	hoped bool
	spare []uint64
}

// Keys are thrown away when there are twice k and, for great or small k, at least leastSlack
// and at most mostSlack more than k; mostTied more where too many tie to throw any away by
// score.
const (
	leastSlack = 128
	mostSlack  = 1 << 13
	mostTied   = 1 << 16
)

func (t *top) reset(k int) {
	t.k, t.keys, t.least, t.limit, t.hoped = k, t.keys[:0], barely/2, k+min(max(k, leastSlack), mostSlack), false
}

const (
	// hopeDeviations is by how many standard deviations more of the best documents than
	// expected may be among those seen for a hope to hold. With more of them more keys are
	// kept, with fewer more hopes fail.
	hopeDeviations = 4
	// leastExpected is the number of the best documents that are expected among those seen
	// from which on keeping fewer keys is worth it.
	leastExpected = 32
)

// hope raises the bound to where it will probably be in the end, when seen of all documents
// have been: the best k are spread over the documents, so about that share of them is among
// those seen. If fewer than k keys are left in the end, it failed.
func (t *top) hope(seen, all int64) {
	share := float64(seen) / float64(all)
	if float64(t.k)*share < leastExpected {
		return
	}
	k := hoped(t.k, share)
	if k >= t.k || len(t.keys) < k+k/4 { // little would be thrown away
		return
	}
	t.drop(nearKthScore(t.keys, k))
	t.hoped = true
}

// hoped is more than how many of the best k are among a share of the documents, unless their order
// has to do with the query.
func hoped(k int, share float64) int {
	mean := float64(k) * share
	return int(mean + hopeDeviations*math.Sqrt(mean*(1-share)) + 1)
}

// failed tells whether documents that are among the best may be missing.
func (t *top) failed() bool { return t.hoped && len(t.keys) < t.k }

// trim throws away keys that cannot be among the best k if there are many. rank breaks
// ties.
func (t *top) trim(rank func(Ordinal) (uint32, error)) error {
	if len(t.keys) < t.limit {
		return nil
	}
	t.drop(nearKthScore(t.keys, t.k))
	switch {
	case len(t.keys)-t.k <= (t.limit-t.k)/2:
		return nil
	case t.limit < t.k+mostTied:
		t.limit += t.limit - t.k
		return nil
	}
	return t.cut(rank)
}

// drop throws away keys whose score has lower bits than those.
func (t *top) drop(score uint32) {
	// Which keys stay is as good as random, so there is no branch to guess.
	n, bound := 0, uint64(score)<<32
	for _, key := range t.keys {
		t.keys[n] = key
		_, below := bits.Sub64(key, bound, 0)
		n += 1 - int(below)
	}
	t.keys = t.keys[:n]
	t.least = roundsTo(math.Float32frombits(score))
}

// cut leaves exactly the best k keys, of which there are more.
func (t *top) cut(rank func(Ordinal) (uint32, error)) error {
	kth := kthScore(t.keys, t.k)
	t.drop(kth)
	if len(t.keys) == t.k {
		return nil
	}
	above := partition(t.keys, func(key uint64) bool { return uint32(key>>32) > kth })
	if err := t.lowest(t.keys[above:], t.k-above, rank); err != nil {
		return err
	}
	t.keys = t.keys[:t.k]
	return nil
}

// lowest brings those n of tied keys to their front that have the lowest ranks.
func (t *top) lowest(tied []uint64, n int, rank func(Ordinal) (uint32, error)) error {
	score := tied[0] &^ math.MaxUint32
	t.spare = t.spare[:0]
	for _, key := range tied {
		r, err := rank(Ordinal(key))
		if err != nil {
			return err
		}
		t.spare = append(t.spare, uint64(r)<<32|key&math.MaxUint32)
	}
	slices.Sort(t.spare)
	for i, r := range t.spare[:n] {
		tied[i] = score | r&math.MaxUint32
	}
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

// scoreBuckets is the number of ranges of scores that are counted at a time.
const scoreBuckets = 1 << 11

// scoreRange narrows down where the k-th highest score is: among those from low to high.
type scoreRange struct {
	low, high uint32
	// k is its place among them.
	k      int
	counts [scoreBuckets]int32
}

func (r *scoreRange) begin(keys []uint64, k int) {
	r.k, r.low, r.high = k, math.MaxUint32, 0
	for _, key := range keys {
		s := uint32(key >> 32)
		r.low, r.high = min(r.low, s), max(r.high, s)
	}
}

// narrow divides the range by the number of buckets; it returns false when the range is a
// single score.
func (r *scoreRange) narrow(keys []uint64) bool {
	shift := max(bits.Len32(r.high-r.low)-11, 0)
	clear(r.counts[:])
	for _, key := range keys {
		if s := uint32(key>>32) - r.low; s <= r.high-r.low {
			r.counts[s>>shift&(scoreBuckets-1)]++
		}
	}
	b := int((r.high - r.low) >> shift)
	for r.k > int(r.counts[b]) {
		r.k -= int(r.counts[b])
		b--
	}
	r.low += uint32(b) << shift
	r.high = min(r.high, r.low+(1<<shift-1))
	return r.low < r.high
}

// kthScore returns the bits of the k-th highest score of keys, of which there are at least
// k. Scores are positive, so their bits sort as they do.
func kthScore(keys []uint64, k int) uint32 {
	var r scoreRange
	r.begin(keys, k)
	for r.narrow(keys) {
	}
	return r.low
}

// nearKthScore returns bits that are at most those of the k-th highest score, and nearly so.
func nearKthScore(keys []uint64, k int) uint32 {
	var r scoreRange
	r.begin(keys, k)
	r.narrow(keys)
	return r.low
}

// ordered returns the best k keys, best first, but those that tie in any order; rank tells
// which of them are among the best.
func (t *top) ordered(rank func(Ordinal) (uint32, error)) ([]uint64, error) {
	t.sortByScore()
	if len(t.keys) <= t.k {
		return t.keys, nil
	}
	from, to := t.k-1, t.k
	for from > 0 && t.keys[from-1]>>32 == t.keys[t.k-1]>>32 {
		from--
	}
	for to < len(t.keys) && t.keys[to]>>32 == t.keys[t.k-1]>>32 {
		to++
	}
	if to > t.k {
		if err := t.lowest(t.keys[from:to], t.k-from, rank); err != nil {
			return nil, err
		}
	}
	t.keys = t.keys[:t.k]
	return t.keys, nil
}

// sortTied brings keys of one score and their entries into the order of their ranks; spare is
// memory to reuse.
func sortTied(keys []uint64, entries []entry, spare []uint64) []uint64 {
	const few = 24
	if len(keys) <= few {
		for i := range keys {
			for ; i > 0 && entries[i].rank < entries[i-1].rank; i-- {
				keys[i], keys[i-1] = keys[i-1], keys[i]
				entries[i], entries[i-1] = entries[i-1], entries[i]
			}
		}
		return spare
	}
	score := keys[0] &^ math.MaxUint32
	spare = spare[:0]
	for i, e := range entries {
		spare = append(spare, uint64(e.rank)<<32|uint64(i))
	}
	slices.Sort(spare)
	// The keys' low halves give way to where each belongs, and come back with the entries.
	for i, r := range spare {
		spare[i] = keys[uint32(r)]&math.MaxUint32 | r&math.MaxUint32<<32
	}
	sorted := make([]entry, len(entries))
	for i, r := range spare {
		sorted[i] = entries[r>>32]
		keys[i] = score | r&math.MaxUint32
	}
	copy(entries, sorted)
	return spare
}

// sortByScore sorts the keys by score descending: a radix sort, since there are many.
func (t *top) sortByScore() {
	const few = 96
	if len(t.keys) < few {
		slices.SortFunc(t.keys, func(a, b uint64) int { return cmp.Compare(b>>32, a>>32) })
		return
	}
	var counts [4][256]int32
	for _, key := range t.keys {
		counts[0][byte(key>>32)]++
		counts[1][byte(key>>40)]++
		counts[2][byte(key>>48)]++
		counts[3][byte(key>>56)]++
	}
	from, to := t.keys, slices.Grow(t.spare[:0], len(t.keys))[:len(t.keys)]
	for d := range counts {
		next, shift := &counts[d], (32+8*d)&63
		if int(next[byte(from[0]>>shift)]) == len(from) {
			continue
		}
		at := int32(0)
		for v := len(next) - 1; v >= 0; v-- {
			next[v], at = at, at+next[v]
		}
		for _, key := range from {
			v := byte(key >> shift)
			to[next[v]] = key
			next[v]++
		}
		from, to = to, from
	}
	t.keys, t.spare = from, to
}
