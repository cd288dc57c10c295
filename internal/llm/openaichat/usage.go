package openaichat

import (
	"encoding/json"

	"goserini/internal/llm/wire"
	"goserini/internal/trajectory"
)

// parseUsage brings the usage object into the normal form. ok is false where there is none.
func parseUsage(raw json.RawMessage) (trajectory.Usage, bool) {
	var u struct {
		Prompt     *wire.Count `json:"prompt_tokens"`
		Completion *wire.Count `json:"completion_tokens"`
		Total      wire.Count  `json:"total_tokens"`
		// CacheHit is DeepSeek's; hit and miss together are the prompt.
		CacheHit wire.Count `json:"prompt_cache_hit_tokens"`
		// CacheRead and CacheWrite are those of gateways to Anthropic.
		CacheRead     wire.Count `json:"cache_read_input_tokens"`
		CacheWrite    wire.Count `json:"cache_creation_input_tokens"`
		PromptDetails struct {
			Cached  wire.Count `json:"cached_tokens"`
			Written wire.Count `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			Reasoning wire.Count `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	_ = json.Unmarshal(raw, &u) // a field of another type does not spoil the rest
	if u.Prompt == nil && u.Completion == nil {
		return trajectory.Usage{}, false
	}
	var prompt, completion int64
	if u.Prompt != nil {
		prompt = int64(*u.Prompt)
	}
	if u.Completion != nil {
		completion = int64(*u.Completion)
	}
	out := trajectory.Usage{
		Input:      prompt,
		CacheRead:  int64(max(u.PromptDetails.Cached, u.CacheHit, u.CacheRead)),
		CacheWrite: int64(max(u.PromptDetails.Written, u.CacheWrite)),
		Output:     completion,
		Reasoning:  int64(u.CompletionDetails.Reasoning),
	}
	// The prompt includes what the cache served, unless it is too small to.
	if cached := out.CacheRead + out.CacheWrite; cached <= prompt {
		out.Input -= cached
	}
	// The completion includes reasoning, except at servers whose total shows that it does not.
	if out.Reasoning > completion || out.Reasoning > 0 && int64(u.Total) == prompt+completion+out.Reasoning {
		out.Output += out.Reasoning
	}
	return out, true
}
