package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"goserini/internal/llm"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

func TestParallelCallsRunAtOnceAndAnswerInCallOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun []string
		wait := tool.Tool{Name: "wait", Schema: json.RawMessage(`{}`), Begin: func(args json.RawMessage) func(context.Context) (tool.Result, error) {
			var a struct{ Seconds int }
			_ = json.Unmarshal(args, &a)
			begun = append(begun, fmt.Sprint(a.Seconds))
			id := len(begun)
			return func(context.Context) (tool.Result, error) {
				time.Sleep(time.Duration(a.Seconds) * time.Second)
				return tool.Result{Text: fmt.Sprintf("s%d after %d", id, a.Seconds)}, nil
			}
		}}
		got := ask(t, script(t, calls("wait", `{"seconds":3}`, "wait", `{"seconds":1}`, "wait", `{"seconds":2}`), says(final)),
			func(c *Config) { c.Tools = []tool.Tool{wait} })
		got.want(t, trajectory.Completed, "")
		var texts []string
		for _, m := range got.model.requests[1].Messages[2:] {
			texts = append(texts, m.Text)
		}
		if want := []string{"s1 after 3", "s2 after 1", "s3 after 2"}; !slices.Equal(texts, want) {
			t.Errorf("results %q, want %q", texts, want)
		}
		if got.ElapsedSeconds != 3 {
			t.Errorf("took %v s, want the 3 of the longest call", got.ElapsedSeconds)
		}
		if o := got.observations(); o[1].DurationMS != 1000 {
			t.Errorf("the second call took %d ms, want 1000", o[1].DurationMS)
		}
	})
}

func TestAllCallsOfATurnAreBegunBeforeTheFirstRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		var known []int32
		quick := tool.Tool{Name: "quick", Schema: json.RawMessage(`{}`), Begin: func(json.RawMessage) func(context.Context) (tool.Result, error) {
			time.Sleep(time.Second) // time enough for a call that runs already
			known = append(known, ran.Load())
			return func(context.Context) (tool.Result, error) {
				ran.Add(1)
				return tool.Result{Text: "done"}, nil
			}
		}}
		got := ask(t, script(t, calls("quick", `{}`, "quick", `{}`, "quick", `{}`), says(final)), func(c *Config) { c.Tools = []tool.Tool{quick} })
		got.want(t, trajectory.Completed, "")
		if want := []int32{0, 0, 0}; !slices.Equal(known, want) || ran.Load() != 3 {
			t.Errorf("when the calls were begun %v of them had run, want %v; %d ran in the end", known, want, ran.Load())
		}
	})
}

func TestArgumentsBecomeOneObject(t *testing.T) {
	for _, c := range []struct{ name, written, want, problem string }{
		{"an object", `{"query": "a b"}`, `{"query":"a b"}`, ""},
		{"nothing", "", "{}", ""},
		{"blanks", " \n", "{}", ""},
		{"null", "null", "{}", ""},
		{"an object inside a string", `"{\"query\":\"a\"}"`, `{"query":"a"}`, ""},
		{"large numbers keep their digits", `{"docid": 12345678901234567890}`, `{"docid":12345678901234567890}`, ""},
		{"half a surrogate pair", `{"q":"x\ud99c y \ud83d\udc3b"}`, `{"q":"x\ufffd y \ud83d\udc3b"}`, ""},
		{"the second half alone", `{"q":"\udc3bx"}`, `{"q":"\ufffdx"}`, ""},
		{"two first halves", `{"q":"\ud83d\ud83d\udc3b"}`, `{"q":"\ufffd\ud83d\udc3b"}`, ""},
		{"an escaped backslash before u", `{"q":"\\ud99c"}`, `{"q":"\\ud99c"}`, ""},
		{"upper case escapes", `{"q":"\uD83D\uDC3B\uDFFF"}`, `{"q":"\uD83D\uDC3B\ufffd"}`, ""},
		{"bytes that are no UTF-8", "{\"q\":\"a\xffb\"}", "{\"q\":\"a\uFFFDb\"}", ""},
		{"cut", `{"q":"a`, "", "not valid JSON (byte 7"},
		{"an inner quote", `{"q": "a "b" c"}`, "", "not valid JSON (byte 11"},
		{"two objects", `{"q":1}{"q":2}`, "", "not valid JSON"},
		{"a list", `["a"]`, "", "not an object"},
		{"a number", `7`, "", "not an object"},
		{"a string", `"salt works"`, "", "not an object"},
		{"too long", `{"q":"` + strings.Repeat("x", maxArguments) + `"}`, "", "65544 bytes long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problem := parseArguments(c.written)
			if string(got) != c.want || (problem == "") != (c.problem == "") || !strings.Contains(problem, c.problem) {
				t.Errorf("got (%s, %q), want (%s, %q)", got, problem, c.want, c.problem)
			}
		})
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"q":"\ud99c"}`, `"{\"q\":1}"`, `{"a":{"b":[1,2e9]}}`, `\`, `{"\u`, "\xff", `{"q":"\\\ud800\udc00"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, written string) {
		args, problem := parseArguments(written)
		if problem != "" {
			if args != nil {
				t.Errorf("both arguments %s and a problem %q", args, problem)
			}
			return
		}
		var before, after map[string]any
		if err := json.Unmarshal(args, &after); err != nil || after == nil {
			t.Fatalf("%s is no object: %v", args, err)
		}
		if !utf8.Valid(args) || replaceHalfSurrogates(string(args)) != string(args) {
			t.Errorf("%q is not clean", args)
		}
		// Meaning stays: the decoder, too, reads half a pair as U+FFFD.
		if json.Unmarshal([]byte(written), &before) == nil && before != nil && fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("%q became %q", written, args)
		}
	})
}

