package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"goserini/internal/llm"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// BenchmarkTurn measures what the loop itself costs: 200 turns that fill a context of about
// 200,000 tokens, each with a search that surfaces a thousand documents.
func BenchmarkTurn(b *testing.B) {
	n := 0
	page := strings.Repeat("a line of the page\n", 210)
	searching := tool.Tool{Name: "search", Schema: json.RawMessage(`{}`), Begin: func(json.RawMessage) func(context.Context) (tool.Result, error) {
		n++
		docids := make([]string, 1000)
		for i := range docids {
			docids[i] = fmt.Sprint(n*500 + i)
		}
		return func(context.Context) (tool.Result, error) {
			return tool.Result{Text: page, Access: trajectory.Access{Surfaced: docids}}, nil
		}
	}}
	const turns = 200
	for b.Loop() {
		n = 0
		client := clientFunc(func(ctx context.Context, req llm.Request, _ func(llm.Delta)) (llm.Response, error) {
			if len(req.Messages) > 2*turns {
				return says(final)(ctx, req)
			}
			return calls("search", `{"query":"salt works"}`)(ctx, req)
		})
		rec, err := Run(b.Context(), Question{ID: "q"}, Config{Client: client, Model: "m", Tools: []tool.Tool{searching}})
		if err != nil || rec.Turns != turns+1 {
			b.Fatalf("%d turns, %v", rec.Turns, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*turns), "µs/turn")
}
