package controller

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
)

// excerptBatch is the number of hits excerpted at a time, so that a page that fills up
// early has not excerpted what it never shows.
const excerptBatch = 16

// readers is the number of documents read at the same time for one page.
const readers = 8

// row is a hit and its rank.
type row struct {
	rank int
	hit  retrieval.Hit
}

// preview is what a page shows of a document besides its docid and score.
type preview struct {
	title, source string
	// lines says where the texts stand, empty if unknown.
	lines string
	texts []string
	// note stands in place of texts or explains them.
	note string
	// print is for telling near duplicates, nil if not wanted.
	print *fingerprint
}

// previews are those of the rows of one page, made in batches as the page grows.
type previews struct {
	c     *Controller
	terms string // what passages are chosen for
	rows  []row
	done  []preview
	// matchers are those not in use, made when first needed.
	matchers chan *retrieval.Matcher
	prepare  sync.Once
	// cause is why some are missing, for the operator.
	cause string
}

// at returns the preview of the i-th row. Calls come in order of i.
func (p *previews) at(ctx context.Context, i int) (preview, error) {
	for len(p.done) <= i {
		batch := p.rows[len(p.done):]
		batch = batch[:min(excerptBatch, len(batch))]
		made, err := p.make(ctx, batch)
		if errors.Is(err, retrieval.ErrUnavailable) {
			p.cause = err.Error() // the ranking is worth showing without
			made, err = make([]preview, len(batch)), nil
		}
		if err != nil {
			return preview{}, err
		}
		p.done = append(p.done, made...)
	}
	return p.done[i], nil
}

func (p *previews) make(ctx context.Context, batch []row) ([]preview, error) {
	nav := p.c.options.Navigator
	if p.cause != "" {
		return make([]preview, len(batch)), nil
	}
	if !nav.Excerpts && !nav.Novelty {
		return p.given(ctx, batch)
	}
	documents, prints, err := p.documents(ctx, batch)
	if err != nil {
		return nil, err
	}
	var made []preview
	if nav.Excerpts {
		made, err = p.passages(ctx, batch, documents)
	} else {
		made, err = p.given(ctx, batch)
	}
	if err != nil {
		return nil, err
	}
	for i, print := range prints {
		made[i].print = print
	}
	return made, nil
}

