package index

import (
	"math"
	"math/bits"
	"slices"

	"goserini/internal/bm25"
)

// saturations are what scores under some settings are made of: a term's score is its weight
// times the saturation of its frequency in the document, which depends on the document's norm
// and not on the term. Most documents share frequency and norm with many others, so those are
// kept in rows, one for each frequency and norm, with a number for each setting.
//
// A number is the saturation times fullSaturation, rounded down. Two are in a word, 32 bits
// each, so that one multiplication and one addition do for two settings.
type saturations struct {
	settings []bm25.Params
	// lanes is the number of settings rounded up to a multiple of rowLanes.
	lanes int
	// inverse has for each norm the factors of tf, a lane each.
	inverse []float32
	// slots has by frequency, less one, and norm the number of a row, 0 if there is none.
	slots [exactTF << 8]uint32
	// values are the rows, tfs their frequencies.
	values []uint64
	tfs    []uint32
	// highest has by class of frequencies and norm the bound of a posting, 0 if it is not known.
	highest [tfClasses << 8]float64
	// shares are what such bounds are relative to: for each lane what a number is to be
	// multiplied with.
	shares []float64
}

const (
	rowLanes = 8
	rowWords = rowLanes / 2

	// fullSaturation stands for 1 in rows.
	fullSaturation = 1<<16 - 1
	// exactTF bounds the frequencies whose rows are kept.
	exactTF = 256
	// mostValues is the length of values from which on rows are forgotten.
	mostValues = 1 << 17
)

// Classes of frequencies: those that fit a word one by one, then eight at a time, then up to
// each power of two, and all others.
const (
	octets    = wordTF
	doublings = octets + (64-wordTF)/8
	tfClasses = 32
)

// tfClass is the class of a frequency.
func tfClass(tf uint32) uint32 {
	switch {
	case tf <= wordTF:
		return tf - 1
	case tf <= 64:
		return octets + (tf-wordTF-1)/8
	}
	return min(doublings+uint32(bits.Len32((tf-1)/128)), tfClasses-1)
}

// highestOf is the highest frequency of a class.
func highestOf(class uint32) uint32 {
	switch {
	case class < octets:
		return class + 1
	case class < doublings:
		return wordTF + 8*(class-octets+1)
	case class < tfClasses-1:
		return 128 << (class - doublings)
	}
	return math.MaxUint32
}

// reset begins with other settings.
func (r *saturations) reset(settings []bm25.Params, avgdl float32) {
	*r = saturations{settings: slices.Clone(settings), lanes: (len(settings) + rowLanes - 1) / rowLanes * rowLanes}
	r.inverse = make([]float32, bm25.Norms*r.lanes)
	for s, p := range settings {
		for norm, inv := range bm25.InverseNorms(p, avgdl) {
			r.inverse[norm*r.lanes+s] = inv
		}
	}
	r.shares = make([]float64, r.lanes)
	r.append(1, 0) // row 0 is that of no slot
}

// factors are those of tf under all settings.
func (r *saturations) factors(norm byte) []float32 { return r.inverse[int(norm)*r.lanes:][:r.lanes] }

// forget removes all rows if there are many. No number of a row is valid afterwards.
func (r *saturations) forget() {
	if len(r.values) > mostValues {
		clear(r.slots[:])
		r.values, r.tfs = r.values[:r.lanes/2], r.tfs[:1]
	}
}

// append computes a row and returns its number.
func (r *saturations) append(tf uint32, norm byte) uint32 {
	for f := r.factors(norm); len(f) >= 2; f = f[2:] {
		r.values = append(r.values, saturation(f[0], float32(tf))|saturation(f[1], float32(tf))<<32)
	}
	r.tfs = append(r.tfs, tf)
	return uint32(len(r.tfs) - 1)
}

// saturation is off by less than 1.01: rounding down takes less than 1, and all else is off by
// at most two roundings of a number of at most 1.
func saturation(inverse, tf float32) uint64 {
	return uint64(fullSaturation * (1 - 1/(1+float32(tf*inverse))))
}

// rowOf returns the number of a posting's row.
func (r *saturations) rowOf(tf uint32, norm byte) uint32 {
	if tf > exactTF {
		return r.append(tf, norm)
	}
	slot := &r.slots[(tf-1)<<8|uint32(norm)]
	if *slot == 0 {
		*slot = r.append(tf, norm)
	}
	return *slot
}

// share makes bounds relative to other sums: at least the highest score as a share of its
// setting's sum.
func (r *saturations) share(sums []float64) {
	for s, sum := range sums {
		r.shares[s] = 1 / sum / fullSaturation
	}
	clear(r.highest[:])
}

// bound returns, for a class of frequencies and a norm, at least the highest score of a posting as
// a share of its setting's sum, per weight of the term. No score falls as tf grows, so that
// the highest frequency of a class bounds all.
func (r *saturations) bound(cell uint32) float64 {
	if r.highest[cell] != 0 {
		return r.highest[cell]
	}
	// A score is rounded itself, but by much less than 1 of fullSaturation makes. Shares are
	// not negative, so they compare as their bits do, and by those without branches.
	const slack = 2
	row := r.values[int(r.rowOf(highestOf(cell>>8), byte(cell)))*r.lanes/2:][:r.lanes/2]
	highest, shares := uint64(0), r.shares[:2*len(row)]
	for i, pair := range row {
		a, b := float64(uint32(pair)+slack)*shares[2*i], float64(pair>>32+slack)*shares[2*i+1]
		highest = max(highest, math.Float64bits(a), math.Float64bits(b))
	}
	r.highest[cell] = math.Float64frombits(highest)
	return r.highest[cell]
}
