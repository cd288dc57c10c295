package agent

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"goserini/internal/answer"
	"goserini/internal/llm"
	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
)

var bothTools = twoTools()

func TestCallsWrittenAsTextAreFound(t *testing.T) {
	for _, text := range []string{
		"Let me look.\n<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"salt\"}}\n</tool_call>",
		"```json\n{\"name\": \"search\", \"arguments\": {\"query\": \"salt\"}}\n```",
		"{\"name\": \"read_document\", \"parameters\": {\"docid\": \"d1\"}}",
		"I call [{\"function\": {\"name\": \"search\", \"arguments\": \"{}\"}}]",
		"{\"tool\": \"functions.search\", \"input\": {\"query\": \"{\"}}",
		"<function=search>\n<parameter=query>\nsalt\n</parameter>\n</function>",
		"<|channel|>commentary to=functions.search<|message|>{\"query\": \"salt\"}<|call|>",
		"<|tool_call_start|>[search(query='salt')]<|tool_call_end|>",
		"<｜tool▁calls▁begin｜>search",
		"[TOOL_CALLS][{\"name\": \"x\"}]",
		"<|python_tag|>search.call(query=\"salt\")",
		"<invoke name=\"search\"><parameter name=\"query\">salt</parameter></invoke>",
		"```python\nsearch(query=\"salt\")\n```",
		"[search(query=\"salt\")]",
		"functions.search(query=\"salt\")",
		"Thought: I need more.\nAction: search\nAction Input: salt",
	} {
		if !writtenCall(text, bothTools) {
			t.Errorf("%q is not taken for a call", text)
		}
	}
}

func TestOrdinaryAnswersAreNotTakenForCalls(t *testing.T) {
	for _, text := range []string{
		"", final,
		"I used search (twice) and read_document to find it.\nExact Answer: x",
		"Exact Answer: {\"name\": \"Orrin\", \"arguments\": 3}",
		"Exact Answer: {\"name\": \"search\"}",
		"The template writes `<tool_call>` before it.\nExact Answer: x",
		"The function search(x) is defined in chapter 2.\nExact Answer: x",
		strings.Repeat("{", 1000),
	} {
		if writtenCall(text, bothTools) {
			t.Errorf("%q is taken for a call", text)
		}
	}
}

func FuzzWrittenCall(f *testing.F) {
	for _, seed := range []string{"<tool_call>", "{\"name\":\"search\",\"arguments\":{}}", "search(", "```", "{{{{"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := writtenCall(text, bothTools)
		if found && !writtenCall("So:\n"+text, bothTools) && !strings.Contains(text, "`") {
			t.Errorf("%q is a call only at the beginning", text)
		}
	})
}

func TestCaseToolCallWrittenAsText(t *testing.T) {
	data, err := os.ReadFile(sharedtest.Path(t, "cases", "LLM-12", "texts.json"))
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{}
	if err := json.Unmarshal([]byte(strings.NewReplacer("@@SEARCH@@", "search", "@@QUERY@@", "query").Replace(string(data))), &forms); err != nil {
		t.Fatal(err)
	}
	for name, text := range forms {
		t.Run(name, func(t *testing.T) {
			told := ask(t, script(t, says(text), says(final)), nil)
			told.want(t, trajectory.Completed, "")
			if told.Answer.Exact != "Lake Orrin" || told.ExecutedCalls != 0 || !strings.Contains(told.last(2).Text, "through the tool interface") {
				t.Errorf("answer %q, told %q", told.Answer.Exact, told.last(2).Text)
			}
			stubborn := ask(t, script(t, says(text)), nil)
			stubborn.want(t, trajectory.Failed, ReasonCallAsText)
			if stubborn.Turns != maxMissteps+1 || stubborn.Answer.Text != "" {
				t.Errorf("%d turns, answer %q", stubborn.Turns, stubborn.Answer.Text)
			}
		})
	}
}

