package openaichat_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"goserini/internal/llm"
	"goserini/internal/llm/llmtest"
	"goserini/internal/llm/openaichat"
	"goserini/internal/trajectory"
)

// TestUnderEveryFaultHistoriesStayCleanAndCountsTrue asks many questions at once of a server on which
// each fault befalls each answer with a probability of one in five.
func TestUnderEveryFaultHistoriesStayCleanAndCountsTrue(t *testing.T) {
	usage := trajectory.Usage{Input: 90, CacheRead: 10, Output: 7, Reasoning: 2}
	answers := llmtest.ByTurn(
		llmtest.Answer{Reasoning: "first", Calls: []llm.Call{{ID: "a", Name: "search", Arguments: `{"query":"salt"}`}, {ID: "b", Name: "read_document", Arguments: `{"docid":"d1"}`}}, Usage: usage},
		llmtest.Answer{Calls: []llm.Call{{ID: "c", Name: "search", Arguments: `{"query":"works"}`}}, Usage: usage},
		llmtest.Answer{Text: "Exact Answer: Lake Orrin", Usage: usage},
	)
	faults := slices.Concat(llmtest.ServerFaults, llmtest.ModelFaults)
	faults = slices.DeleteFunc(faults, func(f llmtest.Fault) bool { return f == llmtest.Silence }) // it takes time; the suite has it
	srv := llmtest.NewServer(t, llmtest.Spoil(1, 0.2, faults, answers))
	c := newClient(t, openaichat.Config{BaseURL: srv.URL})

	var mu sync.Mutex
	var spent trajectory.Usage
	failures := map[string]int{}
	ask := func(question string) {
		req := llmtest.Question(question)
		for try := 0; try < 500; try++ {
			resp, err := c.Complete(t.Context(), req, nil)
			mu.Lock()
			var e *llm.Error
			switch {
			case errors.As(err, &e):
				spent = spent.Add(e.Usage)
				failures[e.Message]++
			case err != nil:
				t.Errorf("%s: %v is no *llm.Error", question, err)
			case resp.UsageKnown:
				spent = spent.Add(resp.Usage)
			}
			mu.Unlock()
			if err != nil {
				continue
			}
			req.Messages = append(req.Messages, resp.Message)
			for _, call := range resp.Message.Calls {
				req.Messages = append(req.Messages, llm.Message{Role: llm.Tool, CallID: call.ID, ToolName: call.Name, Text: "result"})
			}
			if len(resp.Message.Calls) == 0 {
				return
			}
		}
		t.Errorf("%s: no end after 500 tries", question)
	}
	var all sync.WaitGroup
	next := make(chan int)
	for range 8 {
		all.Go(func() {
			for n := range next {
				ask(fmt.Sprintf("question %d", n))
			}
		})
	}
	for n := range 25 {
		next <- n
	}
	close(next)
	all.Wait()

	for _, r := range srv.Requests() {
		if problems := llmtest.Problems(r.Body); len(problems) > 0 {
			t.Fatalf("request %d: %v\n%s", r.N, problems, r.Body)
		}
	}
	if told := srv.Told(); spent != told {
		t.Errorf("counted %+v, the server told %+v", spent, told)
	}
	if len(failures) < 8 {
		t.Errorf("only %d kinds of failure were met: %v", len(failures), failures)
	}
}
