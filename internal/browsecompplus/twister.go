package browsecompplus

import "math/bits"

// twister is the generator MT19937 (Matsumoto and Nishimura, 1998), seeded as CPython's
// random.Random(seed) is with a small whole number: by the array initialisation with the seed as
// its one element. The published query sets were drawn with it.
type twister struct {
	state [twisterWords]uint32
	next  int
}

// Parameters of MT19937 from its paper.
const (
	twisterWords  = 624
	twisterMiddle = 397
	twisterMatrix = 0x9908b0df
	upperMask     = 0x80000000
	lowerMask     = 0x7fffffff
)

func newTwister(seed uint32) *twister {
	t := &twister{next: twisterWords}
	s := &t.state
	s[0] = 19650218
	for i := 1; i < twisterWords; i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	i := 1
	step := func() {
		if i++; i == twisterWords {
			s[0], i = s[twisterWords-1], 1
		}
	}
	for range twisterWords {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + seed
		step()
	}
	for range twisterWords - 1 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		step()
	}
	s[0] = upperMask
	return t
}

func (t *twister) refill() {
	s := &t.state
	for i := range s {
		y := s[i]&upperMask | s[(i+1)%twisterWords]&lowerMask
		v := s[(i+twisterMiddle)%twisterWords] ^ y>>1
		if y&1 != 0 {
			v ^= twisterMatrix
		}
		s[i] = v
	}
	t.next = 0
}

func (t *twister) uint32() uint32 {
	if t.next == twisterWords {
		t.refill()
	}
	y := t.state[t.next]
	t.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// below draws uniformly from [0, n), as CPython's randbelow does: as many bits as n has, again
// until they are below it. n is at least 1 and fits 32 bits.
func (t *twister) below(n int) int {
	shift := 32 - bits.Len32(uint32(n))
	for {
		if v := int(t.uint32() >> shift); v < n {
			return v
		}
	}
}

// sample draws k of the population without putting any back, in the order that CPython's
// Random.sample gives: from a shrinking pool where the population is small against k, and by
// rejection otherwise. k is at most len(population).
func sample[T any](t *twister, population []T, k int) []T {
	n := len(population)
	out := make([]T, k)
	setSize := 21
	if k > 5 {
		setSize += powerOfFourFrom(3 * k)
	}
	if n <= setSize {
		pool := append([]T{}, population...)
		for i := range k {
			j := t.below(n - i)
			out[i] = pool[j]
			pool[j] = pool[n-i-1]
		}
		return out
	}
	taken := make(map[int]bool, k)
	for i := range k {
		j := t.below(n)
		for taken[j] {
			j = t.below(n)
		}
		taken[j] = true
		out[i] = population[j]
	}
	return out
}

// powerOfFourFrom is the smallest power of four that is at least n.
func powerOfFourFrom(n int) int {
	p := 1
	for p < n {
		p *= 4
	}
	return p
}