// A call that cannot be run never reaches a tool; the model is told what to do, and the
// question goes on.
func TestCallsThatCannotBeRun(t *testing.T) {
	for _, c := range []struct {
		name     string
		turn     step
		says     []string
		rejected int
		recorded trajectory.Call
	}{
		{"arguments that are no JSON", calls("search", `{"query": "salt works, "north"}`),
			[]string{"search was not run", "not valid JSON (byte", `{"query": "salt works, "north"}`, "reason, query"}, 1,
			trajectory.Call{Tool: "search", RawArguments: `{"query": "salt works, "north"}`}},
		{"arguments that are no object", calls("read_document", `["d2"]`),
			[]string{"read_document was not run", "not an object", "the fields docid"}, 1,
			trajectory.Call{Tool: "read_document", RawArguments: `["d2"]`}},
		{"a tool that does not exist", calls("query_archive", `{"q":"salt"}`),
			[]string{"There is no tool query_archive", "search, read_document"}, 1,
			trajectory.Call{Tool: "query_archive", Arguments: json.RawMessage(`{"q":"salt"}`)}},
		{"a tool without a name", calls("", `{}`), []string{`There is no tool ""`}, 1, trajectory.Call{Arguments: json.RawMessage(`{}`)}},
		{"a response cut inside a call", then(calls("search", `{"query":"salt wor`), func(r *llm.Response) { r.StopReason = llm.StopLength }),
			[]string{"cut off at the output limit", "search was not run"}, 1,
			trajectory.Call{Tool: "search", RawArguments: `{"query":"salt wor`}},
		{"a response cut behind a call", then(search, func(r *llm.Response) { r.StopReason = llm.StopLength }),
			[]string{"cut off at the output limit"}, 1,
			trajectory.Call{Tool: "search", Arguments: json.RawMessage(`{"query":"salt works"}`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, script(t, c.turn, says(final)), nil)
			got.want(t, trajectory.Completed, "")
			if got.RejectedCalls != c.rejected || got.ExecutedCalls != 0 || got.ToolErrors != c.rejected {
				t.Errorf("%d rejected, %d run, %d errors", got.RejectedCalls, got.ExecutedCalls, got.ToolErrors)
			}
			told := got.last(2)
			for _, words := range c.says {
				if !strings.Contains(told.Text, words) {
					t.Errorf("the model is told %q, want %q in it", told.Text, words)
				}
			}
			recorded := *got.find(trajectory.TypeCall)[0].Call
			recorded.ID = ""
			if encode(t, recorded) != encode(t, c.recorded) {
				t.Errorf("recorded %s, want %s", encode(t, recorded), encode(t, c.recorded))
			}
			if !told.IsError || told.Role != llm.Tool {
				t.Errorf("told by %+v", told)
			}
		})
	}
}

