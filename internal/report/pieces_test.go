package report

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"goserini/internal/trajectory"
)

func TestShorteningKeepsCitedTextAndCountsTheRest(t *testing.T) {
	long := strings.Repeat("a line of text\n", 400)
	pieces := []piece{{text: long}, {text: "the cited line\n", target: 1}, {text: long}}
	got := trim(pieces, 1000)
	kept, gaps := "", 0
	for _, p := range got {
		kept += p.text
		gaps += p.gapBytes
	}
	if !strings.Contains(kept, "the cited line\n") {
		t.Error("the cited line was cut")
	}
	if len(kept)+gaps != size(pieces) {
		t.Errorf("%d bytes kept and %d in gaps, want %d together", len(kept), gaps, size(pieces))
	}
	if len(kept) > 1000 {
		t.Errorf("%d bytes kept, want at most 1000", len(kept))
	}
	for i, p := range got {
		if p.target == 1 && (i == 0 || got[i-1].text == "" || i+1 == len(got) || got[i+1].text == "") {
			t.Error("the cited line lost its surroundings")
		}
	}
}

func TestAnyShorteningLosesNoByteFromTheCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pieces []piece
		for i := range rapid.IntRange(1, 6).Draw(t, "pieces") {
			p := piece{text: rapid.StringOfN(rapid.RuneFrom([]rune("ab \né→")), 1, 300, -1).Draw(t, "text")}
			if rapid.Bool().Draw(t, "cited") {
				p.target = i + 1
			}
			pieces = append(pieces, p)
		}
		total, limit := size(pieces), rapid.IntRange(0, 900).Draw(t, "limit")
		for range 2 { // what was shortened may be shortened again
			pieces = trim(pieces, limit)
			kept, gaps, targets := 0, 0, 0
			for i, p := range pieces {
				kept += len(p.text)
				gaps += p.gapBytes
				if p.target > 0 {
					targets++
				}
				if p.gapBytes > 0 && i > 0 && pieces[i-1].gapBytes > 0 {
					t.Fatal("two gaps in a row")
				}
				if strings.ContainsRune(p.text, '�') {
					t.Fatal("a character was cut")
				}
			}
			if kept+gaps != total {
				t.Fatalf("%d bytes kept and %d in gaps, want %d together", kept, gaps, total)
			}
			if most := limit + 100*targets; kept > most {
				t.Fatalf("%d bytes kept, want at most %d", kept, most)
			}
			limit /= 2
		}
	})
}

func TestTextsShareTheRoomSoThatShortOnesStayWhole(t *testing.T) {
	s := story{}
	for _, n := range []int{10, 1000, 20, 3000} {
		s.steps = append(s.steps, step{call: &callStep{text: []piece{{text: strings.Repeat("x", n)}}}})
	}
	if got := s.textLimit(1030); got != 500 {
		t.Errorf("limit %d, want 500: 10 and 20 stay whole, the others share the rest", got)
	}
	if got := s.textLimit(5000); got != maxInt {
		t.Errorf("limit %d, want none", got)
	}
}

func TestTimeIsSpentOnWhatTheNextEventTells(t *testing.T) {
	var w stopwatch
	for _, e := range []trajectory.Event{
		{ElapsedMS: 0, Header: &trajectory.Header{}},
		{ElapsedMS: 1000, Attempt: &trajectory.Attempt{WillRetry: true, RetryMS: 500}},
		{ElapsedMS: 3500, Turn: &trajectory.Turn{}},
		{ElapsedMS: 3500, Call: &trajectory.Call{}},
		{ElapsedMS: 3600, Observation: &trajectory.Observation{}},
		{ElapsedMS: 3700, Steer: &trajectory.Steer{}},
		{ElapsedMS: 9700, Attempt: &trajectory.Attempt{Interrupted: true}},
		{ElapsedMS: 9700, End: &trajectory.End{}},
	} {
		w.add(e)
	}
	got := story{spans: w.spans}.spent()
	for k, want := range map[kind]int64{kindRetry: 1500, kindModel: 2000 + 6000, kindTool: 100, kindOther: 100} {
		if got[k] != want {
			t.Errorf("kind %d: %d ms, want %d", k, got[k], want)
		}
	}
	if w.now != 9700 {
		t.Errorf("the clock stands at %d, want 9700", w.now)
	}
}
