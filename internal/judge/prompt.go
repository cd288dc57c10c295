package judge

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"goserini/internal/llm"
)

//go:embed prompt.md
var promptText string

var promptTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("prompt.md").Parse(promptText)) })

// promptData says which rules the prompt holds.
type promptData struct {
	// Reference: a correct answer is shown. Unanswerable: right is to say that there is none.
	Reference, Unanswerable bool
	// Several correct answers are shown.
	Several bool
}

// PromptHash identifies the wording of the prompt.
func PromptHash() string {
	sum := sha256.Sum256([]byte(promptText))
	return hex.EncodeToString(sum[:8])
}

// request asks a model for a verdict.
func request(it Item, mode Mode) (llm.Request, error) {
	known := mode == GoldAnswer && !it.Reference.Unanswerable
	data := promptData{
		Reference:    known,
		Unanswerable: mode == GoldAnswer && it.Reference.Unanswerable,
		Several:      known && len(it.Reference.Aliases) > 0,
	}
	var rules strings.Builder
	if err := promptTemplate().Execute(&rules, data); err != nil {
		return llm.Request{}, fmt.Errorf("judge prompt: %w", err)
	}
	mark := fenceMark(it)
	blocks := fence("QUESTION", mark, it.Question) + fence("RESPONSE", mark, response(it))
	if known {
		blocks += fence("CORRECT ANSWER", mark, strings.Join(append([]string{it.Reference.Answer}, it.Reference.Aliases...), "\n"))
	}
	return llm.Request{
		System:      strings.TrimSpace(rules.String()),
		Messages:    []llm.Message{{Role: llm.User, Text: blocks + "Your JSON object:"}},
		ForbidTools: true,
	}, nil
}

// response is the whole final answer, or the short one where that is all there is.
func response(it Item) string {
	if strings.TrimSpace(it.Response) == "" {
		return it.Exact
	}
	return it.Response
}

// fenceMark makes the mark of a message from its content, so that no response can hold it: it
// would have to contain its own hash.
func fenceMark(it Item) string {
	sum := sha256.Sum256([]byte(it.Question + "\x00" + it.Exact + "\x00" + it.Response + "\x00" + it.Reference.Answer))
	return hex.EncodeToString(sum[:8])
}

func fence(name, mark, content string) string {
	return fmt.Sprintf("=== %s %s ===\n%s\n=== END OF %s %s ===\n\n", name, mark, content, name, mark)
}
