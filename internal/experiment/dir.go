package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"goserini/internal/atomicfile"
	"goserini/internal/jsonl"
	"goserini/internal/lockfile"
	"goserini/internal/trajectory"
)

// runDir is a run directory that this process has locked for writing.
type runDir struct {
	results
	dir       string
	questions []Question
	manifest  Manifest
	lock      *lockfile.Lock
	out       *jsonl.Writer
	// notes are what a reader of the results should know of this session.
	notes []string
	// stop is why no more questions begin; results.mu guards it.
	stop error
}

// asideDir keeps what an interrupted session left unfinished: nothing that was paid for is thrown away.
const asideDir = "interrupted"

// tornPrefix begins the names of half lines of results.jsonl there. No trajectory has such a name:
// see FileName.
const tornPrefix = "results.torn-"

// open locks a run directory, checks that it holds this run or nothing, and reads its results.
func open(dir string, plan Plan, opts Options) (*runDir, error) {
	if err := checkFresh(dir); err != nil {
		return nil, err
	}
	if err := makeDir(dir, plan.Private); err != nil {
		return nil, fmt.Errorf("create run directory: %w", err)
	}
	lock, err := lockfile.Acquire(filepath.Join(dir, lockFile), opts.Command)
	if err != nil {
		var held *lockfile.HeldError
		if errors.As(err, &held) {
			return nil, fmt.Errorf("run directory %s is in use by %s: wait for it, or use another --out", dir, held.Owner)
		}
		return nil, err
	}
	d := &runDir{dir: dir, questions: plan.Questions, lock: lock}
	if err := d.begin(plan, opts); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return d, nil
}

// makeDir makes a run directory. A private one is for its user alone, and version control is told
// to leave it out.
func makeDir(dir string, private bool) error {
	mode := fs.FileMode(0o755)
	if private {
		mode = 0o700
	}
	if err := os.MkdirAll(filepath.Join(dir, trajectoriesDir), mode); err != nil {
		return err
	}
	if !private {
		return nil
	}
	if err := os.Chmod(dir, mode); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, ignoreFile), []byte("*\n"), 0o600)
}

// checkFresh refuses a folder that holds something else.
func checkFresh(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open run directory: %w", err)
	}
	strangers := 0
	for _, e := range entries {
		switch name := e.Name(); {
		case name == manifestFile:
			return nil
		case name == lockFile, name == trajectoriesDir, name == ignoreFile, atomicfile.IsLeftover(name):
		default:
			strangers++
		}
	}
	if strangers > 0 {
		return fmt.Errorf("%s is not empty and %w: use another --out", dir, ErrNoRun)
	}
	return nil
}

// begin reads what the directory holds, and only then begins to write: the manifest first, which
// makes it a run directory.
func (d *runDir) begin(plan Plan, opts Options) error {
	if _, err := atomicfile.RemoveLeftovers(d.dir); err != nil {
		return fmt.Errorf("clean run directory: %w", err)
	}
	differences, err := d.adoptManifest(plan)
	if err != nil {
		return err
	}
	if len(differences) > 0 && !opts.Override {
		return &SpecError{Dir: d.dir, Differences: differences}
	}
	end, err := d.readResults()
	if err != nil {
		return err
	}
	session := Session{StartedAt: time.Now().UTC(), Concurrency: max(opts.Concurrency, 1),
		RunMaxCostUSD: opts.RunMaxCostUSD, RunMaxTokens: opts.RunMaxTokens, Retried: opts.Retry, Overridden: differences}
	d.noteChanges(&session, plan)
	d.manifest.Sessions = append(d.manifest.Sessions, session)
	d.manifest.Finished = false
	if err := writeManifest(d.dir, d.manifest); err != nil {
		return err
	}
	if d.out, err = jsonl.OpenAt(filepath.Join(d.dir, resultsFile), end, jsonl.SyncLines); err != nil {
		return fmt.Errorf("open results: %w", err)
	}
	return d.recover()
}

// CheckSpec returns why a run with these settings could not go on, or begin, in a directory: a
// *SpecError where that holds a run with others. Without a directory ("") it returns nil.
func CheckSpec(dir string, spec Spec) error {
	if dir == "" {
		return nil
	}
	m, err := readOwnManifest(dir)
	if errors.Is(err, ErrNoRun) {
		return checkFresh(dir)
	}
	if err != nil {
		return err
	}
	differences, err := Differences(m.Spec, spec)
	if err != nil || len(differences) == 0 {
		return err
	}
	return &SpecError{Dir: dir, Differences: differences}
}