// given makes the paper's previews: what the retriever gave with the ranking, else, down
// to ExcerptDepth, what it makes on request, else what the document itself gives.
func (p *previews) given(ctx context.Context, batch []row) ([]preview, error) {
	out := make([]preview, len(batch))
	var missing []int
	var ids []string
	for i, r := range batch {
		switch {
		case r.hit.Passage.Known():
			var err error
			if out[i], err = p.ofPassage(ctx, r.hit, retrieval.EarliestLength); err != nil {
				return nil, err
			}
		case r.hit.Excerpt != "":
			out[i].texts = []string{r.hit.Excerpt}
		case r.rank <= p.c.options.ExcerptDepth:
			missing = append(missing, i)
			ids = append(ids, r.hit.DocID)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	made, err := p.c.earliest(ctx, p.terms, ids)
	if err != nil {
		return nil, err
	}
	for j, i := range missing {
		out[i].title = made[j].Title
		if made[j].Text != "" {
			out[i].texts = []string{made[j].Text}
		}
	}
	return out, nil
}

// earliest makes the paper's excerpts of documents.
func (c *Controller) earliest(ctx context.Context, query string, docids []string) ([]retrieval.Excerpt, error) {
	if x, ok := c.retriever.(retrieval.Excerpter); ok {
		made, err := x.Excerpts(ctx, query, docids)
		if err != nil {
			return nil, err
		}
		if len(made) != len(docids) {
			return nil, errors.New("the retriever did not return one excerpt a document")
		}
		return made, nil
	}
	made := make([]retrieval.Excerpt, len(docids))
	for i, id := range docids {
		chunk, err := c.retriever.Read(ctx, retrieval.ReadRequest{DocID: id, Offset: 1, Limit: math.MaxInt32})
		switch {
		case errors.Is(err, retrieval.ErrNoDocument):
			continue // ranked but not stored: the page says that there is no excerpt
		case err != nil:
			return nil, err
		}
		made[i] = retrieval.EarliestExcerpt(query, strings.Join(chunk.Lines, "\n"), retrieval.EarliestLength)
		made[i].Title = chunk.Title
	}
	return made, nil
}

// documents reads the documents of a batch and takes their fingerprints, if they are wanted.
// One that is ranked but not stored stays empty.
func (p *previews) documents(ctx context.Context, batch []row) ([]document, []*fingerprint, error) {
	documents := make([]document, len(batch))
	prints := make([]*fingerprint, len(batch))
	err := inParallel(len(batch), func(i int) error {
		d, err := p.c.document(ctx, batch[i].hit.DocID)
		if err != nil && !errors.Is(err, retrieval.ErrNoDocument) {
			return err
		}
		documents[i] = d
		if p.c.options.Navigator.Novelty {
			prints[i] = newFingerprint(d.text)
		}
		return nil
	})
	return documents, prints, err
}

// inParallel runs do for 0 to n-1 and returns the error of the lowest number that failed.
func inParallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	for range min(readers, n) {
		wg.Go(func() {
			for i := range next {
				errs[i] = do(i)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// longestExcerpt is the most a hit may get where others on the page need less than the
// average, as a share of it.
const longestExcerpt = 4.0 / 3

// passages shows of each document the passages that cover most of the query, its head with
// one of them where they cover little, or all of it where it is short. What short documents leave of the page is given to long ones.
func (p *previews) passages(ctx context.Context, batch []row, documents []document) ([]preview, error) {
	metas := make([]meta, len(documents))
	from := make([]int, len(documents))
	sizes := make([]int, len(documents)) // of long documents only that they are
	length := p.c.options.ExcerptLength
	longest := int(longestExcerpt * float64(length))
	for i, d := range documents {
		metas[i], from[i] = d.body()
		text := d.text[from[i]:]
		sizes[i] = utf8.RuneCountInString(text[:min(len(text), utf8.UTFMax*(longest+1))])
	}
	length = level(sizes, length, longest)
	made := make([]preview, len(documents))
	err := inParallel(len(documents), func(i int) (err error) {
		if hit, d := batch[i].hit, documents[i]; d.reaches(hit.Passage) {
			made[i] = p.passage(d, from[i], sizes[i], length)
		} else {
			made[i], err = p.ofPassage(ctx, hit, length)
		}
		made[i].title = metas[i].title
		made[i].source = sourceLine(metas[i])
		return err
	})
	return made, err
}

// match lets choose use a matcher for the terms. There are as many as processors, and what one
// has learned about words serves all documents that it comes by.
func (p *previews) match(choose func(*retrieval.Matcher) []retrieval.Passage) []retrieval.Passage {
	p.prepare.Do(func() {
		stats, _ := p.c.retriever.(retrieval.TermStats)
		m := retrieval.NewMatcher(p.terms, stats)
		p.matchers = make(chan *retrieval.Matcher, runtime.GOMAXPROCS(0))
		p.matchers <- m
		for len(p.matchers) < cap(p.matchers) {
			p.matchers <- m.Clone()
		}
	})
	m := <-p.matchers
	defer func() { p.matchers <- m }()
	return choose(m)
}

// level returns the greatest length up to most such that documents of the given sizes,
// each cut to it, take no more than average a document.
func level(sizes []int, average, most int) int {
	total := func(length int) int {
		sum := 0
		for _, size := range sizes {
			sum += min(size, length)
		}
		return sum
	}
	low, high := average, most
	for low < high {
		middle := (low + high + 1) / 2
		if total(middle) <= average*len(sizes) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// passage shows one document in at most length characters.
func (p *previews) passage(d document, from, size, length int) preview {
	if size == 0 {
		return preview{}
	}
	first := 1 + strings.Count(d.text[:from], "\n")
	if d.whole && size <= length {
		return preview{
			texts: []string{squeeze(d.text[from:])},
			lines: fmt.Sprintf("%d-%d (to the end)", first, d.totalLines),
		}
	}
	var v preview
	passages := p.match(func(m *retrieval.Matcher) []retrieval.Passage { return m.Excerpt(d.text, from, length) })
	if len(passages) == 0 { // the words stand in the title only
		head := d.text[from : from+len(firstCharacters(d.text[from:], length))]
		passages = []retrieval.Passage{{Start: from, End: from + len(head), FirstLine: first, LastLine: first + strings.Count(head, "\n")}}
	}
	var lines []string
	for _, q := range passages {
		v.texts = append(v.texts, elided(d.text, q, from))
		lines = append(lines, lineRange(q.FirstLine, q.LastLine))
	}
	v.lines = strings.Join(lines, "; ") + fmt.Sprintf(" of %d", d.totalLines)
	if !d.whole {
		v.note = fmt.Sprintf("(best of the first %d MB; read_document reaches the rest)", documentBytes>>20)
	}
	return v
}

// elided is a passage of text, which begins at byte offset from, with dots where it does not
// begin or end with that.
func elided(text string, p retrieval.Passage, from int) string {
	shown := squeeze(text[p.Start:p.End])
	if p.Start > from {
		shown = "..." + shown
	}
	if p.End < len(text) {
		shown += "..."
	}
	return shown
}

// squeeze puts text on one line and every run of blanks into one.
func squeeze(text string) string { return tool.OneLine(strings.Join(strings.Fields(text), " ")) }

func firstCharacters(text string, n int) string {
	shown, _, _ := tool.Clip(text, n)
	return shown
}

func lineRange(first, last int) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}

func sourceLine(m meta) string {
	switch {
	case m.source == "":
		return m.date
	case m.date == "":
		return m.source
	}
	return m.source + " (" + m.date + ")"
}
