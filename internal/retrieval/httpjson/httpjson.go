// Package httpjson is a retriever over HTTP that speaks the http-json contract of the
// original Pi-Serini: one POST to search, one to read a document by lines.
package httpjson

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"goserini/internal/retrieval"
	"goserini/internal/retrieval/remote"
)

// Config describes a backend.
type Config struct {
	// BackendID names it in errors.
	BackendID string
	// SearchURL and ReadURL are http or https.
	SearchURL, ReadURL string
	// MaxPageSize and MaxReadLimit are the most hits and lines of one answer, 0 where the
	// backend knows no such bound.
	MaxPageSize, MaxReadLimit int
	// MaxDocument bounds the pages of one read together, in bytes: a backend may say without end
	// that there is more. Default 256 MiB.
	MaxDocument int
	// Policy bounds a call; zero fields have defaults.
	Policy remote.Policy
}

// maxBody bounds a response, in bytes.
const maxBody = 64 << 20

// Retriever asks one backend. It is safe for concurrent use.
type Retriever struct {
	config Config
	client *http.Client
}

var _ retrieval.Retriever = (*Retriever)(nil)

// New checks the configuration and returns a retriever. It makes no request.
func New(config Config) (*Retriever, error) {
	if config.BackendID == "" {
		config.BackendID = "http-json"
	}
	if config.MaxDocument <= 0 {
		config.MaxDocument = 4 * maxBody
	}
	for name, address := range map[string]string{"searchUrl": config.SearchURL, "readDocumentUrl": config.ReadURL} {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("backend %s: %s %q is no http or https address", config.BackendID, name, address)
		}
	}
	return &Retriever{config: config, client: &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		// A redirect could lead a query to a machine that nobody named.
		CheckRedirect: func(req *http.Request, _ []*http.Request) error {
			return fmt.Errorf("it redirects to %s: put that address into the configuration", req.URL.Redacted())
		},
	}}, nil
}

// Close releases idle connections.
func (r *Retriever) Close() error {
	r.client.CloseIdleConnections()
	return nil
}

// Search implements [retrieval.Retriever]. A ranking deeper than one answer of the backend
// is asked for in pages. A docid that comes back is kept at its best rank only.
func (r *Retriever) Search(ctx context.Context, req retrieval.SearchRequest) (retrieval.Ranking, error) {
	if strings.TrimSpace(req.Query) == "" {
		return nil, nil
	}
	if req.Depth < 1 {
		return nil, r.errorf("search", "depth=%d is out of range: it must be at least 1", req.Depth)
	}
	var ranking retrieval.Ranking
	seen := map[string]bool{}
	for asked := 0; asked < req.Depth; {
		page := SearchRequest{Query: req.Query, Limit: bounded(req.Depth-asked, r.config.MaxPageSize)}
		if asked > 0 {
			page.Offset = asked + 1
		}
		var resp SearchResponse
		if err := r.post(ctx, "search", r.config.SearchURL, page, &resp); err != nil {
			return nil, err
		}
		if resp.Hits == nil {
			return nil, r.errorf("search", "response: hits is missing")
		}
		hits := resp.Hits[:min(page.Limit, len(resp.Hits))]
		for i, h := range hits {
			hit, err := h.hit()
			if err != nil {
				return nil, r.errorf("search", "response: hits[%d]: %w", i, err)
			}
			if !seen[hit.DocID] {
				seen[hit.DocID] = true
				ranking = append(ranking, hit)
			}
		}
		asked += len(hits)
		if len(hits) == 0 || !resp.HasMore {
			break
		}
	}
	return ranking, nil
}

func (h Hit) hit() (retrieval.Hit, error) {
	if h.DocID == "" {
		return retrieval.Hit{}, errors.New("docid is missing or empty")
	}
	hit := retrieval.Hit{DocID: h.DocID, Title: h.Title, Excerpt: h.Snippet, ExcerptTruncated: h.SnippetTruncated}
	if h.Score != nil {
		hit.Score, hit.HasScore = remote.Score(*h.Score), true
	}
	if h.Metadata != nil {
		hit.URL = h.Metadata.URL
	}
	return hit, nil
}

// bytesOfLine is what a line takes besides its text.
const bytesOfLine = 16

