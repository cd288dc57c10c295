//go:build unix

package experiment

import (
	"os/signal"
	"syscall"
)

// limitFileSize bounds what this process may write into one file, 0 leaves it. Behind the limit a
// write fails as on a full disk.
func limitFileSize(n int) error {
	if n == 0 {
		return nil
	}
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(n), Max: uint64(n)})
}
