package eval

var averagePrecision = definition{
	name: "AP", aliases: []string{"MAP"}, whole: "map", cut: "map_cut",
	about: `average precision: the precision at the rank of each relevant document found, summed, over all relevant documents of the
query; documents not found add 0. With a cutoff only ranks down to k count, the divisor stays. Its mean over queries is MAP.`,
	value: func(q judgedRanking, m Measure) float64 {
		total := q.total()
		if total == 0 {
			return 0
		}
		var sum float64
		found := 0
		for i, g := range q.top(m.Cutoff) {
			if g >= q.level {
				found++
				sum += float64(found) / float64(i+1)
			}
		}
		return sum / float64(total)
	},
}
