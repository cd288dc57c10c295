package eval

var reciprocalRank = definition{
	name: "RR", aliases: []string{"MRR"}, whole: "recip_rank",
	about: `reciprocal rank: 1 / rank of the first relevant document, 0 if there is none (by rank k). trec_eval has no cutoff
for it; -M 10 -m recip_rank gives RR@10.`,
	value: func(q judgedRanking, m Measure) float64 {
		for i, g := range q.top(m.Cutoff) {
			if g >= q.level {
				return 1 / float64(i+1)
			}
		}
		return 0
	},
}
