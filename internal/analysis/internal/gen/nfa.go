package main

// nfa is a nondeterministic automaton with empty moves.
type nfa struct {
	start  int
	moves  [][]move
	empty  [][]int
	accept []int // kind of token, 0 for none
}

type move struct {
	on classSet
	to int
}

func (g *nfa) state() int {
	g.moves = append(g.moves, nil)
	g.empty = append(g.empty, nil)
	g.accept = append(g.accept, 0)
	return len(g.moves) - 1
}

// expr adds its automaton to g behind state from and returns the state in which it
// has matched. It may be added any number of times.
type expr func(g *nfa, from int) int

func one(on classSet) expr {
	return func(g *nfa, from int) int {
		to := g.state()
		g.moves[from] = append(g.moves[from], move{on, to})
		return to
	}
}

func seq(parts ...expr) expr {
	return func(g *nfa, from int) int {
		for _, part := range parts {
			from = part(g, from)
		}
		return from
	}
}

func alt(choices ...expr) expr {
	return func(g *nfa, from int) int {
		end := g.state()
		for _, choice := range choices {
			// A state of its own keeps a loop of one choice out of the others.
			begin := g.state()
			g.empty[from] = append(g.empty[from], begin)
			last := choice(g, begin)
			g.empty[last] = append(g.empty[last], end)
		}
		return end
	}
}

func star(e expr) expr {
	return func(g *nfa, from int) int {
		loop := g.state()
		g.empty[from] = append(g.empty[from], loop)
		last := e(g, loop)
		g.empty[last] = append(g.empty[last], loop)
		return loop
	}
}

func plus(e expr) expr { return seq(e, star(e)) }

func opt(e expr) expr { return alt(e, seq()) }