// Read implements [retrieval.Retriever]. More lines than one answer holds are asked for in
// pages.
func (r *Retriever) Read(ctx context.Context, req retrieval.ReadRequest) (retrieval.Chunk, error) {
	if req.Offset < 1 || req.Limit < 1 {
		return retrieval.Chunk{}, r.errorf("read", "offset=%d limit=%d: both must be at least 1", req.Offset, req.Limit)
	}
	whole := retrieval.Chunk{DocID: req.DocID, Offset: req.Offset}
	for size := 0; len(whole.Lines) < req.Limit; {
		page := ReadRequest{DocID: req.DocID, Offset: req.Offset + len(whole.Lines), Limit: bounded(req.Limit-len(whole.Lines), r.config.MaxReadLimit)}
		var resp ReadResponse
		if err := r.post(ctx, "read", r.config.ReadURL, page, &resp); err != nil {
			return retrieval.Chunk{}, err
		}
		if !resp.Found && resp.DocID == "" {
			return retrieval.Chunk{}, r.errorf("read", "%q: response: neither a document nor the word that there is none", req.DocID)
		}
		if !resp.Found {
			return retrieval.Chunk{}, r.errorf("read", "%q: %w", req.DocID, retrieval.ErrNoDocument)
		}
		lines, total, err := resp.lines(page)
		if err != nil {
			return retrieval.Chunk{}, r.errorf("read", "%q: response: %w", req.DocID, err)
		}
		for _, l := range lines {
			size += len(l) + bytesOfLine
		}
		if size > r.config.MaxDocument {
			return retrieval.Chunk{}, r.errorf("read", "%q: the document is longer than %d bytes", req.DocID, r.config.MaxDocument)
		}
		whole.Lines = append(whole.Lines, lines...)
		whole.TotalLines = max(total, len(whole.Lines))
		if resp.Title != "" {
			whole.Title = resp.Title
		}
		if len(lines) == 0 || !*resp.Truncated {
			break
		}
	}
	return whole, nil
}

// lines cuts the text of a response and tells the number of lines of the document; where
// the backend does not know it, the number up to the next offset.
func (r ReadResponse) lines(asked ReadRequest) ([]string, int, error) {
	if r.Text == nil || r.Truncated == nil {
		return nil, 0, errors.New("text or truncated is missing")
	}
	if r.ReturnedStart > 0 && r.ReturnedStart < asked.Offset {
		return nil, 0, fmt.Errorf("returnedOffsetStart is %d, and %d was asked for", r.ReturnedStart, asked.Offset)
	}
	if r.pastEnd(asked.Offset) {
		if r.TotalUnits != nil {
			return nil, *r.TotalUnits, nil
		}
		return nil, asked.Offset - 1, nil
	}
	lines := strings.Split(strings.ReplaceAll(*r.Text, "\r\n", "\n"), "\n")
	if n := r.ReturnedEnd - r.ReturnedStart + 1; r.ReturnedEnd > 0 && r.ReturnedStart > 0 && n != len(lines) {
		if n != len(lines)-1 || lines[n] != "" {
			return nil, 0, fmt.Errorf("text has %d lines where returnedOffsetStart and returnedOffsetEnd say %d: only backends that count in lines can be read", len(lines), n)
		}
		lines = lines[:n] // the line end of the last line
	}
	if len(lines) > asked.Limit {
		return nil, 0, fmt.Errorf("text has %d lines, and %d were asked for", len(lines), asked.Limit)
	}
	total := asked.Offset - 1 + len(lines)
	switch {
	case r.TotalUnits != nil:
		total = *r.TotalUnits
	case *r.Truncated:
		total++
	}
	return lines, total, nil
}

// pastEnd reports whether there is no line at offset; one empty line looks alike, so the
// backend's other words decide.
func (r ReadResponse) pastEnd(offset int) bool {
	switch {
	case *r.Text != "":
		return false
	case r.TotalUnits != nil:
		return offset > *r.TotalUnits
	}
	return offset > 1 && r.ReturnedStart == 0
}

// bounded is n, or the bound if there is one below n.
func bounded(n, bound int) int {
	if bound > 0 {
		n = min(n, bound)
	}
	return min(n, math.MaxInt32)
}

func (r *Retriever) errorf(operation, format string, args ...any) error {
	return fmt.Errorf("backend %s: %s: "+format, append([]any{r.config.BackendID, operation}, args...)...)
}

// post makes a call, as often as the policy says.
func (r *Retriever) post(ctx context.Context, operation, address string, body, into any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return r.errorf(operation, "encode request: %w", err)
	}
	err = r.config.Policy.Do(ctx, func(ctx context.Context) error { return r.try(ctx, address, sent, into) })
	if err != nil {
		return r.errorf(operation, "%w", err)
	}
	return nil
}

// refusals are the statuses of a backend that is alive and does not like this one request. It is
// not tried again, but the caller may go on with others.
var refusals = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnprocessableEntity}

func (r *Retriever) try(ctx context.Context, address string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := r.client.Do(req)
	if err != nil {
		return remote.Unavailable(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return remote.Unavailable(fmt.Errorf("read response: %w", err))
	case len(got) > maxBody:
		return fmt.Errorf("response is longer than %d bytes", maxBody)
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		return remote.UnavailableAfter(fmt.Errorf("HTTP %d: %s", resp.StatusCode, remote.Excerpt(got)), retryAfter(resp))
	case slices.Contains(refusals, resp.StatusCode):
		return fmt.Errorf("%w: the backend refuses: HTTP %d: %s", retrieval.ErrUnavailable, resp.StatusCode, remote.Excerpt(got))
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return fmt.Errorf("HTTP %d: %s", resp.StatusCode, remote.Excerpt(got))
	}
	if err := json.Unmarshal(got, into); err != nil {
		return fmt.Errorf("response is not what the contract says: %w; it began: %s", err, remote.Excerpt(got))
	}
	return nil
}

func retryAfter(resp *http.Response) time.Duration {
	seconds, err := time.ParseDuration(resp.Header.Get("Retry-After") + "s")
	if err != nil || seconds < 0 {
		return 0
	}
	return seconds
}