// noteChanges enters into a session what is no longer as the manifest has it and yet no other
// setting: the program, and the content of input files.
func (d *runDir) noteChanges(s *Session, plan Plan) {
	if !sameJSON(d.manifest.Program, plan.Program) {
		s.Program = plan.Program
		d.notes = append(d.notes, d.dir+" was begun by another build of the program")
	}
	for _, role := range slices.Sorted(maps.Keys(plan.Inputs)) {
		now := plan.Inputs[role]
		if was, ok := d.manifest.Inputs[role]; ok && was.SHA256 == now.SHA256 {
			continue
		}
		if s.Inputs == nil {
			s.Inputs = map[string]Input{}
		}
		s.Inputs[role] = now
		d.notes = append(d.notes, fmt.Sprintf("%s (%s) is not the file that %s was begun with", now.Path, role, d.dir))
	}
}

// sameJSON compares two JSON values but for their layout.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return bytes.Equal(a, b)
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}

// adoptManifest reads the directory's manifest, or makes a new one, and returns how its spec
// differs from the plan's.
func (d *runDir) adoptManifest(plan Plan) ([]Difference, error) {
	m, err := readOwnManifest(d.dir)
	if errors.Is(err, ErrNoRun) {
		d.manifest = Manifest{Format: FormatVersion, Name: plan.Name, Spec: plan.Spec, Inputs: plan.Inputs, Program: plan.Program, PriceTable: plan.Prices,
			Findings: plan.Findings, Private: plan.Private}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d.manifest = m
	return Differences(m.Spec, plan.Spec)
}

// readResults reads the results so far and returns where the next one belongs. A torn last line,
// left by a killed process, is set aside.
func (d *runDir) readResults() (int64, error) {
	path := filepath.Join(d.dir, resultsFile)
	d.byID = map[string]outcome{}
	tail, err := jsonl.Read(path, trajectory.MaxLine, func(l jsonl.Line) error {
		var rec trajectory.Record
		if err := l.Decode(&rec); err != nil {
			return err
		}
		d.byID[rec.QueryID] = outcomeOf(rec)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, unreadable(err)
	}
	if tail.Torn > 0 {
		if err := d.setTornAside(path, tail); err != nil {
			return 0, err
		}
	}
	return tail.Offset, d.checkIDs()
}

func (d *runDir) checkIDs() error {
	planned := make(map[string]bool, len(d.questions))
	for _, q := range d.questions {
		planned[q.ID] = true
	}
	for id := range d.byID {
		if !planned[id] {
			return fmt.Errorf("%s holds a result for query %q, which is not among the questions of this run", filepath.Join(d.dir, resultsFile), id)
		}
	}
	return nil
}

func (d *runDir) setTornAside(path string, tail jsonl.Tail) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer f.Close()
	torn := make([]byte, tail.Torn)
	if _, err := f.ReadAt(torn, tail.Offset); err != nil {
		return fmt.Errorf("read torn line of %s: %w", path, err)
	}
	aside, err := d.aside(fmt.Sprintf("%s%d", tornPrefix, tail.Offset))
	if err != nil {
		return err
	}
	return atomicfile.Write(aside, torn, 0o644)
}

// aside returns a new path among what interrupted sessions left.
func (d *runDir) aside(stem string) (string, error) {
	folder := filepath.Join(d.dir, asideDir)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("create %s: %w", folder, err)
	}
	for n := 1; ; n++ {
		path := filepath.Join(folder, fmt.Sprintf("%s.%d.jsonl", stem, n))
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
	}
}

// keep appends a result and returns how many questions now have one.
func (d *runDir) keep(rec trajectory.Record) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old, ok := d.byID[rec.QueryID]; ok {
		rec.Earlier = append(slices.Clone(old.earlier), old.Earlier)
	}
	if err := d.out.Append(rec); err != nil {
		return 0, fmt.Errorf("write result of query %q: %w", rec.QueryID, err)
	}
	d.byID[rec.QueryID] = outcomeOf(rec)
	return len(d.byID), nil
}

// finish writes the manifest of the session's end, and once every question has a result, the
// results in the order of the questions.
func (d *runDir) finish(s Summary) error {
	if err := d.out.Close(); err != nil {
		return fmt.Errorf("close results: %w", err)
	}
	d.out = nil
	if s.Unfinished == 0 {
		ids := make([]string, len(d.questions))
		for i, q := range d.questions {
			ids[i] = q.ID
		}
		if err := orderResults(d.dir, ids); err != nil {
			return err
		}
		d.manifest.Finished = true
	}
	now := time.Now().UTC()
	d.manifest.Sessions[len(d.manifest.Sessions)-1].EndedAt = &now
	return writeManifest(d.dir, d.manifest)
}

func (d *runDir) close() error {
	var err error
	if d.out != nil {
		err = d.out.Close()
	}
	path := filepath.Join(d.dir, resultsFile)
	if info, statErr := os.Stat(path); statErr == nil && info.Size() == 0 {
		err = errors.Join(err, os.Remove(path)) // no result was kept, and an empty file says less than none
	}
	return errors.Join(err, d.lock.Release())
}
