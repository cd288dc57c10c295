package controller

import (
	"strings"
	"testing"
)

func TestTheOldestQueriesAreForgottenWhereTheyTakeTooMuchRoom(t *testing.T) {
	r := newRankings(1, false)
	long := strings.Repeat("x", rememberedBytes/16)
	for range 18 {
		r.issue(request{queries: []string{long}})
	}
	if _, err := r.find("s2"); err == nil || !strings.Contains(err.Error(), "s2 has expired. Call search again") {
		t.Errorf("got %v", err)
	}
	if s, err := r.find("s3"); err != nil || !s.again || s.request.queries[0] != long {
		t.Errorf("got %v, %v", s, err)
	}
	if len(r.slots) != 1 {
		t.Errorf("%d rankings are kept, want 1", len(r.slots))
	}
}
