package httpserver

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
	"sync"
)

// description is the OpenAPI document, without what depends on the configuration.
//
//go:embed openapi.json
var description []byte

// pageText is a page that shows it without loading anything from anywhere.
//
//go:embed page.html
var pageText string

var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// endpoint is one operation of the description.
type endpoint struct {
	Method, Path, Summary, Description string
	// Example is a body to send, as JSON.
	Example string
}

// endpoints are those that this server offers, in the order of the description.
func (s *Server) endpoints() []endpoint {
	var doc struct {
		Order []string `json:"x-order"`
		Paths map[string]map[string]struct {
			Summary     string `json:"summary"`
			Description string `json:"description"`
			RequestBody struct {
				Content map[string]struct {
					Example json.RawMessage `json:"example"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	if json.Unmarshal(description, &doc) != nil {
		return nil // a test reads the document
	}
	var all []endpoint
	for _, path := range doc.Order {
		if path == "/v1/ask" && s.config.Ask == nil || path == "/mcp" && s.config.MCP == nil {
			continue
		}
		for method, o := range doc.Paths[path] {
			all = append(all, endpoint{method, path, o.Summary, o.Description, string(o.RequestBody.Content["application/json"].Example)})
		}
	}
	return all
}

func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) {
	var doc map[string]json.RawMessage
	var paths map[string]json.RawMessage
	if json.Unmarshal(description, &doc) != nil || json.Unmarshal(doc["paths"], &paths) != nil {
		fail(w, http.StatusInternalServerError, "the description could not be read")
		return
	}
	offered := map[string]json.RawMessage{}
	for _, e := range s.endpoints() {
		offered[e.Path] = paths[e.Path]
	}
	delete(doc, "x-order")
	out := map[string]any{}
	for k, v := range doc {
		out[k] = v
	}
	out["paths"] = offered
	out["info"] = map[string]string{"title": "goserini: " + s.config.Name, "version": s.config.Version}
	if s.guard.sum != nil {
		out["security"] = []map[string][]string{{"token": {}}}
	}
	writeJSON(w, http.StatusOK, out)
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	var b strings.Builder
	err := pageTemplate().Execute(&b, map[string]any{"Name": s.config.Name, "Version": s.config.Version, "Endpoints": s.endpoints(), "Token": s.guard.sum != nil})
	if err != nil {
		s.config.Log("page: %v", err)
		fail(w, http.StatusInternalServerError, "the page could not be made")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_, _ = w.Write([]byte(b.String()))
}
