// Package open turns the description of a retriever, as a user writes it, into one.
//
//	index:DIR                  an index of goserini
//	anserini:tcp://HOST:PORT   a BM25 server of the original Pi-Serini
//	anserini:stdio:COMMAND     the same, started by us and spoken to over its pipes
//	http-json:FILE             a backend over HTTP; FILE is the original's configuration
//	mock:FILE                  documents in the original's configuration
//	config:FILE                whatever kind the original's configuration names
package open

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"goserini/internal/bm25"
	"goserini/internal/index"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/anserini"
	"goserini/internal/retrieval/httpjson"
	"goserini/internal/retrieval/local"
	"goserini/internal/retrieval/mock"
	"goserini/internal/retrieval/remote"
)

// Forms names the forms of a description, for help and errors.
const Forms = "index:DIR, anserini:tcp://HOST:PORT, anserini:stdio:COMMAND, http-json:FILE, mock:FILE or config:FILE"

// Options say what a description leaves open.
type Options struct {
	// Params chooses k1 and b for an index; nil means bm25.Anserini.
	Params func(*index.Index) (bm25.Params, error)
	// Policy bounds calls of remote backends.
	Policy remote.Policy
}

// Opened is a retriever together with what is known about it.
type Opened struct {
	retrieval.Retriever
	// Spec describes it the way it was asked for, without secrets.
	Spec string
	// Index is what an index retriever searches, nil for all others. Params are its k1 and b.
	Index  *index.Index
	Params bm25.Params

	close func() error
}

// Close releases the index, the connection or the process.
func (o *Opened) Close() error {
	if o.close == nil {
		return nil
	}
	return o.close()
}

// Excerpter returns the retriever as one, nil where it is none.
func (o *Opened) Excerpter() retrieval.Excerpter {
	x, _ := o.Retriever.(retrieval.Excerpter)
	return x
}

// Retriever opens the retriever that spec describes.
func Retriever(spec string, options Options) (*Opened, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	if rest == "" {
		return nil, fmt.Errorf("retriever %q: want %s", spec, Forms)
	}
	switch kind {
	case "index":
		return openIndex(rest, options)
	case "anserini":
		return openAnserini(rest, options)
	case KindHTTP, KindMock, "config":
		return openConfig(kind, rest, options)
	}
	return nil, fmt.Errorf("retriever %q: there is no kind %q; want %s", spec, kind, Forms)
}

func openIndex(dir string, options Options) (*Opened, error) {
	ix, err := index.Open(dir)
	if err != nil {
		return nil, err
	}
	params := bm25.Anserini
	if options.Params != nil {
		if params, err = options.Params(ix); err != nil {
			ix.Close()
			return nil, err
		}
	}
	return &Opened{Retriever: local.New(ix, params), Spec: "index:" + dir, Index: ix, Params: params, close: ix.Close}, nil
}

func openAnserini(rest string, options Options) (*Opened, error) {
	if address, ok := strings.CutPrefix(rest, "tcp://"); ok {
		return fromAnserini(anserini.Dial(address, options.Policy))("anserini:" + rest)
	}
	if command, ok := strings.CutPrefix(rest, "stdio:"); ok {
		words, err := splitCommand(command)
		if err != nil {
			return nil, fmt.Errorf("retriever anserini:stdio: %w", err)
		}
		return fromAnserini(anserini.Start(words, options.Policy))("anserini:stdio:" + command)
	}
	return nil, fmt.Errorf("retriever anserini:%s: want anserini:tcp://HOST:PORT or anserini:stdio:COMMAND", rest)
}

func fromAnserini(r *anserini.Retriever, err error) func(spec string) (*Opened, error) {
	return func(spec string) (*Opened, error) {
		if err != nil {
			return nil, err
		}
		return &Opened{Retriever: r, Spec: spec, close: r.Close}, nil
	}
}

// maxConfig bounds a configuration file, in bytes: mock documents stand inside.
const maxConfig = 64 << 20

func openConfig(kind, path string, options Options) (*Opened, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read retriever configuration: %w", err)
	}
	if info.Size() > maxConfig {
		return nil, fmt.Errorf("read retriever configuration %s: %d bytes are more than the %d it may have", path, info.Size(), maxConfig)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read retriever configuration: %w", err)
	}
	config, err := ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("retriever configuration %s: %w", path, err)
	}
	if kind != "config" && config.Kind != kind {
		return nil, fmt.Errorf("retriever configuration %s: backend.kind is %q, and %s:FILE needs %q; config:%s takes any kind", path, config.Kind, kind, kind, path)
	}
	opened, err := config.open(options)
	if err != nil {
		return nil, fmt.Errorf("retriever configuration %s: %w", path, err)
	}
	opened.Spec = kind + ":" + path
	return opened, nil
}

func (c Config) open(options Options) (*Opened, error) {
	switch {
	case c.Kind == KindMock:
		r, err := mock.New(c.Documents)
		if err != nil {
			return nil, err
		}
		return &Opened{Retriever: r}, nil
	case c.Kind == KindHTTP:
		c.HTTP.Policy = options.Policy
		r, err := httpjson.New(c.HTTP)
		if err != nil {
			return nil, err
		}
		return &Opened{Retriever: r, close: r.Close}, nil
	case c.Address != "":
		return fromAnserini(anserini.Dial(c.Address, options.Policy))("")
	}
	opened, err := openIndex(c.IndexPath, options)
	if err != nil {
		return nil, fmt.Errorf("backend.transport.indexPath: %w; to use a server over a Lucene index, give --retriever 'anserini:stdio:COMMAND --index-path %s'", err, c.IndexPath)
	}
	return opened, nil
}

// splitCommand cuts a command into words at blanks; single and double quotes keep blanks.
func splitCommand(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, c := range command {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(c)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a %c is not closed in the command", quote)
	}
	if open {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("the command is empty")
	}
	return words, nil
}
