package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"goserini/internal/fetch"
	"goserini/internal/hub/hubtest"
	"goserini/internal/lockfile"
)

const dataset = "owner/some-data"

func client(t *testing.T, h *hubtest.Hub) *Client {
	t.Helper()
	return &Client{Endpoint: h.URL, Cache: t.TempDir(), Fetcher: &fetch.Client{
		Tries: 3, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}}
}

func small(t *testing.T) *hubtest.Hub {
	t.Helper()
	h := hubtest.New(t)
	h.Put(dataset, "README.md", []byte("hello\n"))
	h.Put(dataset, "data/test-00000-of-00002.parquet", bytes.Repeat([]byte("a"), 300_000))
	h.Put(dataset, "data/test-00001-of-00002.parquet", bytes.Repeat([]byte("b"), 1000))
	return h
}

func snapshot(t *testing.T, c *Client, r Repo) Snapshot {
	t.Helper()
	s, err := c.Snapshot(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fetchAll(t *testing.T, c *Client, s Snapshot, pattern string) []string {
	t.Helper()
	files, err := s.Match(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range files {
		path, err := c.Fetch(t.Context(), s, f)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Fatalf("got error %v, want one with %q", err, part)
		}
	}
}

func TestFilesLieInTheSharedLayout(t *testing.T) {
	h := small(t)
	h.PageSize = 1
	c := client(t, h)
	s := snapshot(t, c, Repo{ID: dataset})
	if s.Commit != h.Commit || len(s.Files) != 3 {
		t.Fatalf("got %+v", s)
	}
	paths := fetchAll(t, c, s, "data/*.parquet")
	for i, path := range paths {
		want := filepath.Join(c.Cache, "datasets--owner--some-data", "snapshots", h.Commit, "data", fmt.Sprintf("test-%05d-of-00002.parquet", i))
		if path != want {
			t.Errorf("got %s, want %s", path, want)
		}
		target, err := os.Readlink(path)
		if err != nil || !strings.HasPrefix(target, filepath.Join("..", "..", "..", "blobs")) {
			t.Errorf("%s is a link to %s, %v", path, target, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(c.dir(s.Repo), "refs", "main")); err != nil || string(b) != h.Commit {
		t.Errorf("refs/main: %s, %v", b, err)
	}
	before := h.Requests()
	fetchAll(t, c, s, "data/*.parquet")
	if h.Requests() != before {
		t.Error("files that are there are fetched again")
	}
	fetchAll(t, c, s, "README.md") // a small file, known by git's checksum
}

func TestPinnedRevisionIsNotResolved(t *testing.T) {
	h := small(t)
	c := client(t, h)
	s := snapshot(t, c, Repo{ID: dataset, Revision: h.Commit})
	if s.Commit != h.Commit || h.Requests() != 1 {
		t.Errorf("got commit %s after %d requests", s.Commit, h.Requests())
	}
}

func TestWhatTheCacheHasIsSeen(t *testing.T) {
	h := small(t)
	c := client(t, h)
	s := snapshot(t, c, Repo{ID: dataset})
	f := s.Files[1]
	if _, missing := c.Have(s, f); missing != 300_000 {
		t.Errorf("missing %d", missing)
	}
	if err := os.MkdirAll(filepath.Join(c.dir(s.Repo), "blobs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.blob(s, f)+incomplete, bytes.Repeat([]byte("a"), 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, missing := c.Have(s, f); missing != 299_000 {
		t.Errorf("missing %d", missing)
	}
	if _, err := c.Fetch(t.Context(), s, f); err != nil {
		t.Fatal(err)
	}
	if _, missing := c.Have(s, f); missing != 0 {
		t.Errorf("missing %d", missing)
	}
}

func TestOfflineTakesWhatIsThereAndNothingElse(t *testing.T) {
	h := small(t)
	c := client(t, h)
	s := snapshot(t, c, Repo{ID: dataset})
	fetchAll(t, c, s, "data/test-00000*")
	c.Offline = true
	before := h.Requests()
	for _, r := range []Repo{{ID: dataset}, {ID: dataset, Revision: h.Commit}} {
		s := snapshot(t, c, r)
		fetchAll(t, c, s, "data/test-00000*")
		_, err := s.Match("data/test-00001*")
		wantError(t, err, "HF_HUB_OFFLINE is set", "data/test-00001*")
	}
	_, err := c.Fetch(t.Context(), s, s.Files[2])
	wantError(t, err, "HF_HUB_OFFLINE is set", "test-00001")
	_, err = c.Snapshot(t.Context(), Repo{ID: "owner/other"})
	wantError(t, err, "HF_HUB_OFFLINE is set", "owner/other")
	_, err = c.Snapshot(t.Context(), Repo{ID: dataset, Revision: strings.Repeat("9", 40)})
	wantError(t, err, "has nothing of dataset")
	if h.Requests() != before {
		t.Error("asked over the network all the same")
	}
}

func TestTokensGoToTheHubAlone(t *testing.T) {
	h := small(t)
	h.Token = "hf_secret"
	c := client(t, h)
	_, err := c.Snapshot(t.Context(), Repo{ID: dataset})
	wantError(t, err, "set HF_TOKEN", "/datasets/owner/some-data", "status 401")
	c.Token = "hf_wrong"
	_, err = c.Snapshot(t.Context(), Repo{ID: dataset})
	wantError(t, err, "use another token")
	if strings.Contains(err.Error(), "hf_wrong") {
		t.Errorf("the token is in the message: %v", err)
	}

	other := hubtest.New(t) // a content server on another port, which must not see the token
	leaked := false
	other.Trouble = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		leaked = leaked || r.Header.Get("Authorization") != ""
		fmt.Fprint(w, strings.Repeat("b", 1000))
		return true
	}
	c.Token = "hf_secret"
	h.Trouble = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/resolve/") {
			return false
		}
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/blob", http.StatusFound)
		return true
	}
	fetchAll(t, c, snapshot(t, c, Repo{ID: dataset}), "data/test-00001*")
	if leaked {
		t.Error("another server saw the token")
	}
}

func TestWrongChecksumGetsNoName(t *testing.T) {
	h := small(t)
	h.Trouble = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/resolve/") {
			fmt.Fprint(w, strings.Repeat("x", 1000))
			return true
		}
		return false
	}
	c := client(t, h)
	s := snapshot(t, c, Repo{ID: dataset})
	_, err := c.Fetch(t.Context(), s, s.Files[2])
	wantError(t, err, "wrong content", "test-00001")
	if found, _ := filepath.Glob(filepath.Join(c.dir(s.Repo), "*", "*", "*")); len(found) > 0 {
		t.Errorf("left behind: %v", found)
	}
}

