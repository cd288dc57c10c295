package trec

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTopics(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []Topic
	}{
		{"TSV with mark and without last line end", "\xef\xbb\xbf1\ta b\n\n2\tc", []Topic{{"1", "a b", 1}, {"2", "c", 3}}},
		{"TSV with a header", "qid\tquery\n1\ta\n", []Topic{{"1", "a", 2}}},
		{"an id with blanks, an empty text", "a b\t\n", []Topic{{"a b", "", 1}}},
		{"BEIR", `{"_id": "q1", "text": "a \u00e9", "metadata": {}}` + "\n", []Topic{{"q1", "a é", 1}}},
		{"numbers keep their digits", `{"id": 12345678901234567890, "title": "t", "query": "q"}` + "\n" + `{"id":1.50,"text":"x"}`, []Topic{{"12345678901234567890", "q", 1}, {"1.50", "x", 2}}},
		{"TREC of the nineties", `
<top>
<num> Number: 301
<title> International Organized
Crime

<desc> Description:
Identify organizations.

<narr> Narrative:
A relevant document <must> name one.
</top>

<top>
<num> Number:  051
<title> Topic:  Airbus &amp; Subsidies
<desc> x
</top>`, []Topic{{"301", "International Organized Crime", 2}, {"051", "Airbus & Subsidies", 14}}},
		{"TREC with closing tags", "<top><num>Number: 7</num><title>a <b>\nb</title><desc>no</desc></top>", []Topic{{"7", "a", 1}}},
		{"topics as XML", `<?xml version="1.0"?>
<topics task="COVID">
  <topic number="1">
    <query>coronavirus origin</query>
    <question>what is the origin</question>
  </topic>
  <topic number='2'><title>t</title><query>q</query></topic>
</topics>`, []Topic{{"1", "coronavirus origin", 3}, {"2", "q", 7}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseTopics(strings.NewReader(c.in), "f")
			if err != nil {
				t.Fatal(err)
			}
			diff(t, "topics", got, c.want)
		})
	}
}

func TestTopicErrors(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"no id key", `{"name":"x","text":"y"}`, []string{"f:1: topic id", "query_id, _id, id", "name, text"}},
		{"no text key", `{"id":"1","body":"y"}`, []string{`f:1: text of topic "1"`, "query, text"}},
		{"text that is no string", `{"id":"1","text":["y"]}`, []string{"f:1", `"text"`, "not a string"}},
		{"null id", `{"id":null,"text":"y"}`, []string{"f:1", "null"}},
		{"a line that is no JSON", "{\"id\":\"1\",\"text\":\"y\"}\nplain\n", []string{"f:2", "not a JSON object"}},
		{"an empty id", "\tx\n", []string{"f:1: topic without an id"}},
		{"invalid UTF-8", "1\t\xff\n", []string{"f:1", "UTF-8"}},
		{"a topic inside a topic", "<top>\n<num> 1\n<title> a\n<top>\n<num> 2\n<title> b\n</top>", []string{"f:4", "inside the topic of line 1"}},
		{"a topic without number", "<top>\n<title> a\n</top>", []string{"f:1: topic without an id"}},
		{"many bad lines", "1\ta\n" + strings.Repeat("bad\n", 30), []string{"f:2:", "f:11:", "and 20 more such lines"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseTopics(strings.NewReader(c.in), "f")
			wantError(t, err, c.want...)
		})
	}
	_, err := ReadTopics("/no/such/file")
	wantError(t, err, "read topics", "/no/such/file")
}

func TestCompressedFilesAreRead(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte("1\ta\n"))
	_ = w.Close()
	path := filepath.Join(t.TempDir(), "q.tsv")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTopics(path)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "topics", got, []Topic{{"1", "a", 1}})
	if err := os.WriteFile(path, b.Bytes()[:b.Len()-3], 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = ReadTopics(path)
	wantError(t, err, "q.tsv", "unexpected EOF")
}

func FuzzTopics(f *testing.F) {
	for _, s := range []string{"1\ta\n2\tb", `{"id":1,"text":"x"}`, "<top><num> Number: 1 <title> a </top>", `<topic number="1"><query>q</query></topic>`, "<", "{", "qid\tquery", "\xef\xbb\xbf", "\x1f\x8b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		topics, err := ParseTopics(strings.NewReader(in), "f")
		if err == nil && len(topics) == 0 {
			t.Fatal("no topics and no error")
		}
		seen := map[string]bool{}
		for _, topic := range topics {
			if topic.ID == "" || topic.Line < 1 || err == nil && seen[topic.ID] {
				t.Fatalf("got topic %+v of %q", topic, in)
			}
			seen[topic.ID] = true
		}
	})
}
