package experiment

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of several disjoint parts of a run's questions: every Of-th question from the
// Index-th on, counting from 1. The zero value is all of them.
type Shard struct{ Index, Of int }

// maxShards bounds how finely a run can be divided.
const maxShards = 10_000

// ParseShard reads "2/4".
func ParseShard(text string) (Shard, error) {
	index, of, ok := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if !ok || err != nil || err2 != nil || i < 1 || n < 1 || i > n || n > maxShards {
		return Shard{}, fmt.Errorf("shard %q: want i/n, as in 2/4 for the second of four", text)
	}
	return Shard{i, n}, nil
}

// IsZero reports whether the shard is the whole.
func (s Shard) IsZero() bool { return s == Shard{} }

// String is "2/4".
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// MarshalText writes the shard as String does.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Shard) UnmarshalText(b []byte) (err error) {
	*s, err = ParseShard(string(b))
	return err
}

// Select returns the part of a list that belongs to the shard.
func Select[T any](s Shard, all []T) []T {
	if s.IsZero() {
		return all
	}
	var out []T
	for i := s.Index - 1; i < len(all); i += s.Of {
		out = append(out, all[i])
	}
	return out
}
