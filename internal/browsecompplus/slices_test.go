package browsecompplus

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestGeneratorEqualsTheReference(t *testing.T) {
	r := newTwister(42)
	for i, want := range []uint32{2746317213, 478163327, 107420369, 3184935163} {
		if got := r.uint32(); got != want {
			t.Errorf("output %d: got %d, want %d", i, got, want)
		}
	}
}

func TestSampleEqualsTheReference(t *testing.T) {
	r := newTwister(42) // one generator for all drawings, one after the other
	for _, c := range []struct {
		n, k int
		want string
	}{
		{100, 10, "[81 14 3 94 35 31 28 17 13 86]"},
		{30, 20, "[23 28 17 2 18 13 1 0 26 6 7 16 22 20 24 3 19 9 4 27]"},
		{300, 10, "[81 216 174 142 79 110 172 52 47 194]"},
		{5, 0, "[]"},
	} {
		population := make([]int, c.n)
		for i := range population {
			population[i] = i
		}
		if got := fmt.Sprint(sample(r, population, c.k)); got != c.want {
			t.Errorf("sample(range(%d), %d): got %s, want %s", c.n, c.k, got, c.want)
		}
	}
}

// invented is the collection the goldens were made from: query i has 1 + 7i mod 11 evidence
// documents, of which the baseline finds 13i modulo one more than that.
func invented() []Judged {
	out := make([]Judged, 1266)
	for i := range out {
		qid := i + 1
		relevant := 1 + 7*qid%11
		out[i] = Judged{ID: strconv.Itoa(qid), Relevant: relevant, Found: 13 * qid % (relevant + 1)}
	}
	return out
}

func TestQuerySetsEqualTheReference(t *testing.T) {
	sets, err := Slices(invented())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"q9":    "31e73244de5ca7aa98d96ec3fadec0ba053272ba20a345e30ad1410c91f1c7f5",
		"q100":  "ffd5acfabce4c0d26c2dab701779045bbfe21fee33c4ad6a996667ae17acedad",
		"q300":  "794026f064c8cdf6d2f2fb820a7d65069b1c9149c85c911c67ee160a39bed520",
		"qfull": "7498beca05620f245d39d4082f6e098b3517785291416bfab552c7b0659f67d2",
	} {
		var file strings.Builder
		for _, id := range sets[name] {
			fmt.Fprintf(&file, "%s\tquery %s\n", id, id)
		}
		sum := sha256.Sum256([]byte(file.String()))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: got SHA-256 %s, want %s", name, got, want)
		}
	}
	if got := strings.Join(sets["q100"][:12], " "); got != "14 36 45 57 70 71 76 80 94 108 132 135" {
		t.Errorf("q100 starts %s", got)
	}
	if len(sets["q100"]) != 100 || len(sets["q300"]) != 300 || len(sets["qfull"]) != 1266 {
		t.Errorf("got %d, %d and %d queries", len(sets["q100"]), len(sets["q300"]), len(sets["qfull"]))
	}
	for _, id := range sets["q100"] {
		if !slices.Contains(sets["q300"], id) {
			t.Errorf("q300 lacks %s of q100", id)
		}
	}
}

func TestQuerySetsThatCannotBeDrawnAreRefused(t *testing.T) {
	few := invented()[:300]
	for name, queries := range map[string][]Judged{
		"no query 549":             few,
		"not a whole number":       {{ID: "q1"}},
		"stratum high_large has 0": easy(),
	} {
		if _, err := Slices(queries); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

// easy has no query of the stratum high_large.
func easy() []Judged {
	out := invented()
	for i := range out {
		out[i].Relevant, out[i].Found = 1, 1
	}
	return out
}

func TestApportionKeepsWithinCapacity(t *testing.T) {
	got := apportion(10, map[string]int{"a": 1, "b": 1, "c": 8}, map[string]int{"a": 9, "b": 9, "c": 2})
	if got["a"]+got["b"]+got["c"] != 10 || got["c"] != 2 || got["a"] != 4 || got["b"] != 4 {
		t.Errorf("got %v", got)
	}
	if got := apportion(5, map[string]int{"a": 1}, map[string]int{"a": 2}); got["a"] != 2 {
		t.Errorf("got %v, want what there is", got)
	}
}
