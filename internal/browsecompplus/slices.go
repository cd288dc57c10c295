package browsecompplus

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// SliceDepth is the depth of the baseline ranking whose recall says how hard a query is.
const SliceDepth = 1000

// sliceSeed seeds every drawing of the published query sets.
const sliceSeed = 42

// q9 is the fixed set of the reference implementation.
var q9 = []string{"25", "30", "244", "549", "655", "1019", "1032", "1127", "1219"}

// q100Shares says how many queries of each stratum q100 holds. A stratum is the recall of the
// baseline (zero, tiny, low, medium, high) with the number of evidence documents (small, large).
var q100Shares = map[string]int{
	"zero_small": 10, "zero_large": 20, "tiny_large": 10, "low_small": 10, "low_large": 10,
	"medium_small": 10, "medium_large": 10, "high_small": 10, "high_large": 10,
}

// q300Extra is what q300 adds to q100.
const q300Extra = 200

// Judged is what decides on the stratum of a query.
type Judged struct {
	ID string
	// Relevant is the number of its evidence documents, Found how many of them the baseline has
	// among its first SliceDepth.
	Relevant, Found int
}

// Slices draws the query sets q9, q100, q300 and qfull from all queries of the benchmark, given in
// its order, as the reference implementation does. Ids must be whole numbers.
func Slices(queries []Judged) (map[string][]string, error) {
	numbers := make(map[string]int, len(queries))
	for _, q := range queries {
		n, err := strconv.Atoi(q.ID)
		if err != nil {
			return nil, fmt.Errorf("draw query sets: query id %q is not a whole number", q.ID)
		}
		numbers[q.ID] = n
	}
	byNumber := func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) }
	d := drawing{strata: map[string][]string{}, order: byNumber}
	full := make([]string, len(queries))
	for i, q := range queries {
		full[i] = q.ID
		stratum := q.stratum()
		d.strata[stratum] = append(d.strata[stratum], q.ID)
	}
	for _, ids := range d.strata {
		slices.SortFunc(ids, byNumber)
	}
	for _, id := range q9 {
		if _, ok := numbers[id]; !ok {
			return nil, fmt.Errorf("draw query set q9: the benchmark has no query %s", id)
		}
	}
	q100, err := d.draw(q100Shares)
	if err != nil {
		return nil, fmt.Errorf("draw query set q100: %w", err)
	}
	d.remove(q100)
	extra, err := d.draw(apportion(q300Extra, q100Shares, d.capacities()))
	if err != nil {
		return nil, fmt.Errorf("draw query set q300: %w", err)
	}
	q300 := slices.Concat(q100, extra)
	slices.SortFunc(q300, byNumber)
	return map[string][]string{"q9": slices.Clone(q9), "q100": q100, "q300": q300, "qfull": full}, nil
}

func (q Judged) stratum() string {
	recall := 0.0
	if q.Relevant > 0 {
		recall = float64(q.Found) / float64(q.Relevant)
	}
	difficulty := "high"
	switch {
	case recall == 0:
		difficulty = "zero"
	case recall <= 0.1:
		difficulty = "tiny"
	case recall <= 0.25:
		difficulty = "low"
	case recall <= 0.5:
		difficulty = "medium"
	}
	if q.Relevant <= 5 {
		return difficulty + "_small"
	}
	return difficulty + "_large"
}

// drawing holds the queries that have not been drawn, by stratum, each sorted by number.
type drawing struct {
	strata map[string][]string
	order  func(a, b string) int
}

// draw takes as many of each stratum as shares says, with a generator of its own, strata in
// alphabetical order, and returns them sorted by number.
func (d drawing) draw(shares map[string]int) ([]string, error) {
	t := newTwister(sliceSeed)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		have := d.strata[name]
		if shares[name] > len(have) {
			return nil, fmt.Errorf("stratum %s has %d queries, and %d are to be drawn", name, len(have), shares[name])
		}
		out = append(out, sample(t, have, shares[name])...)
	}
	slices.SortFunc(out, d.order)
	return out, nil
}

func (d drawing) remove(ids []string) {
	for name, have := range d.strata {
		d.strata[name] = slices.DeleteFunc(have, func(id string) bool { return slices.Contains(ids, id) })
	}
}

func (d drawing) capacities() map[string]int {
	out := map[string]int{}
	for name, ids := range d.strata {
		out[name] = len(ids)
	}
	return out
}

// apportion shares n among strata in proportion to weights, none above its capacity. In each
// round every stratum gets the whole part of its share, as far as it has room; single ones that are
// left over go to the largest fractions, and where no share reaches one, to the largest shares.
// Ties fall to the greater weight, the greater capacity and the later name.
func apportion(n int, weights, capacity map[string]int) map[string]int {
	given := make(map[string]int, len(weights))
	for n > 0 {
		var open []share
		total := 0
		for _, name := range slices.Sorted(maps.Keys(weights)) {
			if given[name] < capacity[name] {
				open = append(open, share{name: name, weight: weights[name], capacity: capacity[name]})
				total += weights[name]
			}
		}
		if len(open) == 0 {
			return given
		}
		whole := 0
		for i := range open {
			open[i].target = float64(n) * float64(open[i].weight) / float64(total)
			g := min(capacity[open[i].name]-given[open[i].name], int(math.Floor(open[i].target)))
			given[open[i].name] += g
			whole += g
		}
		n -= whole
		if exhausted(open, given) && whole > 0 {
			continue
		}
		n = handOut(n, open, given, whole > 0)
	}
	return given
}

// share is one stratum in a round of apportion.
type share struct {
	name             string
	weight, capacity int
	target           float64
}

func exhausted(open []share, given map[string]int) bool {
	return slices.ContainsFunc(open, func(s share) bool { return given[s.name] >= s.capacity })
}

// handOut gives single ones to the strata with room, and returns how many are left.
func handOut(n int, open []share, given map[string]int, byFraction bool) int {
	key := func(s share) float64 {
		if byFraction {
			return s.target - math.Floor(s.target)
		}
		return s.target
	}
	slices.SortFunc(open, func(a, b share) int {
		return cmp.Or(cmp.Compare(key(b), key(a)), cmp.Compare(b.weight, a.weight), cmp.Compare(b.capacity, a.capacity), cmp.Compare(b.name, a.name))
	})
	for _, s := range open {
		if n > 0 && given[s.name] < s.capacity {
			given[s.name]++
			n--
		}
	}
	return n
}
