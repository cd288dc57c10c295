package controller

import (
	"fmt"
	"strings"
	"time"
)

// Budget is what is left for research. A zero total means that there is no such limit.
type Budget struct {
	TimeLeft, Time     time.Duration
	CallsLeft, Calls   int
	TokensLeft, Tokens int64
}

// budgetRoom is the number of bytes that a page leaves for the budget line.
const budgetRoom = 300

// line is the budget line of a result, empty where nothing is limited. From half of any
// limit on it advises to settle the question.
func (b Budget) line() string {
	var parts []string
	late := false
	if b.Time > 0 {
		parts = append(parts, fmt.Sprintf("%d s of %d s", wholeSeconds(b.TimeLeft), wholeSeconds(b.Time)))
		late = late || 2*b.TimeLeft < b.Time
	}
	if b.Calls > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d calls", max(b.CallsLeft, 0), b.Calls))
		late = late || 2*b.CallsLeft < b.Calls
	}
	if b.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d tokens", max(b.TokensLeft, 0), b.Tokens))
		late = late || 2*b.TokensLeft < b.Tokens
	}
	if len(parts) == 0 {
		return ""
	}
	line := "Budget left for research: " + strings.Join(parts, ", ") + "."
	if late {
		line += " More than half is used: check the best candidate against each part of the question rather than open new lines of search."
	}
	return line
}

func wholeSeconds(d time.Duration) int { return max(int(d/time.Second), 0) }
