package main

import (
	"testing"

	"goserini/internal/llm"
	"goserini/internal/llm/llmtest"
	"goserini/internal/trajectory"
)

// TestAskAgainstAChatCompletionsServer drives `goserini ask` against a server on loopback that
// searches, browses, reads and answers; the script checks the record it leaves.
func TestAskAgainstAChatCompletionsServer(t *testing.T) {
	usage := trajectory.Usage{Input: 100, CacheRead: 50, Output: 20}
	call := func(id, name, args string) llmtest.Answer {
		return llmtest.Answer{Calls: []llm.Call{{ID: id, Name: name, Arguments: args}}, Usage: usage}
	}
	server := llmtest.NewServer(t, llmtest.ByTurn(
		call("c1", "search", `{"reason":"find the survey","query":"survey basin"}`),
		call("c2", "read_search_results", `{"reason":"look further","search_id":"s1","offset":1,"limit":10}`),
		call("c3", "read_document", `{"reason":"read it","docid":"survey.md"}`),
		llmtest.Answer{Text: "Explanation: The survey names it [survey.md].\nExact Answer: Lake Orrin\nConfidence: 88%", Usage: usage},
	))
	t.Cleanup(func() { // scripts run in parallel, after this function
		if n := len(server.Requests()); n != 4 {
			t.Errorf("the server got %d requests, want 4", n)
		}
	})
	runScripts(t, "testdata/server", "", func(set func(name, value string)) {
		set("VLLM_BASE_URL", server.URL)
		set("VLLM_API_KEY", "sk-very-secret-key")
	})
}
