package analysis

import (
	"strings"
	"testing"
)

const prose = `The harbour's lamps were lit at 17.30 by the keeper, who had climbed 1,204 stairs; nobody in the U.S. had
asked for his e-mail address (keeper_2@lights.example), and "release v1.2.3" didn't mention any of it. Flying boats easily
passed the northern beacon, running before a westerly gale that the almanac had described, rather optimistically, as a
breeze. Registration, standardisation and nationalism were discussed at length in the committee's annual report. `

func BenchmarkTokenize(b *testing.B) {
	for _, text := range []struct{ name, text string }{
		{"ascii", strings.Repeat(prose, 64)},
		{"plain", strings.Repeat("the keeper of the harbour lamps wrote down the height of the water every morning before he climbed the stairs\n", 300)},
		{"cyrillic", strings.Repeat("Маяк стоит на берегу, и Хранитель каждое утро записывает высоту воды. ", 200)},
		{"japanese", strings.Repeat("図書館の検索端末は毎朝七時に起動する。カタカナのテスト。", 200)},
	} {
		b.Run(text.name, func(b *testing.B) {
			b.SetBytes(int64(len(text.text)))
			t := newStandardTokenizer()
			tokens := 0
			for b.Loop() {
				t.Reset(text.text)
				for {
					if _, ok := t.Next(); !ok {
						break
					}
					tokens++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(tokens), "ns/token")
		})
	}
}

func BenchmarkAnalyze(b *testing.B) {
	text := strings.Repeat(prose, 64)
	for _, name := range []string{"english", "none", "cjk", "folding", "german"} {
		b.Run(name, func(b *testing.B) {
			a, err := ByName(name)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				a.Analyze(text, func(Token) {})
			}
		})
	}
}
