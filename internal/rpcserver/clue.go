package rpcserver

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"goserini/internal/lazyregexp"
)

// clue is a text whose words are looked for in documents.
type clue struct {
	Text     string `json:"text"`
	Category string `json:"category"`
	Boost    double `json:"boost"`

	tokens []string
}

const (
	required = "required"
	anyClue  = "any"
)

// clueToken is a word of a clue; clueStop are the words that do not count. Both are the
// protocol's.
var (
	clueToken = lazyregexp.New(`[A-Za-z0-9][A-Za-z0-9+._-]*`)
	clueStop  = strings.Fields("a an and are as at be by for from in into is it of on or that the their this to with")
)

// clues returns the clues of a field; what is no object is passed over.
func (p params) clues(name string) ([]clue, error) {
	clues := []clue{} // an empty list is echoed as one
	v, ok := p.given(name)
	if !ok {
		return clues, nil
	}
	var raw []json.RawMessage
	if json.Unmarshal(v, &raw) != nil {
		return nil, errors.New("clues must be a JSON array")
	}
	for _, r := range raw {
		var fields params
		if json.Unmarshal(r, &fields) != nil || fields == nil {
			continue
		}
		c, err := parseClue(fields)
		if err != nil {
			return nil, err
		}
		clues = append(clues, c)
	}
	return clues, nil
}

func parseClue(p params) (clue, error) {
	text, err := p.text("text", "the text of a clue must be a non-empty string")
	if err != nil {
		return clue{}, err
	}
	c := clue{Text: text, Category: p.optionalText("category", anyClue), Boost: 1, tokens: clueTokens(text)}
	if c.Category != required {
		c.Category = anyClue
	}
	if v, ok := p.given("boost"); ok {
		if f, ok := number(v); ok {
			c.Boost = double(f)
		}
	}
	return c, nil
}

// clueTokens are the distinct lower-cased words of a clue, in order.
func clueTokens(text string) []string {
	var tokens []string
	for _, t := range clueToken.FindAllString(text, -1) {
		t = strings.ToLower(t)
		if !slices.Contains(clueStop, t) && !slices.Contains(tokens, t) {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// bonus is what clues add to the score of a document, whose title and contents are given
// lower-cased.
func bonus(clues []clue, haystack string) float64 {
	var sum float64
	for _, c := range clues {
		matched := 0
		for _, t := range c.tokens {
			if strings.Contains(haystack, t) {
				matched++
			}
		}
		weight := 0.35
		if c.Category == required {
			weight = 0.75
		}
		switch {
		case matched == 0:
		case matched == len(c.tokens):
			sum += weight * float64(c.Boost)
		default:
			sum += weight * float64(c.Boost) * float64(matched) / float64(len(c.tokens)) * 0.5
		}
	}
	return sum
}

// matchedTerms are the words of clues, of at least two characters, that occur in a
// document, in the order of the clues.
func matchedTerms(clues []clue, haystack string) []string {
	terms := []string{}
	for _, c := range clues {
		for _, t := range c.tokens {
			if len(t) >= 2 && !slices.Contains(terms, t) && strings.Contains(haystack, t) {
				terms = append(terms, t)
			}
		}
	}
	return terms
}
