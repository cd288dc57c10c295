package report

import (
	"fmt"
	"strconv"
	"strings"

	"goserini/internal/judge"
	"goserini/internal/trajectory"
)

// card is a question as the page shows it before it is opened.
type card struct {
	Anchor, ID, Outcome, Class string
	Question, Answer, Meta     string
	Known, Judged, Cited       string
	Phrases                    []phraseView
	Places                     []placeView
	Steps                      []string
	Brief, Missing             string
	// Cut says that opening the card shows more.
	Cut bool
}

// phraseView is a piece of the answer.
type phraseView struct {
	Text string
	// Cite is set for a citation; Href leads to what it cites, where the model saw it.
	Cite             bool
	Href, Badge, Tip string
	Seen             bool
}

// placeView is a place that the answer cites.
type placeView struct {
	ID, DocID, Label, How, Quote string
}

func (it *item) card(l level) card {
	c := card{Anchor: it.anchor, ID: clean(it.id), Outcome: string(it.outcome()), Class: outcomeClass(it.outcome()), Meta: it.meta(l)}
	c.Question = clip(clean(oneLine(it.asked)), l.question)
	c.Known, c.Judged = it.knownAnswer(), it.judgedText()
	c.Known = clip(c.Known, l.answer)
	c.Judged = clip(c.Judged, l.answer)
	c.Missing = it.story.missing
	if it.record != nil {
		c.Answer = it.exactAnswer(l.answer)
		c.Phrases = it.phrases(l.answer)
		c.place(it, l)
	}
	if l.steps {
		c.Steps = it.stepLines(l)
	} else {
		c.Brief = it.brief()
	}
	c.Cut = len(it.story.steps) > 0
	return c
}

// place lists the places the answer cites; where there is no room for them, citations are no links
// but a list of documents.
func (c *card) place(it *item, l level) {
	if l.places {
		c.Places = it.places(l)
		return
	}
	c.Known, c.Judged = "", ""
	for i := range c.Phrases {
		c.Phrases[i].Href = ""
	}
	var ids []string
	for _, cite := range it.record.Answer.Citations {
		text := clean(cite.DocID)
		if mark := badge(cite); mark != "" {
			text += " (" + mark + ")"
		}
		ids = append(ids, text)
	}
	c.Cited = clip(strings.Join(ids, ", "), 100)
}

// outcomeClass is how an outcome is coloured.
func outcomeClass(o outcome) string {
	switch o {
	case right:
		return "good"
	case wrong, failed:
		return "bad"
	case timedOut, undecided:
		return "poor"
	}
	return "none"
}

// meta is a line of numbers on a question.
func (it *item) meta(l level) string {
	if it.record == nil {
		return ""
	}
	parts := []string{plural(it.calls(), "call"), seconds(it.scores.ElapsedSeconds)}
	if e := it.scores.Evidence; l.places && e != nil && e.Relevant > 0 {
		parts = append(parts, fmt.Sprintf("evidence: %d of %d retrieved, %d shown, %d opened, %d cited", e.Surfaced, e.Relevant, e.Previewed, e.Opened, e.Cited))
	}
	parts = append(parts, it.standing()...)
	if it.scores.CostUSD != nil && *it.scores.CostUSD > 0 {
		parts = append(parts, dollars(*it.scores.CostUSD))
	}
	return strings.Join(parts, " · ")
}

