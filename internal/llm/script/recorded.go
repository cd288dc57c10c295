package script

import (
	"bytes"
	"encoding/json"
	"errors"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// isTrajectory reports whether the first line is the header of a trajectory.
func isTrajectory(raw []byte) bool {
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	var head struct {
		Type trajectory.Type `json:"type"`
	}
	return json.Unmarshal(first, &head) == nil && head.Type == trajectory.TypeHeader
}

// fromTrajectory makes the turns of a recorded trajectory into a script for its question.
// Failed and interrupted tries are left out, and so is a torn last line.
func fromTrajectory(raw []byte, name string) (Conversation, error) {
	file, err := trajectory.Read(bytes.NewReader(raw), name)
	if err != nil {
		return Conversation{}, err
	}
	var c Conversation
	at := map[string]*Call{}
	for _, e := range file.Events {
		switch {
		case e.Header != nil:
			c.Question = e.Header.Question
		case e.Turn != nil:
			c.Turns = append(c.Turns, recordedTurn(e.Turn, at))
		case e.Call != nil && at[e.Call.ID] != nil:
			at[e.Call.ID].fill(e.Call)
		}
	}
	if len(c.Turns) == 0 {
		return Conversation{}, errors.New("the trajectory has no turn")
	}
	return c, nil
}

func recordedTurn(t *trajectory.Turn, at map[string]*Call) Turn {
	out := Turn{Text: t.Text, Reasoning: t.Reasoning, Stop: llm.StopReason(t.StopReason), Calls: make([]Call, len(t.Calls))}
	if !t.UsageUnknown {
		usage := t.Usage
		out.Usage = &usage
	}
	for i, id := range t.Calls {
		out.Calls[i].ID = id
		at[id] = &out.Calls[i]
	}
	return out
}

// fill takes name and arguments as the model wrote them.
func (c *Call) fill(from *trajectory.Call) {
	c.Name, c.Arguments = from.Tool, from.Arguments
	if from.RawTool != "" {
		c.Name = from.RawTool
	}
	if from.RawArguments != "" {
		c.Arguments, _ = json.Marshal(from.RawArguments) // a string always marshals
	}
}
