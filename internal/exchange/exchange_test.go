package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/browsecompplus"
	"goserini/internal/experiment"
	"goserini/internal/trajectory"
)

// one is a run file as the official clients write it.
const one = `{
  "metadata": {
    "model": "vendor/model"
  },
  "query_id": "25",
  "tool_call_counts": {
    "get_document": 1,
    "search": 2
  },
  "usage": {
    "input_tokens": 100,
    "input_tokens_cached": 60,
    "output_tokens": 20,
    "included_reasoning_tokens": 5,
    "total_tokens": 120
  },
  "status": "completed",
  "retrieved_docids": [
    "8",
    "7"
  ],
  "result": [
    {
      "type": "reasoning",
      "tool_name": null,
      "arguments": null,
      "output": [
        "First I search <there>."
      ]
    },
    {
      "type": "tool_call",
      "tool_name": "search",
      "arguments": "{\"query\": \"quokka & co\"}",
      "output": "[{\"docid\": \"7\", \"score\": 1.5}, {\"docid\": \"8\"}]"
    },
    {
      "type": "output_text",
      "tool_name": null,
      "arguments": null,
      "output": "Let me read."
    },
    {
      "type": "tool_call",
      "tool_name": "get_document",
      "arguments": "{\"docid\":\"7\"}",
      "output": "the text"
    },
    {
      "type": "tool_call",
      "tool_name": "search",
      "arguments": "not JSON",
      "output": null
    },
    {
      "type": "output_text",
      "tool_name": null,
      "arguments": null,
      "output": "Explanation: it is in [7] and [9].\nExact Answer: the quokka\nConfidence: 80%"
    }
  ]
}
`

// two did not end with an answer.
const two = `{
  "metadata": {
    "model": "vendor/model"
  },
  "query_id": "30",
  "tool_call_counts": {},
  "status": "incomplete",
  "retrieved_docids": [],
  "result": []
}
`

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// imported reads a run into a new run directory.
func imported(t *testing.T, path string, opts Options) (string, Run) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	b, err := experiment.Build(dir, experiment.Manifest{Name: "imported", Spec: experiment.Spec{Questions: 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	run, err := Read(path, opts, func(a Answered) error { return b.Add(a.Record, a.Events) })
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	return dir, run
}

func records(t *testing.T, dir string) map[string]trajectory.Record {
	t.Helper()
	list, err := experiment.ReadResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]trajectory.Record{}
	for _, r := range list {
		out[r.QueryID] = r
	}
	return out
}

func exported(t *testing.T, dir string, opts OfficialOptions) map[string]string {
	t.Helper()
	out := t.TempDir()
	n, err := WriteOfficial(out, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	paths, _ := filepath.Glob(filepath.Join(out, "run_*.json"))
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(p)] = string(b)
	}
	if len(files) != n {
		t.Errorf("%d files for %d queries", len(files), n)
	}
	return files
}

