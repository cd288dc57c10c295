package controller_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"goserini/internal/bm25"
	"goserini/internal/controller"
	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/local"
	"goserini/internal/retrieval/retrievaltest"
	"goserini/internal/tool"
)

// script is a document in a script of its own: many lines, of which one answers the query.
type script struct {
	name, analyzer string
	filler         string // a line that the others repeat
	line, query    string
	// term is what an excerpt must hold; phrase, in quotes, stands in the line; other is in no document.
	term, phrase, other string
	// ends are the characters with which sentences end.
	ends string
}

// scripts are read from right to left, or written without blanks, or composed of several characters a letter.
var scripts = []script{
	{"arabic", "arabic", "سجل الميناء والرسوم وجداول المد والجزر في كل عام.", "في عام 1871 كتب حارس المنارة الأول يومياته عن زيت المصباح.", "حارس المنارة", "حارس المنارة", "حارس المنارة", "الفلسفة", ".؟"},
	{"hebrew", "english", "יומן הנמל ולוחות הגאות של כל שנה.", "בשנת 1871 כתב שומר המגדלור הראשון יומן על שמן המנורה.", "שומר המגדלור", "שומר המגדלור", "שומר המגדלור", "פילוסופיה", "."},
	{"chinese", "cjk", "港口记录每年的潮汐表和税费。", "1871年，灯塔的第一任守塔人写了一本关于灯油的日记。", "守塔人 日记", "守塔人", "灯油的日记", "哲学", "。"},
	{"japanese", "cjk", "海辺の町の記録と潮の満ち引きの表である。", "1871年、最初の灯台守は灯油についての日記をつけた。", "灯台守 日記", "灯台守", "最初の灯台守", "哲学", "。"},
	{"korean", "cjk", "항구의 기록과 조수 표가 이 쪽을 채운다.", "1871년에 첫 등대지기가 등유에 대한 일기를 썼다.", "등대지기 일기", "등대지기", "첫 등대지기가", "철학", "."},
	{"thai", "cjk", "บันทึกท่าเรือและตารางน้ำขึ้นน้ำลงของทุกปี", "ในปี 1871 ผู้ดูแลประภาคารคนแรกเขียนบันทึกเรื่องน้ำมันตะเกียง", "ผู้ดูแลประภาคาร", "ประภาคาร", "ผู้ดูแลประภาคารคนแรก", "ปรัชญา", ""},
	{"persian with joiners", "folding", "دفترِ بندر و جدول\u200cهای جزر و مد هر سال.", "در سال ۱۸۷۱ نخستین نگهبانِ فانوسِ دریایی یادداشت\u200cهایی دربارهٔ روغن چراغ نوشت.", "نگهبان فانوس دریایی", "فانوس", "نخستین نگهبانِ فانوسِ", "فلسفه", ".؟"},
	{"emoji and marks", "english", "Harbour 👩‍👩‍👧 dues and cafe\u0301 tables 🇫🇷 fill this page.", "In 1871 the keeper 🧑‍🚒 of the naïve lamp wrote a re\u0301sume\u0301.", "keeper lamp", "keeper", "keeper 🧑‍🚒 of the", "philosophy", "."},
}

// answering is the line of the document in which the answer stands, from 1.
const answering = 301

func (s script) document() corpus.Document {
	filler := strings.Repeat(s.filler+"\n", answering-1)
	return corpus.Document{DocID: s.name, Text: filler + s.line + "\n" + filler}
}

// unbroken is the same on one line.
func (s script) unbroken() corpus.Document {
	d := s.document()
	return corpus.Document{DocID: s.name + " unbroken", Text: strings.ReplaceAll(d.Text, "\n", "")}
}

func (s script) controller(t *testing.T, passages bool, parts ...string) *controller.Controller {
	t.Helper()
	dir := t.TempDir()
	docs := []corpus.Document{s.document(), s.unbroken(), {DocID: "elsewhere", Text: strings.Repeat(s.filler+"\n", 3)}}
	if _, err := index.Build(t.Context(), dir, corpus.FromDocuments(docs), index.BuildOptions{Analyzer: s.analyzer, Passages: passages}); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return navigator(t, local.New(ix, bm25.Anserini), parts...)
}

func object(fields map[string]any) string {
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // of strings and numbers only
	}
	return string(b)
}

