package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"goserini/internal/chart"
	"goserini/internal/eval"
	"goserini/internal/trajectory"
)

// opened is a question as the page shows it once it is opened.
type opened struct {
	card
	Fates []fateView
	// Timeline is the question's own, empty where nothing is known.
	Timeline template.HTML
	Timed    []stepView
	Error    string
	Notes    []string
	Notebook *notesView
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
	o.Notebook = it.notes(l)
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
			switch st.steer.Reason {
			case trajectory.SteerFormat:
				v.Title = "asked for another form of answer"
			case trajectory.SteerBranch:
				v.Title = "told that a branch was searched in vain"
			case trajectory.SteerVerify:
				v.Title = "answer held back to be checked"
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