func TestMissingThings(t *testing.T) {
	h := small(t)
	c := client(t, h)
	for _, r := range []Repo{{ID: "owner/none"}, {ID: dataset, Revision: "v9"}} {
		_, err := c.Snapshot(t.Context(), r)
		wantError(t, err, "no dataset, revision or file", r.ID)
	}
	for _, id := range []string{"", "owner", "a/b/c", "../x", "a/..", "a b/c"} {
		_, err := c.Snapshot(t.Context(), Repo{ID: id})
		wantError(t, err, "want owner/name")
	}
	_, err := c.Snapshot(t.Context(), Repo{ID: dataset, Revision: "../main"})
	wantError(t, err, "is no commit, tag or branch")
	s := snapshot(t, c, Repo{ID: dataset})
	_, err = s.Match("data/*.csv")
	wantError(t, err, "has no file data/*.csv")
	_, err = s.Match("[")
	wantError(t, err, "pattern")
}

func TestHostileListingsAreRefused(t *testing.T) {
	for want, listing := range map[string]string{
		"unsafe path":       `[{"type": "file", "path": "../../.bashrc", "oid": "0123456789abcdef0123456789abcdef01234567"}]`,
		"no checksum for a": `[{"type": "file", "path": "a", "oid": "../../x"}]`,
		"not the JSON":      `{}`,
	} {
		h := small(t)
		h.Trouble = func(_ int, w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, listing); return true }
		_, err := client(t, h).Snapshot(t.Context(), Repo{ID: dataset, Revision: h.Commit})
		wantError(t, err, want)
	}
	h := small(t)
	h.Trouble = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Link", `<https://elsewhere.example/api>; rel="next"`)
		fmt.Fprint(w, "[]")
		return true
	}
	_, err := client(t, h).Snapshot(t.Context(), Repo{ID: dataset, Revision: h.Commit})
	wantError(t, err, "another server, elsewhere.example")
}