// cutWell reports what is wrong with the borders of an excerpt of text: it is cut between
// characters, not before a mark or a joiner that belongs to the one before, and within a word only
// where words are not parted.
func (s script) cutWell(excerpt, text string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(excerpt, "..."), "...")
	at := strings.Index(text, inner)
	switch {
	case !utf8.ValidString(excerpt) || strings.ContainsRune(excerpt, utf8.RuneError):
		return "is cut within a character"
	case at < 0:
		return "is not a stretch of the document"
	}
	if first, _ := utf8.DecodeRuneInString(inner); unicode.IsMark(first) || first == '\u200d' || first == '\u200c' {
		return fmt.Sprintf("begins within a letter, with %U", first)
	}
	if next, _ := utf8.DecodeRuneInString(text[at+len(inner):]); at+len(inner) < len(text) && (unicode.IsMark(next) || next == '\u200d' || next == '\u200c') {
		return fmt.Sprintf("ends within a letter, before %U", next)
	}
	return ""
}

func TestEveryPartReadsEveryScript(t *testing.T) {
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			squeezed := strings.Join(strings.Fields(s.document().Text), " ")
			one := s.unbroken().Text

			t.Run("excerpts", func(t *testing.T) {
				for _, parts := range [][]string{{"excerpts"}, {"novelty"}, {"passages"}} {
					c := s.controller(t, parts[0] == "passages", parts...)
					page := call(t, c, "search", object(map[string]any{"query": s.query})).Text
					for docid, text := range map[string]string{s.name: squeezed, s.name + " unbroken": one} {
						id := docid
						if strings.Contains(id, " ") {
							id = `"` + id + `"`
						}
						entry := entryOf(page, id)
						held := false
						for line := range strings.Lines(entry) {
							if excerpt, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "   Excerpt: "); ok {
								held = held || strings.Contains(excerpt, s.term)
								if parts[0] == "excerpts" {
									if wrong := s.cutWell(excerpt, text); wrong != "" {
										t.Errorf("%v: the excerpt of %s %s: %q", parts, docid, wrong, excerpt)
									}
								} else if !utf8.ValidString(excerpt) || strings.ContainsRune(excerpt, utf8.RuneError) {
									t.Errorf("%v: the excerpt of %s is cut within a character: %q", parts, docid, excerpt)
								}
							}
						}
						folded := parts[0] == "novelty" && strings.Contains(entry, "nearly the same text")
						// Where an index cuts a document into passages no sentence begins, a term may be parted.
						parted := parts[0] == "passages" && docid != s.name
						if !held && !folded && !parted {
							t.Errorf("%v: no excerpt of %s holds %q:\n%s", parts, docid, s.term, entry)
						}
						if parts[0] == "excerpts" && docid == s.name && !coversLine(entry, answering) {
							t.Errorf("the lines named are not those of the answer:\n%s", entry)
						}
					}
				}
			})
			t.Run("find", func(t *testing.T) {
				c := s.controller(t, false, "find")
				call(t, c, "search", object(map[string]any{"query": s.query}))
				page := call(t, c, "read_document", object(map[string]any{"docid": s.name, "find": s.phrase})).Text
				if !strings.Contains(page, fmt.Sprintf("\n%d\t%s\n", answering, s.line)) || !strings.Contains(page, ": 1 matching lines") {
					t.Errorf("got\n%s", page)
				}
				page = call(t, c, "read_document", object(map[string]any{"docid": s.name + " unbroken", "find": s.phrase})).Text
				var first, last int
				_, body, _ := strings.Cut(page, "\n\n1:")
				if _, err := fmt.Sscanf(body, "%d-%d\t", &first, &last); err != nil {
					t.Fatalf("%v:\n%s", err, page)
				}
				piece, _, _ := strings.Cut(body[strings.Index(body, "\t")+1:], "\n")
				if want := string([]rune(one)[first-1 : last]); piece != want || !strings.Contains(piece, s.phrase) {
					t.Errorf("characters %d-%d are\n%s\nwant\n%s", first, last, piece, want)
				}
				for _, id := range []string{"s1", "all"} {
					page = call(t, c, "read_search_results", object(map[string]any{"search_id": id, "find": s.phrase})).Text
					if strings.Count(page, s.phrase) < 2 || !strings.Contains(page, fmt.Sprintf("   Line %d: %s\n", answering, s.line)) {
						t.Errorf("%s: got\n%s", id, page)
					}
				}
				if page = call(t, c, "read_document", object(map[string]any{"docid": s.name, "find": s.other})).Text; !strings.Contains(page, "No line of the document matches") {
					t.Errorf("got\n%s", page)
				}
			})
			t.Run("read-at-best", func(t *testing.T) {
				c := s.controller(t, false, "read-at-best")
				call(t, c, "search", object(map[string]any{"query": s.query}))
				for _, docid := range []string{s.name, s.name + " unbroken"} {
					result := call(t, c, "read_document", object(map[string]any{"docid": docid}))
					d := result.Details.(controller.ReadDetails)
					if d.OpenedFor != "s1" || !strings.Contains(result.Text, s.line) || !utf8.ValidString(result.Text) {
						t.Errorf("%s: got %+v\n%s", docid, d, result.Text)
					}
					if strings.Contains(docid, "unbroken") { // the column named is that of the text behind it
						text := result.Lines[0].Text
						if want := string([]rune(one)[d.Column-1:]); !strings.HasPrefix(want, text) {
							t.Errorf("column %d is\n%.100s\nwant\n%.100s", d.Column, text, want)
						}
					}
				}
			})
			t.Run("syntax", func(t *testing.T) {
				c := s.controller(t, false, "syntax")
				page := call(t, c, "search", object(map[string]any{"query": fmt.Sprintf("%s \"%s\"", s.query, s.phrase)}))
				if !strings.Contains(page.Text, s.phrase) || len(page.Access.Surfaced) < 2 {
					t.Errorf("got\n%s", page.Text)
				}
				page = call(t, c, "search", object(map[string]any{"query": s.query + " -" + strings.Fields(s.term)[0]}))
				if !strings.Contains(page.Text, `without "`+strings.Fields(s.term)[0]+`"`) {
					t.Errorf("got\n%s", page.Text)
				}
				page = call(t, c, "search", object(map[string]any{"query": s.query + " " + s.other}))
				if !strings.Contains(page.Text, "Not in the collection: ") {
					t.Errorf("got\n%s", page.Text)
				}
			})
			t.Run("multi-query", func(t *testing.T) {
				page := call(t, s.controller(t, false, "multi-query"), "search", object(map[string]any{"query": s.query, "queries": []string{s.term}}))
				if !strings.Contains(page.Text, `Query 2: "`+s.term+`"`) || !strings.Contains(page.Text, "Found by: query 1 rank") {
					t.Errorf("got\n%s", page.Text)
				}
			})
		})
	}
}

