package report

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"goserini/internal/chart"
	"goserini/internal/eval"
	"goserini/internal/judge"
	"goserini/internal/trajectory"
)

// level says how much of each question a page shows.
type level struct {
	// text is how many bytes of what tools returned and models thought stand in an opened card,
	// field how many characters of a reason or an argument, said of the question and the answer.
	text, field, said int
	// question and answer are how many characters of either stand in a closed card, which is all
	// there is without script; steps and places say whether those are listed one by one.
	question, answer int
	steps, places    bool
	// facts says whether steps of an opened card have times, tokens and durations.
	facts bool
}

// levels go from everything to as little as tells what happened.
var levels = []level{
	{maxInt, maxInt, maxInt, maxInt, maxInt, true, true, true},
	{256 << 10, 4000, 8000, 4000, 4000, true, true, true},
	{128 << 10, 2000, 4000, 2000, 2000, true, true, true},
	{64 << 10, 2000, 4000, 1000, 1500, true, true, true},
	{32 << 10, 1000, 2500, 600, 1000, true, true, true},
	{16 << 10, 600, 2000, 500, 700, true, true, true},
	{12 << 10, 600, 2000, 400, 500, false, true, true},
	{8 << 10, 400, 1500, 320, 400, false, true, true},
	{6 << 10, 300, 1500, 280, 320, false, true, true},
	{4 << 10, 300, 1200, 240, 280, false, true, true},
	{3 << 10, 240, 1200, 220, 240, false, true, true},
	{2 << 10, 200, 1000, 180, 180, false, false, true},
	{1 << 10, 160, 1000, 160, 160, false, false, true},
	{512, 120, 800, 140, 120, false, false, true},
	{256, 100, 600, 120, 80, false, false, true},
	{0, 80, 500, 100, 0, false, false, true},
	{0, 60, 400, 90, 0, false, false, false},
	{0, 40, 300, 80, 0, false, false, false},
}

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
		text += ". " + oneLine(*v.Reasoning)
	} else if v.Error != "" {
		text += ". " + oneLine(v.Error)
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

// opened is a question as the page shows it once it is opened.
type opened struct {
	card
	Fates []fateView
	// Timeline is the question's own, empty where nothing is known.
	Timeline template.HTML
	Timed    []stepView
	Error    string
	Notes    []string
	File     string
}

type fateView struct {
	DocID, Judged, Stage, Rank string
	Lost                       bool
}

// stepView is one step of an opened card.
type stepView struct {
	// At is empty where the step came at the time of the one before.
	At, Kind, Title string
	// Facts are numbers on a step, Reason and Fields what the model gave.
	Facts, Reason string
	Fields        []fieldView
	// Texts are what the model wrote; Observation is what it read.
	Texts       []textView
	Observation []pieceView
	ObsTitle    string
	Anchors     []string
	Evidence    []string
	Bad         bool
}

type fieldView struct{ Name, Value string }
type textView struct{ Label, Text string }
type pieceView struct{ Text, ID, Gap string }

func (it *item) opened(l level) opened {
	all := l
	all.question, all.answer, all.steps, all.places = l.said, l.said, false, true
	o := opened{card: it.card(all)}
	o.Brief, o.Places = "", nil
	for _, f := range it.scores.Fates {
		o.Fates = append(o.Fates, fateView{clean(f.DocID), judgedAs(f), stageLabel(f.Stage), rank(f.BestRank), f.Stage != eval.Used})
	}
	if it.record == nil {
		return o
	}
	o.Error = clip(clean(oneLine(it.record.Error)), max(l.field, 300))
	for _, n := range it.record.Answer.Notes {
		o.Notes = append(o.Notes, clip(clean(oneLine(n)), 200))
	}
	o.File = clean(it.record.Trajectory)
	o.Timeline = it.timeline(l.text < 4<<10)
	o.Timed = it.timed(l)
	return o
}

// timeline is the question's own; summed, it has one stretch for each kind of time.
func (it *item) timeline(summed bool) template.HTML {
	if it.story.endMS <= 0 {
		return ""
	}
	row := timelineRow(it, summed)
	row.Label, row.Href, row.Tip = "", "", ""
	c := chart.Timeline{Title: "Time of this question", Rows: []chart.Row{row}, End: float64(it.story.endMS) / 1000, Label: "seconds", Format: axisSeconds, Keys: timeKeys}
	if it.story.limit > 0 && float64(it.story.endMS)/1000 > it.story.limit/3 {
		c.Limit, c.LimitLabel = it.story.limit, "time limit"
		c.End = max(c.End, it.story.limit*1.02)
	}
	return template.HTML(c.SVG()) //nolint:gosec // made here, foreign text escaped
}

func (it *item) timed(l level) []stepView {
	limit := it.story.textLimit(l.text)
	var out []stepView
	for i, st := range it.story.steps {
		v := stepView{}
		if l.facts && (i == 0 || it.story.steps[i-1].atMS != st.atMS) {
			v.At = seconds(float64(st.atMS) / 1000)
		}
		switch {
		case st.turn != nil:
			it.turnView(&v, st.turn, l, limit)
		case st.call != nil:
			it.callView(&v, i, st.call, l, limit)
			v.Evidence = st.call.evidence
		case st.steer != nil:
			v.Kind, v.Title = "steer", "told to stop: "+st.steer.Reason
			if st.steer.Reason == trajectory.SteerFormat {
				v.Title = "asked for another form of answer"
			}
			v.Texts = []textView{{"", clip(clean(st.steer.Text), min(l.field, 600))}}
		case st.attempt != nil:
			v.Kind, v.Bad = "try", true
			v.Title = fmt.Sprintf("model call failed, try %d", st.attempt.Try)
			if st.attempt.Interrupted {
				v.Title = "model call ended by us"
			}
			if st.attempt.WillRetry {
				v.Facts = "waits " + ms(st.attempt.RetryMS)
			}
			v.Texts = []textView{{"", clip(clean(oneLine(st.attempt.Error)), min(l.field, 600))}}
		case st.shorten != nil:
			v.Kind, v.Title = "shorten", fmt.Sprintf("history shortened (%s): %s", st.shorten.Policy, plural(len(st.shorten.Calls), "result"))
			v.Facts = fmt.Sprintf("about %s tokens before, %s after", count(st.shorten.TokensBefore), count(st.shorten.TokensAfter))
			v.Texts = []textView{{"note", clip(clean(st.shorten.Text), l.field)}}
		}
		if !l.facts && (st.turn != nil || st.call != nil) {
			v.Facts = ""
		}
		v.Texts = slices.DeleteFunc(v.Texts, func(t textView) bool { return t.Text == "" })
		if st.turn != nil && !l.facts && len(v.Texts) == 0 {
			continue // it would say nothing but its number
		}
		out = append(out, v)
	}
	return out
}

func (it *item) turnView(v *stepView, t *trajectory.Turn, l level, limit int) {
	v.Kind, v.Title = "turn", fmt.Sprintf("turn %d", t.Turn)
	input := t.Usage.Input + t.Usage.CacheRead + t.Usage.CacheWrite
	switch {
	case t.UsageUnknown:
		v.Facts = "tokens unknown"
	case input+t.Usage.Output > 0:
		v.Facts = fmt.Sprintf("%s tokens in", count(input))
		if t.Usage.CacheRead > 0 {
			v.Facts += fmt.Sprintf(" (%.0f %% cached)", 100*float64(t.Usage.CacheRead)/float64(input))
		}
		v.Facts += fmt.Sprintf(", %s out", count(t.Usage.Output))
	}
	if t.StopReason != "" && t.StopReason != "tool_calls" && t.StopReason != "stop" {
		v.Facts = strings.TrimPrefix(v.Facts+", ended by "+clean(t.StopReason), ", ")
	}
	text := t.Text
	if it.record != nil && text != "" && strings.TrimSpace(text) == strings.TrimSpace(it.record.Answer.Text) {
		text = "(the answer, as above)"
	}
	v.Texts = []textView{{"reasoning", cutText(t.Reasoning, limit)}, {"", cutText(text, limit)}}
}

// cutText shows the beginning of a text and says how much is left out.
func cutText(s string, limit int) string {
	s = strings.TrimSpace(s)
	if len(s) <= limit {
		return clean(s)
	}
	head := clipBytes(s, limit)
	return clean(head) + gapText(piece{gapBytes: len(s) - len(head), gapLines: 1})
}

func (it *item) callView(v *stepView, i int, c *callStep, l level, limit int) {
	v.Kind, v.Title = "call", clean(c.tool)
	if c.rawTool != "" {
		v.Facts = "written as " + clip(clean(c.rawTool), 60)
	}
	v.Reason = clip(clean(oneLine(c.reason)), l.field)
	for _, a := range c.arguments {
		v.Fields = append(v.Fields, fieldView{clip(clean(a.name), 40), clip(clean(oneLine(a.value)), l.field)})
	}
	if c.raw != "" {
		v.Fields = append(v.Fields, fieldView{"as the model wrote it", clip(clean(c.raw), l.field)})
	}
	for n, t := range it.story.targets {
		if t.step == i && t.to <= t.from {
			v.Anchors = append(v.Anchors, it.targetID(n+1))
		}
	}
	v.ObsTitle = c.outcome()
	if c.result == nil {
		return
	}
	v.Bad = c.result.IsError
	if c.result.DurationMS > 0 {
		v.Facts = strings.TrimPrefix(v.Facts+", "+ms(c.result.DurationMS), ", ")
	}
	pieces := trim(c.text, limit)
	if len(pieces) == 1 && pieces[0].gapBytes > 0 {
		pieces = nil // nothing of it is shown
	}
	for _, p := range pieces {
		pv := pieceView{Text: clean(p.text)}
		switch {
		case p.gapBytes > 0:
			pv = pieceView{Gap: gapText(p)}
		case p.target > 0:
			pv.ID = it.targetID(p.target)
		}
		v.Observation = append(v.Observation, pv)
	}
	if v.Observation != nil {
		v.ObsTitle += ": what the model saw"
	}
}

func gapText(p piece) string {
	if p.gapLines > 1 {
		return fmt.Sprintf(" … %s lines, %s bytes not shown here … ", count(p.gapLines), count(p.gapBytes))
	}
	return fmt.Sprintf(" … %s bytes not shown here … ", count(p.gapBytes))
}
