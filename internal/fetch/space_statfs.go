//go:build linux || darwin || freebsd

package fetch

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// freeBytes tells how many bytes this user may still write at a path.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	blocks, size := uint64(s.Bavail), uint64(s.Bsize)
	if size != 0 && blocks > math.MaxInt64/size {
		return math.MaxInt64, nil
	}
	return int64(blocks * size), nil
}
