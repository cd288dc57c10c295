package llmtest

import "testing"

func draws(seed uint64, order []int) map[string]Fault {
	answer := Spoil(seed, 0.2, ServerFaults, InTurn(Answer{Text: "x"}))
	out := map[string]Fault{}
	for _, q := range order {
		for range 5 {
			r := Request{N: 1, Messages: []Sent{{Role: "user", Content: []byte(`"question ` + string(rune('a'+q)) + `"`)}}}
			out[r.Question()] += "," + answer(r).Fault
		}
	}
	return out
}

func TestFaultsDependOnSeedAndQuestionNotOnOrder(t *testing.T) {
	a, b, c := draws(1, []int{0, 1, 2, 3}), draws(1, []int{3, 1, 0, 2}), draws(2, []int{0, 1, 2, 3})
	same := 0
	for q := range a {
		if a[q] != b[q] {
			t.Errorf("%s: got %s in one order and %s in another", q, a[q], b[q])
		}
		if a[q] == c[q] {
			same++
		}
	}
	if same == len(a) {
		t.Error("another seed draws the same faults")
	}
}

func TestEveryFaultBefallsSomething(t *testing.T) {
	seen := map[Fault]bool{}
	a := Answer{Calls: twoCalls(1)}
	for _, f := range append(append([]Fault(nil), ServerFaults...), ModelFaults...) {
		answer := Spoil(3, 0.2, []Fault{f}, InTurn(a))
		for n := range 100 {
			r := Request{N: 1, Messages: []Sent{{Role: "user", Content: []byte(`"q` + string(rune('a'+n)) + `"`)}}}
			seen[answer(r).Fault] = true
		}
		if !seen[f] {
			t.Errorf("%s was never drawn", f)
		}
	}
}
