package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Memory is what a process holds in memory.
type Memory struct {
	// Anonymous memory is its own, File is mapped from files and can be dropped.
	Anonymous int64 `json:"anonymous_bytes"`
	File      int64 `json:"file_bytes"`
}

// ReadMemory reads what this process holds now.
func ReadMemory() (Memory, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return Memory{}, fmt.Errorf("read memory: %w", err)
	}
	var m Memory
	for line := range bytes.Lines(status) {
		for name, into := range map[string]*int64{"RssAnon:": &m.Anonymous, "RssFile:": &m.File} {
			if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
				if _, err := fmt.Sscanf(string(rest), "%d kB", into); err != nil {
					return Memory{}, fmt.Errorf("read memory: line %q: %w", line, err)
				}
				*into <<= 10
			}
		}
	}
	return m, nil
}

// Usage is what a finished process has used.
type Usage struct {
	Wall time.Duration `json:"wall_ns"`
	CPU  time.Duration `json:"cpu_ns"`
	// Peak is the most memory it held at a time, mapped files included.
	Peak int64 `json:"peak_bytes"`
}

// Measure runs a command to its end.
func Measure(cmd *exec.Cmd) (Usage, error) {
	start := time.Now()
	err := cmd.Run()
	u := Usage{Wall: time.Since(start)}
	if err != nil {
		return u, err
	}
	u.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.Peak = int64(r.Maxrss) << 10
	}
	return u, nil
}

// ThreadTime is the processor time that the current thread has used. The caller has locked
// its goroutine to the thread.
func ThreadTime() (time.Duration, bool) {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
