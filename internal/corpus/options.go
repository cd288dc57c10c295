package corpus

import (
	"fmt"
	"strings"
)

// DefaultMaxRecordBytes bounds one record (a line, a JSON value, a <DOC>, a file,
// decompressed) where [Options.MaxRecordBytes] is 0.
const DefaultMaxRecordBytes = 512 << 20

// Options says how sources are read. The zero value is the documented default.
type Options struct {
	// Format is FormatAuto to recognise each file by its name and first bytes.
	Format Format
	// OnBad is the policy at a bad record.
	OnBad OnBad
	// RefuseInvalidUTF8 makes invalid UTF-8 in a title or text a bad record;
	// otherwise each invalid byte becomes U+FFFD and the record is counted.
	RefuseInvalidUTF8 bool
	// MaxRecordBytes bounds one record; 0 means DefaultMaxRecordBytes. Memory in use
	// is a small multiple of the longest record.
	MaxRecordBytes int
	// Fields maps the keys of JSON objects and the names in a TSV header to fields.
	Fields Fields
}

// OnBad says what happens at a record that cannot become a document.
type OnBad int

const (
	// StopAtBad ends the reading with the record's error. It is the default.
	StopAtBad OnBad = iota
	// SkipBad passes the record over and counts it in the [Report]; so too a file
	// that cannot be opened or recognised. The caller must still not report success:
	// see [Report.Failed]. Damaged compressed data and failing disks always stop.
	SkipBad
)

// Format names how a source is laid out.
type Format string

const (
	// FormatAuto recognises each file.
	FormatAuto Format = ""
	// FormatJSONL is one JSON object a line; also objects over several lines and one
	// array of objects.
	FormatJSONL Format = "jsonl"
	// FormatTSV is docid, tab, text; or docid, tab, title, tab, text; or columns named
	// by a header.
	FormatTSV Format = "tsv"
	// FormatTREC is SGML: <DOC> with <DOCNO>.
	FormatTREC Format = "trec"
	// FormatFiles is one document a file: plain text, Markdown or HTML.
	FormatFiles Format = "files"
)

// Formats lists the formats that can be asked for by name.
func Formats() []Format { return []Format{FormatJSONL, FormatTSV, FormatTREC, FormatFiles} }

// ParseFormat returns the format of that name; "" and "auto" are FormatAuto.
func ParseFormat(name string) (Format, error) {
	if name == "" || name == "auto" {
		return FormatAuto, nil
	}
	var names []string
	for _, f := range Formats() {
		if string(f) == name {
			return f, nil
		}
		names = append(names, string(f))
	}
	return FormatAuto, fmt.Errorf("format %q: expected auto, %s", name, strings.Join(names, ", "))
}

// Fields lists, for each field of a document, the keys that hold it, compared
// exactly. Where an object has several, the one listed first wins and the others are
// counted as not used. A nil list means the default one.
type Fields struct {
	DocID, Title, Text, URL, Date []string
}

// DefaultFields returns the keys that are recognised unless Options says otherwise.
func DefaultFields() Fields {
	return Fields{
		DocID: []string{"docid", "doc_id", "docno", "_id", "id"},
		Title: []string{"title"},
		Text:  []string{"contents", "text", "body", "content", "passage", "segment"},
		URL:   []string{"url", "uri", "link"},
		Date:  []string{"date", "published", "timestamp"},
	}
}

// field numbers the fields of a document.
type field int

const (
	fieldDocID field = iota
	fieldTitle
	fieldText
	fieldURL
	fieldDate
	fieldCount
)

// String names the field as messages do.
func (f field) String() string {
	return [...]string{"docid", "title", "text", "url", "date"}[f]
}

// key is what a key of an object stands for.
type key struct {
	field field
	// rank orders the keys of one field, the best is 0.
	rank int
}

// fieldTable is Fields made ready for lookup.
type fieldTable struct {
	keys map[string]key
	// names are the keys of each field, best first.
	names [fieldCount][]string
}

// newFieldTable enters the keys the user asked for first; of the default ones those
// that are still free.
func newFieldTable(f Fields) (*fieldTable, error) {
	t := &fieldTable{keys: make(map[string]key)}
	asked, def := f.lists(), DefaultFields().lists()
	for i, names := range asked {
		for _, name := range names {
			if old, taken := t.keys[name]; taken {
				return nil, fmt.Errorf("key %q cannot stand for both %s and %s", name, old.field, field(i))
			}
			t.add(field(i), name)
		}
	}
	for i, names := range def {
		for _, name := range names {
			if _, taken := t.keys[name]; !taken && asked[i] == nil {
				t.add(field(i), name)
			}
		}
	}
	return t, nil
}

func (t *fieldTable) add(f field, name string) {
	t.keys[name] = key{field: f, rank: len(t.names[f])}
	t.names[f] = append(t.names[f], name)
}

// lists returns the keys by field number.
func (f Fields) lists() [fieldCount][]string {
	return [fieldCount][]string{fieldDocID: f.DocID, fieldTitle: f.Title, fieldText: f.Text, fieldURL: f.URL, fieldDate: f.Date}
}
