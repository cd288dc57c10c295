package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The locked byte lies far beyond the text, so that others can still read the owner.
const lockOffset = 1 << 30

func tryLock(f *os.File) error {
	ol := &windows.Overlapped{Offset: lockOffset}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, ol)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}
