package demo_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/demo"
	"goserini/internal/index"
)

func load(t *testing.T) (map[string]corpus.Document, []demo.Question) {
	t.Helper()
	docs, err := demo.Documents()
	if err != nil {
		t.Fatal(err)
	}
	questions, err := demo.Questions()
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]corpus.Document{}
	for _, d := range docs {
		if byID[d.DocID].DocID != "" {
			t.Errorf("docid %s twice", d.DocID)
		}
		byID[d.DocID] = d
	}
	return byID, questions
}

func TestCollectionIsAsItsDescriptionSays(t *testing.T) {
	docs, questions := load(t)
	if len(docs) < 100 || len(docs) > 150 {
		t.Errorf("%d articles, want about a hundred", len(docs))
	}
	short, long, bytes := 0, 0, 0
	for id, d := range docs {
		lines := strings.Count(d.Contents(), "\n") + 1
		bytes += len(d.Contents())
		if d.Title == "" || strings.TrimSpace(d.Text) == "" || strings.Contains(d.Text, "\r") {
			t.Errorf("%s has no title, no text, or carriage returns", id)
		}
		if lines <= 5 {
			short++
		}
		if lines > 2500 {
			long++
		}
	}
	if short < 3 || long != 1 || bytes > 300_000 {
		t.Errorf("%d very short articles, %d very long ones, %d bytes; want some, one, and at most 300,000", short, long, bytes)
	}
	unanswerable := 0
	for _, q := range questions {
		if q.Unanswerable {
			unanswerable++
		}
	}
	if len(questions) != 12 || unanswerable != 3 {
		t.Errorf("%d questions, %d of them unanswerable, want 12 and 3", len(questions), unanswerable)
	}
}

func TestJudgmentsNameArticlesAndGoldIsEvidence(t *testing.T) {
	docs, questions := load(t)
	for _, q := range questions {
		for _, id := range slices.Concat(q.Evidence, q.Gold) {
			if docs[id].DocID == "" {
				t.Errorf("%s: no article %s", q.ID, id)
			}
		}
		for _, id := range q.Gold {
			if !slices.Contains(q.Evidence, id) {
				t.Errorf("%s: gold article %s is not among the evidence", q.ID, id)
			}
		}
		if q.Unanswerable != (len(q.Gold) == 0) || len(q.Evidence) < 2 {
			t.Errorf("%s: unanswerable %v with %d gold and %d evidence articles", q.ID, q.Unanswerable, len(q.Gold), len(q.Evidence))
		}
	}
}

func TestGoldArticlesHoldTheAnswer(t *testing.T) {
	docs, questions := load(t)
	for _, q := range questions {
		for _, id := range q.Gold {
			if !strings.Contains(flat(docs[id].Contents()), flat(q.Answer)) {
				t.Errorf("%s: gold article %s does not hold %q", q.ID, id, q.Answer)
			}
		}
		if q.Unanswerable != (q.Answer == "") {
			t.Errorf("%s: unanswerable %v with the answer %q", q.ID, q.Unanswerable, q.Answer)
		}
	}
}

// What would have to stand somewhere for the unanswerable questions to have an answer.
var absent = map[string]*regexp.Regexp{
	"d10": regexp.MustCompile(`(?i)(built|made|builder|maker)[^.]{0,60}(second-hand|chamber organ|small organ|grey sisters)|(second-hand|chamber|small) (organ|instrument)[^.]{0,60}(built|made) by`),
	"d11": regexp.MustCompile(`(?i)luthier|violin[^.]{0,80}(made|built) by|(made|built)[^.]{0,40}violin`),
	"d12": regexp.MustCompile(`(?i)lens[^.]{0,80}(installed|fitted|mounted|put up)[^.]{0,40}cape|cape morrow[^.]{0,80}(received|was given|got)[^.]{0,40}lens`),
}

func TestUnanswerableQuestionsHaveNoAnswerAnywhere(t *testing.T) {
	docs, questions := load(t)
	for _, q := range questions {
		if !q.Unanswerable {
			continue
		}
		pattern := absent[q.ID]
		if pattern == nil {
			t.Errorf("%s is unanswerable and no pattern says what must be absent", q.ID)
			continue
		}
		for id, d := range docs {
			if m := pattern.FindString(flat(d.Contents())); m != "" {
				t.Errorf("%s: %s seems to hold an answer: %q", q.ID, id, m)
			}
		}
	}
}

// A question with several clues must not be answered by looking up one sentence: none that
// holds the answer has half of the question's words.
func TestNoSingleSentenceAnswersAQuestion(t *testing.T) {
	docs, questions := load(t)
	english, err := analysis.ByName("english")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range questions {
		if q.Unanswerable {
			continue
		}
		wanted := map[string]bool{}
		for _, term := range analysis.Terms(english, q.Text) {
			wanted[term] = true
		}
		for id, d := range docs {
			for _, s := range strings.SplitAfter(flat(d.Contents()), ". ") {
				if !strings.Contains(s, flat(q.Answer)) {
					continue
				}
				held := map[string]bool{}
				for _, term := range analysis.Terms(english, s) {
					if wanted[term] {
						held[term] = true
					}
				}
				if 2*len(held) >= len(wanted) {
					t.Errorf("%s: a sentence of %s has the answer and %d of the question's %d terms: %s", q.ID, id, len(held), len(wanted), s)
				}
			}
		}
	}
}

func TestGoldIsWithinTheDepthOfASearch(t *testing.T) {
	docs, questions := load(t)
	list := make([]corpus.Document, 0, len(docs))
	for _, d := range docs {
		list = append(list, d)
	}
	dir := filepath.Join(t.TempDir(), "index")
	if _, err := index.Build(t.Context(), dir, corpus.FromDocuments(list), index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	for _, q := range questions {
		found, err := ix.Search(t.Context(), index.Query{Text: q.Text, Params: bm25.Anserini, Depth: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range q.Evidence {
			if !slices.ContainsFunc(found.Hits, func(h index.Hit) bool { return h.DocID == id }) {
				t.Errorf("%s: evidence article %s is not in the ranking of its question", q.ID, id)
			}
		}
	}
}

// Every "See also" names articles by their titles.
func TestCrossReferencesLead(t *testing.T) {
	docs, _ := load(t)
	titles := map[string]bool{}
	for _, d := range docs {
		titles[strings.TrimSuffix(d.Title, ".")] = true
	}
	linked := 0
	for id, d := range docs {
		_, list, ok := strings.Cut(flat(d.Text), "See also: ")
		if !ok {
			continue
		}
		linked++
		list, _, _ = strings.Cut(list, " ## ")
		for _, title := range strings.Split(strings.TrimSuffix(list, "."), "; ") {
			if !titles[strings.TrimSuffix(title, ".")] {
				t.Errorf("%s points to %q, which is no article", id, title)
			}
		}
	}
	if linked < 100 {
		t.Errorf("%d articles name others, want at least 100", linked)
	}
}

func TestQrelsAreThoseOfTheQuestions(t *testing.T) {
	_, questions := load(t)
	evidence, gold, err := demo.Qrels()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range questions {
		if len(evidence[q.ID]) != len(q.Evidence) || len(gold[q.ID]) != len(q.Gold) {
			t.Errorf("%s: %d evidence and %d gold judgments, want %d and %d", q.ID, len(evidence[q.ID]), len(gold[q.ID]), len(q.Evidence), len(q.Gold))
		}
	}
}

// flat is a text on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }
