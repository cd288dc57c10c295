package navbench

import (
	"slices"

	"goserini/internal/eval"
	"goserini/internal/trec"
)

// rankMeasures say how well gold documents are ranked.
var rankMeasures = []string{"nDCG@10", "R@5"}

// ranksKept is the number of hits that they look at.
const ranksKept = 10

// Ranks are how well the gold documents of questions are ranked.
type Ranks struct {
	NDCG   *eval.Mean `json:"ndcg_10"`
	Recall *eval.Mean `json:"recall_5"`
	// NDCGGain and RecallGain are the differences to the first variant over the same questions.
	NDCGGain   *eval.Mean `json:"ndcg_10_gain"`
	RecallGain *eval.Mean `json:"recall_5_gain"`
	// Differ says that some question has another ranking than with the first variant.
	Differ bool `json:"differ"`
}

// ranked is what one variant makes of a question.
type ranked struct {
	docids       []string
	ndcg, recall float64
}

// ranks scores the rankings of questions; first has those of the first variant and is filled
// by it.
func ranks(questions []question, all []browsing, first map[string]ranked) (Ranks, error) {
	var r Ranks
	qrels, run := trec.Qrels{}, trec.Run{}
	rankings := map[string][]string{}
	for i, q := range questions {
		qrels[q.id] = map[string]int{}
		for _, docid := range q.gold {
			qrels[q.id][docid] = 1
		}
		rankings[q.id] = all[i].ranking
		for rank, docid := range all[i].ranking {
			run = append(run, trec.RunLine{QueryID: q.id, DocID: docid, Rank: rank + 1, Score: float64(-rank), Tag: "navbench"})
		}
	}
	measures, err := eval.ParseMeasureList(rankMeasures)
	if err != nil {
		return r, err
	}
	scores, err := eval.EvaluateRun(qrels, run, measures, eval.RunOptions{Complete: true, Bootstrap: draws})
	if err != nil {
		return r, err
	}
	ndcg, recall := scores.Measures[0], scores.Measures[1]
	r.NDCG, r.Recall = ndcg.Mean, recall.Mean
	filling := len(first) == 0
	var ndcgGain, recallGain []float64
	for i, id := range scores.Queries {
		now := ranked{rankings[id], ndcg.PerQuery[i], recall.PerQuery[i]}
		if filling {
			first[id] = now
		}
		before := first[id]
		ndcgGain, recallGain = append(ndcgGain, now.ndcg-before.ndcg), append(recallGain, now.recall-before.recall)
		r.Differ = r.Differ || !slices.Equal(now.docids, before.docids)
	}
	r.NDCGGain, r.RecallGain = eval.MeanOf(ndcgGain, draws), eval.MeanOf(recallGain, draws)
	return r, nil
}
