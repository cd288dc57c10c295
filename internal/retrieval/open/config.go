package open

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"

	"goserini/internal/retrieval/httpjson"
	"goserini/internal/retrieval/mock"
)

// The kinds of backends that a configuration names.
const (
	KindAnserini = "anserini-bm25"
	KindHTTP     = "http-json"
	KindMock     = "mock"
)

// Config is the original Pi-Serini's description of a backend, which it takes from the
// variable PI_SEARCH_EXTENSION_CONFIG: an object with the one key backend.
type Config struct {
	Kind string
	// Address or IndexPath is that of a BM25 server.
	Address, IndexPath string
	HTTP               httpjson.Config
	Documents          []mock.Document
}

// ParseConfig reads a configuration. All its objects are closed: a key that does not belong
// there is an error, which names the place, as every error does.
func ParseConfig(text []byte) (Config, error) {
	root, err := parseObject("", text)
	if err != nil {
		return Config{}, err
	}
	if err := root.only("backend"); err != nil {
		return Config{}, err
	}
	backend, err := root.object("backend")
	if err != nil {
		return Config{}, err
	}
	kind, err := backend.text("kind", true)
	if err != nil {
		return Config{}, err
	}
	switch c := (Config{Kind: kind}); kind {
	case KindAnserini:
		return c.anserini(backend)
	case KindHTTP:
		return c.http(backend)
	case KindMock:
		return c.mock(backend)
	}
	return Config{}, fmt.Errorf("backend.kind: %q is none of %s, %s, %s", kind, KindAnserini, KindHTTP, KindMock)
}

func (c Config) anserini(backend object) (Config, error) {
	if err := backend.only("kind", "transport"); err != nil {
		return c, err
	}
	transport, err := backend.object("transport")
	if err != nil {
		return c, err
	}
	kind, err := transport.text("kind", true)
	if err != nil {
		return c, err
	}
	switch kind {
	case "tcp":
		return c.tcp(transport)
	case "stdio":
		if err := transport.only("kind", "indexPath"); err != nil {
			return c, err
		}
		c.IndexPath, err = transport.text("indexPath", true)
		return c, err
	}
	return c, fmt.Errorf("backend.transport.kind: %q is neither tcp nor stdio", kind)
}

func (c Config) tcp(transport object) (Config, error) {
	if err := transport.only("kind", "host", "port"); err != nil {
		return c, err
	}
	host, err := transport.text("host", true)
	if err != nil {
		return c, err
	}
	port, given, err := transport.number("port")
	switch {
	case err != nil:
		return c, err
	case !given:
		return c, errors.New("backend.transport.port: is missing")
	case port > math.MaxUint16 || port != math.Trunc(port):
		return c, fmt.Errorf("backend.transport.port: %v is no port", port)
	}
	c.Address = net.JoinHostPort(host, strconv.Itoa(int(port)))
	return c, nil
}

func (c Config) http(backend object) (Config, error) {
	if err := backend.only("kind", "capabilities", "endpoints"); err != nil {
		return c, err
	}
	capabilities, err := backend.object("capabilities")
	if err != nil {
		return c, err
	}
	if err := c.capabilities(capabilities); err != nil {
		return c, err
	}
	endpoints, err := backend.object("endpoints")
	if err != nil {
		return c, err
	}
	if err := endpoints.only("searchUrl", "readDocumentUrl"); err != nil {
		return c, err
	}
	if c.HTTP.SearchURL, err = endpoints.text("searchUrl", true); err != nil {
		return c, err
	}
	c.HTTP.ReadURL, err = endpoints.text("readDocumentUrl", true)
	return c, err
}