// coversLine reports whether the Lines field of an entry names a range with the line.
func coversLine(entry string, line int) bool {
	_, field, _ := strings.Cut(entry, "   Lines: ")
	field, _, _ = strings.Cut(field, " of ")
	for _, r := range strings.Split(field, "; ") {
		var first, last int
		if n, _ := fmt.Sscanf(r, "%d-%d", &first, &last); n == 1 {
			last = first
		}
		if first <= line && line <= last {
			return true
		}
	}
	return false
}

// The same where the retriever cannot say how it sees words.
func TestExcerptsAndOpeningsOfEveryScriptWithoutTerms(t *testing.T) {
	for _, s := range scripts {
		var docs []retrievaltest.Document
		for _, d := range []corpus.Document{s.document(), s.unbroken()} {
			docs = append(docs, retrievaltest.Document{DocID: d.DocID, Text: d.Text})
		}
		for _, m := range []retrieval.Retriever{retrievaltest.NewMemory(docs...), plain{retrievaltest.NewMemory(docs...)}} {
			c := navigator(t, m, "excerpts", "read-at-best")
			page := call(t, c, "search", object(map[string]any{"query": s.query}))
			if n := strings.Count(page.Text, "   Excerpt: "); n != strings.Count(page.Text, "\n   Excerpt: ") || n < 2 {
				t.Fatalf("%s: %d excerpts:\n%s", s.name, n, page.Text)
			}
			for _, d := range docs {
				id := tool.ShowID(d.DocID)
				if entry := entryOf(page.Text, id); !strings.Contains(entry, s.term) {
					t.Errorf("%s, %T: no excerpt of %s holds %q:\n%s", s.name, m, id, s.term, entry)
				}
				if opened := call(t, c, "read_document", object(map[string]any{"docid": d.DocID})); !strings.Contains(opened.Text, s.line) {
					t.Errorf("%s, %T: %s opens elsewhere:\n%.600s", s.name, m, id, opened.Text)
				}
			}
		}
	}
}
