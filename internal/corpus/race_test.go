//go:build race

package corpus

// raceDetector says that memory costs several times as much.
const raceDetector = true
