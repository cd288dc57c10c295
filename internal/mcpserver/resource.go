package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"goserini/internal/retrieval"
)

const scheme = "goserini://"

// URI is the address of a document: goserini://INDEX/DOCID, the docid percent-encoded but
// for its slashes.
func URI(name, docid string) string {
	return scheme + url.PathEscape(name) + "/" + escapeDocID(docid)
}

func escapeDocID(docid string) string {
	parts := strings.Split(docid, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// parseURI returns the docid of an address and what of the document it names.
func parseURI(name, uri string) (docid string, asked span, err error) {
	rest, ok := strings.CutPrefix(uri, scheme+url.PathEscape(name)+"/")
	if !ok {
		return "", span{}, fmt.Errorf("the address does not begin with %s", scheme+url.PathEscape(name)+"/")
	}
	asked = span{from: start}
	if before, fragment, ok := strings.Cut(rest, "#"); ok {
		if asked, ok = parseSpan(fragment); !ok {
			return "", span{}, fmt.Errorf("%q is no range of lines such as L10-L80", fragment)
		}
		rest = before
	}
	docid, err = url.PathUnescape(rest)
	if err != nil {
		return "", span{}, fmt.Errorf("the docid is not percent-encoded: %w", err)
	}
	return docid, asked, nil
}

// addResources offers every document by its address. They are not listed: there may be
// millions.
func (s *Server) addResources() {
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "document", Title: "A document of " + s.config.Name,
		Description: "A document by its docid. #L10-L80 behind the address asks for lines; a long document comes in parts that name the next one.",
		MIMEType:    "text/plain",
		URITemplate: scheme + url.PathEscape(s.config.Name) + "/{+docid}",
	}, s.readResource)
}

func (s *Server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	docid, asked, err := parseURI(s.config.Name, uri)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	text, err := fit(s.config.MaxBytes, func(limit int) (string, error) {
		p, err := readPiece(ctx, s.config.Documents, docid, asked, limit)
		if err != nil || p.next.line == 0 {
			return p.text, err
		}
		next := URI(s.config.Name, docid) + "#" + p.next.String()
		if asked.last > 0 {
			next += fmt.Sprintf("-L%d", asked.last)
		}
		return p.text + "\n" + p.notice("read "+next), nil
	})
	switch {
	case errors.Is(err, retrieval.ErrNoDocument):
		return nil, mcp.ResourceNotFoundError(uri)
	case err != nil:
		s.config.Log("read %s: %v", uri, err)
		return nil, errors.New("the collection could not be read")
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text}}}, nil
}
