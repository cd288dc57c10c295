package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/controller"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/retrievaltest"
	"goserini/internal/tool"
)

func TestDroppedRankingsAreSearchedAgain(t *testing.T) {
	searches := 0
	m := retrievaltest.NewMemory(harbour()...)
	m.Fail = func(op string) error {
		if op == "search" {
			searches++
		}
		return nil
	}
	c := controller.New(m, controller.Options{})
	for i := range 33 {
		call(t, c, "search", fmt.Sprintf(`{"query":"keeper %d"}`, i))
	}
	kept := call(t, c, "read_search_results", `{"search_id":"s2"}`)
	if searches != 33 || strings.Contains(kept.Text, "Note:") || kept.Access.Surfaced != nil {
		t.Errorf("s2 is among the 32 kept but was searched again: %d searches, %s", searches, kept.Text)
	}
	dropped := call(t, c, "read_search_results", `{"search_id":"s1"}`)
	if searches != 34 || dropped.IsError || !strings.Contains(dropped.Text, "searched again") || !strings.Contains(dropped.Text, `"keeper 0"`) {
		t.Errorf("s1 was dropped: got %d searches and %s", searches, dropped.Text)
	}
	if len(dropped.Access.Surfaced) != 13 {
		t.Errorf("a ranking fetched anew surfaces its documents: got %v", dropped.Access.Surfaced)
	}
	if call(t, c, "read_search_results", `{"search_id":"s1"}`); searches != 34 {
		t.Errorf("s1 is kept again but was searched again")
	}
}

func TestIdsNeverIssuedAreRefusedWithTheOnesThereAre(t *testing.T) {
	c := controller.New(retrievaltest.NewMemory(harbour()...), controller.Options{})
	call(t, c, "search", `{"query":"keeper"}`)
	call(t, c, "search", `{"query":"lamp"}`)
	for _, id := range []string{"s3", "s0", "s-1", "s01", "S1", "1", "q:keeper", "s99999999999999999999", strings.Repeat("s", 1000)} {
		result := call(t, c, "read_search_results", fmt.Sprintf(`{"search_id":%q}`, id))
		if !result.IsError || !strings.Contains(result.Text, "was never issued; there are s1 to s2") || len(result.Text) > 300 {
			t.Errorf("id %q: got %q", id, result.Text)
		}
	}
}

func TestIdsFollowTheOrderOfCallsWhateverTheOrderOfWork(t *testing.T) {
	c := controller.New(retrievaltest.NewMemory(harbour()...), controller.Options{})
	first := begin(t, c, "search", `{"query":"keeper"}`)
	second := begin(t, c, "search", `{"query":"lamp"}`)
	browse := begin(t, c, "read_search_results", `{"search_id":"s1","offset":1}`)
	for i, do := range []func(context.Context) (tool.Result, error){browse, second, first} {
		result, err := do(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := result.Details.(controller.RankingDetails).SearchID, []string{"s1", "s2", "s1"}[i]; got != want {
			t.Errorf("work %d: got %s, want %s", i, got, want)
		}
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	c := controller.New(retrievaltest.NewMemory(harbour()...), controller.Options{Rankings: 3})
	var wg sync.WaitGroup
	for i := range 40 {
		do := begin(t, c, "search", fmt.Sprintf(`{"query":"keeper %d"}`, i))
		look := begin(t, c, "read_search_results", fmt.Sprintf(`{"search_id":"s%d"}`, i/2+1))
		for _, do := range []func(context.Context) (tool.Result, error){do, look} {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if result, err := do(context.Background()); err != nil || result.IsError {
					t.Errorf("got %q, %v", result.Text, err)
				}
			}()
		}
	}
	wg.Wait()
}

func TestStatelessIdsAreResolvedByAnyProcess(t *testing.T) {
	o := controller.Options{Stateless: true}
	one := controller.New(retrievaltest.NewMemory(harbour()...), o)
	other := controller.New(retrievaltest.NewMemory(harbour()...), o)
	found := call(t, one, "search", `{"query":"lighthouse keeper"}`)
	id := found.Details.(controller.RankingDetails).SearchID
	if !strings.Contains(found.Text, `search_id="q:lighthouse keeper"`) {
		t.Errorf("got %s", found.Text)
	}
	args := fmt.Sprintf(`{"search_id":%q,"offset":1,"limit":5}`, id)
	if diff := cmp.Diff(call(t, one, "read_search_results", args).Text, call(t, other, "read_search_results", args).Text); diff != "" {
		t.Errorf("two processes differ:\n%s", diff)
	}
	for _, id := range []string{"s1", "q:", "q: ", ""} {
		if result := call(t, other, "read_search_results", fmt.Sprintf(`{"search_id":%q}`, id)); !result.IsError {
			t.Errorf("id %q: got %s", id, result.Text)
		}
	}
}

func TestFailuresOfTheRetriever(t *testing.T) {
	broken := errors.New("checksum mismatch in postings at byte 512")
	for _, tt := range []struct {
		name    string
		err     error
		message string // of the result; empty where the question must end
	}{
		{"an unreachable backend is told to the model", fmt.Errorf("dial 127.0.0.1:9: %w", retrieval.ErrUnavailable), "the document collection did not answer"},
		{"a broken index ends the question", broken, ""},
		{"a cancelled call ends the question", context.Canceled, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := retrievaltest.NewMemory(harbour()...)
			m.Fail = func(string) error { return tt.err }
			c := controller.New(m, controller.Options{})
			for _, step := range [][2]string{{"search", `{"query":"keeper"}`}, {"read_document", `{"docid":"light-1"}`}} {
				result, err := begin(t, c, step[0], step[1])(context.Background())
				if tt.message == "" {
					if !errors.Is(err, tt.err) {
						t.Errorf("%s: got %v, want %v", step[0], err, tt.err)
					}
					continue
				}
				if err != nil || !result.IsError || !strings.Contains(result.Text, tt.message) || strings.Contains(result.Text, "127.0.0.1") {
					t.Errorf("%s: got %q, %v", step[0], result.Text, err)
				}
				if cause := result.Details.(controller.FailureDetails).Cause; !strings.Contains(cause, "127.0.0.1") {
					t.Errorf("the operator's cause is %q", cause)
				}
				if !result.Access.IsZero() {
					t.Errorf("a failed call touched %+v", result.Access)
				}
			}
		})
	}
}

func TestASearchThatFailedIsTriedAgainUnderItsId(t *testing.T) {
	down := true
	m := retrievaltest.NewMemory(harbour()...)
	m.Fail = func(string) error {
		if down {
			return retrieval.ErrUnavailable
		}
		return nil
	}
	c := controller.New(m, controller.Options{})
	if result := call(t, c, "search", `{"query":"keeper"}`); !result.IsError {
		t.Fatalf("got %s", result.Text)
	}
	down = false
	result := call(t, c, "read_search_results", `{"search_id":"s1","offset":1}`)
	if result.IsError || len(result.Access.Surfaced) != 13 {
		t.Errorf("got %q, %+v", result.Text, result.Access)
	}
}

func TestARankingIsShownWithoutExcerptsWhenTheyCannotBeMade(t *testing.T) {
	m := retrievaltest.NewMemory(harbour()...)
	m.Fail = func(op string) error {
		if op == "read" {
			return retrieval.ErrUnavailable
		}
		return nil
	}
	result := call(t, controller.New(m, controller.Options{}), "search", `{"query":"keeper"}`)
	if result.IsError || !strings.Contains(result.Text, "no excerpt") || result.Details.(controller.RankingDetails).Cause == "" {
		t.Errorf("got %q, %+v", result.Text, result.Details)
	}
}
