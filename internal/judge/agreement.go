package judge

// Agreement compares two judges on the same answers.
type Agreement struct {
	A string `json:"a"`
	B string `json:"b"`
	// Queries is the number of answers on which both decided; questions without an answer are not
	// among them.
	Queries int `json:"queries"`
	Agree   int `json:"agree"`
	// Kappa is Cohen's: (observed - expected agreement) / (1 - expected), with the agreement
	// expected of two judges who say "correct" as often as these do but independently. Nil
	// where nothing was decided by both, or both always said the same one thing.
	Kappa         *float64       `json:"kappa"`
	Disagreements []Disagreement `json:"disagreements,omitempty"`
	// Undecided are queries on which at least one of the two gave no decision.
	Undecided []string `json:"undecided,omitempty"`
}

// Disagreement is one answer on which two judges differ.
type Disagreement struct {
	QueryID string  `json:"query_id"`
	A       Verdict `json:"a"`
	B       Verdict `json:"b"`
}

// Agree compares the verdicts of two judges, in the order of the first one's.
func Agree(verdicts []Verdict, a, b string) Agreement {
	other := map[string]Verdict{}
	for _, v := range verdicts {
		if v.Judge == b {
			other[v.QueryID] = v
		}
	}
	out := Agreement{A: a, B: b}
	var yesA, yesB int
	for _, va := range verdicts {
		vb, both := other[va.QueryID]
		switch {
		case va.Judge != a || !both || va.State == NotJudged || vb.State == NotJudged:
			continue
		case !va.decided() || !vb.decided():
			out.Undecided = append(out.Undecided, va.QueryID)
			continue
		}
		out.Queries++
		if *va.Correct {
			yesA++
		}
		if *vb.Correct {
			yesB++
		}
		if *va.Correct == *vb.Correct {
			out.Agree++
		} else {
			out.Disagreements = append(out.Disagreements, Disagreement{va.QueryID, va, vb})
		}
	}
	out.Kappa = kappa(out.Queries, out.Agree, yesA, yesB)
	return out
}

func kappa(n, agree, yesA, yesB int) *float64 {
	if n == 0 {
		return nil
	}
	total := float64(n)
	observed := float64(agree) / total
	expected := (float64(yesA)*float64(yesB) + float64(n-yesA)*float64(n-yesB)) / (total * total)
	if expected == 1 {
		return nil
	}
	k := (observed - expected) / (1 - expected)
	return &k
}
