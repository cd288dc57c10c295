//go:build !linux && !darwin && !freebsd && !windows

package fetch

import (
	"errors"
	"fmt"
)

// freeBytes cannot tell here: writing will.
func freeBytes(dir string) (int64, error) {
	return 0, fmt.Errorf("free space of %s: %w", dir, errors.ErrUnsupported)
}
