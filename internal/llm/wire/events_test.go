package wire

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type pair struct{ Name, Data string }

func readAll(r io.Reader) ([]pair, error) {
	events := NewEventReader(r)
	var out []pair
	for {
		e, err := events.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, pair{e.Name, string(e.Data)})
	}
}

func TestEventStreamsByTheBook(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []pair
	}{
		{"plain", "data: a\n\ndata: b\n\n", []pair{{"", "a"}, {"", "b"}}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []pair{{"", "a"}, {"", "b"}}},
		{"CR alone", "data: a\r\rdata: b\r\r", []pair{{"", "a"}, {"", "b"}}},
		{"mixed ends", "data: a\r\n\ndata: b\n\r", []pair{{"", "a"}, {"", "b"}}},
		{"no blank after the colon", "data:a\n\n", []pair{{"", "a"}}},
		{"only one blank is taken", "data:  a\n\n", []pair{{"", " a"}}},
		{"data over two lines", "data: a\ndata: b\n\n", []pair{{"", "a\nb"}}},
		{"comments, id and retry are passed over", ": ping\n\nid: 1\nretry: 3000\n\ndata: a\nid: 2\n: x\n\n", []pair{{"", "a"}}},
		{"a name belongs to its event", "event: error\ndata: a\n\ndata: b\n\n", []pair{{"error", "a"}, {"", "b"}}},
		{"a name without data is dropped", "event: ping\n\ndata: b\n\n", []pair{{"", "b"}}},
		{"a field without colon", "data\n\ndata: b\n\n", []pair{{"", ""}, {"", "b"}}},
		{"unknown fields are passed over", "foo: bar\ndata: a\n\n", []pair{{"", "a"}}},
		{"byte-order mark", "\ufeffdata: a\n\n", []pair{{"", "a"}}},
		{"last blank line missing", "data: a\n", []pair{{"", "a"}}},
		{"last line end missing", "data: a\n\ndata: b", []pair{{"", "a"}, {"", "b"}}},
		{"nothing", "", nil},
		{"only blank lines", "\n\n\r\n", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tc.in), iotest.OneByteReader(strings.NewReader(tc.in))} {
				got, err := readAll(r)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestALargeEventComesWhole(t *testing.T) {
	data := strings.Repeat("x", 2<<20)
	got, err := readAll(strings.NewReader("data: " + data + "\n\n"))
	if err != nil || len(got) != 1 || got[0].Data != data {
		t.Errorf("got %d events, %v; want one of 2 MB", len(got), err)
	}
}

func TestAnEventWithoutEndIsBounded(t *testing.T) {
	for _, in := range []string{"data: " + strings.Repeat("x", MaxEvent+1), strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 17)} {
		if _, err := readAll(strings.NewReader(in)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("got %v, want ErrTooLarge", err)
		}
	}
}

func TestAReadErrorIsNotTakenForTheEnd(t *testing.T) {
	broken := errors.New("broken")
	_, err := readAll(io.MultiReader(strings.NewReader("data: a\n\nda"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the connection", err)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("data: a\r\n\r\n: x\nevent: e\rdata: b\n\n")
	f.Add("\ufeffdata")
	f.Fuzz(func(t *testing.T, in string) {
		whole, err := readAll(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		bytewise, err := readAll(iotest.OneByteReader(strings.NewReader(in)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, bytewise); diff != "" {
			t.Errorf("packets change the events:\n%s", diff)
		}
		for _, e := range whole {
			if strings.Contains(e.Data, "\r") {
				t.Errorf("an event keeps a line end: %q", e.Data)
			}
		}
	})
}
