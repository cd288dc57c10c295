// Package experiment runs a set of questions through the agent into one run
// directory, which holds everything about the run and can be resumed.
package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"

	"goserini/internal/bm25"
	"goserini/internal/controller"
)

// Spec holds every resolved value that decides what a run comes to. Two runs with
// equal specs are repetitions of one another; a run directory is never continued
// with another spec.
type Spec struct {
	Benchmark string `json:"benchmark,omitempty"`
	QuerySet  string `json:"query_set,omitempty"`
	// Questions is the number of questions, the first so many of the query set, and QuestionsHash a
	// SHA-256 over their ids and texts.
	Questions     int    `json:"questions"`
	QuestionsHash string `json:"questions_hash"`
	// Shard is the part of them that this run asks; without one it asks all.
	Shard Shard `json:"shard,omitzero"`

	Retrieval Retrieval `json:"retrieval"`
	Tools     Tools     `json:"tools"`
	Model     Model     `json:"model"`
	Budget    Budget    `json:"budget"`
}

// Retrieval says what ranks.
type Retrieval struct {
	// Retriever is the kind and place, for example index:DIR without the DIR's parents.
	Retriever string `json:"retriever"`
	// IndexFingerprint identifies the content of the index, wherever it lies.
	IndexFingerprint string      `json:"index_fingerprint,omitempty"`
	Analyzer         string      `json:"analyzer,omitempty"`
	Variant          string      `json:"bm25_variant,omitempty"`
	BM25             bm25.Params `json:"bm25"`
	// BM25Source says where k1 and b came from: flag, benchmark, rule, default.
	BM25Source string `json:"bm25_source,omitempty"`
	Depth      int    `json:"depth"`
}

// Tools says what the model may call and what it reads of it.
type Tools struct {
	Profile string `json:"profile"`
	// Parts are the switched-on parts of the navigator profile.
	Parts []string `json:"parts,omitempty"`
	// Hash covers names, descriptions and schemas.
	Hash string `json:"hash"`
	// NotebookHash covers what a notebook and a verification say beside that, "" without them.
	NotebookHash string `json:"notebook_hash,omitempty"`
	// Options are the sizes of pages and caches.
	Options controller.Options `json:"options"`
}

// Model says who answers.
type Model struct {
	Name            string `json:"name"`
	Effort          string `json:"effort,omitempty"`
	MaxOutputTokens int    `json:"max_output_tokens,omitempty"`
	// Temperature is nil where it is left to the provider.
	Temperature *float64 `json:"temperature,omitempty"`
	PromptHash  string   `json:"prompt_hash"`
	// SystemHash is the SHA-256 of the system text, empty without one.
	SystemHash string `json:"system_hash,omitempty"`
	// Window is the context window that the agent plans with, in tokens, and Shortening what it
	// does when that fills.
	Window     int    `json:"window,omitempty"`
	Shortening string `json:"shortening,omitempty"`
	// ForbidTools says that the provider is also told that the research is over.
	ForbidTools bool `json:"forbid_tools,omitempty"`
}

// Budget limits one question; 0 means no limit.
type Budget struct {
	TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	MaxTurns       int     `json:"max_turns,omitempty"`
	MaxCalls       int     `json:"max_calls,omitempty"`
	MaxTokens      int64   `json:"max_tokens,omitempty"`
	MaxCostUSD     float64 `json:"max_cost_usd,omitempty"`
}

// Difference is a field in which two specs differ.
type Difference struct {
	Field string `json:"field"`
	// Have is what the directory has, Want what was asked for now, as JSON.
	Have string `json:"have"`
	Want string `json:"want"`
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: %s there, %s now", d.Field, d.Have, d.Want)
}

// Differences lists the fields in which two specs differ, by dotted name, sorted.
func Differences(have, want Spec) ([]Difference, error) {
	a, err := flatten(have)
	if err != nil {
		return nil, err
	}
	b, err := flatten(want)
	if err != nil {
		return nil, err
	}
	var out []Difference
	for field := range b {
		if _, ok := a[field]; !ok {
			a[field] = "nothing"
		}
	}
	for field, value := range a {
		other, ok := b[field]
		if !ok {
			other = "nothing"
		}
		if value != other {
			out = append(out, Difference{Field: field, Have: value, Want: other})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Field < out[j].Field })
	return out, nil
}

// Fields returns the leaves of a spec as JSON, by dotted name.
func Fields(s Spec) (map[string]string, error) { return flatten(s) }

// flatten turns a value into dotted field names and the JSON of their leaves.
func flatten(v any) (map[string]string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode spec: %w", err)
	}
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(b, &tree); err != nil {
		return nil, fmt.Errorf("decode spec: %w", err)
	}
	out := map[string]string{}
	return out, flattenInto(out, "", tree)
}

func flattenInto(out map[string]string, prefix string, tree map[string]json.RawMessage) error {
	for key, raw := range tree {
		if len(raw) > 0 && raw[0] == '{' {
			var inner map[string]json.RawMessage
			if err := json.Unmarshal(raw, &inner); err != nil {
				return fmt.Errorf("decode spec field %s%s: %w", prefix, key, err)
			}
			if err := flattenInto(out, prefix+key+".", inner); err != nil {
				return err
			}
			continue
		}
		out[prefix+key] = string(raw)
	}
	return nil
}

// HashQuestions returns the SHA-256, in hexadecimal, over the ids and texts of questions in order.
func HashQuestions(questions []Question) (string, error) {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(questions); err != nil {
		return "", fmt.Errorf("hash questions: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
