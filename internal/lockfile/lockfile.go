// Package lockfile keeps two processes from writing one directory. The lock is the
// kernel's lock on an open file, so the lock of a dead process is free at once,
// whatever its file says; the file's text only names the owner for people.
package lockfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Owner says who holds a lock.
type Owner struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Since   time.Time `json:"since"`
	Command string    `json:"command"`
}

func (o Owner) String() string {
	if o.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s (%s, since %s)", o.PID, o.Host, o.Command, o.Since.Format(time.DateTime))
}

// HeldError is returned by Acquire when another process has the lock.
type HeldError struct {
	Path  string
	Owner Owner
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is in use by %s", e.Path, e.Owner)
}

// Lock is a held lock.
type Lock struct{ f *os.File }

// errHeld is what tryLock and tryShare return when another open file has the lock.
var errHeld = errors.New("held")

// Acquire takes the lock on the file at path, creating it if needed, without waiting for its owner.
// It returns a *HeldError naming the owner if another process has it. The file stays
// where it is after Release: removing it would let two processes lock two files of one name.
func Acquire(path, command string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := lockSoon(f); err != nil {
		defer f.Close()
		if errors.Is(err, errHeld) {
			return nil, &HeldError{Path: path, Owner: readOwner(f)}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := writeOwner(f, command); err != nil {
		f.Close()
		return nil, fmt.Errorf("write lock owner: %w", err)
	}
	return &Lock{f: f}, nil
}

// Release gives the lock back. The owner's name goes first, so that nobody who is refused
// later is told of an owner that is gone.
func (l *Lock) Release() error { return errors.Join(l.f.Truncate(0), l.f.Close()) }

// ReadOwner returns what the lock file at path says of its owner, and whether the
// lock is held right now. It needs no right to write, and keeps the lock from nobody.
func ReadOwner(path string) (owner Owner, held bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return Owner{}, false, fmt.Errorf("open lock: %w", err)
	}
	defer f.Close()
	err = tryShare(f)
	owner = readOwner(f)
	switch {
	case errors.Is(err, errHeld):
		return owner, true, nil
	case err != nil:
		return owner, false, fmt.Errorf("lock %s: %w", path, err)
	}
	return owner, false, nil
}

// lockSoon takes the lock, or gives up after a moment: who holds it for no longer than that is a
// ReadOwner, which finds out by sharing it; and an owner that has only just taken it has written its
// name by then.
func lockSoon(f *os.File) error {
	const pauses, pause = 20, 5 * time.Millisecond
	for range pauses {
		if err := tryLock(f); !errors.Is(err, errHeld) {
			return err
		}
		time.Sleep(pause)
	}
	return errHeld
}

func readOwner(f *os.File) Owner {
	var o Owner
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	if err != nil || json.Unmarshal(b, &o) != nil {
		return Owner{}
	}
	return o
}

func writeOwner(f *os.File, command string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	b, err := json.Marshal(Owner{PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second), Command: command})
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(append(b, '\n'), 0)
	return err
}