func TestTwoProcessesDoNotFetchOneContent(t *testing.T) {
	h := small(t)
	c := client(t, h)
	s := snapshot(t, c, Repo{ID: dataset})
	l, err := c.lock(s, s.Files[1])
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Fetch(t.Context(), s, s.Files[1])
	wantError(t, err, "is being fetched by process", lockfile.Owner{PID: os.Getpid()}.String()[:10])
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Fetch(t.Context(), s, s.Files[1]); err != nil {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	for _, name := range []string{"HF_ENDPOINT", "HF_TOKEN", "HF_HUB_OFFLINE", "HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", "/home/u")
	for _, c := range []struct{ name, value, cache string }{
		{"HOME", "/home/u", "/home/u/.cache/huggingface/hub"},
		{"XDG_CACHE_HOME", "/x", "/x/huggingface/hub"},
		{"HF_HOME", "/hf", "/hf/hub"},
		{"HF_HUB_CACHE", "/elsewhere", "/elsewhere"},
	} {
		t.Setenv(c.name, c.value)
		got, err := FromEnvironment()
		if err != nil || got.Cache != c.cache || got.Endpoint != DefaultEndpoint || got.Offline {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
	t.Setenv("HF_ENDPOINT", "http://mirror.example/")
	t.Setenv("HF_HUB_OFFLINE", "1")
	t.Setenv("HF_TOKEN", " hf_x\n")
	got, err := FromEnvironment()
	if err != nil || got.Endpoint != "http://mirror.example" || !got.Offline || got.Token != "hf_x" {
		t.Errorf("got %+v, %v", got, err)
	}
	t.Setenv("HF_ENDPOINT", "mirror")
	_, err = FromEnvironment()
	wantError(t, err, "HF_ENDPOINT")
}

func FuzzListing(f *testing.F) {
	f.Add([]byte(`{"type": "file", "path": "data/a.parquet", "oid": "0123456789abcdef0123456789abcdef01234567", "size": 7}`), `<https://huggingface.co/x>; rel="next"`)
	f.Add([]byte(`{"path": "../x", "lfs": {"oid": "sha256:zz", "size": -1}}`), `<//evil/x>; rel=next`)
	c := &Client{Endpoint: "https://huggingface.co", Cache: "/cache"}
	f.Fuzz(func(t *testing.T, b []byte, link string) {
		if next, err := c.follow(link); err == nil && next != "" {
			if u, err := url.Parse(next); err != nil || u.Scheme != "https" || u.Host != "huggingface.co" {
				t.Errorf("%q leads to %s", link, next)
			}
		}
		var e entry
		if json.Unmarshal(b, &e) != nil {
			return
		}
		file, err := e.file()
		if err != nil {
			return
		}
		s := Snapshot{Repo: Repo{ID: "a/b"}, Commit: "c"}
		for _, path := range []string{c.path(s, file), c.blob(s, file)} {
			if !fs.ValidPath(strings.TrimPrefix(filepath.ToSlash(path), "/")) || !strings.HasPrefix(path, "/cache/datasets--a--b/") {
				t.Errorf("%s goes to %s", b, path)
			}
		}
	})
}
