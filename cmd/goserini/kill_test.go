package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/lockfile"
)

// program is this test binary under the program's name, so that it can be started and killed.
func program(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "goserini")
	if err := os.Symlink(exe, path); err != nil {
		t.Skip(err)
	}
	return path
}

// fifty is a benchmark of fifty questions, and a model that takes a few turns for each.
func fifty(t *testing.T) (benchmark, script string) {
	t.Helper()
	dir := t.TempDir()
	var corpus, queries, answers, qrels strings.Builder
	for i := range 50 {
		fmt.Fprintf(&corpus, `{"id": "d%d", "title": "Harbour %d", "text": "The harbour number %d was surveyed by person %d."}`+"\n", i, i, i, i)
		fmt.Fprintf(&queries, "q%02d\tWho surveyed harbour number %d?\n", i, i)
		fmt.Fprintf(&answers, `{"query_id": "q%02d", "answer": "person 7"}`+"\n", i)
		fmt.Fprintf(&qrels, "q%02d 0 d%d 1\n", i, i)
	}
	turns := `{"version": 1, "turns": [
		{"delay_ms": 30, "calls": [{"name": "search", "arguments": {"reason": "r", "query": "harbour surveyed"}}], "usage": {"input_tokens": 100, "output_tokens": 10}},
		{"delay_ms": 30, "calls": [{"name": "read_document", "arguments": {"reason": "r", "docid": "d7"}}, {"name": "read_document", "arguments": {"reason": "r", "docid": "none"}}], "usage": {"input_tokens": 200, "output_tokens": 10}},
		{"delay_ms": 30, "text": "Explanation: [d7]\nExact Answer: person 7\nConfidence: 70%", "usage": {"input_tokens": 300, "output_tokens": 10}}]}`
	for name, text := range map[string]string{"corpus.jsonl": corpus.String(), "queries.tsv": queries.String(), "answers.jsonl": answers.String(), "qrels.txt": qrels.String(), "model.json": turns} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "model.json")
}

// isTime tells the keys whose values differ from run to run.
func isTime(key string) bool {
	switch key {
	case "started_at", "ended_at", "elapsed_seconds", "time", "sessions":
		return true
	}
	return strings.HasSuffix(key, "_ms")
}

func withoutTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			if isTime(key) {
				delete(v, key)
				continue
			}
			v[key] = withoutTimes(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withoutTimes(v[i])
		}
	}
	return v
}

// artefacts reads everything in a run directory but times and what interrupted sessions left.
func artefacts(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "interrupted" {
			return filepath.SkipDir
		}
		if d.IsDir() || d.Name() == ".lock" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		var clean bytes.Buffer
		dec := json.NewDecoder(bytes.NewReader(b))
		for dec.More() {
			var v any
			if err := dec.Decode(&v); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			line, err := json.Marshal(withoutTimes(v))
			if err != nil {
				return err
			}
			clean.Write(append(line, '\n'))
		}
		out[rel] = clean.String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTwentyKillsLoseNothing(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("starts and kills some twenty processes")
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
	exe := program(t)
	bench, script := fifty(t)
	tmp := t.TempDir()
	args := func(dir string) []string {
		return []string{"run", "--benchmark", bench, "--model", "script/" + script, "--concurrency", "3", "--out", dir}
	}
	settle := func(dir string) map[string]string {
		must(t, args(dir)...)
		must(t, "judge", dir)
		must(t, "eval", dir)
		return artefacts(t, dir)
	}
	want := settle(filepath.Join(tmp, "whole", "run"))
	if n := strings.Count(want["results.jsonl"], "\n"); n != 50 {
		t.Fatalf("the uninterrupted run has %d results", n)
	}

	seed := uint64(time.Now().UnixNano())
	draw := rand.New(rand.NewPCG(seed, 1))
	kills := 0
	for round := 0; kills < 20; round++ {
		dir := filepath.Join(tmp, fmt.Sprint("killed", round), "run")
		for kills < 20 && killOnce(t, exec.Command(exe, args(dir)...), dir, time.Duration(draw.IntN(160))*time.Millisecond) {
			kills++
		}
		got := settle(dir)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d, round %d, after %d kills (-uninterrupted +killed):\n%s", seed, round, kills, d)
		}
	}
}

// killOnce starts the program, kills it some time after it has begun to work on the directory, and
// reports whether it still ran then.
func killOnce(t *testing.T, cmd *exec.Cmd, dir string, after time.Duration) bool {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for began := false; !began; {
		select {
		case <-ended:
			return false
		case <-time.After(2 * time.Millisecond):
		}
		owner, held, err := lockfile.ReadOwner(filepath.Join(dir, ".lock"))
		began = err == nil && held && owner.PID == cmd.Process.Pid
	}
	select {
	case <-ended:
		return false
	case <-time.After(after):
	}
	if err := cmd.Process.Kill(); err != nil {
		<-ended
		return false
	}
	if err := <-ended; err == nil || cmd.ProcessState.Exited() {
		if code := cmd.ProcessState.ExitCode(); code != exitDone {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		return false
	}
	return true
}
