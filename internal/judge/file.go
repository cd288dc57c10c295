package judge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"goserini/internal/atomicfile"
	"goserini/internal/jsonl"
)

// ReadVerdicts reads verdicts.jsonl; a file that does not exist holds none. Of several verdicts
// of one judge on one query the last counts. A torn last line, left by a killed process, is
// passed over.
func ReadVerdicts(path string) ([]Verdict, error) {
	verdicts, _, err := readVerdicts(path)
	return verdicts, err
}

func readVerdicts(path string) ([]Verdict, jsonl.Tail, error) {
	c := collector{at: map[[2]string]int{}}
	tail, err := jsonl.Read(path, 0, c.add)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, jsonl.Tail{}, nil
	}
	if err != nil {
		return nil, tail, fmt.Errorf("read verdicts: %w", err)
	}
	return c.verdicts, tail, nil
}

// collector keeps the last verdict of each judge on each query.
type collector struct {
	verdicts []Verdict
	// at is the place of a verdict, by judge and query.
	at map[[2]string]int
}

func (c *collector) add(l jsonl.Line) error {
	var v Verdict
	if err := l.Decode(&v); err != nil {
		return err
	}
	if v.QueryID == "" || v.Judge == "" {
		return fmt.Errorf("%s:%d: a verdict needs query_id and judge", l.File, l.Number)
	}
	id := [2]string{v.Judge, v.QueryID}
	if i, ok := c.at[id]; ok {
		c.verdicts[i] = v
		return nil
	}
	c.at[id] = len(c.verdicts)
	c.verdicts = append(c.verdicts, v)
	return nil
}

// RunFile judges items as Run does, with the verdicts of a file: those that still hold are
// reused, new ones are appended as they come, so that a killed process loses none. At the end the
// file is written anew: by judge, and for this judge in the order of the items, so that
// judging twice leaves the same bytes. Verdicts of other judges stay, and so do this judge's
// on queries that are not among the items. It returns this judge's verdicts on the items
// and how many of them are new. opts.Known is added to the file's verdicts. Nobody else may write
// the file meanwhile.
func RunFile(ctx context.Context, path string, j Judge, items []Item, opts Options) (verdicts []Verdict, asked int, err error) {
	known, tail, err := readVerdicts(path)
	if err != nil {
		return nil, 0, err
	}
	w, err := jsonl.OpenAt(path, tail.Offset, jsonl.SyncClose)
	if err != nil {
		return nil, 0, fmt.Errorf("write verdicts: %w", err)
	}
	emit := opts.Emit
	opts.Known = append(slices.Clone(opts.Known), known...)
	opts.Emit = func(v Verdict) error {
		asked++
		if err := w.Append(v); err != nil {
			return fmt.Errorf("write verdicts: %w", err)
		}
		if emit != nil {
			return emit(v)
		}
		return nil
	}
	verdicts, err = Run(ctx, j, items, opts)
	if closeErr := w.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("write verdicts: %w", closeErr)
	}
	if err != nil {
		return nil, asked, err
	}
	b, err := encode(merge(known, verdicts, j.Name()))
	if err != nil {
		return nil, asked, err
	}
	return verdicts, asked, atomicfile.Write(path, b, 0o644)
}

// merge puts the verdicts of one judge in place of its old ones.
func merge(known, verdicts []Verdict, name string) []Verdict {
	fresh := map[string]bool{}
	for _, v := range verdicts {
		fresh[v.QueryID] = true
	}
	out := slices.Clone(verdicts)
	for _, v := range known {
		if v.Judge != name || !fresh[v.QueryID] {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b Verdict) int { return cmp.Compare(a.Judge, b.Judge) })
	return out
}

func encode(verdicts []Verdict) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range verdicts {
		if err := enc.Encode(v); err != nil {
			return nil, fmt.Errorf("encode verdict on query %s: %w", v.QueryID, err)
		}
	}
	return b.Bytes(), nil
}

// Counts says how many verdicts are in which state.
type Counts struct {
	Correct   int `json:"correct"`
	Wrong     int `json:"wrong"`
	Undecided int `json:"undecided"`
	NotJudged int `json:"not_judged"`
	Unparsed  int `json:"unparsed"`
	WrongEcho int `json:"wrong_echo"`
	// NoReference had no known answer to compare with.
	NoReference int `json:"no_reference"`
	Broken      int `json:"error"`
	// MissingFields counts verdicts that count though a side field is missing.
	MissingFields int `json:"missing_fields"`
}

// Count counts verdicts by state.
func Count(verdicts []Verdict) Counts {
	var c Counts
	for _, v := range verdicts {
		switch v.State {
		case Judged:
			if v.decided() && *v.Correct {
				c.Correct++
			} else {
				c.Wrong++
			}
		case Undecided:
			c.Undecided++
		case NotJudged:
			c.NotJudged++
		case Unparsed:
			c.Unparsed++
		case WrongEcho:
			c.WrongEcho++
		case NoReference:
			c.NoReference++
		case Broken:
			c.Broken++
		}
		if len(v.MissingFields) > 0 {
			c.MissingFields++
		}
	}
	return c
}
