package wire

import "strings"

// Secrets are keys and header values that no error, log or recording may show.
type Secrets []string

// minSecret keeps a short dummy key such as "none" from being cut out of ordinary words.
const minSecret = 6

// Redact replaces every secret in s.
func (list Secrets) Redact(s string) string {
	for _, secret := range list {
		if len(secret) >= minSecret {
			s = strings.ReplaceAll(s, secret, "[key]")
		}
	}
	return s
}
