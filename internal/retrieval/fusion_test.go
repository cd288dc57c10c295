package retrieval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFusionAddsReciprocalRanks(t *testing.T) {
	ranking := func(docids string) Ranking {
		var r Ranking
		for _, id := range strings.Fields(docids) {
			r = append(r, Hit{DocID: id, Score: 99, HasScore: true, Excerpt: "made for one query", ExcerptTruncated: true})
		}
		return r
	}
	for _, test := range []struct {
		name     string
		rankings []string
		depth    int
		want     string
	}{
		{"one ranking keeps its order", []string{"c a b"}, 10, "c a b"},
		{"what both hold is above what one has first", []string{"a x b", "c x d"}, 10, "x a c b d"},
		{"ties are ordered by docid", []string{"b a", "a b"}, 10, "a b"},
		{"a rank weighs the same in each ranking", []string{"a b c", "b c a"}, 10, "b a c"},
		{"the depth is kept", []string{"a b c", "d e f"}, 3, "a d b"},
		{"nothing", []string{"", ""}, 5, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rankings []Ranking
			for _, ids := range test.rankings {
				rankings = append(rankings, ranking(ids))
			}
			fused, origins := Fuse(rankings, test.depth)
			var got []string
			for _, h := range fused {
				got = append(got, h.DocID)
				sum := 0.0
				for q, rank := range origins[h.DocID] {
					if rank > 0 {
						sum += 1 / float64(60+rank)
						if rankings[q][rank-1].DocID != h.DocID {
							t.Errorf("%s is not at rank %d of ranking %d", h.DocID, rank, q)
						}
					}
				}
				if h.Score != float32(sum) || !h.HasScore || h.Excerpt != "" || h.ExcerptTruncated {
					t.Errorf("got %+v, want the score %v and no excerpt", h, sum)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %v, want %s", got, test.want)
			}
		})
	}
}

func TestFusionKeepsThePassageOfTheBestRank(t *testing.T) {
	at := func(line int) Stretch { return Stretch{FirstLine: line, LastLine: line + 3} }
	fused, _ := Fuse([]Ranking{
		{{DocID: "a", Title: "A"}, {DocID: "b"}, {DocID: "c", Passage: at(30)}},
		{{DocID: "c", Passage: at(7)}, {DocID: "a", Passage: at(9)}},
		{{DocID: "b"}, {DocID: "a", Passage: at(5)}},
	}, 10)
	got := map[string]string{}
	for _, h := range fused {
		got[h.DocID] = fmt.Sprintf("%s %d", h.Title, h.Passage.FirstLine)
	}
	if d := cmp.Diff(map[string]string{"a": "A 9", "b": " 0", "c": " 7"}, got); d != "" {
		t.Error(d)
	}
}
