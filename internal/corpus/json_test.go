package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// newTestSource returns a source that decodes with d under the options.
func newTestSource(d decoder, opts Options) *source {
	return &source{decoder: d, opts: &opts, notes: &notes{}}
}

func defaultTable(tb testing.TB) *fieldTable {
	tb.Helper()
	table, err := newFieldTable(Fields{})
	if err != nil {
		tb.Fatal(err)
	}
	return table
}

func TestJSONObjects(t *testing.T) {
	table := defaultTable(t)
	for _, c := range []struct {
		name, in string
		want     Document
	}{
		{"Anserini", `{"id":"1","contents":"x"}`, Document{DocID: "1", Text: "x"}},
		{"all fields", `{"docid":"1","title":"t","text":"x","url":"u","date":"d"}`, Document{"1", "t", "x", "u", "d"}},
		{"the key listed first wins wherever it stands", `{"id":"b","docid":"a","text":"no","contents":"yes"}`, Document{DocID: "a", Text: "yes"}},
		{"a null gives way to another key", `{"id":"1","contents":null,"text":"x"}`, Document{DocID: "1", Text: "x"}},
		{"a null text is empty", `{"id":"1","text":null}`, Document{DocID: "1"}},
		{"a repeated key, the last is taken", `{"id":"1","text":"a","text":"b"}`, Document{DocID: "1", Text: "b"}},
		{"an escaped key", `{"\u0069d":"1","t\u0065xt":"x"}`, Document{DocID: "1", Text: "x"}},
		{"a number as text", `{"id":1,"title":1984,"text":-0.5e+3}`, Document{DocID: "1", Title: "1984", Text: "-0.5e+3"}},
		{"escapes", `{"id":"1","text":"\"\\\/\b\f\n\t\u00e9\ud83d\ude00"}`, Document{DocID: "1", Text: "\"\\/\b\f\n\té😀"}},
		{"half a surrogate pair", `{"id":"1","text":"a\ud800b\udc00"}`, Document{DocID: "1", Text: "a\ufffdb\ufffd"}},
		{"CRLF and CR become line feeds", `{"id":"1","text":"a\r\nb\rc"}`, Document{DocID: "1", Text: "a\nb\nc"}},
		{"other line breaks stay", "{\"id\":\"1\",\"text\":\"a\u2028b\u0085c\"}", Document{DocID: "1", Text: "a\u2028b\u0085c"}},
		{"a title is one line", `{"id":"1","title":"a\r\nb","text":""}`, Document{DocID: "1", Title: "a b"}},
		{"invalid UTF-8", "{\"id\":\"1\",\"text\":\"a\xff\xc3b\"}", Document{DocID: "1", Text: "a\ufffd\ufffdb"}},
		{"nested values that are not used", `{"id":"1","x":{"id":"2","a":[1,{"text":"no"},[],{}]},"text":"x"}`, Document{DocID: "1", Text: "x"}},
		{"white space everywhere", " {\t\"id\" : \"1\" , \"text\" : \"x\" } ", Document{DocID: "1", Text: "x"}},
		{"an id with blanks around", `{"id":" 1 ","text":"x"}`, Document{DocID: " 1 ", Text: "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Record{data: []byte(c.in), src: newTestSource(jsonDecoder{table}, Options{})}.Document()
			if err != nil {
				t.Fatal(err)
			}
			diff(t, "document", got, c.want)
		})
	}
}

func TestJSONErrorsNamePlaceAndFix(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"no id", `{"text":"x","Name":1}`, []string{"f.jsonl:7: ", `field "docid": missing`, `the object has "text", "Name"`, "docid, doc_id, docno, _id, id"}},
		{"no keys", `{}`, []string{"the object has no keys"}},
		{"a null id", `{"id":null,"text":"x"}`, []string{`"docid"`, "missing"}},
		{"no text", `{"id":"1","Text":"x"}`, []string{`field "text": missing`, `"Text"`, "contents, text"}},
		{"an empty id", `{"id":"","text":"x"}`, []string{"empty"}},
		{"a boolean id", `{"id":true,"text":"x"}`, []string{":7:7", `"id"`, "true or false"}},
		{"an id with NUL", `{"id":"a\u0000","text":"x"}`, []string{"NUL"}},
		{"an id with invalid UTF-8", "{\"id\":\"a\xff\",\"text\":\"x\"}", []string{"UTF-8"}},
		{"an id with half a surrogate pair", `{"id":"a\udc00","text":"x"}`, []string{`"id"`, "surrogate"}},
		{"cut off inside a string", `{"id":"1","text":"abc`, []string{":7:18", "has no end"}},
		{"cut off behind a comma", `{"id":"1",`, []string{":7:11", "ends early", "cut off"}},
		{"two objects", `{"id":"1","text":"x"}{"id":"2"}`, []string{":7:22", "more text after the object"}},
		{"no object", `["id"]`, []string{":7:1", "expected an object"}},
		{"a bare word", `{"id":nope,"text":"x"}`, []string{":7:8", "word null"}},
		{"a leading zero", `{"id":01,"text":"x"}`, []string{":7:8", "comma"}},
		{"single quotes", `{'id':'1'}`, []string{":7:2", "key in quotes"}},
		{"a trailing comma", `{"id":"1","text":"x",}`, []string{":7:22", "key in quotes"}},
		{"a bad unicode escape", `{"id":"1","text":"\u12g4"}`, []string{":7:19", "hexadecimal"}},
		{"a byte that is no character", "{\"id\":\xff}", []string{"byte 0xff"}},
		{"values too deep", `{"id":"1","text":"x","z":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}`, []string{"deeper than 10000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := Record{data: []byte(c.in), loc: Location{"f.jsonl", 7}, src: newTestSource(jsonDecoder{defaultTable(t)}, Options{})}
			_, err := rec.Document()
			wantError(t, err, c.want...)
			var re *RecordError
			if !errors.As(err, &re) {
				t.Errorf("got a %T, want a *RecordError", err)
			}
		})
	}
}