func (it *item) calls() int {
	n := 0
	for _, c := range it.scores.ToolCallCounts {
		n += c
	}
	return n
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// exactAnswer is the answer with its confidence.
func (it *item) exactAnswer(most int) string {
	a := it.record.Answer
	const least = 60 // the answer itself is shown even where its explanation is not
	text := clip(clean(oneLine(a.Exact)), max(most, least))
	if text == "" {
		text = "no answer"
		if it.story.veiled {
			text = "answer left out"
		}
	}
	if a.Confidence != nil {
		text += " (" + strconv.FormatFloat(*a.Confidence, 'f', -1, 64) + " %)"
	}
	return text
}

func (it *item) knownAnswer() string {
	switch {
	case it.known == nil:
		return ""
	case it.known.Unanswerable:
		return "the collection does not hold the answer"
	}
	return clean(oneLine(it.known.Text))
}

// judgedText is what the judge made of the answer.
func (it *item) judgedText() string {
	v := it.verdict
	if v == nil {
		return ""
	}
	text := v.Judge + ": " + strings.ReplaceAll(string(v.State), "_", " ")
	if v.State == judge.Judged && v.Correct != nil {
		text = v.Judge + ": " + map[bool]string{true: "right", false: "wrong"}[*v.Correct]
	}
	if v.Reasoning != nil && *v.Reasoning != "" {
		text += " (" + oneLine(*v.Reasoning) + ")"
	} else if v.Error != "" {
		text += " (" + oneLine(v.Error) + ")"
	}
	return clean(text)
}

// phrases are the answer in pieces, at most so many characters of it.
func (it *item) phrases(most int) []phraseView {
	var out []phraseView
	if most == 0 {
		return nil
	}
	left := most
	for _, p := range it.story.answer {
		text := clean(p.text)
		if p.cite != nil {
			out = append(out, it.citation(p))
			continue
		}
		n := len([]rune(text))
		if n > left {
			return append(out, phraseView{Text: clip(text, left)})
		}
		left -= n
		out = append(out, phraseView{Text: text})
	}
	if len(out) == 0 && it.story.missing != "" {
		text := it.record.Answer.Explanation
		if text == "" {
			text = it.record.Answer.Text
		}
		if text != "" {
			out = append(out, phraseView{Text: clip(clean(text), most)})
		}
	}
	return out
}

func (it *item) citation(p phrase) phraseView {
	v := phraseView{Text: clean(p.text), Cite: true, Seen: p.cite.Access == "opened"}
	if p.target > 0 {
		t := it.story.targets[p.target-1]
		v.Href = it.targetID(p.target)
		v.Tip = strings.TrimPrefix(t.label+": "+t.how, ": ")
	}
	v.Badge = badge(*p.cite)
	return v
}

// badge marks a citation of a document whose text was not read.
func badge(c trajectory.Citation) string {
	switch {
	case c.Unknown:
		return "no such document"
	case c.Access == "opened":
		return ""
	case c.Access == "previewed":
		return "excerpt only"
	case c.Access == "surfaced":
		return "never shown"
	}
	return "never seen"
}

func (it *item) targetID(n int) string { return fmt.Sprintf("%sc%d", it.anchor, n) }

func (it *item) places(l level) []placeView {
	var out []placeView
	for i, t := range it.story.targets {
		quote := clip(clean(oneLine(t.quote)), min(l.answer, 500))
		out = append(out, placeView{ID: it.targetID(i + 1), DocID: clean(t.docid), Label: t.label, How: t.how, Quote: quote})
	}
	return out
}

// stepLines are the steps, a line each.
func (it *item) stepLines(l level) []string {
	var out []string
	for _, st := range it.story.steps {
		switch {
		case st.call != nil:
			out = append(out, clip(st.call.line(), min(l.field, 400)))
		case st.steer != nil:
			out = append(out, "told to stop: "+st.steer.Reason)
		case st.attempt != nil:
			out = append(out, "model call failed: "+clip(clean(oneLine(st.attempt.Error)), 160))
		case st.shorten != nil:
			out = append(out, fmt.Sprintf("history shortened (%s)", st.shorten.Policy))
		}
	}
	return out
}

// line is a call on one line: tool, what it was about, what came of it.
func (c *callStep) line() string {
	parts := []string{clean(c.tool)}
	for _, a := range c.arguments {
		switch a.name {
		case "query":
			parts = append(parts, "“"+clean(oneLine(a.value))+"”")
		case "docid", "search_id":
			parts = append(parts, clean(oneLine(a.value)))
		case "offset":
			if a.value != "1" {
				parts = append(parts, "from "+clean(a.value))
			}
		}
	}
	return strings.Join(parts, " ") + ": " + c.outcome()
}

// outcome says what a call came to.
func (c *callStep) outcome() string {
	r := c.result
	switch {
	case r == nil:
		return "no result"
	case r.Blocked:
		return "refused, research was over"
	case r.Rejected:
		return "rejected"
	case r.IsError:
		return "error"
	}
	var parts []string
	if c.ranked > 0 {
		parts = append(parts, count(c.ranked)+" ranked")
	}
	if c.shown > 0 {
		parts = append(parts, count(c.shown)+" shown")
	}
	if c.read > 0 {
		parts = append(parts, "read")
	}
	if len(parts) == 0 {
		return "nothing found"
	}
	return strings.Join(parts, ", ")
}

// brief counts steps of one kind in a row.
func (it *item) brief() string {
	var parts []string
	last, n := "", 0
	flush := func() {
		if n > 1 {
			last += " ×" + strconv.Itoa(n)
		}
		if n > 0 {
			parts = append(parts, last)
		}
	}
	for _, st := range it.story.steps {
		name := ""
		switch {
		case st.call != nil:
			name = shortName(clean(st.call.tool))
		case st.steer != nil:
			name = "told to stop"
		case st.attempt != nil:
			name = "failed try"
		case st.shorten != nil:
			name = "shortened"
		default:
			continue
		}
		if name == last {
			n++
			continue
		}
		flush()
		last, n = name, 1
	}
	flush()
	return strings.Join(parts, " → ")
}

// shortName is a tool's name where there is little room.
func shortName(tool string) string {
	switch tool {
	case "read_document":
		return "read"
	case "read_search_results":
		return "browse"
	}
	return clip(tool, 30)
}
