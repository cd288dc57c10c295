package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"goserini/internal/atomicfile"
	"goserini/internal/browsecompplus"
	"goserini/internal/experiment"
	"goserini/internal/trajectory"
)

// OfficialOptions say how a run is written for the evaluator of BrowseComp-Plus.
type OfficialOptions struct {
	// Retrieved is the set that becomes retrieved_docids: Previewed, the documents whose excerpts
	// were shown to the model, or Surfaced, all that were ranked.
	Retrieved Set
	// Key enciphers outputs and arguments, as the published reference runs do with outputs; nil
	// leaves them plain.
	Key *browsecompplus.Key
}

// WriteOfficial writes every query of a run directory as a run file into a folder, which must not
// exist yet or be empty, and returns how many there were. The folder gets its name when it is whole: the
// evaluator takes its denominator from the files that are there.
func WriteOfficial(out, dir string, opts OfficialOptions) (queries int, err error) {
	m, err := experiment.ReadManifest(dir)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return 0, fmt.Errorf("export run: %w", err)
	}
	folder, err := os.MkdirTemp(filepath.Dir(out), "."+filepath.Base(out)+".partial-*")
	if err != nil {
		return 0, fmt.Errorf("export run: %w", err)
	}
	defer os.RemoveAll(folder) // a folder of its own making; it is gone once it has its name
	secret := m.Private && opts.Key == nil
	if queries, err = writeOfficial(folder, dir, opts, secret); err != nil {
		return queries, fmt.Errorf("export run: %w", err)
	}
	if !secret { // MkdirTemp makes it for the user alone
		if err := os.Chmod(folder, 0o755); err != nil {
			return queries, fmt.Errorf("export run: %w", err)
		}
	}
	if err := os.Remove(out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return queries, fmt.Errorf("export run: %w", err)
	}
	if err := os.Rename(folder, out); err != nil {
		return queries, fmt.Errorf("export run: %w", err)
	}
	return queries, atomicfile.SyncDir(filepath.Dir(out))
}

func writeOfficial(folder, dir string, opts OfficialOptions, secret bool) (queries int, err error) {
	mode := fs.FileMode(0o644)
	if secret {
		mode = 0o600
	}
	err = experiment.EachResult(dir, func(rec trajectory.Record) error {
		events, err := eventsOf(dir, rec)
		if err != nil {
			return err
		}
		f, err := Official(rec, events, opts)
		if err != nil {
			return err
		}
		b, err := f.Encode()
		if err != nil {
			return err
		}
		queries++
		return atomicfile.Write(filepath.Join(folder, "run_"+experiment.FileName(rec.QueryID)+".json"), b, mode)
	})
	return queries, err
}

// eventsOf reads the trajectory of a record, none if it has none.
func eventsOf(dir string, rec trajectory.Record) ([]trajectory.Event, error) {
	if rec.Trajectory == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := experiment.ReadTrajectory(root, rec)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", rec.QueryID, err)
	}
	return file.Events, nil
}

// Official is the run file of one query. A call that gave an error has no output; the last item
// is the answer where there is one.
func Official(rec trajectory.Record, events []trajectory.Event, opts OfficialOptions) (browsecompplus.RunFile, error) {
	retrieved, err := opts.Retrieved.Of(rec)
	if err != nil {
		return browsecompplus.RunFile{}, err
	}
	metadata, err := json.Marshal(map[string]string{"model": rec.Model})
	if err != nil {
		return browsecompplus.RunFile{}, err
	}
	f := browsecompplus.RunFile{
		Metadata: metadata, QueryID: browsecompplus.Text(rec.QueryID), ToolCallCounts: rec.ToolCallCounts,
		Status: officialStatus(rec), Retrieved: make([]browsecompplus.Text, len(retrieved)), Result: []browsecompplus.Item{},
	}
	if rec.UncountedCalls == 0 && rec.Usage != (trajectory.Usage{}) {
		f.Usage = toUsage(rec.Usage)
	}
	for i, id := range retrieved {
		f.Retrieved[i] = browsecompplus.Text(id)
	}
	f.Result = append(f.Result, items(events)...)
	if rec.Answer.Text != "" {
		f.Result = append(f.Result, browsecompplus.Item{Type: browsecompplus.ItemText, Output: browsecompplus.Said(rec.Answer.Text)})
	}
	if opts.Key != nil {
		f.Encrypt(*opts.Key)
	}
	return f, nil
}

// officialStatus is completed, or a word that says how else the query ended.
func officialStatus(rec trajectory.Record) string {
	if rec.Status == trajectory.Failed && rec.Reason != "" && rec.Reason != "error" {
		return rec.Reason
	}
	return string(rec.Status)
}

func toUsage(u trajectory.Usage) *browsecompplus.Usage {
	input := u.Input + u.CacheRead + u.CacheWrite
	return &browsecompplus.Usage{Input: input, Cached: u.CacheRead, Output: u.Output, Reasoning: u.Reasoning, Total: input + u.Output}
}

// items are the steps before the answer.
func items(events []trajectory.Event) []browsecompplus.Item {
	var out []browsecompplus.Item
	calls := map[string]trajectory.Call{}
	final := finalTurn(events)
	for i, e := range events {
		switch {
		case e.Turn != nil:
			if e.Turn.Reasoning != "" {
				out = append(out, browsecompplus.Item{Type: browsecompplus.ItemReasoning, Output: browsecompplus.Output{Texts: []string{e.Turn.Reasoning}, List: true}})
			}
			if e.Turn.Text != "" && i != final {
				out = append(out, browsecompplus.Item{Type: browsecompplus.ItemText, Output: browsecompplus.Said(e.Turn.Text)})
			}
		case e.Call != nil:
			calls[e.Call.ID] = *e.Call
		case e.Observation != nil:
			out = append(out, callItem(calls[e.Observation.CallID], *e.Observation))
		}
	}
	return out
}

// finalTurn is the position of the turn whose text is the answer, -1 if there is none.
func finalTurn(events []trajectory.Event) int {
	if n := len(events); n == 0 || events[n-1].End == nil || events[n-1].End.Answer.Text == "" {
		return -1
	}
	for i := len(events) - 1; i >= 0; i-- {
		if t := events[i].Turn; t != nil {
			if len(t.Calls) > 0 {
				return -1
			}
			return i
		}
	}
	return -1
}

func callItem(c trajectory.Call, o trajectory.Observation) browsecompplus.Item {
	name := o.Tool
	arguments := browsecompplus.Arguments(c.Arguments)
	if c.RawArguments != "" {
		arguments = browsecompplus.Arguments(c.RawArguments)
	}
	item := browsecompplus.Item{Type: browsecompplus.ItemCall, ToolName: &name, Arguments: &arguments}
	if !o.IsError {
		item.Output = browsecompplus.Said(o.Text)
	}
	return item
}