func TestNamesAreReadWithTolerance(t *testing.T) {
	for written, want := range map[string]string{
		"search":                          "search",
		"search<|channel|>commentary":     "search",
		"functions.read_document":         "read_document",
		"default_api:tools/read_document": "read_document",
		" Search\n":                       "search",
		"\"search\"":                      "search",
		"search()":                        "search",
	} {
		got := ask(t, script(t, calls(written, `{"query":"x","docid":"d2"}`), says(final)), nil)
		call := got.find(trajectory.TypeCall)[0].Call
		if call.Tool != want || got.ExecutedCalls != 1 || got.ToolCallCounts[want] != 1 {
			t.Errorf("%q: ran %q, %d times", written, call.Tool, got.ExecutedCalls)
		}
		if wantRaw := written; written != want && call.RawTool != wantRaw {
			t.Errorf("%q: recorded as %q", written, call.RawTool)
		}
		if name := got.model.requests[1].Messages[1].Calls[0].Name; name != want {
			t.Errorf("%q: the history says %q", written, name)
		}
	}
	for _, written := range []string{"searching", "search_results<|x|>", "<|search|>", "a.b.c"} {
		if got := ask(t, script(t, calls(written, `{}`), says(final)), nil); got.RejectedCalls != 1 || len(got.ToolCallCounts) != 0 {
			t.Errorf("%q: %d rejected, counts %v", written, got.RejectedCalls, got.ToolCallCounts)
		}
	}
}

func TestIdsAreUniqueEvenWhereTheClientDoesNotSee(t *testing.T) {
	same := then(calls("search", `{"query":"a"}`, "search", `{"query":"b"}`), func(r *llm.Response) {
		r.Message.Calls[0].ID, r.Message.Calls[1].ID = "x", "x"
		r.Message.Raw = json.RawMessage(`{"role":"assistant"}`)
	})
	empty := then(search, func(r *llm.Response) { r.Message.Calls[0].ID = "" })
	got := ask(t, script(t, same, empty, empty, says(final)), nil)
	got.want(t, trajectory.Completed, "")
	if got.ExecutedCalls != 4 {
		t.Errorf("%d calls run, want 4", got.ExecutedCalls)
	}
	if raw := got.model.requests[1].Messages[1].Raw; raw != nil {
		t.Errorf("the raw message %s still has the ids of before", raw)
	}
}

func TestTheRawMessageGoesBackAsItCame(t *testing.T) {
	raw := `{"role":"assistant","signature":"a<b&c ü","n":1.0}`
	got := ask(t, script(t, then(search, func(r *llm.Response) { r.Message.Raw = json.RawMessage(raw) }), says(final)), nil)
	if sent := string(got.model.requests[1].Messages[1].Raw); sent != raw {
		t.Errorf("sent back %s, want %s", sent, raw)
	}
}

func TestTextBesideCallsIsNoAnswer(t *testing.T) {
	decoy := then(search, func(r *llm.Response) { r.Message.Text = "Exact Answer: Port Decoy\nConfidence: 10%" })
	got := ask(t, script(t, decoy, says(final)), nil)
	got.want(t, trajectory.Completed, "")
	if got.Answer.Exact != "Lake Orrin" || got.ExecutedCalls != 1 {
		t.Errorf("answer %q, %d calls run", got.Answer.Exact, got.ExecutedCalls)
	}
	if m := got.model.requests[1].Messages[1]; !strings.Contains(m.Text, "Port Decoy") {
		t.Errorf("the text is gone from the history: %+v", m)
	}
}

func TestTheContentDecidesWhateverTheStopReason(t *testing.T) {
	for _, reason := range []llm.StopReason{llm.StopEnd, llm.StopOther, ""} {
		got := ask(t, script(t, then(search, func(r *llm.Response) { r.StopReason = reason }), says(final)), nil)
		if got.ExecutedCalls != 1 || got.Status != trajectory.Completed {
			t.Errorf("%q: %d calls run, %s", reason, got.ExecutedCalls, got.Status)
		}
	}
}

func TestAModelThatOnlyMakesBadCallsIsStopped(t *testing.T) {
	got := ask(t, script(t, calls("nothing", `{}`)), nil)
	got.want(t, trajectory.Failed, ReasonBadCalls)
	if got.Turns != maxRejected+1 || got.err != nil {
		t.Errorf("%d turns, error %v", got.Turns, got.err)
	}
}

func TestOneGoodCallAmongBadOnesStartsTheCountAnew(t *testing.T) {
	steps := []step{}
	for range 3 {
		for range maxRejected {
			steps = append(steps, calls("nothing", `{}`))
		}
		steps = append(steps, calls("nothing", `{}`, "search", `{"query":"a"}`))
	}
	ask(t, script(t, append(steps, says(final))...), nil).want(t, trajectory.Completed, "")
}

