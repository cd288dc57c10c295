// Package hub fetches files of datasets from the Hugging Face hub, or from any server with its
// layout, into the cache that its own tools share:
//
//	<cache>/datasets--<owner>--<name>/blobs/<checksum>            the contents
//	<cache>/datasets--<owner>--<name>/snapshots/<commit>/<path>   links to them
//	<cache>/datasets--<owner>--<name>/refs/<revision>             the commit a name stood for
//
// What those tools have fetched is found, and the other way round. Every content is compared with
// the checksum that the hub announces before it gets its name.
//
//	c, err := hub.FromEnvironment()
//	s, err := c.Snapshot(ctx, hub.Repo{ID: "owner/name", Revision: "144cff8e…"})
//	path, err := c.Fetch(ctx, s, file)
package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"goserini/internal/fetch"
	"goserini/internal/lazyregexp"
)

// Client reaches one hub and one cache.
type Client struct {
	// Endpoint is the address of the hub, Token the user's key, "" for none.
	Endpoint, Token string
	// Cache is the folder of repositories.
	Cache string
	// Offline says that nothing may be asked over the network.
	Offline bool
	Fetcher *fetch.Client
}

// DefaultEndpoint is the public hub.
const DefaultEndpoint = "https://huggingface.co"

// FromEnvironment makes a client as the hub's own tools would: HF_ENDPOINT, HF_TOKEN,
// HF_HUB_OFFLINE, and for the cache HF_HUB_CACHE, HF_HOME or XDG_CACHE_HOME.
func FromEnvironment() (*Client, error) {
	c := &Client{
		Endpoint: strings.TrimRight(os.Getenv("HF_ENDPOINT"), "/"),
		Token:    strings.TrimSpace(os.Getenv("HF_TOKEN")),
		Offline:  truth(os.Getenv("HF_HUB_OFFLINE")),
		Fetcher:  &fetch.Client{},
	}
	if c.Endpoint == "" {
		c.Endpoint = DefaultEndpoint
	}
	if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("HF_ENDPOINT %q is not an address such as %s", c.Endpoint, DefaultEndpoint)
	}
	var err error
	c.Cache, err = cacheDir()
	return c, err
}

