package openaichat_test

import (
	"testing"
	"time"

	"goserini/internal/llm"
	"goserini/internal/llm/llmtest"
	"goserini/internal/llm/openaichat"
)

func TestConformance(t *testing.T) {
	llmtest.Run(t, llmtest.ChatFamily(func(tb testing.TB, url, key string, idle time.Duration) llm.Client {
		c, err := openaichat.New(openaichat.Config{Provider: "test", BaseURL: url + "/v1", Key: key, Idle: idle})
		if err != nil {
			tb.Fatal(err)
		}
		return c
	}))
}
