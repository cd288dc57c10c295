package report

import "fmt"

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

// shows says how much of what tools returned a level shows.
func (l level) shows() string {
	if l.text == 0 {
		return "of what tools returned a question shows the cited lines only"
	}
	return fmt.Sprintf("a question shows at most %s bytes of what tools returned", count(l.text))
}
