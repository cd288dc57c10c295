package analysis

import (
	"fmt"
	"strings"
	"sync"
)

// Default is the name of the analyzer used where none is named.
const Default = "english"

// chain is an analyzer made of its two stages.
type chain struct {
	name       string
	tokenizer  func() Tokenizer
	normalize  func(dst, raw []byte) ([]byte, bool)
	tokenizers sync.Pool
}

// ByName returns the analyzer of that name; "" is [Default].
func ByName(name string) (Analyzer, error) {
	if name == "" {
		name = Default
	}
	switch name {
	case "english":
		return &chain{name: name, tokenizer: newStandardTokenizer, normalize: normalizeEnglish}, nil
	case "none":
		return &chain{name: name, tokenizer: newStandardTokenizer, normalize: keepRaw}, nil
	}
	return nil, fmt.Errorf("analyzer %q is unknown: use one of %s", name, strings.Join(Names(), ", "))
}

// Names lists the analyzers that [ByName] knows, the default first.
func Names() []string { return []string{"english", "none"} }

func (c *chain) Name() string { return c.name }

func (c *chain) Tokenizer() Tokenizer { return c.tokenizer() }

func (c *chain) Normalize(dst, raw []byte) ([]byte, bool) { return c.normalize(dst, raw) }

// stages is what one run of Analyze needs to itself.
type stages struct {
	tokenizer Tokenizer
	term      []byte
}

func (c *chain) Analyze(text string, emit func(Token)) {
	s, ok := c.tokenizers.Get().(*stages)
	if !ok {
		s = &stages{tokenizer: c.tokenizer()}
	}
	defer c.tokenizers.Put(s)
	s.tokenizer.Reset(text)
	for {
		token, ok := s.tokenizer.Next()
		if !ok {
			return
		}
		term, keep := c.normalize(s.term[:0], token.Term)
		s.term = term
		if keep {
			token.Term = term
			emit(token)
		}
	}
}

// keepRaw makes the raw token the term.
func keepRaw(dst, raw []byte) ([]byte, bool) { return append(dst, raw...), true }
