package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"goserini/internal/mcpserver"
	"goserini/internal/sharedtest"
	"goserini/internal/tool"
)

// converse sends lines, ends the input, and returns the lines that came back.
func converse(tb testing.TB, s *mcpserver.Server, in string) []string {
	tb.Helper()
	var out bytes.Buffer
	if err := s.ServeStdio(context.Background(), strings.NewReader(in), &out); err != nil {
		tb.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// answer is what the tests look at in a line of the server.
type answer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func parse(tb testing.TB, line string) answer {
	tb.Helper()
	var a answer
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		tb.Fatalf("%v in %s", err, line)
	}
	return a
}

// byID finds the answer to an id, as it is written.
func byID(tb testing.TB, lines []string, id string) answer {
	tb.Helper()
	for _, l := range lines {
		if strings.HasPrefix(l, "{") {
			if a := parse(tb, l); string(a.ID) == id {
				return a
			}
		}
	}
	tb.Fatalf("no answer to %s in %q", id, lines)
	return answer{}
}

func initialize(revision string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"probe","version":"0"}}}`, revision) + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
}

// TestOddMessages is SRV-13.
func TestOddMessages(t *testing.T) {
	odd, err := os.ReadFile(sharedtest.Path(t, "cases", "SRV-13", "odd.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := converse(t, research(memory()), string(odd))
	for id, code := range map[string]int{
		`1`: 0, `"text-id"`: 0, `0`: 0, `9007199254740993`: 0, `13`: 0,
		`3`: -32601, `4`: -32602, `5`: -32602, `6`: -32600,
	} {
		a := byID(t, lines, id)
		switch {
		case code == 0 && a.Error != nil, code != 0 && (a.Error == nil || a.Error.Code != code):
			t.Errorf("id %s: got %+v, want the code %d", id, a, code)
		}
	}
	var withoutID []int
	for _, l := range lines {
		if a := parse(t, l); string(a.ID) == "null" {
			withoutID = append(withoutID, a.Error.Code)
		}
	}
	// {broken, [], 42, the batch, and the line of Content-Length
	if want := []int{-32700, -32600, -32600, -32600, -32700}; !slices.Equal(withoutID, want) {
		t.Errorf("lines without an id: got %v, want %v", withoutID, want)
	}
	if len(lines) != 9+5 {
		t.Errorf("%d answers: notifications have none: %q", len(lines), lines)
	}
}

func TestBrokenBytesDoNotComeBack(t *testing.T) {
	message := "{\"jsonrpc\":\"2.0\",\"id\":\"a\xff\"}"
	want := "{\"jsonrpc\":\"2.0\",\"id\":\"a\uFFFD\",\"error\":{\"code\":-32600,\"message\":\"method is missing\"}}"
	if got := converse(t, research(memory()), message+"\n"); len(got) != 1 || got[0] != want {
		t.Errorf("over the standard streams: got %q, want %q", got, want)
	}
	web := httptest.NewServer(research(memory()).Handler())
	defer web.Close()
	if _, got := post(t, web.URL, message, nil); got != want {
		t.Errorf("over HTTP: got %q, want %q", got, want)
	}
}

func TestRareCharactersInAddressesDoNotEndTheSession(t *testing.T) {
	for _, uri := range []string{"\U000cce5boserini://light%20house/light-1", "goserini://light%20house/\U000cce5b", "goserini://light%20house/\a\v"} {
		quoted, err := json.Marshal(uri)
		if err != nil {
			t.Fatal(err)
		}
		lines := converse(t, research(memory()), initialize("2025-03-26")+
			`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":`+string(quoted)+"}}\n"+`{"jsonrpc":"2.0","id":8,"method":"ping"}`+"\n")
		if a := byID(t, lines, "7"); a.Error == nil || a.Error.Message != "Resource not found" {
			t.Errorf("%q: got %+v, want an error", uri, a)
		}
		if a := byID(t, lines, "8"); a.Result == nil {
			t.Errorf("%q: got %+v for the next request, want a result", uri, a)
		}
	}
}

