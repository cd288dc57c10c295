package report

import (
	"slices"
	"strings"
	"testing"

	"goserini/internal/trajectory"
)

// told builds the story of an answer after calls that returned texts.
func told(answer string, cited []trajectory.Citation, calls ...trajectory.Observation) story {
	var events []trajectory.Event
	for i, o := range calls {
		o.CallID = string(rune('a' + i))
		events = append(events, trajectory.Event{Call: &trajectory.Call{ID: o.CallID, Tool: o.Tool}}, trajectory.Event{Observation: &o})
	}
	var s story
	s.tell(events)
	s.resolve(trajectory.Record{Answer: trajectory.Answer{Explanation: answer, Citations: cited}})
	return s
}

const harbourText = `docid=harbour lines 1-6 of 9

1	The harbour of Orvane
2	It was dredged in 1911 by the brothers Holt, who had
3	never seen the sea before.
4	The mole was built of slate.
5	A survey of 1911 found nine fathoms at low water.
6	Nothing else happened.

More lines: read_document(…)`

const hitsText = `ranks 1-2 of 13, search_id=s1
Query: "harbour"

1. docid=light-1 score=1.1
   Title: The Orvane Light
   Excerpt: lit in 1871
2. docid="notes/2 (copy).txt" score=0.5
   (no excerpt)

More hits: read_search_results(…)`

func TestACitationLeadsToWhatItCites(t *testing.T) {
	opened := []trajectory.Citation{{DocID: "harbour", Access: "opened"}}
	read := trajectory.Observation{Tool: "read_document", Text: harbourText, Access: trajectory.Access{Opened: []string{"harbour"}}}
	search := trajectory.Observation{Tool: "search", Text: hitsText, Access: trajectory.Access{Surfaced: []string{"light-1", "notes/2 (copy).txt", "deep"}, Previewed: []string{"light-1", "notes/2 (copy).txt"}}}
	for _, tc := range []struct {
		name, answer string
		cited        []trajectory.Citation
		label, how   string
		quote        string
	}{
		{"lines named before the brackets", "It was built of slate (line 4) [harbour].", opened, "line 4", howNamed, "The mole was built of slate."},
		{"lines named inside the brackets", "Dredged [harbour:L2-3].", opened, "lines 2–3", howNamed, "It was dredged in 1911 by the brothers Holt, who had never seen the sea before."},
		{"lines named in words", "Dredged [harbour, lines 2 to 3].", opened, "lines 2–3", howNamed, "It was dredged in 1911 by the brothers Holt, who had never seen the sea before."},
		{"a quotation over two lines, in other case and blanks", "“the brothers HOLT,  who had never seen the sea” [harbour].", opened, "lines 2–3", howQuoted, "It was dredged in 1911 by the brothers Holt, who had never seen the sea before."},
		{"a quotation with an ellipsis", "\"A survey of 1911 … at low water\" [harbour].", opened, "line 5", howQuoted, "A survey of 1911 found nine fathoms at low water."},
		{"the nearest line by its words", "Someone wrote a lot. The survey found nine fathoms [harbour].", opened, "line 5", howClosest, "A survey of 1911 found nine fathoms at low water."},
		{"a line that was never read is not invented", "Somewhere (line 8) [harbour].", opened, "line 1", howStart, "The harbour of Orvane"},
		{"nothing alike: the beginning", "Quite unlike [harbour].", opened, "line 1", howStart, "The harbour of Orvane"},
		{"an entry that was only shown", "Lit [light-1].", []trajectory.Citation{{DocID: "light-1", Access: "previewed"}}, "rank 1", howHit, "1. docid=light-1 score=1.1\n   Title: The Orvane Light\n   Excerpt: lit in 1871"},
		{"an entry with a quoted docid", "Seen [notes/2 (copy).txt].", []trajectory.Citation{{DocID: "notes/2 (copy).txt", Access: "previewed"}}, "rank 2", howHit, "2. docid=\"notes/2 (copy).txt\" score=0.5\n   (no excerpt)"},
		{"a document that was only ranked", "Far down [deep].", []trajectory.Citation{{DocID: "deep", Access: "surfaced"}}, "rank 3", howRanked, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := told(tc.answer, tc.cited, search, read)
			if len(s.targets) != 1 {
				t.Fatalf("%d targets, want one", len(s.targets))
			}
			got := s.targets[0]
			if got.label != tc.label || got.how != tc.how || got.quote != tc.quote {
				t.Errorf("got  %s, %s, %q\nwant %s, %s, %q", got.label, got.how, got.quote, tc.label, tc.how, tc.quote)
			}
		})
	}
}

