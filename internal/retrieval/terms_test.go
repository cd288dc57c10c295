package retrieval_test

import (
	"strings"
	"testing"

	"goserini/internal/retrieval"
)

func TestPlainWordsOfEveryScript(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"The Keeper's lamp, 1871":         "the keeper s lamp 1871",
		"灯台守は日記":                          "灯台 台守 守は は日 日記",
		"灯":                               "灯",
		"灯 台守":                            "灯 台守",
		"the灯台keeper灯1871":                "the 灯台 keeper 灯 1871",
		"コーヒー":                            "コー ーヒ ヒー",
		"حارس المنارة":                    "حارس المنارة",
		"שומר המגדלור":                    "שומר המגדלור",
		"등대지기가 썼다":                        "등대 대지 지기 기가 썼다",
		"cafe\u0301 \U00020000\U00020001": "cafe\u0301 \U00020000\U00020001",
		"\xff灯\xfe台":                      "灯 台",
	} {
		var got []string
		retrieval.PlainWords{}.Analyze(text, func(term []byte, start, end int) {
			got = append(got, string(term))
			if strings.ToLower(text[start:end]) != string(term) {
				t.Errorf("%q: the term %q is said to stand at %q", text, term, text[start:end])
			}
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
