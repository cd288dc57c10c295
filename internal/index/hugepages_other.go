//go:build unix && !linux

package index

func hugePages([]byte) {}