func truth(text string) bool {
	switch strings.ToUpper(text) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

func cacheDir() (string, error) {
	if dir := os.Getenv("HF_HUB_CACHE"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("HF_HOME"); dir != "" {
		return filepath.Join(dir, "hub"), nil
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "huggingface", "hub"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory for the hub's cache: set HF_HOME: %w", err)
	}
	return filepath.Join(home, ".cache", "huggingface", "hub"), nil
}

// Repo is a dataset at a revision: a commit, a tag or a branch ("" is main).
type Repo struct{ ID, Revision string }

func (r Repo) revision() string {
	if r.Revision == "" {
		return "main"
	}
	return r.Revision
}

func (r Repo) String() string { return r.ID + " at " + r.revision() }

var (
	repoID = lazyregexp.New(`^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$`)
	commit = lazyregexp.New(`^[0-9a-f]{40}$`)
)

func (r Repo) check() error {
	if !repoID.MatchString(r.ID) || strings.Contains(r.ID, "..") {
		return fmt.Errorf("dataset %q: want owner/name", r.ID)
	}
	if strings.Contains(r.revision(), "..") || strings.ContainsAny(r.revision(), "\\ ?#%") {
		return fmt.Errorf("dataset %s: revision %q is no commit, tag or branch", r.ID, r.Revision)
	}
	return nil
}

// dir is the repository's folder in the cache.
func (c *Client) dir(r Repo) string {
	return filepath.Join(c.Cache, "datasets--"+strings.ReplaceAll(r.ID, "/", "--"))
}

// Snapshot is what a dataset holds at one commit.
type Snapshot struct {
	Repo   Repo
	Commit string
	Files  []File
	// Offline says that Files are only those that the cache holds.
	Offline bool
}

// File is one file of a dataset.
type File struct {
	// Path is relative, with slashes.
	Path string
	Size int64
	// Sum is what its content must come to.
	Sum fetch.Sum
}

// Match returns the files whose path fits a pattern as path.Match has it, in order.
func (s Snapshot) Match(pattern string) ([]File, error) {
	var out []File
	for _, f := range s.Files {
		ok, err := path.Match(pattern, f.Path)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		if ok {
			out = append(out, f)
		}
	}
	if len(out) == 0 && s.Offline {
		return nil, fmt.Errorf("HF_HUB_OFFLINE is set and the cache holds no file %s of dataset %s", pattern, s.Repo)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("dataset %s has no file %s", s.Repo, pattern)
	}
	return out, nil
}

func (c *Client) header() http.Header {
	h := http.Header{"User-Agent": {"goserini"}}
	if c.Token != "" {
		h.Set("Authorization", "Bearer "+c.Token)
	}
	return h
}

// explain turns what a hub answers into what the user can do.
func (c *Client) explain(r Repo, err error) error {
	var s *fetch.StatusError
	if !errors.As(err, &s) {
		return err
	}
	page := c.Endpoint + "/datasets/" + r.ID
	switch s.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		if c.Token == "" {
			return fmt.Errorf("the hub wants a user for dataset %s: accept its terms at %s if it has any, and set HF_TOKEN: %w", r.ID, page, err)
		}
		return fmt.Errorf("the hub refuses dataset %s to this HF_TOKEN: accept its terms at %s, or use another token: %w", r.ID, page, err)
	case http.StatusNotFound:
		return fmt.Errorf("the hub has no dataset, revision or file of this name (%s): %w", r, err)
	case http.StatusTooManyRequests:
		return fmt.Errorf("the hub wants fewer requests; wait, or set HF_TOKEN to be allowed more: %w", err)
	}
	return err
}

// Snapshot tells what a dataset holds. Offline, it is what the cache holds of it.
func (c *Client) Snapshot(ctx context.Context, r Repo) (Snapshot, error) {
	if err := r.check(); err != nil {
		return Snapshot{}, err
	}
	if c.Offline {
		return c.cached(r)
	}
	s := Snapshot{Repo: r, Commit: r.revision()}
	if !commit.MatchString(s.Commit) {
		var info struct {
			SHA string `json:"sha"`
		}
		if _, err := c.Fetcher.JSON(ctx, c.Endpoint+"/api/datasets/"+r.ID+"/revision/"+url.PathEscape(r.revision()), c.header(), &info); err != nil {
			return s, c.explain(r, err)
		}
		if !commit.MatchString(info.SHA) {
			return s, fmt.Errorf("the hub gives no commit for dataset %s, but %q", r, info.SHA)
		}
		s.Commit = info.SHA
	}
	var err error
	s.Files, err = c.tree(ctx, r, s.Commit)
	return s, err
}

// entry is one element of the hub's listing.
type entry struct {
	Type string `json:"type"`
	Path string `json:"path"`
	OID  string `json:"oid"`
	Size int64  `json:"size"`
	LFS  *struct {
		OID  string `json:"oid"`
		Size int64  `json:"size"`
	} `json:"lfs"`
}

// maxPages bounds a listing, which the hub gives in pages of a thousand.
const maxPages = 1000

func (c *Client) tree(ctx context.Context, r Repo, at string) ([]File, error) {
	var files []File
	next := c.Endpoint + "/api/datasets/" + r.ID + "/tree/" + at + "?recursive=true&expand=false"
	for page := 0; next != ""; page++ {
		if page == maxPages {
			return nil, fmt.Errorf("the hub's listing of dataset %s does not end", r)
		}
		var entries []entry
		h, err := c.Fetcher.JSON(ctx, next, c.header(), &entries)
		if err != nil {
			return nil, c.explain(r, err)
		}
		for _, e := range entries {
			if e.Type != "file" {
				continue
			}
			f, err := e.file()
			if err != nil {
				return nil, fmt.Errorf("the hub's listing of dataset %s: %w", r, err)
			}
			files = append(files, f)
		}
		if next, err = c.follow(h.Get("Link")); err != nil {
			return nil, fmt.Errorf("the hub's listing of dataset %s: %w", r, err)
		}
	}
	return files, nil
}

// file checks an entry: its path must stay in its folder, its checksum must be one.
func (e entry) file() (File, error) {
	if !fs.ValidPath(e.Path) || strings.Contains(e.Path, "\\") {
		return File{}, fmt.Errorf("unsafe path %q", e.Path)
	}
	f := File{Path: e.Path, Size: e.Size, Sum: fetch.Sum{Algorithm: fetch.GitBlob, Hex: e.OID}}
	digits := 40
	if e.LFS != nil {
		f.Size, f.Sum, digits = e.LFS.Size, fetch.Sum{Algorithm: fetch.SHA256, Hex: strings.TrimPrefix(e.LFS.OID, "sha256:")}, 64
	}
	if len(f.Sum.Hex) != digits || strings.Trim(f.Sum.Hex, "0123456789abcdef") != "" || f.Size < 0 {
		return File{}, fmt.Errorf("no checksum for %s", e.Path)
	}
	return f, nil
}

var nextLink = lazyregexp.New(`<([^>]*)>;\s*rel="?next"?`)

// follow returns the address of the next page, "" after the last. It must lie on the same hub: the
// request carries the user's token.
func (c *Client) follow(link string) (string, error) {
	m := nextLink.FindStringSubmatch(link)
	if m == nil {
		return "", nil
	}
	base, err := url.Parse(c.Endpoint)
	if err != nil {
		return "", err
	}
	u, err := base.Parse(m[1])
	if err != nil {
		return "", err
	}
	if u.Host != base.Host || u.Scheme != base.Scheme {
		return "", fmt.Errorf("the next page is on another server, %s", u.Host)
	}
	return u.String(), nil
}
