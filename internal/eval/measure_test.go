package eval

import (
	"fmt"
	"strings"
	"testing"
)

func TestMeasureNamesOfBothProgramsParse(t *testing.T) {
	for spec, want := range map[string]string{
		"nDCG@10":                  "nDCG@10 ndcg_cut_10",
		"ndcg@10":                  "nDCG@10 ndcg_cut_10",
		"NDCG":                     "nDCG ndcg",
		"nDCG(dcg='exp-log2')@10":  "nDCG(dcg='exp-log2')@10 nDCG(dcg='exp-log2')@10",
		"nDCG(dcg=\"log2\")@10":    "nDCG@10 ndcg_cut_10",
		"R@1000":                   "R@1000 recall_1000",
		"Recall(rel=2)@1000":       "R(rel=2)@1000 R(rel=2)@1000",
		"AP":                       "AP map",
		"MAP@5":                    "AP@5 map_cut_5",
		"RR@10":                    "RR@10 RR@10",
		"MRR":                      "RR recip_rank",
		"P@30":                     "P@30 P_30",
		"Success@5":                "Success@5 success_5",
		"Judged@10":                "Judged@10 Judged@10",
		"ndcg_cut_10":              "nDCG@10 ndcg_cut_10",
		"ndcg_cut.10":              "nDCG@10 ndcg_cut_10",
		"recall_1000":              "R@1000 recall_1000",
		"map":                      "AP map",
		"map_cut_5":                "AP@5 map_cut_5",
		"recip_rank":               "RR recip_rank",
		"recip_rank_10":            "RR@10 RR@10",
		"P_30":                     "P@30 P_30",
		"success_5":                "Success@5 success_5",
		"Rprec":                    "Rprec Rprec",
		"num_q":                    "NumQ num_q",
		"num_rel_ret":              "NumRelRet num_rel_ret",
		" AP ( rel=2 )":            "error",
		"P.5,10":                   "P@5 P_5; P@10 P_10",
		"success":                  "Success@1 success_1; Success@5 success_5; Success@10 success_10",
		"R":                        "error",
		"nDCG@0":                   "error",
		"nDCG@":                    "error",
		"P@99999999999999999999":   "error",
		"P.0":                      "error",
		"Rprec@5":                  "error",
		"AP(rel=0)":                "error",
		"AP(dcg='exp-log2')":       "error",
		"nDCG(rel=2)@10":           "error",
		"AP(judged_only=True)":     "error",
		"frobnicate":               "error",
		"":                         "error",
		"official":                 "error",
		"recall.5,,10":             "error",
		"NumQ@5":                   "error",
		"Precision(rel=3)@1":       "P(rel=3)@1 P(rel=3)@1",
		"nDCG( dcg = exp-log2 )@5": "nDCG(dcg='exp-log2')@5 nDCG(dcg='exp-log2')@5",
	} {
		measures, err := ParseMeasures(spec)
		var got []string
		for _, m := range measures {
			got = append(got, m.String()+" "+m.TrecName())
		}
		if err != nil {
			got = []string{"error"}
			if !strings.Contains(err.Error(), fmt.Sprintf("%q", strings.TrimSpace(spec))) {
				t.Errorf("error does not name %q: %v", spec, err)
			}
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("ParseMeasures(%q) = %s, want %s (%v)", spec, s, want, err)
		}
	}
}

func TestMeasureListKeepsEachOnce(t *testing.T) {
	got, err := ParseMeasureList([]string{"ndcg_cut.10,20", "nDCG@10", "map"})
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(got); s != "[nDCG@10 nDCG@20 AP]" {
		t.Errorf("got %s, want [nDCG@10 nDCG@20 AP]", s)
	}
}

func TestEveryMeasureIsExplained(t *testing.T) {
	text := Definitions()
	for _, d := range definitions {
		if d.about == "" || !strings.Contains(text, d.names()+": ") {
			t.Errorf("%s is not explained", d.name)
		}
	}
}

func FuzzParseMeasures(f *testing.F) {
	for _, s := range []string{"nDCG@10", "ndcg_cut.5,10", "R(rel=2)@1000", "nDCG(dcg='exp-log2')@3", "map", "P", "@@((", "success_"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		measures, err := ParseMeasures(spec)
		if err != nil {
			return
		}
		if len(measures) == 0 {
			t.Fatalf("%q parsed to nothing", spec)
		}
		for _, m := range measures {
			again, err := ParseMeasures(m.String())
			if err != nil || len(again) != 1 || again[0] != m {
				t.Fatalf("%q parsed to %s, which parses to %v (%v)", spec, m, again, err)
			}
		}
	})
}
