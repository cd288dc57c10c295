package bench

import (
	"math"
	"time"
)

// Canary does the same work every time, so that its speed tells that of the machine: a loop
// over integers in registers, and reads all over 64 MB of memory.
type Canary struct {
	memory []uint32
	sink   uint32
}

const (
	canaryMemory = 64 << 20
	canarySteps  = 1_000_000
	canaryReads  = 500_000
)

// NewCanary takes 64 MB of memory.
func NewCanary() *Canary {
	c := &Canary{memory: make([]uint32, canaryMemory/4)}
	for i := range c.memory {
		c.memory[i] = uint32(i) * 2654435761
	}
	return c
}

// Reading is how long the canary took.
type Reading struct{ Integer, Memory time.Duration }

// Read does the work, in a few milliseconds, and takes the best of three times.
func (c *Canary) Read() Reading {
	best := Reading{Integer: math.MaxInt64, Memory: math.MaxInt64}
	for range 3 {
		start := time.Now()
		x := c.sink | 1
		for range canarySteps {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
		}
		mid := time.Now()
		for range canaryReads {
			x = x*1664525 + 1013904223
			c.sink += c.memory[x%uint32(len(c.memory))]
		}
		c.sink += x
		best = Reading{Integer: min(best.Integer, mid.Sub(start)), Memory: min(best.Memory, time.Since(mid))}
	}
	return best
}

// Change is the larger of both relative changes since another reading.
func (r Reading) Change(since Reading) float64 {
	change := func(a, b time.Duration) float64 {
		low, high := float64(min(a, b)), float64(max(a, b))
		return high/low - 1
	}
	return max(change(r.Integer, since.Integer), change(r.Memory, since.Memory))
}
