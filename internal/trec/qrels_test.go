package trec

import (
	"strings"
	"testing"
)

func TestQrels(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     Qrels
	}{
		{"four columns by blanks, negative grades", "q1 0 a -2\nq1\t0  b 3 \r\n\n", Qrels{"q1": {"a": -2, "b": 3}}},
		{"four columns by tabs, an id with blanks", "q 1\t0\td 1\t1\nq 1\t0\td 2\t0\n", Qrels{"q 1": {"d 1": 1, "d 2": 0}}},
		{"three columns", "q1 a 2\n", Qrels{"q1": {"a": 2}}},
		{"the same judgment twice", "q1 0 a 1\nq1 0 a 1\n", Qrels{"q1": {"a": 1}}},
		{"tabs first, blanks later", "q1\t0\ta\t1\nq1 0 b 1\n", Qrels{"q1": {"a": 1, "b": 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseQrels(strings.NewReader(c.in), "f")
			if err != nil {
				t.Fatal(err)
			}
			diff(t, "qrels", got, c.want)
		})
	}
}

func TestQrelsErrors(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"one column", "q1\n", []string{"f:1: 1 columns", "query, iteration, docid, grade"}},
		{"five columns", "q1 0 a 1 x\n", []string{"f:1: 5 columns"}},
		{"another number of columns later", "q1 0 a 1\nq1 a 1\n", []string{"f:2: 3 columns: expected 4"}},
		{"a grade that is no number", "q1 0 a 1\nq1 0 b high\n", []string{`f:2: grade "high"`}},
		{"a fraction as grade", "q1 0 a 0.5\n", []string{`f:1: grade "0.5"`}},
		{"two grades for one pair", "q1 0 a 1\nq1 0 b 1\nq1 0 a 0\n", []string{"f:3", "grade 0 here and grade 1 on line 1"}},
		{"an empty docid between tabs", "q1\t0\t\t1\n", []string{"f:1: empty"}},
		{"a header of four names", "query-id\titer\tcorpus-id\tscore\n", []string{"f:1: the header names 4 columns"}},
		{"nothing but a header", "query-id\tcorpus-id\tscore\n", []string{"f: file holds no lines"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseQrels(strings.NewReader(c.in), "f")
			wantError(t, err, c.want...)
		})
	}
}

func TestOverlapOfAnEmptyRun(t *testing.T) {
	wantError(t, Qrels{"1": {"a": 1}, "2": nil, "3": nil}.CheckOverlap(nil), "the run has none", `the qrels have "1", "2", …`)
}

func FuzzQrels(f *testing.F) {
	for _, s := range []string{"q1 0 a 1\n", "q\ta\n", "query-id\tcorpus-id\tscore\nq\ta\t1", "q a 1\nq a 2", "a b c d e", "\t\t\t\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		qrels, err := ParseQrels(strings.NewReader(in), "f")
		if (err == nil) != (len(qrels) > 0) {
			t.Fatalf("%q: got %v and error %v", in, qrels, err)
		}
		for query, judged := range qrels {
			for docid := range judged {
				if query == "" || docid == "" {
					t.Fatalf("%q: got an empty id in %v", in, qrels)
				}
			}
		}
	})
}
