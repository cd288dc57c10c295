package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The locked byte lies far beyond the text, so that others can still read the owner.
const lockOffset = 1 << 30

func tryLock(f *os.File) error { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// tryShare takes the lock together with others that share it. It works on a file open for reading.
func tryShare(f *os.File) error { return lock(f, 0) }

func lock(f *os.File, how uint32) error {
	ol := &windows.Overlapped{Offset: lockOffset}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, ol)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}
