package eval

var precision = definition{
	name: "P", aliases: []string{"Precision"}, cut: "P", cutoffs: rankCutoffs,
	about: `relevant documents down to rank k over k; a ranking shorter than k is not forgiven.`,
	value: func(q judgedRanking, m Measure) float64 {
		return float64(q.relevant(q.top(m.Cutoff))) / float64(m.Cutoff)
	},
}

var rPrecision = definition{
	name: "Rprec", whole: "Rprec", uncuttable: true,
	about: `precision at the rank that equals the number of relevant documents of the query.`,
	value: func(q judgedRanking, _ Measure) float64 {
		total := q.total()
		if total == 0 {
			return 0
		}
		return float64(q.relevant(q.top(total))) / float64(total)
	},
}
