package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"goserini/internal/trajectory"
)

// Unit is what a ledger counts.
type Unit int

// The units of a ledger.
const (
	USD Unit = iota
	Tokens
	Turns
)

func (u Unit) String() string { return [...]string{"USD", "tokens", "turns"}[u] }

// steer is the reason of the steer when a limit in this unit is met.
func (u Unit) steer() string { return [...]string{steerCost, steerTokens, steerTurns}[u] }

// ErrRunBudget is wrapped by the error of a question that could not start because the
// run's budget is used up. Such a question is no result: with more budget it can run.
var ErrRunBudget = errors.New("the run's budget is used up")

// Ledger is a limit that the questions of a run share. What a model call may come to is set
// aside before the call, together with as much for the last response of the question,
// so that what is spent stays within the limit as far as the size of a call can be
// foreseen: a call is expected to be at least as large as the largest one so far, and
// until the first call has told its size, no second question starts.
//
// A Ledger is safe for concurrent use.
type Ledger struct {
	unit  Unit
	limit float64

	mu sync.Mutex
	// spent and reserved never exceed the limit together, unless a call came to more than
	// was set aside for it.
	spent, reserved float64
	// largest is the largest call so far; told says that there was one.
	largest float64
	told    bool
	// open is the number of questions under way.
	open int
	// changed is closed when something comes free, and replaced.
	changed chan struct{}
}

// NewLedger returns a ledger with a limit above 0.
func NewLedger(unit Unit, limit float64) *Ledger {
	return &Ledger{unit: unit, limit: limit, changed: make(chan struct{})}
}

// Spent is what the calls so far came to. Calls whose usage the server did not tell are
// in it with an estimate.
func (l *Ledger) Spent() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spent
}

// fits reports whether more can be set aside. The allowance is for sums of decimal
// fractions. l.mu is held.
func (l *Ledger) fits(amount float64) bool {
	return l.spent+l.reserved+amount <= l.limit*(1+1e-9)
}

// free gives back or spends what was set aside. l.mu is held.
func (l *Ledger) free(amount float64) {
	l.reserved = max(0, l.reserved-amount)
	close(l.changed)
	l.changed = make(chan struct{})
}

// account is a ledger as one question sees it.
type account struct {
	*Ledger
	// call is set aside for the call that comes next or is in flight, kept for the last
	// response.
	call, kept float64
	opened     bool
}

// start sets aside a call and the last response, and waits while others hold what may
// come free.
func (a *account) start(ctx context.Context, estimate float64) error {
	for {
		wait, err := a.tryStart(estimate)
		if wait == nil {
			return err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (a *account) tryStart(estimate float64) (wait <-chan struct{}, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	each := max(estimate, a.largest)
	switch {
	case a.spent+2*each > a.limit*(1+1e-9):
		return nil, fmt.Errorf("%w: %.4g of %.4g %s are spent and a question needs at least %.4g", ErrRunBudget, a.spent, a.limit, a.unit, 2*each)
	case !a.told && a.open > 0, !a.fits(2 * each):
		return a.changed, nil
	}
	a.opened = true
	a.open++
	a.call, a.kept = each, each
	a.reserved += 2 * each
	return nil, nil
}

// take sets aside the next call and keeps as much for the last response.
func (a *account) take(estimate float64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	each := max(estimate, a.largest)
	need := max(0, each-a.call) + max(0, each-a.kept)
	if !a.fits(need) {
		return false
	}
	a.reserved += need
	a.call, a.kept = max(a.call, each), max(a.kept, each)
	return true
}

// takeLast uses what was kept for the last response, or what there is.
func (a *account) takeLast() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.call, a.kept = a.call+a.kept, 0
}

// takeMore sets aside a call behind the last response.
func (a *account) takeMore(estimate float64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	each := max(estimate, a.largest)
	if !a.fits(max(0, each-a.call)) {
		return false
	}
	a.reserved += max(0, each-a.call)
	a.call = max(a.call, each)
	return true
}

// settle enters what the call came to, and whether it gave a response.
func (a *account) settle(spent float64, responded bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = a.told || responded
	a.spent += spent
	a.largest = max(a.largest, spent)
	a.free(a.call)
	a.call = 0
}

// close gives back what is still set aside.
func (a *account) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opened {
		a.open--
		a.opened = false
	}
	a.free(a.call + a.kept)
	a.call, a.kept = 0, 0
}

// amount is what a usage comes to in a unit.
func (s *session) amount(u Unit, usage trajectory.Usage) float64 {
	switch u {
	case USD:
		return s.cfg.Price(usage)
	case Turns:
		return 1
	default:
		return float64(total(usage))
	}
}

// total counts all tokens of a usage.
func total(u trajectory.Usage) int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }
