// Package setup brings a benchmark onto this machine: it fetches its sources, verifies and
// unpacks them, deciphers what is published obfuscated, and draws its query sets. Every step is done
// once: what is there is not made again, and an interrupted setup goes on.
//
//	s := setup.New(description, dir, hubClient, canary)
//	err := s.Ready()             // is the canary the right one?
//	plan, err := s.Plan(ctx)     // what would be fetched, nothing is written
//	err = s.Fetch(ctx, plan)     // fetch, unpack, decipher
//	…index the corpus…
//	err = s.DrawSets(search)     // query sets that depend on a ranking
package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"goserini/internal/atomicfile"
	"goserini/internal/benchmark"
	"goserini/internal/browsecompplus"
	"goserini/internal/fetch"
	"goserini/internal/hub"
)

// Setup is the work on one benchmark.
type Setup struct {
	description benchmark.Description
	dir         string
	hub         *hub.Client
	fetcher     *fetch.Client
	canary      string
}

// New prepares the setup of a benchmark in its folder. The canary is the password of what is
// published obfuscated, and may be empty where nothing is.
func New(d benchmark.Description, dir string, h *hub.Client, canary string) *Setup {
	return &Setup{description: d, dir: dir, hub: h, fetcher: h.Fetcher, canary: canary}
}

// Dir is the benchmark's folder.
func (s *Setup) Dir() string { return s.dir }

// Plan is what there is to fetch.
type Plan struct {
	Items []Item `json:"items"`
	// Steps are what is to be done after that, in words.
	Steps []string `json:"steps"`
}

// Item is one file to be fetched.
type Item struct {
	// Source is where it comes from, Into where it goes in the benchmark's folder.
	Source string `json:"source"`
	Into   string `json:"into"`
	// Bytes is its size, Missing how much of it is still to come. About says that the size is
	// only approximately known; 0 is not known at all.
	Bytes   int64 `json:"bytes"`
	Missing int64 `json:"missing_bytes"`
	About   bool  `json:"about,omitempty"`

	source   benchmark.Source
	snapshot hub.Snapshot
	file     hub.File
}

// Missing is the number of bytes that are still to come, as far as known.
func (p Plan) Missing() int64 {
	var n int64
	for _, it := range p.Items {
		n += it.Missing
	}
	return n
}

// Ready returns why the setup could not come to its end: the canary that it needs is not given, or is
// wrong.
func (s *Setup) Ready() error {
	if !s.toConvert() {
		return nil
	}
	_, err := s.key()
	return err
}

// Plan finds out what there is to fetch. It writes nothing. A wrong canary is told at once; without
// one a plan can be made all the same.
func (s *Setup) Plan(ctx context.Context) (Plan, error) {
	var p Plan
	if len(s.description.Sources) == 0 {
		return p, fmt.Errorf("benchmark %s has no sources: there is nothing to set up", s.description.Name)
	}
	if s.canary != "" {
		if err := s.Ready(); err != nil {
			return p, err
		}
	}
	for _, src := range s.description.Sources {
		if !s.wanted(src) {
			continue
		}
		items, err := s.items(ctx, src)
		if err != nil {
			return p, err
		}
		p.Items = append(p.Items, items...)
	}
	p.Steps = s.steps()
	return p, nil
}

func (s *Setup) steps() []string {
	var steps []string
	if s.toConvert() {
		step := "decipher questions, answers and judgments into " + s.dir
		if s.canary == "" {
			step += ", with the canary in " + browsecompplus.CanaryVariable + ", which is not set"
		}
		steps = append(steps, step)
	}
	if !s.indexed() {
		steps = append(steps, "index the documents into "+filepath.Join(s.dir, benchmark.IndexFolder))
	}
	if s.toDraw() {
		steps = append(steps, "draw the query sets from a baseline ranking of every question")
	}
	return steps
}

func (s *Setup) there(rel string) bool {
	_, err := os.Stat(filepath.Join(s.dir, filepath.FromSlash(rel)))
	return err == nil
}

func (s *Setup) indexed() bool { return benchmark.Indexed(s.dir) }

// toConvert reports whether something published has still to be brought into this project's form.
func (s *Setup) toConvert() bool {
	return s.description.Convert != "" && !(s.there(queriesFile) && s.there(answersFile) && s.there(evidenceFile) && s.there(goldFile))
}

// toDraw reports whether a query set of the description is still missing.
func (s *Setup) toDraw() bool {
	for _, set := range s.description.Sets {
		if s.description.Convert != "" && set.File != "" && !s.there(set.File) {
			return true
		}
	}
	return false
}

// wanted reports whether a source still has to be there: the corpus until it is indexed, what is
// to be converted until it is, any other file until it is there.
func (s *Setup) wanted(src benchmark.Source) bool {
	for _, c := range s.description.Corpus {
		if c == src.Into || path.Dir(c) == src.Into {
			return !s.indexed()
		}
	}
	if s.description.Convert != "" && src.Dataset != "" {
		return s.toConvert()
	}
	return src.Dataset != "" || !s.there(src.Into)
}

