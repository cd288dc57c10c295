package corpus

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// input is one file to be read.
type input struct {
	// path opens it and names it in messages; docid is its id if it is a document
	// itself.
	path, docid string
	kind        kind
	size        int64
	// alone says that the file was given as a source, not found in a folder.
	alone bool
	// err is why the file cannot be read, found while looking at it.
	err error
}

// failed tells whether looking at the file showed that it cannot be read.
func (in *input) failed() bool { return in.err != nil }

// kind is what a file holds.
type kind int

const (
	// kindUnknown is decided by the first bytes.
	kindUnknown kind = iota
	kindJSON
	kindTSV
	kindTREC
	kindText
	kindMarkdown
	kindHTML
	// kindOther is known to hold no documents.
	kindOther
)

// format is the format that files of a kind have.
func (k kind) format() Format {
	switch k {
	case kindJSON:
		return FormatJSONL
	case kindTSV:
		return FormatTSV
	case kindTREC:
		return FormatTREC
	case kindText, kindMarkdown, kindHTML:
		return FormatFiles
	}
	return FormatAuto
}

// kindsByExt is what names say. The extension is compared in lower case, without that
// of a compression.
var kindsByExt = map[string]kind{
	".jsonl": kindJSON, ".ndjson": kindJSON, ".json": kindJSON,
	".tsv": kindTSV, ".trec": kindTREC,
	".md": kindMarkdown, ".markdown": kindMarkdown, ".mdown": kindMarkdown, ".mkd": kindMarkdown,
	".html": kindHTML, ".htm": kindHTML, ".xhtml": kindHTML,
	".css": kindOther, ".js": kindOther, ".mjs": kindOther, ".map": kindOther, ".svg": kindOther, ".xml": kindOther,
	".csv": kindOther, ".ps": kindOther, ".eps": kindOther, ".pdf": kindOther,
}

// plainNames are extensions of plain text, in which a tab does not make a table.
var plainNames = map[string]bool{".txt": true, ".text": true, ".rst": true, ".adoc": true, ".asciidoc": true, ".org": true, ".log": true}

// extension is the lower-case extension of a name without that of its compression.
func extension(name string) string {
	ext := strings.ToLower(filepath.Ext(name))
	switch ext {
	case ".gz", ".zst", ".zstd", ".bz2":
		return strings.ToLower(filepath.Ext(strings.TrimSuffix(name, filepath.Ext(name))))
	}
	return ext
}

// kindByHead decides by the first bytes; tabs says that a tab in the first line makes a
// file of unknown name TSV.
func kindByHead(head []byte, tabs bool) kind {
	head = bytes.TrimPrefix(head, bom)
	head = head[spaceLen(head):]
	first, _, _ := bytes.Cut(head, []byte{'\n'})
	lower := bytes.ToLower(head[:min(len(head), 64)])
	switch {
	case indexOpen(head[:min(len(head), 64)]) == 0:
		return kindTREC
	case bytes.HasPrefix(head, []byte("{")):
		if rest := head[1:]; spaceLen(rest) < len(rest) && (rest[spaceLen(rest)] == '"' || rest[spaceLen(rest)] == '}') {
			return kindJSON
		}
	case bytes.HasPrefix(head, []byte("[")):
		if rest := head[1:]; spaceLen(rest) < len(rest) && (rest[spaceLen(rest)] == '{' || rest[spaceLen(rest)] == ']') {
			return kindJSON
		}
	case bytes.HasPrefix(lower, []byte("<!doctype html")), bytes.HasPrefix(lower, []byte("<html")):
		return kindHTML
	}
	if tabs && bytes.IndexByte(first, '\t') > 0 {
		return kindTSV
	}
	return kindText
}

// plan lists the files of all sources in the order they are read.
type plan struct {
	inputs  []input
	ignored []Ignored
	format  Format
}

