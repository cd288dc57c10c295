// Package benchmark describes test collections as data: where the corpus is, which
// questions are asked, what is right, which documents are evidence, and which
// retrieval settings are known to suit them.
//
//	b, err := benchmark.Load("demo")              // by name
//	b, err := benchmark.Load("./collection")      // a folder, see docs/benchmarks.md
//	b, err := benchmark.Load("mine/bench.toml")   // a description
//	questions, err := b.Questions("")             // its default query set
package benchmark

import (
	"fmt"
	"slices"
	"sort"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/trec"
)

// Benchmark is a test collection with answers, query sets and settings.
type Benchmark struct {
	// Name is what --benchmark takes; Title is for people.
	Name, Title string
	// Dir is the folder it was read from; empty for an embedded one.
	Dir string
	// Index is a folder with an index of the corpus, if setup made one.
	Index string
	// Open returns the corpus for indexing.
	Open func() (*corpus.Reader, error)
	// Files are the inputs by role (corpus, queries, answers, qrels, evidence, gold), for
	// hashing into a manifest; embedded benchmarks have none.
	Files map[string]string
	// Analyzer is the analyzer the benchmark is meant for; empty means the default.
	Analyzer string
	// BM25 is the benchmark's own tuned setting, nil if it has none.
	BM25 *bm25.Params
	// Judge is how its answers are to be judged: gold-answer or reference-free.
	Judge string
	// Private says that its questions and answers are published so that they stand nowhere in
	// plain text: they are kept below the data directory and out of logs.
	Private bool
	// QuerySets are named subsets of the questions, DefaultSet the one used unless asked
	// otherwise. The set "all" always exists.
	QuerySets  map[string][]string
	DefaultSet string

	questions []Question
	evidence  trec.Qrels
	gold      trec.Qrels
	// toDraw are the query sets that setup has yet to make.
	toDraw []string
	// strayAnswers are known answers to questions that are not there.
	strayAnswers []string
}

// Question is what the agent is asked, and what is known about it.
type Question struct {
	ID   string `json:"query_id"`
	Text string `json:"question"`
	// Answer is nil where the benchmark has no answer for the question.
	Answer *Answer `json:"answer,omitempty"`
}

// Answer is the known answer of a question.
type Answer struct {
	Text string `json:"answer"`
	// Aliases are other texts that are equally right.
	Aliases []string `json:"aliases,omitempty"`
	// Unanswerable says that the collection does not hold the answer: right is to say so.
	Unanswerable bool `json:"unanswerable,omitempty"`
}

// AllQuestions is the query set that holds every question.
const AllQuestions = "all"

// SetNames lists the query sets of a benchmark, "all" first.
func (b *Benchmark) SetNames() []string {
	names := []string{AllQuestions}
	for name := range b.QuerySets {
		names = append(names, name)
	}
	sort.Strings(names[1:])
	return names
}

// SetName is the query set that a name stands for: the default one if it is empty.
func (b *Benchmark) SetName(set string) string {
	if set == "" {
		set = b.DefaultSet
	}
	if set == "" {
		return AllQuestions
	}
	return set
}

// Questions returns the questions of a query set, in the set's order; the empty
// name is the default set.
func (b *Benchmark) Questions(set string) ([]Question, error) {
	set = b.SetName(set)
	if set == AllQuestions {
		return b.questions, nil
	}
	if slices.Contains(b.toDraw, set) {
		return nil, fmt.Errorf("query set %q of benchmark %s is not there yet: goserini setup %s makes it, or choose another of %v", set, b.Name, b.Name, b.SetNames())
	}
	ids, ok := b.QuerySets[set]
	if !ok {
		return nil, fmt.Errorf("benchmark %s has no query set %q: it has %v", b.Name, set, b.SetNames())
	}
	byID := make(map[string]Question, len(b.questions))
	for _, q := range b.questions {
		byID[q.ID] = q
	}
	out := make([]Question, 0, len(ids))
	for _, id := range ids {
		q, ok := byID[id]
		if !ok {
			return nil, fmt.Errorf("query set %q of benchmark %s names query %q, which is not among its questions", set, b.Name, id)
		}
		out = append(out, q)
	}
	return out, nil
}

// Qrels returns the judgments of evidence documents and of gold documents. Either may be nil.
// Where a collection has only one kind of judgment, it is returned as evidence.
func (b *Benchmark) Qrels() (evidence, gold trec.Qrels) { return b.evidence, b.gold }

// SetOf finds the query set that a list of queries is: the one with exactly these, else the
// smallest that holds them all.
func (b *Benchmark) SetOf(ids []string) (string, error) {
	if strange := lacking(b.questions, ids); len(strange) > 0 {
		return "", fmt.Errorf("benchmark %s does not have %d of the %d queries, for example %q", b.Name, len(strange), len(ids), strange[0])
	}
	best, size := "", 0
	for _, name := range b.SetNames() {
		questions, err := b.Questions(name)
		if err != nil {
			return "", err
		}
		if best != "" && len(questions) >= size || len(lacking(questions, ids)) > 0 {
			continue
		}
		best, size = name, len(questions)
	}
	return best, nil
}

// lacking returns the ids that are not among the questions.
func lacking(questions []Question, ids []string) []string {
	have := make(map[string]bool, len(questions))
	for _, q := range questions {
		have[q.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return have[id] })
}