// Every way of not answering has one outcome.
func TestResponsesWithoutAnAnswer(t *testing.T) {
	thought := then(says(""), func(r *llm.Response) { r.Message.Reasoning = "thinking and thinking" })
	for _, c := range []struct {
		name   string
		turn   step
		status trajectory.Status
		reason string
		turns  int
		told   string
	}{
		{"nothing at all", says(""), trajectory.Failed, ReasonNoAnswer, 3, "was empty"},
		{"blanks", says(" \n"), trajectory.Failed, ReasonNoAnswer, 3, "was empty"},
		{"reasoning alone", thought, trajectory.Failed, ReasonNoAnswer, 3, "was empty"},
		{"reasoning alone, in tags", says("<think>only thoughts</think>"), trajectory.Failed, ReasonNoAnswer, 3, "was empty"},
		{"a reason for calls without calls", stops(llm.StopCalls, ""), trajectory.Failed, ReasonNoAnswer, 3, "was empty"},
		{"cut before the answer", stops(llm.StopLength, "Explanation: it is"), trajectory.Failed, ReasonOutputLimit, 3, "cut off at the output limit"},
		{"cut inside the answer", stops(llm.StopLength, "Explanation: x\nExact Answer: Lake Or"), trajectory.Failed, ReasonOutputLimit, 3, "cut off at the output limit"},
		{"a refusal", stops(llm.StopRefusal, "I cannot help with that."), trajectory.Failed, ReasonRefusal, 1, ""},
		{"a refusal beside calls", then(search, func(r *llm.Response) { r.StopReason = llm.StopRefusal }), trajectory.Failed, ReasonRefusal, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, script(t, c.turn), nil)
			got.want(t, c.status, c.reason)
			if got.Turns != c.turns || got.err != nil || got.ExecutedCalls != 0 {
				t.Errorf("%d turns, error %v, %d calls run", got.Turns, got.err, got.ExecutedCalls)
			}
			if c.told != "" && !strings.Contains(got.last(2).Text, c.told) {
				t.Errorf("told %q, want %q in it", got.last(2).Text, c.told)
			}
			if c.turns > 1 {
				again := ask(t, script(t, c.turn, c.turn, says(final)), nil)
				again.want(t, trajectory.Completed, "")
			}
		})
	}
}

func TestAnAnswerThatIsCompleteStandsAlthoughItWasCut(t *testing.T) {
	got := ask(t, script(t, stops(llm.StopLength, final+"\nSources: and so")), nil)
	got.want(t, trajectory.Completed, "")
	if got.Turns != 1 || !slices.Contains(got.Answer.Notes, "cut at the output limit") {
		t.Errorf("%d turns, notes %q", got.Turns, got.Answer.Notes)
	}
}

func TestATextWithoutLabelsIsAskedForThemOnce(t *testing.T) {
	got := ask(t, script(t, says("It is Lake Orrin."), says(final)), nil)
	got.want(t, trajectory.Completed, "")
	if got.Answer.Exact != "Lake Orrin" || got.Turns != 2 || got.Steered {
		t.Errorf("answer %q after %d turns, steered %v", got.Answer.Exact, got.Turns, got.Steered)
	}
}

// The text stands as the answer when nothing better comes of asking.
func TestATextWithoutLabelsIsTheAnswerInTheEnd(t *testing.T) {
	spare := says("It is Lake Orrin.")
	for name, next := range map[string]step{
		"said again":    spare,
		"a failed call": fails(llm.Error{Status: 401, Message: "no key"}),
		"nothing":       says(""),
		"a refusal":     stops(llm.StopRefusal, "no"),
		"a text call":   says("<tool_call>"),
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, script(t, spare, next), nil)
			got.want(t, trajectory.Completed, "")
			if got.Answer.Exact != "It is Lake Orrin." || !slices.Contains(got.Answer.Notes, answer.NoLabel) || got.err != nil {
				t.Errorf("answer %q, notes %q, error %v", got.Answer.Exact, got.Answer.Notes, got.err)
			}
		})
	}
}

