package report

import (
	"encoding/json"

	"goserini/internal/trajectory"
)

// redacted stands where a text was left out.
const redacted = "(left out: the benchmark keeps its texts out of public files)"

// redact removes every text that could tell a question or its answer, before anything is made
// from it.
func (it *item) redact() {
	it.asked = redacted
	it.known = nil
	if it.record != nil {
		rec := *it.record
		rec.Question, rec.Error = redacted, ""
		rec.Answer.Exact, rec.Answer.Explanation, rec.Answer.Text = "", "", ""
		rec.Answer.Notes, rec.Answer.Citations = nil, nil
		redactNotes(&rec)
		it.record = &rec
	}
	if it.verdict != nil {
		v := *it.verdict
		v.ExtractedFinalAnswer, v.CorrectAnswer, v.Reasoning = nil, nil, nil
		v.Error, v.Reply = "", ""
		it.verdict = &v
	}
	it.story.redact()
}

// offered are the names of the tools the model was offered, and of those of every profile.
func (s *story) offered() map[string]bool {
	names := map[string]bool{"search": true, "read_search_results": true, "read_document": true}
	var tools []struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(s.tools, &tools) == nil {
		for _, t := range tools {
			names[t.Name] = true
		}
	}
	return names
}

func (s *story) redact() {
	s.system, s.prompt, s.error = "", "", ""
	s.veiled = true
	offered := s.offered()
	s.answer, s.targets, s.noted = nil, nil, nil
	for i := range s.steps {
		st := &s.steps[i]
		switch {
		case st.turn != nil:
			t := *st.turn
			t.Text, t.Reasoning = "", ""
			st.turn = &t
		case st.call != nil:
			c := *st.call
			if !offered[c.tool] {
				c.tool = "tool" // the name is the model's own invention
			}
			c.reason, c.arguments, c.raw, c.rawTool, c.text = "", nil, "", "", nil
			if c.result != nil {
				r := *c.result
				r.Text, r.Details = "", nil
				c.result = &r
			}
			st.call = &c
		case st.steer != nil:
			st.steer = &trajectory.Steer{Reason: st.steer.Reason}
		case st.attempt != nil:
			a := *st.attempt
			a.Error = ""
			st.attempt = &a
		case st.shorten != nil:
			sh := *st.shorten
			sh.Text = ""
			st.shorten = &sh
		}
	}
}
