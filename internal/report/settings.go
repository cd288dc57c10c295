package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"goserini/internal/experiment"
)

// differences lists the settings in which runs differ; it comes first where there are several runs.
func (d *data) differences() (section, error) {
	s := section{id: "differences", title: "What differs"}
	if len(d.runs) < 2 {
		return s, nil
	}
	fields, names, err := d.fields()
	if err != nil {
		return s, err
	}
	t := table{head: texts(append([]string{"setting"}, d.names()...)...), csv: "differences.csv"}
	for _, name := range names {
		if !allEqual(fields, name) {
			t.row(settingCells(fields, name)...)
		}
	}
	if len(t.rows) == 0 {
		s.say("All runs have the same settings: they are repetitions of one another.")
		return s, nil
	}
	s.tabulate(t)
	s.lead = "All other settings are equal; they stand at the end. goserini compare tests differences of results for significance."
	return s, nil
}

// fields are the settings of every run by name, and the sorted names.
func (d *data) fields() ([]map[string]string, []string, error) {
	var fields []map[string]string
	names := map[string]bool{}
	for _, rd := range d.runs {
		f, err := experiment.Fields(rd.Manifest.Spec)
		if err != nil {
			return nil, nil, fmt.Errorf("settings of run %s: %w", rd.Name, err)
		}
		fields = append(fields, f)
		for name := range f {
			names[name] = true
		}
	}
	return fields, slices.Sorted(maps.Keys(names)), nil
}

func allEqual(fields []map[string]string, name string) bool {
	for _, f := range fields[1:] {
		if f[name] != fields[0][name] {
			return false
		}
	}
	return true
}

func settingCells(fields []map[string]string, name string) []cell {
	cells := []cell{plain(name)}
	for _, f := range fields {
		value, ok := f[name]
		if !ok {
			value = none
		}
		cells = append(cells, plain(unquoted(value)))
	}
	return cells
}

// unquoted shows a JSON text without its quotes.
func unquoted(raw string) string {
	var s string
	if json.Unmarshal([]byte(raw), &s) == nil {
		return s
	}
	return raw
}

func (d *data) settings() (section, error) {
	s := section{id: "settings", title: "Settings"}
	fields, names, err := d.fields()
	if err != nil {
		return s, err
	}
	t := table{caption: "Everything that decides what a run comes to", head: texts(append([]string{"setting"}, d.names()...)...), csv: "settings.csv"}
	for _, name := range names {
		t.row(settingCells(fields, name)...)
	}
	s.tabulate(t)
	s.tabulate(d.provenance())
	return s, nil
}

// provenance says when, with what and from which files runs were made.
func (d *data) provenance() table {
	t := table{caption: "Where the runs come from", head: texts("run", "", ""), csv: "provenance.csv"}
	for _, rd := range d.runs {
		m := rd.Manifest
		t.row(plain(rd.Name), plain("program"), plain(programText(m.Program)))
		if m.PriceTable != "" {
			t.row(plain(rd.Name), plain("price table of"), plain(m.PriceTable))
		}
		if m.Imported != nil {
			t.row(plain(rd.Name), plain("imported from"), plain(m.Imported.Format+", "+baseName(m.Imported.Path)+": "+strings.Join(m.Imported.Notes, "; ")))
		}
		if len(m.Merged) > 0 {
			t.row(plain(rd.Name), plain("merged from"), plain(fmt.Sprintf("%d runs", len(m.Merged))))
		}
		for i, session := range m.Sessions {
			end := "not ended"
			if session.EndedAt != nil {
				end = session.EndedAt.UTC().Format(time.RFC3339)
			}
			text := fmt.Sprintf("%s to %s, %d at once", session.StartedAt.UTC().Format(time.RFC3339), end, session.Concurrency)
			for _, o := range session.Overridden {
				text += "; overridden: " + o.String()
			}
			t.row(plain(rd.Name), plain(fmt.Sprintf("session %d", i+1)), plain(text))
		}
		for _, role := range slices.Sorted(maps.Keys(m.Inputs)) {
			in := m.Inputs[role]
			t.row(plain(rd.Name), plain(role), plain(fmt.Sprintf("%s, %s bytes, SHA-256 %s", baseName(in.Path), count(in.Bytes), in.SHA256)))
		}
		i := rd.Scores.Interval
		t.row(plain(rd.Name), plain("intervals"), plain(fmt.Sprintf("%.0f %%, %s, %s resamples, seed %d", 100*i.Confidence, i.Method, count(i.Resamples), i.Seed)))
	}
	return t
}

// programText is what the program said of itself, on one line.
func programText(raw json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return oneLine(string(raw))
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		parts = append(parts, fmt.Sprintf("%s %v", strings.ReplaceAll(name, "_", " "), fields[name]))
	}
	return strings.Join(parts, ", ")
}

// baseName leaves the folders of one machine out of a published file.
func baseName(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// when is the day the run began, or nothing.
func (rd *runData) when() string {
	if len(rd.Manifest.Sessions) == 0 {
		return ""
	}
	return rd.Manifest.Sessions[0].StartedAt.UTC().Format("2 January 2006")
}

// sections are all parts of a report in order; those without content are left out.
func (d *data) sections() ([]section, error) {
	differing, err := d.differences()
	if err != nil {
		return nil, err
	}
	settings, err := d.settings()
	if err != nil {
		return nil, err
	}
	var out []section
	for _, s := range []section{differing, d.summary(), d.paperTable(), d.funnel(), d.losses(), d.depth(), d.cost(), d.calibration(), d.effort(), d.unfinished(), settings} {
		if !s.empty() {
			out = append(out, s)
		}
	}
	return out, nil
}