func TestANarrationIsNotTheAnswerWhenTheModelWentOn(t *testing.T) {
	got := ask(t, script(t, says("Let me search for it."), search, fails(llm.Error{Status: 401, Message: "no key"})), nil)
	got.want(t, trajectory.Failed, ReasonModel)
	if got.err == nil || !strings.Contains(got.Error, "no key") {
		t.Errorf("error %v, recorded %q", got.err, got.Error)
	}
}

func TestTheRecordSaysWhatWasCited(t *testing.T) {
	got := ask(t, script(t, search, calls("read_document", `{"docid":"d1"}`),
		says("Explanation: a [d1]. b [d2, d3]. c [d7] [99]\nExact Answer: x\nConfidence: 50%")),
		func(c *Config) { c.Exists = func(id string) bool { return id == "d7" } })
	got.want(t, trajectory.Completed, "")
	want := []trajectory.Citation{
		{DocID: "d1", Access: answer.Opened}, {DocID: "d2", Access: answer.Previewed}, {DocID: "d3", Access: answer.Surfaced},
		{DocID: "d7", Access: answer.Never}, {DocID: "99", Access: answer.Never, Unknown: true},
	}
	if !slices.Equal(got.Answer.Citations, want) {
		t.Errorf("citations %+v, want %+v", got.Answer.Citations, want)
	}
	if !slices.Equal(got.Cited, []string{"d1", "d2", "d3", "d7", "99"}) || !slices.Equal(got.Opened, []string{"d1"}) ||
		!slices.Equal(got.Previewed, []string{"d1", "d2"}) || got.BestRank["d3"] != 3 {
		t.Errorf("sets %+v, ranks %v", got.Sets, got.BestRank)
	}
}

func TestTheQuestionGoesIntoThePromptAsItStands(t *testing.T) {
	m := script(t, says(final))
	question := "Was it $& or $1 \\0 {{question}} %s?"
	rec, err := Run(t.Context(), Question{Text: question}, Config{Client: m, Model: "m"})
	if err != nil || rec.Question != question {
		t.Fatalf("record %+v, error %v", rec, err)
	}
	want := strings.Replace(DefaultPrompt, "{{question}}", question, 1)
	if got := m.requests[0].Messages[0].Text; got != want {
		t.Errorf("prompt ends %q", got[len(got)-100:])
	}
}

// The rules of appendix A.1, each by words no other rule has.
func TestThePromptCarriesTheElevenRules(t *testing.T) {
	for i, words := range [][]string{
		{"Begin with search", "plain words", "question"},
		{"short query", "natural language"},
		{"read_search_results", "before you word the query anew"},
		{"promising", "read_document"},
		{"offset=1", "moderate limit", "read on"},
		{"Search again only", "new clue"},
		{"reason", "under 100 words", "specific", "search, read_search_results and read_document"},
		{"evidence is enough", "stop calling tools", "plain text"},
		{"Explanation:", "Exact Answer:", "Confidence:", "square brackets", "0% to 100%"},
		{"submit now", "no more tools", "format above"},
		{"Exact Answer answers what was asked"},
	} {
		for _, w := range words {
			if !strings.Contains(DefaultPrompt, w) {
				t.Errorf("rule %d: %q is not in the prompt", i+1, w)
			}
		}
	}
	if !strings.Contains(DefaultPrompt, "\n11. ") || strings.Contains(DefaultPrompt, "\n12. ") {
		t.Error("the prompt does not have eleven rules")
	}
}

func TestThePromptHashCoversWhatTheAgentSays(t *testing.T) {
	if PromptHash("") != PromptHash(DefaultPrompt) || PromptHash("") == PromptHash(DefaultPrompt+" ") || len(PromptHash("")) != 64 {
		t.Error("the hash does not identify the prompt")
	}
}

// TestTheManualNamesEveryEnding keeps docs/agent.md complete.
func TestTheManualNamesEveryEnding(t *testing.T) {
	data, err := os.ReadFile("../../docs/agent.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range Reasons {
		status := "failed"
		if reason == ReasonTime {
			status = "timeout"
		}
		if row := "| `" + status + "` | `" + reason + "` |"; !strings.Contains(string(data), row) {
			t.Errorf("the manual has no row %s", row)
		}
	}
}
