//go:build !unix

package atomicfile

// SyncDir does nothing: folders cannot be synced on this system.
func SyncDir(string) error { return nil }
