package agent

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"strings"
)

// DefaultPrompt is the first message of every question. It carries the rules of appendix
// A.1 of the Pi-Serini paper (arXiv 2605.10848) in our own words.
//
//go:embed prompt.md
var DefaultPrompt string

// Placeholder stands in a prompt where the question goes.
const Placeholder = "{{question}}"

// answerFormat reminds of the form of the final answer wherever one is asked for.
const answerFormat = `Explanation: {why, with supporting docids in square brackets}
Exact Answer: {the answer, as short as it can be}
Confidence: {0% to 100%}`

// steerTexts are the messages that end the research, by reason.
var steerTexts = map[string]string{
	steerTime:    "The time for this question is nearly over.",
	steerTurns:   "This is the last response you have for this question.",
	steerCalls:   "You have used all the tool calls you have for this question.",
	steerTokens:  "You have used nearly all the tokens you have for this question.",
	steerCost:    "The money for this question is nearly spent.",
	steerContext: "This conversation has nearly filled what you can hold in mind.",
}

// steerText is the message that ends the research for a reason.
func steerText(reason string) string {
	return steerTexts[reason] + " The tools are closed now: a call will not be run. Submit your best answer at once, from what you have already seen, as plain text in exactly this format:\n\n" + answerFormat
}

// fillPrompt puts the question into the prompt as it stands, whatever characters it has.
func fillPrompt(prompt, question string) (string, error) {
	before, after, found := strings.Cut(prompt, Placeholder)
	if !found {
		return "", errors.New("prompt has no " + Placeholder + " where the question belongs: add it")
	}
	return before + question + after, nil
}

// PromptHash is the SHA-256, in hexadecimal, of every text the agent itself says to a
// model, given its prompt ("" for DefaultPrompt). It belongs into the manifest.
func PromptHash(prompt string) string {
	if prompt == "" {
		prompt = DefaultPrompt
	}
	h := sha256.New()
	write := func(s string) { h.Write([]byte(s)); h.Write([]byte{0}) }
	write(prompt)
	for _, reason := range []string{steerTime, steerTurns, steerCalls, steerTokens, steerCost, steerContext} {
		write(steerText(reason))
	}
	for _, text := range []string{blockedText, emptyText, writtenCallText, cutText, cutCallText, unlabelledText} {
		write(text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