func TestInvalidUTF8CanBeRefused(t *testing.T) {
	for in, want := range map[string]string{
		"{\"id\":\"1\",\"text\":\"a\xffb\"}": "f:7:20: invalid UTF-8: byte 0xff",
		`{"id":"1","text":"a\ud800b"}`:       "f:7:18",
	} {
		rec := Record{data: []byte(in), loc: Location{"f", 7}, src: newTestSource(jsonDecoder{defaultTable(t)}, Options{RefuseInvalidUTF8: true})}
		_, err := rec.Document()
		wantError(t, err, want)
	}
}

func TestFieldsCanBeMapped(t *testing.T) {
	path := file(t, "a.jsonl", `{"key":"1","id":"no","headline":"h","article":"x"}`)
	docs, report := mustRead(t, Options{Fields: Fields{DocID: []string{"key"}, Title: []string{"headline"}, Text: []string{"article"}}}, path)
	diff(t, "documents", docs, []Document{{DocID: "1", Title: "h", Text: "x"}})
	if got := noted(report, `"id"`); got != 1 {
		t.Errorf("records with an id not used: got %d, want 1", got)
	}
	docs, _ = mustRead(t, Options{Fields: Fields{DocID: []string{"title"}}}, file(t, "a.jsonl", `{"title":"1","text":"x"}`))
	diff(t, "a default key taken for another field", docs, []Document{{DocID: "1", Text: "x"}})
	_, err := Open([]string{path}, Options{Fields: Fields{DocID: []string{"a"}, Text: []string{"a"}}})
	wantError(t, err, `key "a" cannot stand for both docid and text`)
}

func TestJSONOverLines(t *testing.T) {
	docs, _ := mustRead(t, Options{}, file(t, "a.json", "\n\xef\xbb\xbf[ {\"id\":1,\n\"text\":\"a ] } \\\" b\"} ,{\"id\":2,\"text\":\"\"}\n]\n\n"))
	diff(t, "array", docs, []Document{{DocID: "1", Text: `a ] } " b`}, {DocID: "2"}})
	docs, _ = mustRead(t, Options{}, file(t, "a.json", "{\"id\":1,\n\"text\":\"x\"}{\"id\":2,\n \"text\":\"y\"}\n"))
	diff(t, "objects", docs, []Document{{DocID: "1", Text: "x"}, {DocID: "2", Text: "y"}})

	for _, c := range []struct{ name, in, want string }{
		{"array without end", "[{\"id\":1,\"text\":\"\"},\n", "a.json:2: the array has no end"},
		{"array without comma", "[{\"id\":1,\"text\":\"\"}\n{\"id\":2}]", "a.json:2: \"{\" where a comma"},
		{"text behind the array", "[{\"id\":1,\"text\":\"\"}]\nx", "a.json:2: \"x\" where an object"},
		{"array of strings", "[\n\"a\"]", "a.json:2: \"\\\"\" where an object"},
		{"object without end", "{\n\"id\":1,\n\"text\":\"\"\n\n", "a.json:1: the object that begins here has no end"},
		{"bad syntax on a later line", "{\n\"id\":1,\n \"text\" \"x\"}\n", "a.json:3:9: '\"', expected a colon"},
		{"bad type on a later line", "{\n\"id\":1,\n \"text\": [\"x\"]}\n", "a.json:3:10: field \"text\": holds an array"},
		{"no JSON at all", "hello\n", "a.json:1:1: not JSON: begins with \"hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := all(Options{}, file(t, "a.json", c.in))
			wantError(t, err, c.want)
		})
	}
}

