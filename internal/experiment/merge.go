package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"goserini/internal/jsonl"
	"goserini/internal/lockfile"
	"goserini/internal/trajectory"
)

// part is one run directory to be merged.
type part struct {
	dir      string
	manifest Manifest
	records  []trajectory.Record
}

// Merged says what a merge came to.
type Merged struct {
	Questions, Results int
	// Notes say what a reader should know, for example that shards were run by different programs.
	Notes []string
}

// Merge joins the shards of one run into a new directory, as if one process had run it. Without
// partial every shard must be there and finished; with it what is missing can be run in the new
// directory.
func Merge(out string, dirs []string, partial bool) (Merged, error) {
	parts, err := readParts(dirs)
	if err != nil {
		return Merged{}, err
	}
	m, notes, err := joinManifests(parts)
	if err != nil {
		return Merged{}, err
	}
	if err := checkWhole(parts, partial); err != nil {
		return Merged{}, err
	}
	for i := range parts {
		if parts[i].records, err = ReadResults(parts[i].dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Merged{}, err
		}
	}
	b, err := Build(out, m)
	if err != nil {
		return Merged{}, err
	}
	defer b.Abort()
	n, err := b.join(parts)
	if err != nil {
		return Merged{}, err
	}
	if n == m.Spec.Questions {
		if err := checkHash(m.Spec, parts); err != nil {
			return Merged{}, err
		}
	}
	return Merged{Questions: m.Spec.Questions, Results: n, Notes: notes}, b.Finish()
}

// readParts reads the manifests, in the order of the shards.
func readParts(dirs []string) ([]part, error) {
	if len(dirs) == 0 {
		return nil, errors.New("merge: no run directories")
	}
	parts := make([]part, len(dirs))
	for i, dir := range dirs {
		m, err := readOwnManifest(dir)
		if err != nil {
			return nil, err
		}
		if m.Spec.Shard.IsZero() {
			return nil, fmt.Errorf("%s is a whole run, not a shard: there is nothing to merge it with", dir)
		}
		owner, held, err := lockfile.ReadOwner(filepath.Join(dir, lockFile))
		if err == nil && held {
			return nil, fmt.Errorf("run directory %s is in use by %s: wait for it", dir, owner)
		}
		parts[i] = part{dir: dir, manifest: m}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.manifest.Spec.Shard.Index - b.manifest.Spec.Shard.Index })
	return parts, nil
}

// joinManifests makes one manifest of several that may differ in nothing but their shard.
func joinManifests(parts []part) (Manifest, []string, error) {
	m := parts[0].manifest
	whole := m.Spec
	whole.Shard = Shard{}
	var notes []string
	m.Sessions, m.Merged, m.Name = nil, nil, ""
	for i, p := range parts {
		spec := p.manifest.Spec
		if spec.Shard.Of != parts[0].manifest.Spec.Shard.Of {
			return m, nil, fmt.Errorf("%s is shard %s and %s is shard %s: they divide the questions differently", parts[0].dir, parts[0].manifest.Spec.Shard, p.dir, spec.Shard)
		}
		if i > 0 && spec.Shard == parts[i-1].manifest.Spec.Shard {
			return m, nil, fmt.Errorf("%s and %s are both shard %s", parts[i-1].dir, p.dir, spec.Shard)
		}
		shard := spec.Shard
		spec.Shard = Shard{}
		differences, err := Differences(whole, spec)
		if err != nil {
			return m, nil, err
		}
		if len(differences) > 0 {
			return m, nil, &MergeError{parts[0].dir, p.dir, differences}
		}
		if !maps.EqualFunc(m.Inputs, p.manifest.Inputs, func(a, b Input) bool { return a.SHA256 == b.SHA256 }) {
			return m, nil, fmt.Errorf("%s and %s were made from different input files", parts[0].dir, p.dir)
		}
		if !bytes.Equal(m.Program, p.manifest.Program) {
			notes = append(notes, fmt.Sprintf("%s and %s were run by different builds of the program", parts[0].dir, p.dir))
		}
		for _, s := range p.manifest.Sessions {
			s.Shard = shard
			m.Sessions = append(m.Sessions, s)
		}
		m.Merged = append(m.Merged, filepath.Base(p.dir))
		m.Private = m.Private || p.manifest.Private
	}
	m.Spec = whole
	slices.SortStableFunc(m.Sessions, func(a, b Session) int { return a.StartedAt.Compare(b.StartedAt) })
	return m, notes, nil
}

