//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreFileSizeLimit lets a write beyond the limit of ulimit -f fail as any other does, with an error
// that names the file, instead of ending the process.
func ignoreFileSizeLimit() { signal.Ignore(syscall.SIGXFSZ) }