func TestAnInventedDocumentLeadsNowhereAndIsMarked(t *testing.T) {
	s := told("It is so [AB-77].", []trajectory.Citation{{DocID: "AB-77", Access: "never", Unknown: true}})
	if len(s.targets) != 0 || len(s.answer) != 3 || s.answer[1].target != 0 {
		t.Fatalf("targets %v, answer %v", s.targets, s.answer)
	}
	if got := badge(*s.answer[1].cite); got != "no such document" {
		t.Errorf("badge %q", got)
	}
	for access, want := range map[string]string{"opened": "", "previewed": "excerpt only", "surfaced": "never shown", "never": "never seen"} {
		if got := badge(trajectory.Citation{Access: access}); got != want {
			t.Errorf("badge of %s: %q, want %q", access, got, want)
		}
	}
}

func TestOnlyWholeDocidsWithinBracketsAreCitations(t *testing.T) {
	cited := []trajectory.Citation{{DocID: "12"}, {DocID: "123"}, {DocID: "a b"}}
	s := told("In 12 of [123, 12] and [1234], [see a b; 12] (12) 【123†L3】.", cited)
	var got []string
	for _, p := range s.answer {
		if p.cite != nil {
			got = append(got, p.cite.DocID)
		}
	}
	if want := []string{"123", "12", "a b", "12", "123"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOneLineCitedTwiceIsOneTarget(t *testing.T) {
	read := trajectory.Observation{Tool: "read_document", Text: harbourText, Access: trajectory.Access{Opened: []string{"harbour"}}}
	s := told("Slate (line 4) [harbour]. Slate again (line 4) [harbour]. Nine fathoms (line 5) [harbour].", []trajectory.Citation{{DocID: "harbour", Access: "opened"}}, read)
	if len(s.targets) != 2 {
		t.Errorf("%d targets, want 2", len(s.targets))
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("Slate (line 4) [harbour]. “nine fathoms at low water” [harbour:L2-3] [light-1]", harbourText, "harbour")
	f.Add("x [a] 【a†L1】 [a, lines 1 to 999999999]", "1\ta\n1:5\tb\n\n", "a")
	f.Add("[[é]] [é]", hitsText, "light-1")
	f.Fuzz(func(t *testing.T, answer, text, docid string) {
		cited := []trajectory.Citation{{DocID: docid, Access: "opened"}, {DocID: "light-1", Access: "previewed"}}
		s := told(answer, cited,
			trajectory.Observation{Tool: "read_document", Text: text, Access: trajectory.Access{Opened: []string{docid}}},
			trajectory.Observation{Tool: "search", Text: text, Access: trajectory.Access{Surfaced: []string{docid}, Previewed: []string{"light-1"}}})
		var whole strings.Builder
		for _, p := range s.answer {
			whole.WriteString(p.text)
			if p.target > len(s.targets) {
				t.Fatalf("target %d of %d", p.target, len(s.targets))
			}
		}
		if whole.String() != answer {
			t.Fatalf("the pieces of the answer are %q, want %q", whole.String(), answer)
		}
		for _, st := range s.steps {
			var back strings.Builder
			for _, p := range st.call.text {
				back.WriteString(p.text)
			}
			if back.String() != text {
				t.Fatalf("the pieces of a text are %q, want %q", back.String(), text)
			}
		}
	})
}
