package index

import (
	"goserini/internal/corpus"
)

// DefaultMemory is the memory that Build keeps to where BuildOptions.Memory is 0.
const DefaultMemory = 512 << 20

// BuildOptions says how an index is built. The zero value is the default.
type BuildOptions struct {
	// Analyzer is the name of the analyzer; "" is analysis.Default.
	Analyzer string
	// Memory bounds what Build holds at once, in bytes; 0 means DefaultMemory.
	Memory int64
	// Workers is the number of goroutines; 0 means one per processor. The index's
	// bytes do not depend on it.
	Workers int
	// Duplicates is the policy when two documents have the same docid.
	Duplicates DuplicatePolicy
	// Source describes where the documents come from, for people.
	Source string
	// Progress, if set, is called from one goroutine at a time, a few times a second.
	Progress func(Progress)
}

// DuplicatePolicy says what happens when two documents have the same docid.
type DuplicatePolicy string

const (
	// RefuseDuplicates ends the build with an error that names both places.
	RefuseDuplicates DuplicatePolicy = ""
	// KeepFirst and KeepLast keep one of them and count the others in Stats.
	KeepFirst DuplicatePolicy = "first"
	KeepLast  DuplicatePolicy = "last"
)

// DuplicateError says that a docid occurs twice.
type DuplicateError struct {
	DocID         string
	First, Second corpus.Location
}

// Progress tells how far a build has come.
type Progress struct {
	// Phase is "reading", "merging" or "publishing".
	Phase string
	// Documents counts those read so far.
	Documents int64
	// BytesRead and BytesTotal are about the source as it lies on disk.
	BytesRead, BytesTotal int64
}
