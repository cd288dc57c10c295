package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/lockfile"
)

// killedEnv tells the test binary to build an index instead of running tests, until it is
// killed.
const killedEnv = "GOSERINI_TEST_BUILD_INTO"

// killedPassagesEnv, if set, lets that index hold passages.
const killedPassagesEnv = "GOSERINI_TEST_BUILD_PASSAGES"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedEnv); dir != "" {
		_, err := Build(context.Background(), dir, corpus.FromDocuments(tiny(60_000)), BuildOptions{Memory: minMemory, Passages: os.Getenv(killedPassagesEnv) != ""})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestKilledBuildsLeaveTheOldIndexAndNoLitter(t *testing.T) { // COR-32
	dir := filepath.Join(t.TempDir(), "index")
	kill := func(after time.Duration, passages bool) {
		t.Helper()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedEnv+"="+dir)
		if passages {
			cmd.Env = append(cmd.Env, killedPassagesEnv+"=1")
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	r := rand.New(rand.NewPCG(32, uint64(time.Now().UnixNano())))
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	old := texts("zinc onyx")
	for round := range rounds {
		kill(time.Duration(r.IntN(400))*time.Millisecond, round%2 == 1)
		ix, err := Open(dir)
		switch {
		case err == nil:
			if n := ix.Stats().Documents; n != 60_000 && (n != 1 || round == 0) {
				t.Errorf("round %d: an index of %d documents", round, n)
			}
			if err := ix.Verify(context.Background()); err != nil {
				t.Errorf("round %d: %v", round, err)
			}
			ix.Close()
		case round == 0 && (errors.Is(err, ErrNoIndex) || errors.Is(err, ErrIncomplete) || errors.Is(err, ErrNotIndex)):
		default:
			t.Errorf("round %d: %v", round, err)
		}
		if _, err := Build(context.Background(), dir, corpus.FromDocuments(old), BuildOptions{}); err != nil {
			t.Fatalf("round %d: the next build fails: %v", round, err)
		}
		checkOnly(t, dir, FileName, lockName)
	}
	fresh := t.TempDir()
	for _, d := range []string{dir, fresh} {
		if _, err := Build(context.Background(), d, corpus.FromDocuments(tiny(2000)), BuildOptions{Passages: true}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(readIndex(t, dir), readIndex(t, fresh)) {
		t.Error("an index built after kills has other bytes than a fresh one")
	}
}

// checkOnly makes sure that a directory holds those files and no others.
func checkOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range entries {
		got[e.Name()] = true
	}
	for _, name := range names {
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("%s also holds %v", dir, got)
	}
}

func readIndex(t testing.TB, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBytesDoNotDependOnWorkersOrMemory(t *testing.T) {
	docs := randomDocs(rand.New(rand.NewPCG(4, 0)), 3000, 30_000, 300)
	var first []byte
	builds := []BuildOptions{{Workers: 1}, {Workers: 8, Memory: minMemory}, {}, {Workers: 3, Memory: 1 << 30}}
	if testing.Short() {
		builds = builds[:2]
	}
	for _, opts := range builds {
		dir := t.TempDir()
		if _, err := Build(context.Background(), dir, corpus.FromDocuments(docs), opts); err != nil {
			t.Fatal(err)
		}
		b := readIndex(t, dir)
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Errorf("%+v gives other bytes", opts)
		}
	}
}

func TestASecondBuildOfADirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	lock, err := lockfile.Acquire(filepath.Join(dir, lockName), "someone else")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Build(context.Background(), dir, corpus.FromDocuments(texts("a1")), BuildOptions{})
	var held *lockfile.HeldError
	if !errors.As(err, &held) || !strings.Contains(err.Error(), "someone else") || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("got %v, want an error that names the owner", err)
	}
	lock.Release()
	if _, err := Build(context.Background(), dir, corpus.FromDocuments(texts("a1")), BuildOptions{}); err != nil {
		t.Errorf("after the release: %v", err)
	}
}

func TestBuildRefusesWhatIsNoIndex(t *testing.T) {
	docs := func() *corpus.Reader { return corpus.FromDocuments(texts("a1")) }
	write := func(path, text string) string {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	full, impostor := t.TempDir(), t.TempDir()
	write(filepath.Join(full, "thesis.tex"), "years of work")
	write(filepath.Join(impostor, FileName), "something else")
	for _, dir := range []string{full, impostor, write(filepath.Join(t.TempDir(), "file"), "x")} {
		if _, err := Build(context.Background(), dir, docs(), BuildOptions{}); !errors.Is(err, ErrNotIndex) {
			t.Errorf("%s: got %v, want %v", dir, err, ErrNotIndex)
		}
	}
	checkOnly(t, full, "thesis.tex")
}

func TestEmptySourceBuildsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	if _, err := Build(context.Background(), dir, corpus.FromDocuments([]corpus.Document{}), BuildOptions{}); !errors.Is(err, ErrNoDocuments) {
		t.Errorf("got %v, want %v", err, ErrNoDocuments)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made: %v", err)
	}
}

func TestAFailedBuildKeepsTheOldIndex(t *testing.T) {
	dir := t.TempDir()
	if _, err := Build(context.Background(), dir, corpus.FromDocuments(texts("old text")), BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	twice := append(tiny(3000), corpus.Document{DocID: "n7", Text: "again"})
	_, err := Build(context.Background(), dir, corpus.FromDocuments(twice), BuildOptions{})
	var dup *DuplicateError
	if !errors.As(err, &dup) || dup.DocID != "n7" || dup.First == dup.Second {
		t.Errorf("got %v, want the duplicate n7", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Build(ctx, dir, corpus.FromDocuments(tiny(3000)), BuildOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	checkOnly(t, dir, FileName, lockName)
	if n := openDir(t, dir).Stats().Documents; n != 1 {
		t.Errorf("the index has %d documents, want the old one", n)
	}
}

func TestDuplicatesAreKeptByPolicy(t *testing.T) {
	docs := tiny(2500)
	docs[10].DocID, docs[2000].DocID, docs[2400].DocID = "same", "same", "same"
	docs[10].Text, docs[2000].Text, docs[2400].Text = "first zinc\nx", "second zinc\n\n", "third zinc"
	for policy, want := range map[DuplicatePolicy]string{KeepFirst: "first zinc\nx", KeepLast: "third zinc"} {
		ix := buildDocs(t, docs, BuildOptions{Duplicates: policy})
		if s := ix.Stats(); s.Documents != 2498 || s.DuplicatesDropped != 2 {
			t.Errorf("%s: %d documents, %d dropped", policy, s.Documents, s.DuplicatesDropped)
		}
		hits := search(t, ix, "zinc", bm25.Anserini, 10).Hits
		if len(hits) != 1 || hits[0].DocID != "same" {
			t.Fatalf("%s: got %v", policy, hits)
		}
		if got, err := ix.Contents(hits[0].Ordinal); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", policy, got, err, want)
		}
		checkStored(t, ix, docs, map[string]string{"same": want})
	}
	if _, err := Build(context.Background(), t.TempDir(), corpus.FromDocuments(docs), BuildOptions{Duplicates: "middle"}); err == nil {
		t.Error("an unknown policy is accepted")
	}
}

// checkStored compares all stored documents with their source, or with other texts.
func checkStored(t *testing.T, ix *Index, docs []corpus.Document, other map[string]string) {
	t.Helper()
	for _, d := range docs {
		want := d.Contents()
		if o, ok := other[d.DocID]; ok {
			want = o
		}
		ord, ok := ix.Lookup(d.DocID)
		if !ok {
			t.Fatalf("%s is missing", d.DocID)
		}
		if got, err := ix.Contents(ord); err != nil || got != want {
			t.Fatalf("contents of %s are %q, %v, want %q", d.DocID, got, err, want)
		}
		lines, err := ix.Lines(ord, 1, 1<<30)
		if err != nil || strings.Join(lines, "\n") != want {
			t.Fatalf("lines of %s are %q, %v, want %q", d.DocID, lines, err, want)
		}
	}
}

func TestOpenSaysWhatIsWrongAndWhatHelps(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	good := buildDocs(t, texts("zinc onyx", "tulip"), BuildOptions{})
	raw := readIndex(t, good.dir)
	put := func(name string, b []byte) string {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at(name), FileName), b, 0o644); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	other := bytes.Clone(raw)
	other[8] = 99
	flipped := bytes.Clone(raw)
	flipped[len(flipped)-tailBytes-3] ^= 1
	if err := os.WriteFile(at("file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"empty", "killed"} {
		if err := os.Mkdir(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(at("killed"), lockName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir  string
		kind error
		says string
	}{
		{at("absent"), ErrNoIndex, "goserini index"},
		{at("file"), ErrNotIndex, "it is a file"},
		{at("empty"), ErrNotIndex, "goserini index"},
		{at("killed"), ErrIncomplete, "goserini index"},
		{put("other", other), ErrVersion, "version 99, this program reads 1"},
		{put("text", []byte("a text that is long enough to be read")), ErrNotIndex, "goserini index"},
		{put("short", []byte("x")), ErrNotIndex, "goserini index"},
		{put("cut", raw[:len(raw)-1]), ErrCorrupt, "goserini index"},
		{put("longer", append(bytes.Clone(raw), 0)), ErrCorrupt, "goserini index"},
		{put("head", raw[:20]), ErrCorrupt, "goserini index"},
		{put("flipped", flipped), ErrCorrupt, "footer"},
	} {
		_, err := Open(test.dir)
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), test.dir) {
			t.Errorf("%s: got %v, want %v that says %q", test.dir, err, test.kind, test.says)
		}
	}
}

// answers is all that an index says, for comparison.
func answers(ix *Index) (string, error) {
	var b strings.Builder
	for _, q := range []string{"w0 w1 w2 w7 w7", "w3", "w40 w100 w300 absent"} {
		r, err := ix.Search(context.Background(), Query{Text: q, Params: bm25.Anserini, Depth: 20})
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, r)
		for _, h := range r.Hits {
			m, err := ix.Meta(h.Ordinal)
			if err != nil {
				return "", err
			}
			lines, err := ix.Lines(h.Ordinal, 2, 2)
			if err != nil {
				return "", err
			}
			e, err := ix.Explain(Query{Text: q, Params: bm25.Anserini}, h.Ordinal)
			if err != nil {
				return "", err
			}
			fmt.Fprintln(&b, m, lines, e)
		}
	}
	return b.String(), nil
}

func TestAFlippedByteIsFound(t *testing.T) {
	docs := randomDocs(rand.New(rand.NewPCG(5, 0)), 400, 200, 90)
	good := buildDocs(t, docs, BuildOptions{})
	want, err := answers(good)
	if err != nil {
		t.Fatal(err)
	}
	raw := readIndex(t, good.dir)
	step := 997
	if testing.Short() {
		step = 9973
	}
	dir := t.TempDir()
	for at := 0; at < len(raw); at++ {
		// All of the parts that say where things are, a sample of the rest.
		if at >= headerBytes && at < len(raw)-600 && at%step != 0 {
			continue
		}
		checkFlipped(t, dir, raw, at, want, answers)
	}
}

// checkFlipped flips a bit of a byte and makes sure that the index then gives the answers
// wanted or an error, and that Verify finds it.
func checkFlipped(t *testing.T, dir string, raw []byte, at int, want string, answers func(*Index) (string, error)) {
	t.Helper()
	mutated := bytes.Clone(raw)
	mutated[at] ^= 1 << (at % 8)
	if err := os.WriteFile(filepath.Join(dir, FileName), mutated, 0o644); err != nil {
		t.Fatal(err)
	}
	ix, err := Open(dir)
	if err != nil {
		return
	}
	defer ix.Close()
	if got, err := answers(ix); err == nil && got != want {
		t.Errorf("byte %d flipped: other answers, no error", at)
	}
	if err := ix.Verify(context.Background()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("byte %d flipped: Verify says %v", at, err)
	}
}

func TestACutFileIsRefused(t *testing.T) {
	good := buildDocs(t, randomDocs(rand.New(rand.NewPCG(6, 0)), 50, 50, 50), BuildOptions{})
	raw := readIndex(t, good.dir)
	dir := t.TempDir()
	for n := 0; n < len(raw); n += 1 + n/40 {
		if err := os.WriteFile(filepath.Join(dir, FileName), raw[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if ix, err := Open(dir); err == nil {
			ix.Close()
			t.Errorf("a file cut to %d of %d bytes opens", n, len(raw))
		}
	}
}

// reseal makes the checksums of a file fit its bytes again, as far as the places of the
// sections still make sense.
func reseal(raw []byte) []byte {
	if len(raw) < headerBytes+tailBytes {
		return raw
	}
	tail := raw[len(raw)-tailBytes:]
	offset, length, _, ok := parseTail(tail, int64(len(raw)))
	if !ok {
		return raw
	}
	text := raw[offset : offset+int64(length)]
	foot, err := parseFooter(text, offset, xxh3.Hash(text))
	if err != nil {
		return raw
	}
	w := newFileWriter(io.Discard)
	out := &bytes.Buffer{}
	w.w = out
	ids := sectionsOf(foot.Stats.Passages != nil)
	for i, s := range foot.Sections[:len(ids)-1] {
		from := s.Offset
		if i == 0 {
			from = 0
		}
		if _, err := w.Write(raw[from : s.Offset+s.Length]); err != nil {
			return raw
		}
		if w.end(ids[i]) != nil {
			return raw
		}
	}
	if w.finish(foot) != nil {
		return raw
	}
	return out.Bytes()
}

// FuzzOpen changes bytes of a valid index and makes its checksums fit again, so that the
// readers behind them are reached: whatever the bytes are, there must be answers or
// errors, never a panic.
func FuzzOpen(f *testing.F) {
	r := rand.New(rand.NewPCG(8, 0))
	dir := f.TempDir()
	docs := append(randomDocs(r, 150, 60, 90), corpus.Document{DocID: "long", Title: "T", Text: strings.Repeat("w1 w2 w3\n", 400)})
	if _, err := Build(context.Background(), dir, corpus.FromDocuments(docs), BuildOptions{}); err != nil {
		f.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(100), []byte{0xFF}, uint32(0), false)
	f.Add(uint32(len(raw)-40), []byte{1, 2, 3}, uint32(2), true)
	f.Add(uint32(len(raw)/2), []byte{0, 0, 0, 0, 0, 0, 0, 0}, uint32(len(raw)/3), true)
	f.Fuzz(func(t *testing.T, at uint32, change []byte, other uint32, seal bool) {
		mutated := bytes.Clone(raw)
		for i, c := range change {
			mutated[(int(at)+i)%len(raw)] ^= c
			mutated[(int(other)+i)%len(raw)] ^= c >> 1
		}
		if seal {
			mutated = reseal(mutated)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), mutated, 0o644); err != nil {
			t.Fatal(err)
		}
		ix, err := Open(dir)
		if err != nil {
			return
		}
		defer ix.Close()
		_, _ = answers(ix)
		_ = ix.Verify(context.Background())
		ix.Lookup("id7")
		ix.Lookup("long")
	})
}

func TestResealedBytesOpenAgain(t *testing.T) {
	ix := buildDocs(t, randomDocs(rand.New(rand.NewPCG(9, 0)), 30, 20, 20), BuildOptions{})
	raw := readIndex(t, ix.dir)
	if got := reseal(bytes.Clone(raw)); !bytes.Equal(got, raw) {
		t.Error("sealing an index again changes it")
	}
}

func TestManySearchesAtATime(t *testing.T) {
	docs := randomDocs(rand.New(rand.NewPCG(10, 0)), 20_000, 500, 8)
	ix := buildDocs(t, docs, BuildOptions{})
	queries := []string{"w1 w2 w3", "w7", "w0 w0 w9 w50", "w499 w498", "absent"}
	var want []Ranking
	for _, q := range queries {
		want = append(want, search(t, ix, q, bm25.Paper, 100))
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 30 {
				j := (worker + i) % len(queries)
				got, err := ix.Search(context.Background(), Query{Text: queries[j], Params: bm25.Paper, Depth: 100})
				if err != nil {
					t.Error(err)
					return
				}
				if diff := diffHits(got.Hits, want[j].Hits); diff != "" {
					t.Errorf("%q: %s", queries[j], diff)
				}
			}
		})
	}
	wg.Wait()
}

func TestSearchEndsWhenItsContextDoes(t *testing.T) {
	ix := buildDocs(t, texts("zinc"), BuildOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ix.Search(ctx, Query{Text: "zinc", Params: bm25.Anserini, Depth: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
