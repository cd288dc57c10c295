package eval

var numQueries = definition{
	name: "NumQ", whole: "num_q", uncuttable: true, ungraded: true, count: true, summaryOnly: true,
	about: `the number of queries averaged over.`,
	value: func(judgedRanking, Measure) float64 { return 1 },
}

var numRetrieved = definition{
	name: "NumRet", whole: "num_ret", uncuttable: true, ungraded: true, count: true,
	about: `the number of documents in the ranking; their sum over queries.`,
	value: func(q judgedRanking, _ Measure) float64 { return float64(len(q.grades)) },
}

var numRelevant = definition{
	name: "NumRel", whole: "num_rel", uncuttable: true, count: true,
	// So it is in trec_eval 9: its sum under -c is taken over the judgments as they are.
	completeLevel: 1,
	about: `the number of relevant documents of the query, found or not; their sum over queries. As in trec_eval, the sum
over all judged queries (-c) counts every grade above 0, whatever the level (-l).`,
	value: func(q judgedRanking, _ Measure) float64 { return float64(q.total()) },
}

var numRelevantRetrieved = definition{
	name: "NumRelRet", whole: "num_rel_ret", uncuttable: true, count: true,
	about: `the number of relevant documents in the ranking; their sum over queries.`,
	value: func(q judgedRanking, _ Measure) float64 { return float64(q.relevant(q.grades)) },
}
