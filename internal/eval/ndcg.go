package eval

import "math"

var ndcg = definition{
	name: "nDCG", aliases: []string{"NDCG"}, whole: "ndcg", cut: "ndcg_cut",
	ungraded: true,
	about: `normalised discounted cumulative gain: DCG = sum over ranks i of gain / log2(i+1), divided by the DCG of the best possible
order of all judged documents, cut at the same rank. The gain is the grade (linear, as in trec_eval), or with dcg='exp-log2' it is
2^grade - 1. Grades below 0 gain 0. The relevance level plays no part. 0 where nothing is relevant. Järvelin and Kekäläinen 2002.`,
	value: func(q judgedRanking, m Measure) float64 {
		ideal := q.given
		if m.Cutoff > 0 && len(ideal) > m.Cutoff {
			ideal = ideal[:m.Cutoff]
		}
		best := dcg(ideal, m.Exponential)
		if best == 0 {
			return 0
		}
		return dcg(q.top(m.Cutoff), m.Exponential) / best
	},
}

// dcg sums discounted gains.
func dcg(grades []int, exponential bool) float64 {
	var total float64
	for i, g := range grades {
		if g <= 0 {
			continue
		}
		gain := float64(g)
		if exponential {
			gain = math.Exp2(gain) - 1
		}
		total += gain / math.Log2(float64(i+2))
	}
	return total
}
