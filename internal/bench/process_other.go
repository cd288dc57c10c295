//go:build !linux

package bench

import (
	"errors"
	"os/exec"
	"time"
)

// Memory is what a process holds in memory.
type Memory struct {
	// Anonymous memory is its own, File is mapped from files and can be dropped.
	Anonymous int64 `json:"anonymous_bytes"`
	File      int64 `json:"file_bytes"`
}

// ReadMemory is known on Linux only.
func ReadMemory() (Memory, error) {
	return Memory{}, errors.New("the memory of a process is measured on Linux only")
}

// Usage is what a finished process has used.
type Usage struct {
	Wall time.Duration `json:"wall_ns"`
	CPU  time.Duration `json:"cpu_ns"`
	// Peak is the most memory it held at a time; 0 where the system does not say.
	Peak int64 `json:"peak_bytes"`
}

// Measure runs a command to its end.
func Measure(cmd *exec.Cmd) (Usage, error) {
	start := time.Now()
	err := cmd.Run()
	u := Usage{Wall: time.Since(start)}
	if err == nil {
		u.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return u, err
}

// ThreadTime is not known here.
func ThreadTime() (time.Duration, bool) { return 0, false }