func TestOfficialRunComesBackByteForByte(t *testing.T) {
	path := write(t, map[string]string{"run_a.json": one, "run_b.json": two, "evaluation_summary.json": "{}", "run_a_eval.json": "{}", "notes.txt": "x"})
	dir, run := imported(t, path, Options{Question: func(id string) string { return "question " + id }})
	if run.Format != BrowseCompPlus || run.Model != "vendor/model" || len(run.Notes) == 0 {
		t.Errorf("got %+v", run)
	}
	got := exported(t, dir, OfficialOptions{Retrieved: Previewed})
	if d := cmp.Diff(map[string]string{"run_25.json": one, "run_30.json": two}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	again, _ := imported(t, write(t, got), Options{Question: func(id string) string { return "question " + id }})
	if d := cmp.Diff(records(t, dir), records(t, again)); d != "" {
		t.Errorf("a second time (-first +second):\n%s", d)
	}
}

func TestAnExportThatFailsLeavesNoFolder(t *testing.T) {
	dir, _ := imported(t, write(t, map[string]string{"a.json": one, "b.json": strings.Replace(one, `"25"`, `"26"`, 1)}), Options{})
	if err := os.Remove(filepath.Join(dir, "trajectories", "26.jsonl")); err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	if _, err := WriteOfficial(filepath.Join(parent, "out"), dir, OfficialOptions{Retrieved: Previewed}); err == nil {
		t.Error("a run without a trajectory is exported")
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestOfficialRunAsARecord(t *testing.T) {
	dir, _ := imported(t, write(t, map[string]string{"a.json": one, "b.json": two}), Options{Question: func(id string) string { return "question " + id }})
	r := records(t, dir)
	rec := r["25"]
	if rec.Status != trajectory.Completed || rec.Question != "question 25" || rec.Answer.Exact != "the quokka" || *rec.Answer.Confidence != 80 {
		t.Errorf("got %+v", rec)
	}
	for what, c := range map[string][2]string{
		"surfaced":  {fmt.Sprint(rec.Surfaced), "[8 7]"},
		"previewed": {fmt.Sprint(rec.Previewed), "[8 7]"},
		"opened":    {fmt.Sprint(rec.Opened), "[7]"},
		"cited":     {fmt.Sprint(rec.Cited), "[7 9]"},
		"ranks":     {fmt.Sprint(rec.BestRank), "map[7:1 8:2]"},
		"usage":     {fmt.Sprint(rec.Usage), fmt.Sprint(trajectory.Usage{Input: 40, CacheRead: 60, Output: 20, Reasoning: 5})},
		"calls":     {fmt.Sprint(rec.ToolCallCounts, rec.ExecutedCalls, rec.ToolErrors), "map[get_document:1 search:2] 3 1"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: got %s, want %s", what, c[0], c[1])
		}
	}
	if c := rec.Answer.Citations; len(c) != 2 || c[0].Access != "opened" || c[1].Access != "never" {
		t.Errorf("got citations %+v", c)
	}
	if rec := r["30"]; rec.Status != trajectory.Failed || rec.Reason != "incomplete" || rec.Answer.Text != "" {
		t.Errorf("got %+v", rec)
	}
}

func TestReferenceRunsAreDecipheredAndEnciphered(t *testing.T) {
	key := browsecompplus.NewKey("test-canary")
	plain, _ := imported(t, write(t, map[string]string{"a.json": one}), Options{})
	secret := exported(t, plain, OfficialOptions{Retrieved: Previewed, Key: &key})["run_25.json"]
	if strings.Contains(secret, "quokka\"") || strings.Contains(secret, "First I search") || !strings.Contains(secret, `"query_id": "25"`) {
		t.Errorf("not enciphered: %s", secret)
	}
	// The published ones are lines of one file.
	var line bytes.Buffer
	if err := json.Compact(&line, []byte(secret)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(write(t, map[string]string{"gpt5.jsonl": line.String() + "\n"}), "gpt5.jsonl")
	dir, run := imported(t, path, Options{Key: &key})
	if d := cmp.Diff(records(t, plain), records(t, dir)); d != "" {
		t.Errorf("(-plain +deciphered):\n%s", d)
	}
	if !strings.Contains(fmt.Sprint(run.Notes), "outputs were deciphered") {
		t.Errorf("got notes %v", run.Notes)
	}
	other := browsecompplus.NewKey("another")
	for _, key := range []*browsecompplus.Key{nil, &other} {
		_, err := Read(path, Options{Key: key}, func(Answered) error { return nil })
		if !errors.Is(err, ErrEnciphered) || errors.Is(err, browsecompplus.ErrWrongCanary) != (key != nil) {
			t.Errorf("with key %v: got %v", key != nil, err)
		}
	}
	if dir, _ := imported(t, write(t, map[string]string{"a.json": one}), Options{Key: &key}); records(t, dir)["25"].Answer.Exact != "the quokka" {
		t.Error("a plain run was deciphered all the same")
	}
}

const referenceRun = `{
  "metadata": {"benchmark_id": "browsecomp-plus", "query_set_id": "q9", "model": "openai/gpt", "output_dir": "/x", "query": "Which marsupial?", "prompt_variant": "plain_minimal"},
  "query_id": "25",
  "tool_call_counts": {"search": 1, "read_search_results": 1, "read_document": 1},
  "status": "completed", "completion_source": "assistant_text",
  "surfaced_docids": ["7", "8", "9"], "previewed_docids": ["7", "8"], "agent_docids": ["8", "7"], "opened_docids": ["8"], "cited_docids": ["7"],
  "stats": {"elapsed_seconds": 12.5, "assistant_turns": 4, "tool_calls_total": 3, "pi_search_failures": 1, "timed_out": false},
  "result": [
    {"type": "tool_call", "tool_name": "search", "arguments": {"reason": "r", "query": "q"}, "output": "Ranking s1"},
    {"type": "tool_call", "tool_name": "read_document", "arguments": {"reason": "r", "docid": 8}, "output": "1 text"},
    {"type": "output_text", "tool_name": null, "arguments": null, "output": "Exact Answer: quokka [7]\nConfidence: 70"}
  ]
}`

const referenceTimeout = `{"metadata": {"model": "openai/gpt"}, "query_id": "30", "tool_call_counts": {}, "status": "timeout", "retrieved_docids": ["1"],
  "result": [{"type": "output_text", "tool_name": null, "arguments": null, "output": "stderr says [2019]"}]}`

func TestRunDirectoryOfTheReference(t *testing.T) {
	path := write(t, map[string]string{
		"merged/25.json": referenceRun, "merged/30.json": referenceTimeout,
		"merged/benchmark_manifest_snapshot.json": `{"benchmark_id": "browsecomp-plus", "query_set_id": "q9"}`, "merged/run_setup.json": `{"slice": "q9"}`,
		"merged/raw-events/25.jsonl": `{"type":"message_end","message":{"role":"assistant","usage":{"input":10,"output":5,"cacheRead":30,"cacheWrite":2}}}` + "\n" +
			`{"type":"message_end","message":{"role":"user"}}` + "\n" + `{"type":"message_end","message":{"role":"assistant","usage":{"input":1,"output":1}}}` + "\n",
	})
	dir, run := imported(t, path, Options{})
	if run.Format != PiSerini || run.Benchmark != "browsecomp-plus" || run.QuerySet != "q9" || run.Model != "openai/gpt" {
		t.Errorf("got %+v", run)
	}
	r := records(t, dir)
	rec := r["25"]
	if rec.Question != "Which marsupial?" || rec.Answer.Exact != "quokka" || rec.ElapsedSeconds != 12.5 || rec.Turns != 4 || rec.ExecutedCalls != 3 || rec.ToolErrors != 1 {
		t.Errorf("got %+v", rec)
	}
	if got := fmt.Sprint(rec.Surfaced, rec.Previewed, rec.Opened, rec.Cited); got != "[7 8 9] [7 8] [8] [7]" {
		t.Errorf("got sets %s", got)
	}
	if rec.Usage != (trajectory.Usage{Input: 13, CacheRead: 30, Output: 6}) { // cache writes cannot be told from input there
		t.Errorf("got usage %+v", rec.Usage)
	}
	rec = r["30"]
	if rec.Status != trajectory.Timeout || rec.Answer.Text != "" || fmt.Sprint(rec.Surfaced, rec.Cited) != "[1] []" || rec.Reason != "time" {
		t.Errorf("got %+v", rec)
	}
}

func TestDamagedRawEventsOfTheReferenceTellNoUsage(t *testing.T) {
	path := write(t, map[string]string{
		"25.json": referenceRun, "run_setup.json": `{"slice": "q9"}`,
		"raw-events/25.jsonl": "{\"type\":\"message_end\",\"mess\n{}\n",
	})
	dir, run := imported(t, path, Options{})
	if rec := records(t, dir)["25"]; rec.Answer.Exact != "quokka" || rec.Usage != (trajectory.Usage{}) {
		t.Errorf("got %+v", rec)
	}
	if notes := strings.Join(run.Notes, "\n"); !strings.Contains(notes, `the usage of query "25" is not told`) || !strings.Contains(notes, "25.jsonl:1") {
		t.Errorf("got notes %s", notes)
	}
}

func TestRankingsComeAndGo(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"bm25.txt": "1 Q0 a 1 2.5 tag\n1 Q0 b 2 3.5 tag\n2 Q0 c 1 1 tag\n"}), "bm25.txt")
	dir, run := imported(t, path, Options{})
	if run.Format != TREC || run.Model != "tag" {
		t.Errorf("got %+v", run)
	}
	if rec := records(t, dir)["1"]; fmt.Sprint(rec.Surfaced, rec.Previewed, rec.BestRank) != "[b a] [] map[a:2 b:1]" {
		t.Errorf("got %+v", rec)
	}
	var b bytes.Buffer
	if n, err := WriteTREC(&b, dir, Surfaced, "x"); err != nil || n != 2 {
		t.Fatalf("got %d, %v", n, err)
	}
	if want := "1 Q0 b 1 2.000000 x\n1 Q0 a 2 1.000000 x\n2 Q0 c 1 1.000000 x\n"; b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
	if _, err := WriteTREC(&b, dir, "all", "x"); err == nil {
		t.Error("an unknown set is written")
	}
}

func TestConversationsAreWritten(t *testing.T) {
	dir, _ := imported(t, write(t, map[string]string{"a.json": one}), Options{Question: func(string) string { return "Which?" }})
	var b bytes.Buffer
	n, without, err := WriteMessages(&b, dir)
	if err != nil || n != 1 || without != 0 {
		t.Fatalf("got %d, %d, %v", n, without, err)
	}
	var c conversation
	if err := json.Unmarshal(b.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range c.Messages {
		text := m.Role + ": " + m.Content + m.Reasoning
		for _, call := range m.ToolCalls {
			text += " -> " + call.ID + " " + call.Function.Name + call.Function.Arguments
		}
		got = append(got, text+m.ToolCallID)
	}
	want := []string{
		"user: Which?",
		`assistant: First I search <there>. -> call00001 search{"query": "quokka & co"}`,
		`tool: [{"docid": "7", "score": 1.5}, {"docid": "8"}]call00001`,
		"assistant: Let me read.",
		`assistant:  -> call00003 get_document{"docid":"7"}`,
		"tool: the textcall00003",
		"assistant:  -> call00004 searchnot JSON",
		"tool: call00004",
		"assistant: Explanation: it is in [7] and [9].\nExact Answer: the quokka\nConfidence: 80%",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestWhatIsNoRunIsRefused(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"no files with queries":       {"x.txt": "x"},
		"a.json: not a run file":      {"a.json": "[]"},
		"no query_id":                 {"a.json": "{}"},
		`query "25" is also in`:       {"a.json": one, "b.json": one},
		"is a run directory already":  {"manifest.json": "{}", "results.jsonl": ""},
		"item 1 has no type":          {"a.json": `{"query_id": "1", "result": [{}]}`},
		"run_setup.json: not a run":   nil,
		"the last line is torn":       nil,
		"format \"x\": want":          nil,
		"no such file":                nil,
		"x.run":                       nil,
		"is not in the run directory": nil,
	} {
		path, opts := "", Options{}
		switch want {
		case "run_setup.json: not a run":
			path = write(t, map[string]string{"run_setup.json": "{}", "1.json": "7"})
			want = "1.json: not a run file"
		case "the last line is torn":
			path = filepath.Join(write(t, map[string]string{"r.jsonl": `{"query_id": "1"`}), "r.jsonl")
		case "format \"x\": want":
			opts.Format = "x"
		case "no such file":
			path = filepath.Join(t.TempDir(), "none")
		case "x.run":
			path = filepath.Join(write(t, map[string]string{"x.run": "1 2 3\n"}), "x.run")
		case "is not in the run directory":
			_, err := eventsOf(t.TempDir(), trajectory.Record{Trajectory: "../../etc/passwd"})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
			continue
		default:
			path = write(t, files)
		}
		if _, err := Read(path, opts, func(Answered) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func FuzzOfficial(f *testing.F) {
	f.Add([]byte(one))
	f.Add([]byte(referenceRun))
	f.Add([]byte(`{"query_id": 7, "result": [{"type": "tool_call", "output": [null]}, {"type": "reasoning"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := officialReader{seen: map[string]string{}, each: func(a Answered) error {
			for i, e := range a.Events {
				if e.Seq != i+1 {
					t.Fatalf("event %d has number %d", i, e.Seq)
				}
			}
			if _, err := Official(a.Record, a.Events, OfficialOptions{Retrieved: Previewed}); err != nil {
				t.Fatal(err)
			}
			return nil
		}}
		_ = r.one(b, "f")
	})
}
