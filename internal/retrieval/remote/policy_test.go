package remote_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"goserini/internal/retrieval"
	"goserini/internal/retrieval/remote"
)

var errDown = errors.New("down")

func TestPolicy(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name        string
		policy      remote.Policy
		fails       []error // what the calls return, then nil
		calls       int
		took        time.Duration
		want        string
		unavailable bool
	}{
		{"a call that succeeds", remote.Policy{}, nil, 1, 0, "", false},
		{"a backend that comes back", remote.Policy{}, []error{remote.Unavailable(errDown), remote.Unavailable(errDown)}, 3, 600 * time.Millisecond, "", false},
		{"a backend that does not", remote.Policy{Tries: 2, Pause: time.Second}, []error{remote.Unavailable(errDown), remote.Unavailable(errDown)}, 2, time.Second, "down (tried 2 times)", true},
		{"a failure for good", remote.Policy{}, []error{broken}, 1, 0, "broken", false},
		{"a backend that asks to wait", remote.Policy{}, []error{remote.UnavailableAfter(errDown, 3*time.Second)}, 2, 3 * time.Second, "", false},
		{"a backend that asks for an hour", remote.Policy{}, []error{remote.UnavailableAfter(errDown, time.Hour)}, 2, 10 * time.Second, "", false},
		{"one try", remote.Policy{Tries: 1}, []error{remote.Unavailable(errDown)}, 1, 0, "down", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls, start := 0, time.Now()
				var ended []error
				tt.policy.Ended = func(err error) { ended = append(ended, err) }
				err := tt.policy.Do(t.Context(), func(context.Context) error {
					if calls++; calls <= len(tt.fails) {
						return tt.fails[calls-1]
					}
					return nil
				})
				if len(ended) != 1 || ended[0] != err {
					t.Errorf("told of %v, want %v", ended, err)
				}
				got := ""
				if err != nil {
					got = err.Error()
				}
				if got != tt.want || calls != tt.calls || time.Since(start) != tt.took || errors.Is(err, retrieval.ErrUnavailable) != tt.unavailable {
					t.Errorf("got %q after %d calls and %v, want %q after %d and %v", got, calls, time.Since(start), tt.want, tt.calls, tt.took)
				}
			})
		})
	}
}

func TestSlowTryIsTheBackendsAndTheCallersEndIsNot(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return remote.Unavailable(ctx.Err()) }
	synctest.Test(t, func(t *testing.T) {
		err := remote.Policy{Timeout: time.Second, Tries: 1}.Do(t.Context(), hang)
		if !errors.Is(err, retrieval.ErrUnavailable) || err.Error() != "no answer within 1s" {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := (remote.Policy{}).Do(ctx, hang); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, retrieval.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}

func TestExcerptIsOneShortLineOfText(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "(nothing)",
		" \n\x1b[31mred":          "[31mred",
		"a\xffb":                  "a\uFFFDb",
		strings.Repeat("é", 1000): strings.Repeat("é", 300) + "…",
	} {
		if got := remote.Excerpt([]byte(in)); got != want || !utf8.ValidString(got) {
			t.Errorf("%.20q: got %q, want %q", in, got, want)
		}
	}
}

func TestScoresAreFinite(t *testing.T) {
	for given, want := range map[float64]float32{1.5: 1.5, 1e308: math.MaxFloat32, -1e308: -math.MaxFloat32} {
		if got := remote.Score(given); got != want {
			t.Errorf("%v: got %v, want %v", given, got, want)
		}
	}
}
