package eval

import "testing"

func TestRatioOfIsTheRatioOfSums(t *testing.T) {
	got, err := RatioOf([]float64{1, 0, 2}, []float64{2, 0, 2}, DefaultBootstrap)
	if err != nil {
		t.Fatal(err)
	}
	if got.Value != 0.75 || got.N != 2 || got.Low < 0.5 || got.High > 1 || got.Low >= got.High {
		t.Errorf("got %+v, want 3/4 of 2 queries with an interval inside 0.5 to 1", *got)
	}
	if got, err := RatioOf([]float64{1}, []float64{0}, DefaultBootstrap); err != nil || got != nil {
		t.Errorf("got %v, %v for nothing in the denominator, want nil", got, err)
	}
	if _, err := RatioOf([]float64{1}, nil, DefaultBootstrap); err == nil {
		t.Error("no error for unequal numbers of values")
	}
}
