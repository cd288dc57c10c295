package eval

var success = definition{
	name: "Success", cut: "success", cutoffs: []int{1, 5, 10},
	about: `1 if a relevant document is found by rank k, else 0. Some call this recall or hit rate.`,
	value: func(q judgedRanking, m Measure) float64 {
		if q.relevant(q.top(m.Cutoff)) > 0 {
			return 1
		}
		return 0
	},
}
