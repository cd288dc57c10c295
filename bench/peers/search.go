package main

import (
	"context"
	"fmt"
	"path/filepath"

	"goserini/internal/bench"
	"goserini/internal/bm25"
	"goserini/internal/synth"
)

// comparison is our engine beside another over one query set.
type comparison struct {
	Set    synth.QuerySet `json:"set"`
	K      int            `json:"k"`
	Params bm25.Params    `json:"bm25"`
	Peer   string         `json:"peer"`
	// Statistic is p50, or mean where the peer can only be timed a set at a time.
	Statistic string  `json:"statistic"`
	Ours      float64 `json:"ours_seconds"`
	Theirs    float64 `json:"peer_seconds"`
	// Overlap is the mean share of the k best documents that both have.
	Overlap float64 `json:"overlap"`
	// Ranking is the time of a peer that gives numbers of documents instead of docids, and
	// RankingRatio ours, with docids, by it; both are zero where that was not timed.
	Ranking      float64        `json:"peer_ranking_seconds"`
	RankingRatio bench.Interval `json:"ranking_ratio"`
	// Ratio is ours by theirs in wall time, ThreadRatio in processor time.
	Ratio       bench.Interval `json:"ratio"`
	ThreadRatio bench.Interval `json:"processor_ratio"`
	Discarded   int            `json:"rounds_discarded"`
	Unquiet     int            `json:"rounds_unquiet"`
}

// contest is a setting with the depths and the peers that are compared at it.
type contest struct {
	setting bm25.Params
	depths  []int
	peers   []peer
}

func (p *part) contests() []contest {
	if p.corpus.Shape == synth.Long {
		return []contest{
			{bm25.Paper, []int{1000}, []peer{lucene, tantivy}},
			{bm25.Anserini, []int{10, 1000}, []peer{lucene}},
		}
	}
	return []contest{{bm25.Anserini, []int{1000, 10}, []peer{lucene, pisa, bm25s}}}
}

// search compares all engines over all query sets.
func (p *part) search(ctx context.Context) ([]comparison, error) {
	text, terms, err := p.queryFiles()
	if err != nil {
		return nil, err
	}
	var all []comparison
	for _, c := range p.contests() {
		found, err := p.contend(ctx, c, text, terms)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (p *part) contend(ctx context.Context, c contest, text, terms []string) ([]comparison, error) {
	ours, err := p.servingOurs(ctx, c.setting, text)
	if err != nil {
		return nil, err
	}
	defer ours.stop()
	engines := []*process{ours}
	for _, e := range p.wanted(c.peers) {
		say("starting %s", e.name)
		running, err := p.serving(ctx, e, c.setting, terms)
		if err != nil {
			return nil, err
		}
		defer running.stop()
		running.ranks = e.ranks
		engines = append(engines, running)
	}
	var all []comparison
	for _, k := range c.depths {
		for _, set := range sets {
			found, err := p.compare(ctx, engines, set, k, c.setting)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// compare checks that all find the same, and then lets them take turns.
func (p *part) compare(ctx context.Context, engines []*process, set synth.QuerySet, k int, setting bm25.Params) ([]comparison, error) {
	overlaps := make([]float64, len(engines))
	var reference map[string][]string
	for i, e := range engines {
		found, err := e.hits(set, k, filepath.Join(p.scratch, e.name+".hits"))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			reference = found
		}
		overlaps[i] = overlap(reference, found)
	}
	var contestants []bench.Contestant
	for _, e := range engines {
		contestants = append(contestants, e.contestant("run", set, k))
	}
	ranking := map[int]int{} // which contestant an engine is without docids
	for i, e := range engines {
		if e.ranks {
			ranking[i] = len(contestants)
			contestants = append(contestants, e.contestant("rank", set, k))
		}
	}
	r, err := bench.Interleave(ctx, contestants, bench.Plan{Rounds: p.rounds, Warm: p.warm, Tolerance: p.tolerance, Say: say})
	if err != nil {
		return nil, err
	}
	var all []comparison
	for i, e := range engines[1:] {
		c := comparison{Set: set, K: k, Params: setting, Peer: e.name, Overlap: overlaps[i+1], Discarded: r.Discarded, Unquiet: r.Unquiet}
		c.relate(r.Batches[0], r.Batches[i+1])
		if n, ok := ranking[i+1]; ok {
			c.Ranking, c.RankingRatio = bench.Of(r.Batches[n], bench.P50), bench.Ratio(r.Batches[0], r.Batches[n], bench.P50)
		}
		say("%s, k=%d, %s, %s: %s, ratio %s, overlap %.3f", set, k, setting, e.name, c.Statistic, c.Ratio, c.Overlap)
		all = append(all, c)
	}
	return all, nil
}

// relate computes the ratios of two engines' batches.
func (c *comparison) relate(ours, theirs []bench.Batch) {
	statistic := bench.P50
	c.Statistic = "p50"
	if len(theirs[0].Wall) == 1 && len(ours[0].Wall) > 1 {
		statistic, c.Statistic = bench.Mean, "mean"
	}
	c.Ours, c.Theirs = bench.Of(ours, statistic), bench.Of(theirs, statistic)
	c.Ratio = bench.Ratio(ours, theirs, statistic)
	if a, b := bench.OnThread(ours), bench.OnThread(theirs); a != nil && b != nil {
		c.ThreadRatio = bench.Ratio(a, b, statistic)
	}
}

// find returns the comparison with a peer.
func find(all []comparison, peer string, set synth.QuerySet, k int, setting bm25.Params) (comparison, error) {
	for _, c := range all {
		if c.Peer == peer && c.Set == set && c.K == k && c.Params == setting {
			return c, nil
		}
	}
	return comparison{}, fmt.Errorf("%s was not measured over %s at k=%d, %s", peer, set, k, setting)
}
