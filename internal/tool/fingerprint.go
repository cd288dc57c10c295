package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Fingerprint is the SHA-256, in hexadecimal, of what a model is told about the tools:
// names, descriptions and schemas in order. It changes when and only when one of
// them does.
func Fingerprint(tools []Tool) string {
	h := sha256.New()
	for _, t := range tools {
		for _, part := range [][]byte{[]byte(t.Name), []byte(t.Description), t.Schema} {
			// Each part is written as a JSON string, so no part can imitate the border to the next.
			quoted, err := json.Marshal(string(part))
			if err != nil {
				continue // a string always marshals
			}
			h.Write(quoted)
			h.Write([]byte{'\n'})
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