func TestTruncatedFirstLineIsNoObjectOverLines(t *testing.T) {
	path := file(t, "a.jsonl", "{\"id\":\"1\",\n{\"id\":\"2\",\"text\":\"x\"}\n{\"id\":\"3\",\"text\":\"y\"}\n")
	docs, report := mustRead(t, Options{OnBad: SkipBad}, path)
	if got := ids(docs); got != "2 3" || report.Bad != 1 {
		t.Errorf("got ids %s and %d bad, want 2 3 and 1", got, report.Bad)
	}
}

// escapeControls writes the control characters inside strings as escapes: the one thing
// the scanner accepts that encoding/json does not.
func escapeControls(data []byte) []byte {
	var out bytes.Buffer
	inString, escaped := false, false
	for _, c := range data {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString && c < 0x20 && c != '\n':
			fmt.Fprintf(&out, "\\u%04x", c)
			continue
		}
		out.WriteByte(c)
	}
	return out.Bytes()
}

// standardFields decodes an object with encoding/json: the text of each field, nil
// where it is neither string nor number; ok is false if it is no valid object.
func standardFields(data []byte, table *fieldTable) (fields [fieldCount]*string, ok bool) {
	data = escapeControls(data)
	if !json.Valid(data) || len(bytes.TrimLeft(data, " \t\r\n")) == 0 || bytes.TrimLeft(data, " \t\r\n")[0] != '{' {
		return fields, false
	}
	best := [fieldCount]struct {
		raw  json.RawMessage
		rank int
	}{}
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return fields, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return fields, false
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fields, false
		}
		k, known := table.keys[name.(string)]
		if !known {
			continue
		}
		b := &best[k.field]
		if b.raw == nil || string(b.raw) == "null" || string(raw) != "null" && k.rank <= b.rank {
			b.raw, b.rank = raw, k.rank
		}
	}
	for f := range fields {
		raw := best[f].raw
		var text string
		switch {
		case raw == nil || string(raw) == "null":
		case raw[0] == '"':
			if json.Unmarshal(raw, &text) != nil {
				return fields, false
			}
		case raw[0] == '-' || isDigit(raw[0]):
			text = string(raw)
		default:
			continue
		}
		fields[f] = &text
	}
	return fields, true
}

func FuzzJSONObjectAgreesWithStandardLibrary(f *testing.F) {
	for _, s := range []string{
		`{"id":"1","contents":"x"}`, `{"id":"1","text":"a\ud800\u0041\udc00\ud83d\ude00"}`, `{"id":1e5,"text":"\/\b\f\n\r\t\"\\"}`,
		"{\"id\":\"\xff\",\"text\":\"a\x00b\xe4\xb8\"}", `{"_id":"a","docid":null,"x":[{"id":[[]]},{},[1,2,"]"]],"text":"y"}`,
		`{"i\u0064":"7","text":""}`, `{"id":-0.1E-7,"title":true,"text":"` + strings.Repeat("long text ", 20) + `"}`,
		`{"id":"1","text":"a","text":null,"contents":"b"}`, `{"id":"1","text":{"a":"b"}}`, `{"id":"1",}`, `{"id":01}`, `{}`, `{"id":"1"}x`,
		"{\"id\":\"1\",\"text\":\"a\nb\"}", `{"id":"1","text":"\ud83d\ud83d\ude00"}`, `{"id":"1","text":"\ud83d\u12"}`,
	} {
		f.Add([]byte(s))
	}
	table := defaultTable(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := scanner{data: data}
		rec := &Record{data: data, src: newTestSource(jsonDecoder{table}, Options{})}
		got, err := jsonDecoder{table}.scan(&s, rec)
		want, ok := standardFields(data, table)
		if ok != (err == nil) {
			t.Fatalf("%q: got error %v, the standard library accepts it: %v", data, err, ok)
		}
		if err != nil {
			_ = rec.syntax(err).Error()
			return
		}
		for i := range got {
			isText := got[i].kind != jsonBool && got[i].kind != jsonObject && got[i].kind != jsonArray
			if isText != (want[i] != nil) {
				t.Fatalf("%q: %s is a text: got %v, want %v", data, field(i), isText, want[i] != nil)
			}
			if !isText || got[i].kind == absent || got[i].kind == jsonNull {
				continue
			}
			text := string(data[got[i].start:got[i].end])
			if got[i].kind == jsonString {
				text, _ = s.unquote(got[i].value)
			}
			if text = replaceInvalid(text); text != *want[i] {
				t.Fatalf("%q: %s: got %q, want %q", data, field(i), text, *want[i])
			}
		}
		_, _ = Record{data: data, src: rec.src}.Document()
	})
}
