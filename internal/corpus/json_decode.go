package corpus

import (
	"errors"
	"slices"
	"strings"
)

// jsonDecoder turns one JSON object into a document.
type jsonDecoder struct{ fields *fieldTable }

// found is what an object holds for one field.
type found struct {
	value
	rank int
	// key is where the key stands.
	key value
}

func (d jsonDecoder) decode(rec *Record) (Document, error) {
	s := scanner{data: rec.data}
	fields, err := d.scan(&s, rec)
	if err != nil {
		return Document{}, rec.syntax(err)
	}
	if err := d.present(&s, rec, &fields); err != nil {
		return Document{}, err
	}
	var texts [fieldCount]string
	for f := range fieldCount {
		if texts[f], err = d.text(&s, rec, f, fields[f]); err != nil {
			return Document{}, err
		}
	}
	return Document{
		DocID: texts[fieldDocID], Title: texts[fieldTitle], Text: texts[fieldText], URL: texts[fieldURL], Date: texts[fieldDate],
	}, nil
}

// syntax turns a scanner's error into one with file, line and column.
func (rec *Record) syntax(err error) error {
	out := &RecordError{Location: rec.loc, Problem: err.Error()}
	var e *syntaxError
	if errors.As(err, &e) {
		out.Fix = e.fix
		rec.place(out, e.offset)
	}
	return out
}

// scan reads the whole object and remembers where the fields are.
func (d jsonDecoder) scan(s *scanner, rec *Record) (fields [fieldCount]found, err error) {
	s.space()
	if err := s.expect('{', "an object"); err != nil {
		return fields, err
	}
	s.space()
	for first := true; s.peek() != '}'; first = false {
		if !first {
			if err := s.expect(',', "a comma or the closing brace"); err != nil {
				return fields, err
			}
		}
		k, err := s.key()
		if err != nil {
			return fields, err
		}
		v, err := s.value()
		if err != nil {
			return fields, err
		}
		s.space()
		d.keep(s, rec, &fields, k, v)
	}
	s.pos++
	s.space()
	if s.pos < len(s.data) {
		return fields, s.fail(s.pos, "more text after the object")
	}
	return fields, nil
}

// keep remembers a value if its key stands for a field and none better is there. A
// null never takes the place of a value, and any value that of a null.
func (d jsonDecoder) keep(s *scanner, rec *Record, fields *[fieldCount]found, name, v value) {
	raw := s.data[name.start:name.end]
	if name.escaped {
		text, _ := s.unquote(name)
		raw = []byte(text)
	}
	k, ok := d.fields.keys[string(raw)]
	if !ok {
		rec.src.notes.notUsed(raw, rec)
		return
	}
	if v.control {
		rec.src.notes.add(noteControl, rec)
	}
	f := &fields[k.field]
	if f.kind == absent || f.kind == jsonNull {
		*f = found{value: v, rank: k.rank, key: name}
		return
	}
	switch {
	case v.kind == jsonNull:
	case k.rank == f.rank:
		rec.src.notes.add(noteRepeated, rec)
		f.value = v
	case k.rank < f.rank:
		rec.src.notes.notUsed([]byte(d.fields.names[k.field][f.rank]), rec)
		*f = found{value: v, rank: k.rank, key: name}
	default:
		rec.src.notes.notUsed(raw, rec)
	}
}

// present refuses an object without an id, or with neither title nor text: the text is
// then likely to stand under a key that is not known.
func (d jsonDecoder) present(s *scanner, rec *Record, fields *[fieldCount]found) error {
	missing := fieldDocID
	if fields[fieldDocID].kind != absent && fields[fieldDocID].kind != jsonNull {
		if fields[fieldText].kind != absent {
			return nil
		}
		missing = fieldText
	}
	return &RecordError{Location: rec.loc, Field: missing.String(),
		Problem: "missing: the object has " + keyList(s.data),
		Fix:     "the " + missing.String() + " is read from " + strings.Join(d.fields.names[missing], ", ") + ": rename the key or map it"}
}

// keyList shows the keys of an object that scan has accepted.
func keyList(data []byte) string {
	const most = 12
	s := scanner{data: data}
	s.space()
	s.pos++
	var keys []string
	for s.space(); s.peek() == ',' || s.peek() == '"'; s.space() {
		if s.peek() == ',' {
			s.pos++
		}
		k, err := s.key()
		if err != nil {
			break
		}
		if _, err := s.value(); err != nil {
			break
		}
		if len(keys) == most {
			keys = append(keys, "…")
			break
		}
		name, _ := s.unquote(k)
		if quoted := shorten(name); !slices.Contains(keys, quoted) {
			keys = append(keys, quoted)
		}
	}
	if len(keys) == 0 {
		return "no keys"
	}
	return strings.Join(keys, ", ")
}

// text returns the text of a field: a string, or the digits of a number as written.
// A null is an empty text.
func (d jsonDecoder) text(s *scanner, rec *Record, f field, v found) (string, error) {
	name := func() string { text, _ := s.unquote(v.key); return text }
	switch v.kind {
	case absent, jsonNull:
		return "", nil
	case jsonNumber:
		return string(s.data[v.start:v.end]), nil
	case jsonString:
		text, half := s.unquote(v.value)
		if !half {
			return text, nil
		}
		if f == fieldDocID || rec.src.opts.RefuseInvalidUTF8 {
			err := &RecordError{Field: name(), Location: rec.loc, Problem: `half a surrogate pair (\ud800 to \udfff)`, Fix: "write whole characters"}
			rec.place(err, v.start-1)
			return "", err
		}
		rec.src.notes.add(noteSurrogate, rec)
		return text, nil
	}
	err := &RecordError{Location: rec.loc, Field: name(), Problem: "holds " + v.kind.String() + ", expected a string",
		Fix: "write the " + f.String() + " as one string"}
	rec.place(err, v.start)
	return "", err
}
