package fetch

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// freeBytes tells how many bytes this user may still write at a path.
func freeBytes(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, &os.PathError{Op: "free space", Path: dir, Err: err}
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &os.PathError{Op: "free space", Path: dir, Err: err}
	}
	return int64(min(free, math.MaxInt64)), nil
}
