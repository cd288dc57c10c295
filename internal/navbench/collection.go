package navbench

import (
	"fmt"
	"slices"
	"strings"

	"goserini/internal/benchmark"
	"goserini/internal/bm25"
	"goserini/internal/eval"
	"goserini/internal/index"
	"goserini/internal/trec"
)

// Setting is a BM25 setting and where it comes from.
type Setting struct {
	Params bm25.Params `json:"params"`
	Reason string      `json:"reason"`
}

// Collection is a test collection made ready for measuring.
type Collection struct {
	name      string
	index     *index.Index
	own       Setting
	evidence  trec.Qrels
	questions []question
	// asked is the number of questions of the benchmark.
	asked int
}

// Load makes a collection of the questions of b that have relevant documents and spans, over
// an index of its corpus. own is the setting that the agent would use. limit, if not 0, is the
// most questions taken, evenly spread over all.
func Load(b *benchmark.Benchmark, ix *index.Index, own Setting, limit int) (*Collection, error) {
	all, err := b.Questions("")
	if err != nil {
		return nil, err
	}
	markings := map[string]marking{}
	if path := b.Files["answers"]; path != "" {
		if markings, err = readMarkings(path); err != nil {
			return nil, err
		}
	}
	evidence, gold := b.Qrels()
	name := b.Name
	if b.Dir != "" {
		name = b.Title
	}
	c := &Collection{name: name, index: ix, own: own, evidence: evidence, asked: len(all)}
	for _, q := range all {
		made, err := c.question(q, markings[q.ID], goldOf(q.ID, evidence, gold))
		if err != nil {
			return nil, err
		}
		if len(made.gold) > 0 && len(made.spans) > 0 {
			c.questions = append(c.questions, made)
		}
	}
	c.questions = spread(c.questions, limit)
	for i := range c.questions {
		if err := c.hold(&c.questions[i]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Questions is the number of questions that can be measured.
func (c *Collection) Questions() int { return len(c.questions) }

// goldOf are the documents that hold the answer of a question, else those that are evidence.
func goldOf(id string, evidence, gold trec.Qrels) []string {
	for _, qrels := range []trec.Qrels{gold, evidence} {
		var docids []string
		for docid := range eval.Relevant(qrels[id], 1) {
			docids = append(docids, docid)
		}
		if len(docids) > 0 {
			slices.Sort(docids)
			return docids
		}
	}
	return nil
}

// spread takes at most limit of the questions at equal distances.
func spread(questions []question, limit int) []question {
	if limit <= 0 || limit >= len(questions) {
		return questions
	}
	var taken []question
	for i := range limit {
		taken = append(taken, questions[i*len(questions)/limit])
	}
	return taken
}

func (c *Collection) question(q benchmark.Question, m marking, gold []string) (question, error) {
	made := question{id: q.ID, text: q.Text, answer: q.Answer, gold: gold}
	if len(gold) != 1 {
		made.spans = spansOf(m, q.Answer, nil)
		return made, nil
	}
	contents, title, err := c.contents(gold[0])
	if err != nil {
		return made, err
	}
	lines := strings.Split(contents, "\n")
	if title != "" {
		lines = lines[1:]
	}
	made.spans = spansOf(m, q.Answer, lines)
	if places := locate(contents, made.spans); len(places) > 0 {
		made.item = &item{docid: gold[0], contents: contents, places: places}
	}
	return made, nil
}

// hold notes which gold documents hold a span.
func (c *Collection) hold(q *question) error {
	q.holding = map[string]bool{}
	for _, docid := range q.gold {
		contents, _, err := c.contents(docid)
		if err != nil {
			return err
		}
		q.holding[docid] = holdsAny(contents, q.spans)
	}
	return nil
}

// contents returns the contents and the title of a document, nothing for one that is judged
// but not there.
func (c *Collection) contents(docid string) (contents, title string, err error) {
	ord, ok := c.index.Lookup(docid)
	if !ok {
		return "", "", nil
	}
	meta, err := c.index.Meta(ord)
	if err == nil {
		contents, err = c.index.Contents(ord)
	}
	if err != nil {
		return "", "", fmt.Errorf("document %q: %w", docid, err)
	}
	return contents, meta.Title, nil
}
