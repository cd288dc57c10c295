package main

import (
	"fmt"
	"slices"
)

// dfa is a deterministic automaton. State 0 is the dead one, state 1 the start.
type dfa struct {
	next   [][]int // by state and class
	accept []int   // kind of token, 0 for none
}

// determinize makes a state of every set of states that the automaton can be in.
func determinize(g *nfa, classes int) *dfa {
	d := &dfa{}
	numbers := map[string]int{}
	var sets [][]int
	number := func(set []int) int {
		key := fmt.Sprint(set)
		n, ok := numbers[key]
		if !ok {
			n = len(sets)
			numbers[key] = n
			sets = append(sets, set)
			d.next = append(d.next, make([]int, classes))
			d.accept = append(d.accept, g.kind(set))
		}
		return n
	}
	number(nil)
	number(g.closure([]int{g.start}))
	for n := 1; n < len(sets); n++ {
		for class := range classes {
			var to []int
			for _, s := range sets[n] {
				for _, m := range g.moves[s] {
					if m.on>>class&1 != 0 {
						to = append(to, m.to)
					}
				}
			}
			d.next[n][class] = number(g.closure(to))
		}
	}
	return d
}

// closure returns the states reachable by empty moves, in order.
func (g *nfa) closure(states []int) []int {
	seen := map[int]bool{}
	var all []int
	for len(states) > 0 {
		s := states[len(states)-1]
		states = states[:len(states)-1]
		if !seen[s] {
			seen[s] = true
			all = append(all, s)
			states = append(states, g.empty[s]...)
		}
	}
	slices.Sort(all)
	return all
}

// kind returns the kind that takes precedence among those that set accepts.
func (g *nfa) kind(set []int) int {
	best := 0
	for _, s := range set {
		if k := g.accept[s]; k != 0 && (best == 0 || k < best) {
			best = k
		}
	}
	return best
}

// minimize merges the states that no continuation tells apart: it divides them by
// kind, then again and again by the groups they lead to. Groups are numbered in
// the order of their first states, so that 0 and 1 stay what they are.
func minimize(d *dfa) *dfa {
	group := slices.Clone(d.accept)
	for count := 0; ; {
		numbers := map[string]int{}
		next := make([]int, len(group))
		for s := range d.next {
			key := fmt.Sprint(group[s])
			for _, to := range d.next[s] {
				key += fmt.Sprint(" ", group[to])
			}
			if _, ok := numbers[key]; !ok {
				numbers[key] = len(numbers)
			}
			next[s] = numbers[key]
		}
		group = next
		if len(numbers) == count {
			break
		}
		count = len(numbers)
	}
	small := &dfa{}
	for s, g := range group {
		if g < len(small.next) {
			continue
		}
		row := make([]int, len(d.next[s]))
		for class, to := range d.next[s] {
			row[class] = group[to]
		}
		small.next = append(small.next, row)
		small.accept = append(small.accept, d.accept[s])
	}
	return small
}
