package wire

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"goserini/internal/llm"
)

// Quirks remembers, model by model, what a server has refused, so that a request is changed
// once and not again and again. Q holds what was refused; its zero value is a server that takes
// everything, and every adaptation sets something that was not set, so there is an end to them.
// It is safe for concurrent use.
type Quirks[Q comparable] struct {
	// Learn returns q with what a refusal of the request made under q tells, and what becomes of
	// later requests in words; q itself where nothing can be changed.
	Learn func(req llm.Request, q Q, d Detail) (changed Q, notice string)
	// Statuses are those under which servers refuse a field; none means 400 alone.
	Statuses []int
	// Provider and Notice name the provider and hear, once each, of adaptations. Notice may be nil.
	Provider string
	Notice   func(string)

	mu      sync.Mutex
	byModel map[string]Q
}

// Complete makes a call through once, as the model is known to want it. A call that is refused
// for something that can be changed is made again; other failures come back, with a word about the
// effort where that is what the server objects to.
func (k *Quirks[Q]) Complete(req llm.Request, once func(Q) (llm.Response, error)) (llm.Response, error) {
	for {
		q := k.of(req.Model)
		resp, err := once(q)
		if err == nil {
			return resp, nil
		}
		if !k.adapt(req, q, err) {
			return llm.Response{}, explainEffort(req, err)
		}
	}
}

func (k *Quirks[Q]) of(model string) Q {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byModel[model]
}

// adapt learns from a refusal of the request made under q. It reports whether a changed
// request is worth sending.
func (k *Quirks[Q]) adapt(req llm.Request, q Q, err error) bool {
	var e *llm.Error
	var d Detail
	if !errors.As(err, &e) || !errors.As(err, &d) || e.ContextOverflow || !k.refusal(e.Status) {
		return false
	}
	changed, notice := k.Learn(req, q, d)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byModel[req.Model] != q {
		return true // another call has learned something meanwhile
	}
	if changed == q {
		return false
	}
	if k.byModel == nil {
		k.byModel = map[string]Q{}
	}
	k.byModel[req.Model] = changed
	if k.Notice != nil {
		k.Notice(k.Provider + "/" + req.Model + ": " + notice + " (the server said: " + d.Error() + ")")
	}
	return true
}

func (k *Quirks[Q]) refusal(status int) bool {
	if len(k.Statuses) == 0 {
		return status == http.StatusBadRequest
	}
	return slices.Contains(k.Statuses, status)
}

// explainEffort tells the operator what to do where a server refuses the effort: an effort that
// was asked for is never dropped.
func explainEffort(req llm.Request, err error) error {
	var e *llm.Error
	var d Detail
	if req.Effort != "" && errors.As(err, &e) && errors.As(err, &d) && strings.Contains(strings.ToLower(d.Param+" "+d.Message), "effort") {
		e.Message += " (effort " + req.Effort + " was asked for: leave it out or choose one this model takes)"
	}
	return err
}
