package eval

// rankCutoffs are the cutoffs at which trec_eval computes by default.
var rankCutoffs = []int{5, 10, 15, 20, 30, 100, 200, 500, 1000}

var recall = definition{
	name: "R", aliases: []string{"Recall"}, cut: "recall", cutoffs: rankCutoffs,
	about: `relevant documents found by rank k over all relevant documents of the query. 0 where nothing is relevant.
Whether any was found is Success@k.`,
	value: func(q judgedRanking, m Measure) float64 {
		if q.total() == 0 {
			return 0
		}
		return float64(q.relevant(q.top(m.Cutoff))) / float64(q.total())
	},
}