// newPlan looks at the sources. A source that is not there is an error at once.
func newPlan(sources []string, format Format) (*plan, error) {
	if len(sources) == 0 {
		return nil, errors.New("no source given: name a file or a folder")
	}
	p := &plan{format: format}
	for _, s := range sources {
		info, err := os.Stat(s)
		if err != nil {
			return nil, fmt.Errorf("open source: %w", err)
		}
		if !info.IsDir() {
			p.inputs = append(p.inputs, p.file(s, info))
			continue
		}
		if err := p.folder(s); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// file is a source that is a file. What its name says holds, unless the format is given.
func (p *plan) file(name string, info fs.FileInfo) input {
	in := input{path: name, docid: filepath.Base(name), alone: true, size: info.Size(), kind: kindsByExt[extension(name)]}
	switch p.format {
	case FormatJSONL:
		in.kind = kindJSON
	case FormatTSV:
		in.kind = kindTSV
	case FormatTREC:
		in.kind = kindTREC
	case FormatFiles:
		if in.kind != kindMarkdown && in.kind != kindHTML {
			in.kind = kindText
		}
	}
	return in
}

// folder adds the files of a folder that hold documents. They are all of one format:
// see chooseFormat.
func (p *plan) folder(dir string) error {
	found, err := p.walk(dir)
	if err != nil {
		return err
	}
	if only, err := corpusFile(dir, found, p.format); err != nil {
		return err
	} else if only >= 0 {
		for i, in := range found {
			if i != only {
				p.ignore(in.path, "the folder's corpus is "+filepath.Base(found[only].path))
			}
		}
		p.inputs = append(p.inputs, found[only])
		return nil
	}
	for i := range found {
		found[i].look(p.format)
	}
	chosen := p.format
	if chosen == FormatAuto {
		chosen = chooseFormat(found)
	}
	for _, in := range found {
		switch {
		case in.kind == kindOther && in.err == nil:
			p.ignore(in.path, "not a kind of file that holds documents")
		case in.err != nil || in.kind.format() == chosen:
			p.inputs = append(p.inputs, in)
		default:
			p.ignore(in.path, fmt.Sprintf("the folder is read as %s, this file is %s", chosen, in.kind.format()))
		}
	}
	return nil
}

func (p *plan) ignore(path, reason string) {
	p.ignored = append(p.ignored, Ignored{Path: path, Reason: reason})
}

// corpusFile finds the file named corpus.jsonl, compressed or not, directly in the
// folder; -1 if there is none.
func corpusFile(dir string, found []input, format Format) (int, error) {
	only := -1
	if format != FormatAuto && format != FormatJSONL {
		return only, nil
	}
	for i, in := range found {
		if !slices.Contains([]string{"corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst", "corpus.jsonl.bz2"}, in.docid) {
			continue
		}
		if only >= 0 {
			return -1, fmt.Errorf("open source %s: both %s and %s are there; name the one that is meant", dir, found[only].docid, in.docid)
		}
		only = i
	}
	return only, nil
}

// chooseFormat decides what a folder is by the files in it: JSON lines by name come
// first, then TREC documents, then text, Markdown and HTML, then TSV, then other JSON.
func chooseFormat(found []input) Format {
	has := map[Format]bool{}
	for _, in := range found {
		if ext := extension(in.path); ext == ".jsonl" || ext == ".ndjson" {
			return FormatJSONL
		}
		has[in.kind.format()] = true
	}
	for _, f := range []Format{FormatTREC, FormatFiles, FormatTSV, FormatJSONL} {
		if has[f] {
			return f
		}
	}
	return FormatAuto
}

// look decides the kind of a file whose name does not.
func (in *input) look(format Format) {
	if in.err != nil || in.kind != kindUnknown {
		return
	}
	s, err := openStream(in.path, nil)
	if err != nil {
		in.kind, in.err = kindText, err
		if errors.Is(err, errUnsupported) {
			in.kind, in.err = kindOther, nil
		}
		return
	}
	defer s.Close()
	head := make([]byte, binaryPrefix)
	n, err := readFull(s, head)
	switch {
	case err != nil:
		in.kind, in.err = kindText, err
	case isBinary(head[:n]):
		in.kind = kindOther
	default:
		in.kind = kindByHead(head[:n], format == FormatTSV)
	}
}

// walk lists the regular files below dir, sorted by the bytes of their slash-separated
// paths. Hidden names are passed over. A symbolic link counts as the file it leads to;
// one that leads to a folder is not followed, so no loop is entered.
func (p *plan) walk(dir string) ([]input, error) {
	var found []input
	// The separator makes a link given as a source be followed.
	root := dir + string(filepath.Separator)
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if name == root {
			return err
		}
		rel, relErr := filepath.Rel(dir, name)
		if relErr != nil {
			return relErr
		}
		in := input{path: name, docid: filepath.ToSlash(rel), kind: kindsByExt[extension(name)], err: err}
		if err != nil {
			in.kind = kindText
		}
		taken, err := p.visit(&in, entry)
		if taken {
			found = append(found, in)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open source: %w", err)
	}
	slices.SortFunc(found, func(a, b input) int { return cmp.Compare(a.docid, b.docid) })
	return found, nil
}

// visit decides whether an entry of a folder is a file to be read, or trouble to be
// reported in its turn.
func (p *plan) visit(in *input, entry fs.DirEntry) (taken bool, err error) {
	if in.failed() {
		return true, nil
	}
	if strings.HasPrefix(path.Base(in.docid), ".") {
		p.ignore(in.path, "hidden")
		if entry.IsDir() {
			return false, fs.SkipDir
		}
		return false, nil
	}
	if entry.IsDir() {
		return false, nil
	}
	info, reason := regular(in.path, entry)
	if reason != "" {
		p.ignore(in.path, reason)
		return false, nil
	}
	in.size = info.Size()
	return true, nil
}

// regular returns the file an entry stands for, or the reason why it is none that can
// be read: devices and pipes might never end.
func regular(name string, entry fs.DirEntry) (info fs.FileInfo, reason string) {
	info, err := os.Stat(name)
	switch link := entry.Type()&fs.ModeSymlink != 0; {
	case err != nil && link:
		return nil, "broken symbolic link"
	case err != nil:
		return nil, "vanished while the folder was read"
	case link && info.IsDir():
		return nil, "symbolic link to a folder"
	case !info.Mode().IsRegular():
		return nil, "not a regular file"
	}
	return info, ""
}