func (c *Config) capabilities(o object) error {
	flags := []string{"supportsScore", "supportsSnippets", "supportsExactTotalHits"}
	if err := o.only(append(flags, "backendId", "maxPageSize", "maxReadLimit")...); err != nil {
		return err
	}
	for _, name := range flags {
		var flag *bool
		if err := o.decode(name, &flag); err != nil {
			return err
		}
		if flag == nil {
			return o.errorf(name, "is missing: true or false")
		}
	}
	var err error
	if c.HTTP.BackendID, err = o.text("backendId", true); err != nil {
		return err
	}
	for name, into := range map[string]*int{"maxPageSize": &c.HTTP.MaxPageSize, "maxReadLimit": &c.HTTP.MaxReadLimit} {
		n, given, err := o.number(name)
		if err != nil {
			return err
		}
		if given {
			*into = int(min(n, math.MaxInt32))
		}
	}
	return nil
}

func (c Config) mock(backend object) (Config, error) {
	if err := backend.only("kind", "documents"); err != nil {
		return c, err
	}
	var documents []json.RawMessage
	if err := backend.decode("documents", &documents); err != nil {
		return c, err
	}
	if documents == nil {
		return c, errors.New("backend.documents: is missing")
	}
	for i, raw := range documents {
		o, err := parseObject(fmt.Sprintf("backend.documents[%d]", i), raw)
		if err != nil {
			return c, err
		}
		if err := o.only("docid", "title", "snippet", "text"); err != nil {
			return c, err
		}
		var d mock.Document
		for name, into := range map[string]*string{"docid": &d.DocID, "title": &d.Title, "snippet": &d.Snippet, "text": &d.Text} {
			if *into, err = o.text(name, name == "docid"); err != nil {
				return c, err
			}
		}
		if _, ok := o.fields["text"]; !ok {
			return c, o.errorf("text", "is missing")
		}
		c.Documents = append(c.Documents, d)
	}
	return c, nil
}

// object is a JSON object and the place where it stands.
type object struct {
	path   string
	fields map[string]json.RawMessage
}

func parseObject(path string, text []byte) (object, error) {
	o := object{path: path}
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&o.fields)
	if err == nil && o.fields == nil {
		err = errors.New("null is no object")
	}
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = fmt.Errorf("something follows the object at byte %d", d.InputOffset())
		}
	}
	if err != nil {
		if path == "" {
			path = "the configuration"
		}
		return o, fmt.Errorf("%s: is no JSON object: %w", path, err)
	}
	return o, nil
}

func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

func (o object) errorf(name, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{o.at(name)}, args...)...)
}

// only refuses keys other than these.
func (o object) only(names ...string) error {
	slices.Sort(names)
	for name := range o.fields {
		if !slices.Contains(names, name) {
			return o.errorf(name, "does not belong here; there are %v", names)
		}
	}
	return nil
}

func (o object) decode(name string, into any) error {
	raw, ok := o.fields[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return o.errorf(name, "%w", err)
	}
	return nil
}

func (o object) object(name string) (object, error) {
	raw, ok := o.fields[name]
	if !ok {
		return object{}, o.errorf(name, "is missing")
	}
	return parseObject(o.at(name), raw)
}

// text returns a string; a required one may not be missing or empty.
func (o object) text(name string, required bool) (string, error) {
	var s *string
	if err := o.decode(name, &s); err != nil {
		return "", err
	}
	switch {
	case s == nil && o.fields[name] != nil:
		return "", o.errorf(name, "null is no string")
	case required && (s == nil || *s == ""):
		return "", o.errorf(name, "is missing or empty")
	case s == nil:
		return "", nil
	}
	return *s, nil
}

// number returns a number that is at least 1.
func (o object) number(name string) (n float64, given bool, err error) {
	var p *float64
	if err := o.decode(name, &p); err != nil {
		return 0, false, err
	}
	switch {
	case p == nil && o.fields[name] != nil:
		return 0, false, o.errorf(name, "null is no number")
	case p == nil:
		return 0, false, nil
	case *p < 1:
		return 0, false, o.errorf(name, "%v is below 1", *p)
	}
	return *p, true, nil
}