// items lists the files of a source.
func (s *Setup) items(ctx context.Context, src benchmark.Source) ([]Item, error) {
	if src.URL != "" {
		it := Item{Source: src.URL, Into: src.Into, Bytes: src.About, Missing: src.About, About: true, source: src}
		if s.there(src.Into) {
			it.Missing = 0
		}
		return []Item{it}, nil
	}
	snapshot, err := s.hub.Snapshot(ctx, hub.Repo{ID: src.Dataset, Revision: src.Revision})
	if err != nil {
		return nil, err
	}
	files, err := snapshot.Match(src.Files)
	if err != nil {
		return nil, err
	}
	var items []Item
	for _, f := range files {
		_, missing := s.hub.Have(snapshot, f)
		items = append(items, Item{
			Source: fmt.Sprintf("%s@%.12s/%s", src.Dataset, snapshot.Commit, f.Path), Into: path.Join(src.Into, path.Base(f.Path)),
			Bytes: f.Size, Missing: missing, source: src, snapshot: snapshot, file: f,
		})
	}
	return items, nil
}

// key derives the key of the canary and checks it.
func (s *Setup) key() (browsecompplus.Key, error) {
	if s.canary == "" {
		return browsecompplus.Key{}, fmt.Errorf("%s is not set: benchmark %s is published obfuscated, and its canary sentence, which its publishers print with the data, is the password", browsecompplus.CanaryVariable, s.description.Name)
	}
	key := browsecompplus.NewKey(s.canary)
	if err := key.Check(s.description.Canary); err != nil {
		return key, fmt.Errorf("%s: %w", browsecompplus.CanaryVariable, err)
	}
	return key, nil
}

// Fetch does everything up to the index: fetch, unpack, decipher.
func (s *Setup) Fetch(ctx context.Context, p Plan) error {
	if err := s.Ready(); err != nil {
		return err
	}
	if err := s.makeDir(s.dir); err != nil {
		return err
	}
	for _, it := range p.Items {
		if err := s.take(ctx, it); err != nil {
			return err
		}
	}
	if !s.toConvert() {
		return nil
	}
	return s.convert()
}

// makeDir makes a folder, for its user alone where the benchmark is private.
func (s *Setup) makeDir(dir string) error {
	mode := fs.FileMode(0o755)
	if s.description.Private {
		mode = 0o700
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return fmt.Errorf("set up benchmark: %w", err)
	}
	if s.description.Private {
		if err := os.Chmod(s.dir, mode); err != nil {
			return fmt.Errorf("set up benchmark: %w", err)
		}
	}
	return nil
}

// take fetches one item and puts it into its place.
func (s *Setup) take(ctx context.Context, it Item) error {
	place := filepath.Join(s.dir, filepath.FromSlash(it.Into))
	if err := s.makeDir(filepath.Dir(place)); err != nil {
		return err
	}
	if it.source.Dataset != "" {
		at, err := s.hub.Fetch(ctx, it.snapshot, it.file)
		if err != nil {
			return err
		}
		return link(at, place)
	}
	sum, err := fetch.ParseSum(it.source.Sum)
	if err != nil {
		return fmt.Errorf("benchmark %s: source %s: %w", s.description.Name, it.source, err)
	}
	if it.source.Member == "" {
		return s.fetcher.File(ctx, fetch.Request{URL: it.source.URL, Path: place, Sum: sum})
	}
	if s.there(it.Into) {
		return nil
	}
	archive := place + archiveSuffix
	if err := s.fetcher.File(ctx, fetch.Request{URL: it.source.URL, Path: archive, Sum: sum}); err != nil {
		return err
	}
	if err := unpack(ctx, archive, it.source.Member, place); err != nil {
		return err
	}
	return os.Remove(archive)
}

// archiveSuffix marks an archive that is not unpacked yet.
const archiveSuffix = ".archive"

// link makes place another name of a file in the hub's cache: a symbolic link, or a copy where
// the system allows none.
func link(file, place string) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("link %s: %w", place, err)
	}
	if target, err := os.Readlink(place); err == nil && target == abs {
		return nil
	}
	if err := os.Remove(place); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("link %s: %w", place, err)
	}
	if os.Symlink(abs, place) == nil {
		return nil
	}
	return atomicfile.Copy(place, abs, 0o644)
}

// CheckCounts compares what is there with what the description expects, in words.
func (s *Setup) CheckCounts(documents int64) ([]string, error) {
	b, err := benchmark.LoadFrom(s.description, s.dir)
	if err != nil {
		return nil, err
	}
	questions, err := b.Questions(benchmark.AllQuestions)
	if err != nil {
		return nil, err
	}
	evidence, gold := b.Qrels()
	var notes []string
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"documents", int(documents), s.description.Expect.Documents},
		{"questions", len(questions), s.description.Expect.Questions},
		{"pairs of query and evidence document", pairs(evidence), s.description.Expect.Evidence},
		{"pairs of query and gold document", pairs(gold), s.description.Expect.Gold},
	} {
		if c.want != 0 && c.got != c.want {
			notes = append(notes, fmt.Sprintf("there are %d %s, and the benchmark is known to have %d: scores may not compare with published ones", c.got, c.what, c.want))
		}
	}
	return notes, nil
}

func pairs(qrels map[string]map[string]int) int {
	n := 0
	for _, judged := range qrels {
		for _, grade := range judged {
			if grade > 0 {
				n++
			}
		}
	}
	return n
}