// MergeError says that two shards were made with different settings.
type MergeError struct {
	A, B        string
	Differences []Difference
}

func (e *MergeError) Error() string {
	lines := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		lines[i] = fmt.Sprintf("  %s: %s and %s", d.Field, d.Have, d.Want)
	}
	return fmt.Sprintf("%s and %s are not shards of one run:\n%s", e.A, e.B, strings.Join(lines, "\n"))
}

func checkWhole(parts []part, partial bool) error {
	if partial {
		return nil
	}
	of := parts[0].manifest.Spec.Shard.Of
	var missing []string
	for i := range of {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.manifest.Spec.Shard.Index == i+1 }) {
			missing = append(missing, Shard{i + 1, of}.String())
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("shard %s is not there: give its directory too, or --partial to merge without it", strings.Join(missing, ", "))
	}
	for _, p := range parts {
		if !p.manifest.Finished {
			return fmt.Errorf("%s is not finished: run its command again, or give --partial to merge what is there", p.dir)
		}
	}
	return nil
}

// join adds the results of all parts: question after question in the order of the whole, where
// no shard lacks any.
func (b *Builder) join(parts []part) (int, error) {
	longest := 0
	for _, p := range parts {
		longest = max(longest, len(p.records))
	}
	n := 0
	for i := range longest {
		for _, p := range parts {
			if i >= len(p.records) {
				continue
			}
			if err := b.take(p, p.records[i]); err != nil {
				return n, fmt.Errorf("merge %s: %w", p.dir, err)
			}
			n++
		}
	}
	for _, p := range parts {
		if err := b.takeInterrupted(p); err != nil {
			return n, fmt.Errorf("merge %s: %w", p.dir, err)
		}
	}
	return n, b.takeVerdicts(parts)
}

func (b *Builder) take(p part, rec trajectory.Record) error {
	if rec.Trajectory != "" {
		from := filepath.Join(p.dir, filepath.FromSlash(rec.Trajectory))
		rec.Trajectory = trajectoryPath(rec.QueryID)
		if err := b.copyFile(from, rec.Trajectory); err != nil {
			return err
		}
	}
	return b.add(rec)
}

// takeInterrupted copies what interrupted sessions left.
func (b *Builder) takeInterrupted(p part) error {
	left, err := trajectoryNames(filepath.Join(p.dir, asideDir))
	if err != nil {
		return err
	}
	for _, name := range left {
		rel := fmt.Sprintf("%s/%d-of-%d-%s", asideDir, p.manifest.Spec.Shard.Index, p.manifest.Spec.Shard.Of, name)
		if err := b.copyFile(filepath.Join(p.dir, asideDir, name), rel); err != nil {
			return err
		}
	}
	return nil
}

// takeVerdicts joins the verdicts of all parts. A torn last line, which a killed judge leaves, stays
// out: that answer is judged again.
func (b *Builder) takeVerdicts(parts []part) error {
	var out *jsonl.Writer
	for _, p := range parts {
		_, err := jsonl.Read(filepath.Join(p.dir, VerdictsFile), 0, func(l jsonl.Line) (err error) {
			if out == nil {
				if out, err = jsonl.Create(filepath.Join(b.dir, VerdictsFile), jsonl.SyncClose); err != nil {
					return err
				}
			}
			return out.Append(json.RawMessage(l.Data))
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			if out != nil {
				err = errors.Join(err, out.Close())
			}
			return fmt.Errorf("merge verdicts: %w", err)
		}
	}
	if out == nil {
		return nil
	}
	return out.Close()
}

// checkHash compares the questions of the parts, put together, with the whole.
func checkHash(whole Spec, parts []part) error {
	questions := make([]Question, whole.Questions)
	for _, p := range parts {
		at := p.manifest.Spec.Shard.Index - 1
		for _, rec := range p.records {
			if at >= len(questions) {
				return fmt.Errorf("%s has more results than its shard has questions", p.dir)
			}
			questions[at] = Question{ID: rec.QueryID, Text: rec.Question}
			at += p.manifest.Spec.Shard.Of
		}
	}
	hash, err := HashQuestions(questions)
	if err != nil {
		return err
	}
	if hash != whole.QuestionsHash {
		return errors.New("the results of the shards do not add up to the run's questions")
	}
	return nil
}