func TestErrorsRepeatLittleOfWhatWasSent(t *testing.T) {
	lines := converse(t, research(memory()), initialize("2025-06-18")+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"`+strings.Repeat("x", 100_000)+`"}`+"\n")
	if a := byID(t, lines, "1"); a.Error == nil || len(a.Error.Message) > 1000 {
		t.Errorf("got %+v", a)
	}
}

// TestEarlyAndSecondInitialize is SRV-14.
func TestEarlyAndSecondInitialize(t *testing.T) {
	early, err := os.ReadFile(sharedtest.Path(t, "cases", "SRV-14", "early.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := converse(t, research(memory()), string(early))
	if len(lines) != 4 {
		t.Fatalf("got %q", lines)
	}
	var errs int
	for _, l := range lines {
		a := parse(t, l)
		if a.Error != nil {
			errs++
			if a.Error.Code != -32600 {
				t.Errorf("got %s", l)
			}
		}
	}
	if errs != 2 || byID(t, lines, "2").Error != nil {
		t.Errorf("want errors for the early call and the second initialize alone, got %q", lines)
	}
}

// TestRevisions is SRV-02.
func TestRevisions(t *testing.T) {
	text, err := os.ReadFile(sharedtest.Path(t, "cases", "SRV-02", "versions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var versions []string
	if err := json.Unmarshal(text, &versions); err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		a := byID(t, converse(t, research(memory()), initialize(v)), `"init"`)
		var result struct{ ProtocolVersion string }
		if a.Error != nil || json.Unmarshal(a.Result, &result) != nil {
			t.Fatalf("%q: got %+v", v, a)
		}
		want := v
		if !slices.Contains(revisions, v) {
			want = "2025-11-25" // the newest that initialize can negotiate
		}
		if result.ProtocolVersion != want {
			t.Errorf("%q: got %s, want %s", v, result.ProtocolVersion, want)
		}
	}
}

func TestBatchesBelongToOldRevisions(t *testing.T) {
	batch := `[{"jsonrpc":"2.0","id":11,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":12,"method":"ping"},7]` + "\n"
	old := converse(t, research(memory()), initialize("2025-03-26")+batch)
	var got []answer
	if err := json.Unmarshal([]byte(old[len(old)-1]), &got); err != nil || len(got) != 3 {
		t.Errorf("2025-03-26: %v, got %q, want one line of three answers", err, old)
	}
	late := converse(t, research(memory()), initialize("2025-06-18")+batch)
	if a := parse(t, late[len(late)-1]); a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("2025-06-18: got %q", late)
	}
}

func TestOverlongLineIsRefusedAndTheSessionGoesOn(t *testing.T) {
	in := initialize("2025-06-18") + `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 5<<20) + `"}}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	lines := converse(t, research(memory()), in)
	if a := byID(t, lines, "null"); a.Error.Code != -32600 {
		t.Errorf("got %+v", a)
	}
	if a := byID(t, lines, "2"); a.Error != nil {
		t.Errorf("got %+v", a)
	}
}

// slowly is a server with a tool that waits until it is released or cancelled.
func slowly(release chan struct{}) *mcpserver.Server { return slowlyLogging(release, nil) }

func slowlyLogging(release chan struct{}, log func(string, ...any)) *mcpserver.Server {
	return mcpserver.New(mcpserver.Config{Name: "n", Log: log, Drain: 100 * time.Millisecond, Tools: []tool.Tool{{
		Name: "slow", Schema: json.RawMessage(`{"type":"object","properties":{}}`),
		Begin: func(json.RawMessage) func(context.Context) (tool.Result, error) {
			return func(ctx context.Context) (tool.Result, error) {
				select {
				case <-release:
					return tool.Result{Text: "done"}, nil
				case <-ctx.Done():
					return tool.Result{}, ctx.Err()
				}
			}
		},
	}}})
}

const slowCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}` + "\n"

// TestSlowCallKeepsNobodyWaiting is SRV-05 over the standard streams.
func TestSlowCallKeepsNobodyWaiting(t *testing.T) {
	release := make(chan struct{})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- slowly(release).ServeStdio(context.Background(), in, out) }()
	lines := json.NewDecoder(fromServer)
	next := func() (a answer) {
		t.Helper()
		if err := lines.Decode(&a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	fmt.Fprint(toServer, initialize("2025-06-18"))
	next()
	fmt.Fprint(toServer, slowCall+`{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	if a := next(); string(a.ID) != "2" {
		t.Errorf("the ping waited for the slow call: got %+v", a)
	}
	close(release)
	if a := next(); string(a.ID) != "1" || !strings.Contains(string(a.Result), "done") {
		t.Errorf("got %+v", a)
	}
	toServer.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestCancelledCallEnds(t *testing.T) {
	lines := converse(t, slowly(nil), initialize("2025-06-18")+slowCall+
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n")
	if a := byID(t, lines, "1"); !strings.Contains(string(a.Result), "cancelled") && a.Error == nil {
		t.Errorf("got %+v", a)
	}
}

// TestEndOfInputEndsTheServer: a call that is finished is answered, one that hangs is not
// waited for.
func TestEndOfInputEndsTheServer(t *testing.T) {
	release := make(chan struct{})
	close(release)
	if a := byID(t, converse(t, slowly(release), initialize("2025-06-18")+slowCall), "1"); !strings.Contains(string(a.Result), "done") {
		t.Errorf("got %+v", a)
	}
	ended := make(chan struct{})
	var logged string
	log := func(format string, args ...any) {
		if strings.HasPrefix(format, "the input ended") {
			logged = fmt.Sprintf(format, args...)
		}
	}
	go func() {
		converse(t, slowlyLogging(nil, log), initialize("2025-06-18")+slowCall)
		close(ended)
	}()
	select {
	case <-ended:
		if want := "the input ended, and 1 calls were not answered within 100ms of that"; logged != want {
			t.Errorf("got the log %q, want %q", logged, want)
		}
	case <-time.After(30 * time.Second):
		t.Error("the server still waits for a call that hangs")
	}
}

// TestPathsAreNoDocids is SRV-08.
func TestPathsAreNoDocids(t *testing.T) {
	text, err := os.ReadFile(sharedtest.Path(t, "cases", "SRV-08", "ids.json"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	if err := json.Unmarshal(text, &ids); err != nil {
		t.Fatal(err)
	}
	session := connect(t, research(memory()), "stdio", "2025-06-18")
	for _, id := range ids {
		result := call(t, session, "read_document", map[string]any{"reason": "read", "docid": id})
		if got := textOf(t, result); !result.IsError || !strings.HasPrefix(got, "No document has the docid ") {
			t.Errorf("%q: got %s", id, got)
		}
	}
}

var textOf = text

func FuzzServeStdio(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"keeper"}}}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document","arguments":{"docid":"light-1","offset":-1}}}`)
	f.Add(`{"jsonrpc":"2.0","id":"x","method":"resources/read","params":{"uri":"goserini://light%20house/light-1#L2-L3"}}`)
	f.Add(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	f.Add(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
	f.Add("{broken\n[]\n42\nnull\n\"x\"\n{}")
	f.Add(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	s := research(memory())
	f.Fuzz(func(t *testing.T, in string) {
		for i, l := range converse(t, s, initialize("2025-03-26")+in) {
			if l != "" && (!json.Valid([]byte(l)) || !utf8.ValidString(l)) {
				t.Fatalf("line %d is no JSON in UTF-8: %q", i, l)
			}
		}
	})
}
