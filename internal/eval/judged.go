package eval

var judged = definition{
	name: "Judged", ungraded: true,
	about: `documents down to rank k that were judged at all, whatever the grade, over the documents there (at most k; all without a
cutoff). Far from 1, the other measures say as much about the judgments as about the system.`,
	value: func(q judgedRanking, m Measure) float64 {
		top := q.top(m.Cutoff)
		if len(top) == 0 {
			return 0
		}
		n := 0
		for _, g := range top {
			if g != unjudged {
				n++
			}
		}
		return float64(n) / float64(len(top))
	},
}
