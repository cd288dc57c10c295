package benchmark

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"goserini/internal/lazyregexp"
	"goserini/internal/userdir"
)

// Description is a benchmark as a TOML file has it. Paths are relative to the benchmark's
// folder. docs/benchmarks.md explains every key.
type Description struct {
	Name  string `toml:"name"`
	Title string `toml:"title"`
	// Private is as in Benchmark.
	Private bool `toml:"private"`

	// Corpus are files, folders or patterns; the others are files.
	Corpus  []string `toml:"corpus"`
	Queries []string `toml:"queries"`
	Answers []string `toml:"answers"`
	// Evidence and Gold are judgments. Of Evidence, documents of at least EvidenceGrade count
	// (0: of at least 1).
	Evidence      []string `toml:"evidence"`
	EvidenceGrade int      `toml:"evidence_grade"`
	Gold          []string `toml:"gold"`

	Analyzer string   `toml:"analyzer"`
	K1       *float32 `toml:"k1"`
	B        *float32 `toml:"b"`
	Judge    string   `toml:"judge"`

	DefaultSet string         `toml:"default_set"`
	Sets       map[string]Set `toml:"set"`

	Expect  Expect   `toml:"expect"`
	Sources []Source `toml:"source"`
	// Convert names a published form that the sources have to be brought out of.
	Convert string `toml:"convert"`
	// Canary is the hexadecimal beginning of the SHA-256 of the password of that form.
	Canary string `toml:"canary_sha256"`
}

// Set is a query set: ids, or a file with one at the head of each line.
type Set struct {
	IDs  []string `toml:"ids"`
	File string   `toml:"file"`
}

// Expect says how much there should be; 0 is not known.
type Expect struct {
	Documents int `toml:"documents"`
	Questions int `toml:"questions"`
	// Evidence and Gold count pairs of query and relevant document.
	Evidence int `toml:"evidence"`
	Gold     int `toml:"gold"`
}

// Source is where setup fetches something: files of a dataset on the Hugging Face hub, or one
// file at an address.
type Source struct {
	// Dataset is owner/name, Revision a commit, tag or branch, Files a pattern.
	Dataset  string `toml:"dataset"`
	Revision string `toml:"revision"`
	Files    string `toml:"files"`
	// URL is an address, Sum its checksum (algorithm:hex), About its approximate size in bytes.
	URL   string `toml:"url"`
	Sum   string `toml:"sum"`
	About int64  `toml:"about"`
	// Member is the file wanted out of a .tar.gz.
	Member string `toml:"member"`
	// Into is where it goes in the benchmark's folder: a folder for a dataset's files, a file
	// otherwise.
	Into string `toml:"into"`
}

func (s Source) String() string {
	if s.Dataset != "" {
		return fmt.Sprintf("dataset %s, %s", s.Dataset, s.Files)
	}
	return s.URL
}

//go:embed builtin/*.toml
var builtin embed.FS

// Names lists the built-in benchmarks.
func Names() []string {
	entries, err := builtin.ReadDir("builtin")
	if err != nil {
		return nil // embedded: it is there
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".toml")
	}
	return names
}

var name = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Describe finds a description by its built-in name or by the path of a TOML file, and says in
// which folder its files are or will be: that of the TOML file, or a folder of its own in the data
// directory where it has sources to be fetched.
func Describe(nameOrFile string) (d Description, dir string, err error) {
	text, err := builtin.ReadFile(path.Join("builtin", nameOrFile+".toml"))
	if err != nil {
		text, err = os.ReadFile(nameOrFile)
		if errors.Is(err, fs.ErrNotExist) {
			return d, "", fmt.Errorf("no benchmark and no file %q: built in are %s", nameOrFile, strings.Join(Names(), ", "))
		}
		if err != nil {
			return d, "", fmt.Errorf("read benchmark: %w", err)
		}
		dir = filepath.Dir(nameOrFile)
	}
	if d, err = parse(text); err != nil {
		return d, "", fmt.Errorf("benchmark %s: %w", nameOrFile, err)
	}
	if dir == "" || len(d.Sources) > 0 {
		data, err := userdir.Data()
		if err != nil {
			return d, "", err
		}
		dir = filepath.Join(data, "benchmarks", d.Name)
	}
	return d, dir, nil
}

// parse reads a description; keys it does not know are errors with their line.
func parse(text []byte) (d Description, err error) {
	dec := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		var strict *toml.StrictMissingError
		if errors.As(err, &strict) && len(strict.Errors) > 0 {
			line, _ := strict.Errors[0].Position()
			return d, fmt.Errorf("line %d: there is no key %q", line, strings.Join(strict.Errors[0].Key(), "."))
		}
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			line, column := decode.Position()
			return d, fmt.Errorf("line %d, column %d: %w", line, column, err)
		}
		return d, err
	}
	return d, d.check()
}

func (d Description) check() error {
	switch {
	case !name.MatchString(d.Name):
		return fmt.Errorf("name %q: want letters, digits, dots, dashes and underscores", d.Name)
	case (d.K1 == nil) != (d.B == nil):
		return errors.New("k1 and b: give both or neither")
	case d.Judge != "" && d.Judge != "gold-answer" && d.Judge != "reference-free":
		return fmt.Errorf("judge %q: want gold-answer or reference-free", d.Judge)
	case d.EvidenceGrade < 0:
		return fmt.Errorf("evidence_grade %d: want at least 0", d.EvidenceGrade)
	case d.Convert != "" && d.Convert != BrowseCompPlus:
		return fmt.Errorf("convert %q: there is only %s", d.Convert, BrowseCompPlus)
	}
	for set, s := range d.Sets {
		if set == AllQuestions || (len(s.IDs) > 0) == (s.File != "") {
			return fmt.Errorf("set %q: give ids or a file, under another name than %q", set, AllQuestions)
		}
	}
	if d.DefaultSet != "" && d.DefaultSet != AllQuestions {
		if _, ok := d.Sets[d.DefaultSet]; !ok {
			return fmt.Errorf("default_set %q is not among the sets", d.DefaultSet)
		}
	}
	for i, s := range d.Sources {
		if (s.Dataset != "") == (s.URL != "") || s.Dataset != "" && s.Files == "" || !fs.ValidPath(s.Into) || s.Into == "." {
			return fmt.Errorf("source %d: give a dataset with files, or a url; and into, a path in the benchmark's folder", i+1)
		}
	}
	return nil
}

// BrowseCompPlus is the published form that Convert may name.
const BrowseCompPlus = "browsecomp-plus"

// paths returns the files that a list of paths and patterns stands for, in dir.
func paths(dir string, patterns []string) ([]string, error) {
	var out []string
	for _, pattern := range patterns {
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(dir, pattern)
		}
		if !strings.ContainsAny(filepath.Base(pattern), "*?[") {
			if _, err := os.Stat(pattern); err != nil {
				return nil, err
			}
			out = append(out, pattern)
			continue
		}
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		if len(found) == 0 {
			return nil, &fs.PathError{Op: "find", Path: pattern, Err: fs.ErrNotExist}
		}
		out = append(out, found...)
	}
	return out, nil
}
