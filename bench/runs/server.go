package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"goserini/internal/synth"
)

// thinker draws think times: the same for a question and a turn, whoever asks.
type thinker struct {
	mean   time.Duration
	spread float64
	seed   uint64
}

func (t thinker) time(question, turn int) time.Duration {
	draw := rand.New(rand.NewPCG(t.seed, uint64(question)<<16|uint64(turn)))
	// The mean of a lognormal distribution is exp(mu + sigma²/2).
	return time.Duration(float64(t.mean) * math.Exp(t.spread*draw.NormFloat64()-t.spread*t.spread/2))
}

// ideal is how long the think times take if nothing else does: questions are begun in order, each as
// soon as there is a place.
func (t thinker) ideal(o options) time.Duration {
	free := make([]time.Duration, o.Concurrency)
	var end time.Duration
	for q := range o.Questions {
		first := 0
		for i := range free {
			if free[i] < free[first] {
				first = i
			}
		}
		for turn := range o.Turns {
			free[first] += t.time(q, turn)
		}
		end = max(end, free[first])
	}
	return end
}

const questionStem = "What is said of harbour number "

var questionNumber = regexp.MustCompile(questionStem + `(\d+)\?`)

// server answers with calls of all three tools in turn, and at last with an answer.
type server struct {
	think   thinker
	turns   int
	queries []synth.Query
}

func serve(think thinker, turns int, seed uint64) error {
	queries, err := synth.Corpus{Shape: synth.Long, Documents: 200, Seed: seed}.Queries(synth.Medium, 200)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/v1\n", l.Addr())
	s := &http.Server{Handler: &server{think, turns, queries}, ReadHeaderTimeout: time.Minute}
	return s.Serve(l)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Stream   bool `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	question, turn := -1, 0
	for _, m := range req.Messages {
		if m.Role == "assistant" {
			turn++
		}
		if match := questionNumber.FindSubmatch(m.Content); match != nil && question < 0 {
			question, _ = strconv.Atoi(string(match[1]))
		}
	}
	if err != nil || question < 0 {
		http.Error(w, fmt.Sprintf("no question: %v", err), http.StatusBadRequest)
		return
	}
	if sleep(r.Context(), s.think.time(question, turn)) != nil {
		return
	}
	s.answer(w, question, turn, len(body)/4)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer streams one response.
func (s *server) answer(w http.ResponseWriter, question, turn, tokens int) {
	delta, reason := map[string]any{"role": "assistant"}, "stop"
	if turn < s.turns-1 {
		name, arguments := s.call(question, turn)
		reason = "tool_calls"
		delta["tool_calls"] = []any{map[string]any{"index": 0, "id": fmt.Sprintf("call_%d", turn), "type": "function",
			"function": map[string]any{"name": name, "arguments": arguments}}}
	} else {
		delta["content"] = "Explanation: nothing is said of it.\nExact Answer: nothing\nConfidence: 10%"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range []map[string]any{
		{"choices": []any{map[string]any{"index": 0, "delta": delta}}},
		{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}}},
		{"choices": []any{}, "usage": map[string]any{"prompt_tokens": tokens, "completion_tokens": 100, "total_tokens": tokens + 100}},
	} {
		b, err := json.Marshal(chunk)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// call is a search, a look further down its ranking, or a page of a document, in turn.
func (s *server) call(question, turn int) (name, arguments string) {
	switch turn % 3 {
	case 0:
		q := s.queries[(question*7+turn)%len(s.queries)]
		b, _ := json.Marshal(map[string]any{"reason": "to look", "query": q.Text}) // two texts
		return "search", string(b)
	case 1:
		return "read_search_results", fmt.Sprintf(`{"reason":"to go on","search_id":"s%d","offset":6,"limit":10}`, turn/3+1)
	}
	return "read_document", fmt.Sprintf(`{"reason":"to read","docid":%q}`, synth.Corpus{Shape: synth.Long, Documents: 200}.Document((question+turn)%200).ID)
}
