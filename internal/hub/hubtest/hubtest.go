// Package hubtest is a stand-in for the Hugging Face hub on a loopback port: same paths, same
// headers, with the troubles of a network on demand.
package hubtest

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
)

// Hub is the stand-in. Change its fields before the first request.
type Hub struct {
	*httptest.Server
	// Commit is that of every dataset.
	Commit string
	// Token, if set, is demanded.
	Token string
	// PageSize is the length of a page of a listing (0: all in one).
	PageSize int
	// Trouble, if set, may answer a request itself: n counts the requests for that path from 1.
	Trouble func(n int, w http.ResponseWriter, r *http.Request) (handled bool)

	mu    sync.Mutex
	files map[string]map[string][]byte // by dataset and path
	asked map[string]int
}

// DefaultCommit is the commit that a new stand-in tells.
const DefaultCommit = "0123456789abcdef0123456789abcdef01234567"

// New starts a stand-in that ends with the test.
func New(t *testing.T) *Hub {
	t.Helper()
	h := &Hub{Commit: DefaultCommit, files: map[string]map[string][]byte{}, asked: map[string]int{}}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

// Put places a file in a dataset. Files below data/ are kept as large files are: by SHA-256.
func (h *Hub) Put(dataset, path string, content []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.files[dataset] == nil {
		h.files[dataset] = map[string][]byte{}
	}
	h.files[dataset][path] = content
}

// Requests is the number of all requests.
func (h *Hub) Requests() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, asked := range h.asked {
		n += asked
	}
	return n
}

func (h *Hub) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked[r.URL.Path]++
	n := h.asked[r.URL.Path]
	h.mu.Unlock()
	if h.Trouble != nil && h.Trouble(n, w, r) {
		return
	}
	if h.Token != "" && r.Header.Get("Authorization") != "Bearer "+h.Token {
		http.Error(w, "Invalid username or password.", http.StatusUnauthorized)
		return
	}
	switch parts := strings.SplitN(strings.Trim(r.URL.Path, "/"), "/", 7); {
	case len(parts) >= 6 && parts[0] == "api" && parts[4] == "revision":
		h.revision(w, parts[2]+"/"+parts[3], parts[5])
	case len(parts) >= 6 && parts[0] == "api" && parts[4] == "tree" && parts[5] == h.Commit:
		h.tree(w, r, parts[2]+"/"+parts[3])
	case len(parts) >= 6 && parts[0] == "datasets" && parts[3] == "resolve" && parts[4] == h.Commit:
		h.resolve(w, r, parts[1]+"/"+parts[2], path.Join(parts[5:]...))
	default:
		http.NotFound(w, r)
	}
}

func (h *Hub) revision(w http.ResponseWriter, dataset, revision string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.files[dataset] == nil || revision != "main" && revision != h.Commit {
		http.Error(w, "Repository not found", http.StatusNotFound)
		return
	}
	fmt.Fprintf(w, `{"id": %q, "sha": %q}`, dataset, h.Commit)
}

func (h *Hub) tree(w http.ResponseWriter, r *http.Request, dataset string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.files[dataset] == nil {
		http.Error(w, "Repository not found", http.StatusNotFound)
		return
	}
	entries := []map[string]any{{"type": "directory", "path": "data", "oid": h.Commit, "size": 0}}
	for _, name := range sorted(h.files[dataset]) {
		entries = append(entries, entry(name, h.files[dataset][name]))
	}
	start := 0
	if _, err := fmt.Sscan(r.URL.Query().Get("cursor"), &start); err != nil || start > len(entries) {
		start = 0
	}
	entries = entries[start:]
	if h.PageSize > 0 && len(entries) > h.PageSize {
		entries = entries[:h.PageSize]
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?recursive=true&cursor=%d>; rel="next"`, h.URL, r.URL.Path, start+h.PageSize))
	}
	_ = json.NewEncoder(w).Encode(entries)
}

func sorted(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func entry(name string, content []byte) map[string]any {
	blob := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...))
	e := map[string]any{"type": "file", "path": name, "size": len(content), "oid": hex.EncodeToString(blob[:])}
	if strings.HasPrefix(name, "data/") {
		sum := sha256.Sum256(content)
		e["lfs"] = map[string]any{"oid": hex.EncodeToString(sum[:]), "size": len(content), "pointerSize": 134}
	}
	return e
}

func (h *Hub) resolve(w http.ResponseWriter, r *http.Request, dataset, name string) {
	h.mu.Lock()
	content, ok := h.files[dataset][name]
	h.mu.Unlock()
	if !ok {
		http.Error(w, "Entry not found", http.StatusNotFound)
		return
	}
	w.Header().Set("X-Repo-Commit", h.Commit)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
