package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"goserini/internal/lazyregexp"
)

// maxName bounds the readable part of a file name made from a query id.
const maxName = 80

// device matches the names that Windows keeps for devices, whatever extension follows.
var device = lazyregexp.New(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// FileName maps a query id to a file name without extension. Ids that are already plain lower-case
// names stay as they are; any other gets its readable characters and a hash of the exact id,
// so that no two ids collide, also on file systems that fold case, and none leaves the folder.
func FileName(queryID string) string {
	var b strings.Builder
	for _, c := range []byte(queryID) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c - 'A' + 'a')
		default:
			b.WriteByte('_')
		}
		if b.Len() == maxName {
			break
		}
	}
	name := b.String()
	if name == queryID && !device.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(queryID))
	return name + "~" + hex.EncodeToString(sum[:8])
}