func TestAResponseThatIsCutAgainAndAgainIsStopped(t *testing.T) {
	cut := then(search, func(r *llm.Response) { r.StopReason = llm.StopLength })
	got := ask(t, script(t, cut), nil)
	got.want(t, trajectory.Failed, ReasonOutputLimit)
	if got.Turns != maxMissteps+1 || got.ExecutedCalls != 0 {
		t.Errorf("%d turns, %d calls run", got.Turns, got.ExecutedCalls)
	}
}

// broken is a tool whose machinery breaks.
func broken(begin, work func()) tool.Tool {
	return tool.Tool{Name: "search", Schema: json.RawMessage(`{}`), Begin: func(json.RawMessage) func(context.Context) (tool.Result, error) {
		begin()
		return func(context.Context) (tool.Result, error) {
			work()
			return tool.Result{}, errBroken
		}
	}}
}

var errBroken = errors.New("index block 7 is damaged")

func TestABrokenToolEndsTheQuestionWithItsCause(t *testing.T) {
	nothing := func() {}
	for name, c := range map[string]struct {
		tool  tool.Tool
		cause string
	}{
		"an error":         {broken(nothing, nothing), errBroken.Error()},
		"a panic":          {broken(nothing, func() { panic("no posting") }), "panic: no posting"},
		"a panic in Begin": {broken(func() { panic("no query") }, nothing), "panic: no query"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, script(t, calls("search", `{}`, "read_document", `{"docid":"d1"}`)), func(cfg *Config) {
				cfg.Tools = []tool.Tool{c.tool, readTool()}
			})
			got.want(t, trajectory.Failed, ReasonTool)
			if got.err == nil || !strings.Contains(got.err.Error(), "tool search: "+c.cause) || !strings.Contains(got.Error, c.cause) {
				t.Errorf("error %v, recorded %q; want %q in both", got.err, got.Error, c.cause)
			}
			if len(got.observations()) != 2 {
				t.Errorf("%d observations, want one for each call", len(got.observations()))
			}
			for _, o := range got.observations() {
				if strings.Contains(o.Text, c.cause) {
					t.Errorf("the cause is in the model's text: %q", o.Text)
				}
			}
		})
	}
	if got := ask(t, script(t, calls("search", `{}`)), func(c *Config) { c.Tools = []tool.Tool{broken(nothing, nothing)} }); !errors.Is(got.err, errBroken) {
		t.Errorf("%v does not wrap the cause", got.err)
	}
}

func TestTheCallThatBrokeIsNamedNotTheOnesItStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		patient := readTool()
		patient.Begin = func(json.RawMessage) func(context.Context) (tool.Result, error) {
			return func(ctx context.Context) (tool.Result, error) { <-ctx.Done(); return tool.Result{}, ctx.Err() }
		}
		got := ask(t, script(t, calls("read_document", `{}`, "search", `{}`)), func(c *Config) {
			c.Tools = []tool.Tool{patient, broken(func() {}, func() { time.Sleep(time.Second) })}
		})
		got.want(t, trajectory.Failed, ReasonTool)
		if !errors.Is(got.err, errBroken) {
			t.Errorf("error %v, want the cause %v", got.err, errBroken)
		}
	})
}

func TestAnInterruptedQuestionKeepsWhatItHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel)
		got := askContext(t, ctx, script(t, search, never), timeout(300*time.Second))
		got.want(t, trajectory.Failed, ReasonInterrupted)
		if !errors.Is(got.err, context.Canceled) || len(got.Surfaced) != 3 || got.ElapsedSeconds != 10 {
			t.Errorf("error %v, surfaced %v, after %v s", got.err, got.Surfaced, got.ElapsedSeconds)
		}
	})
}

func TestAResultTheModelCanActOnIsNotTheEnd(t *testing.T) {
	got := ask(t, script(t, calls("search", ""), says(final)), nil)
	got.want(t, trajectory.Completed, "")
	if got.ExecutedCalls != 1 || got.ToolErrors != 1 || got.RejectedCalls != 0 {
		t.Errorf("%d run, %d errors, %d rejected", got.ExecutedCalls, got.ToolErrors, got.RejectedCalls)
	}
	if args := got.model.requests[1].Messages[1].Calls[0].Arguments; args != "{}" {
		t.Errorf("empty arguments stand in the history as %q, want {}", args)
	}
}
