package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"goserini/internal/browsecompplus"
	"goserini/internal/jsonl"
	"goserini/internal/trajectory"
)

// referenceFile is what the reference implementation keeps of one query, beside what it has in
// common with the official form.
type referenceFile struct {
	browsecompplus.RunFile
	Surfaced  []browsecompplus.Text `json:"surfaced_docids"`
	Previewed []browsecompplus.Text `json:"previewed_docids"`
	Opened    []browsecompplus.Text `json:"opened_docids"`
	Cited     []browsecompplus.Text `json:"cited_docids"`
	Stats     *struct {
		ElapsedSeconds float64 `json:"elapsed_seconds"`
		AssistantTurns int     `json:"assistant_turns"`
		ToolCallsTotal int     `json:"tool_calls_total"`
		Failures       int     `json:"pi_search_failures"`
	} `json:"stats"`
}

// referenceMetadata is what its files say of the run.
type referenceMetadata struct {
	Benchmark string `json:"benchmark_id"`
	QuerySet  string `json:"query_set_id"`
	Model     string `json:"model"`
	Query     string `json:"query"`
}

// readReference reads a run directory of the reference implementation: its merged folder if it
// was run in shards.
func readReference(path string, opts Options, each func(Answered) error) (Run, error) {
	run := Run{Format: PiSerini}
	dir := path
	if merged := filepath.Join(path, referenceMerged); exists(merged) {
		if _, err := jsonFiles(merged); !errors.Is(err, errNoQueries) {
			dir = merged
		}
	}
	if err := run.readReferenceManifest(dir, path); err != nil {
		return run, err
	}
	paths, err := jsonFiles(dir)
	if err != nil {
		return run, err
	}
	seen := map[string]string{}
	for _, p := range paths {
		b, err := readBounded(p)
		if err != nil {
			return run, fmt.Errorf("read run: %w", err)
		}
		var f referenceFile
		if err := json.Unmarshal(b, &f); err != nil {
			return run, fmt.Errorf("%s: not a run file: %w", p, err)
		}
		if err := f.Check(); err != nil {
			return run, fmt.Errorf("%s: not a run file: %w", p, err)
		}
		id := string(f.QueryID)
		if other, twice := seen[id]; twice {
			return run, fmt.Errorf("%s: query %q is also in %s", p, id, other)
		}
		seen[id] = p
		a, err := run.fromReference(f, dir, opts)
		if err != nil {
			return run, fmt.Errorf("%s: %w", p, err)
		}
		if err := each(a); err != nil {
			return run, err
		}
	}
	return run, nil
}

func (r *Run) readReferenceManifest(dirs ...string) error {
	for _, dir := range dirs {
		b, err := os.ReadFile(filepath.Join(dir, referenceManifest))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read run: %w", err)
		}
		var m referenceMetadata
		if err := json.Unmarshal(b, &m); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(dir, referenceManifest), err)
		}
		r.Benchmark, r.QuerySet = m.Benchmark, m.QuerySet
		return nil
	}
	r.note("the run names no benchmark")
	return nil
}

func (r *Run) fromReference(f referenceFile, dir string, opts Options) (Answered, error) {
	var m referenceMetadata
	if len(f.Metadata) > 0 {
		if err := json.Unmarshal(f.Metadata, &m); err != nil {
			return Answered{}, fmt.Errorf("metadata: %w", err)
		}
	}
	if r.Model == "" {
		r.Model = m.Model
	}
	id := string(f.QueryID)
	question := opts.question(id)
	if question == "" {
		question = m.Query
	}
	usage, err := rawUsage(filepath.Join(dir, "raw-events", id+".jsonl"))
	if err != nil { // they tell the usage and nothing else
		r.note(fmt.Sprintf("the usage of query %q is not told: %v", id, err))
	}
	if usage == nil {
		r.note("some or all of the usage is not told")
	}
	if f.Surfaced == nil {
		f.Surfaced = f.Retrieved // the older name
	}
	s := newSteps(id, question, m.Model)
	s.items(f.Result, usage)
	// What stands last after a query that did not complete is an error text, not an answer.
	text := ""
	if f.Status == string(trajectory.Completed) {
		text = f.Answer()
	}
	a := s.end(f.Status, text, texts(f.Surfaced))
	rec := &a.Record
	rec.Surfaced, rec.Previewed = texts(f.Surfaced), texts(f.Previewed)
	if len(f.Opened) > 0 {
		rec.Opened = texts(f.Opened)
	}
	if len(f.Cited) > 0 {
		rec.Cited = texts(f.Cited)
	}
	if f.ToolCallCounts != nil {
		rec.ToolCallCounts = f.ToolCallCounts
	}
	if f.Stats != nil {
		rec.ElapsedSeconds, rec.Turns, rec.Tries = f.Stats.ElapsedSeconds, f.Stats.AssistantTurns, f.Stats.AssistantTurns
		rec.ExecutedCalls, rec.ToolErrors = f.Stats.ToolCallsTotal, f.Stats.Failures
	}
	r.note("in trajectories each step counts as a turn of its own, without duration; records have the run's own counts")
	r.note("opened documents are those asked for, also where reading failed")
	return a, nil
}

// rawUsage adds up the usage of the assistant's messages in a stream of raw events; nil where there
// is no stream or it tells nothing.
func rawUsage(path string) (*browsecompplus.Usage, error) {
	if filepath.Base(filepath.Dir(path)) != "raw-events" { // an id with a slash leads elsewhere
		return nil, nil
	}
	var sum browsecompplus.Usage
	some := false
	_, err := jsonl.Read(path, maxFile, func(l jsonl.Line) error {
		var e struct {
			Type    string `json:"type"`
			Message struct {
				Role  string `json:"role"`
				Usage *struct {
					Input      int64 `json:"input"`
					Output     int64 `json:"output"`
					CacheRead  int64 `json:"cacheRead"`
					CacheWrite int64 `json:"cacheWrite"`
				} `json:"usage"`
			} `json:"message"`
		}
		if json.Unmarshal(l.Data, &e) != nil || e.Type != "message_end" || e.Message.Role != "assistant" || e.Message.Usage == nil {
			return nil //nolint:nilerr // events of other forms tell no usage
		}
		u := e.Message.Usage
		some = true
		sum.Input += u.Input + u.CacheRead + u.CacheWrite
		sum.Cached += u.CacheRead
		sum.Output += u.Output
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) || err == nil && !some {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read raw events: %w", err)
	}
	sum.Total = sum.Input + sum.Output
	return &sum, nil
}
