// Package browsecompplus knows the published forms of the benchmark BrowseComp-Plus
// (arXiv 2508.06600): its obfuscated dataset, the query sets that the Pi-Serini paper draws from it,
// and the run files that its evaluator reads.
//
// The benchmark is published so that its questions and answers stand nowhere in plain text.
// The password is its public canary sentence; this program does not contain it.
package browsecompplus

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// CanaryVariable names the environment variable that holds the canary sentence.
const CanaryVariable = "BROWSECOMP_PLUS_CANARY"

// Key deciphers and enciphers texts: the SHA-256 of the canary, repeated over the text by XOR.
type Key [sha256.Size]byte

// NewKey derives the key from the canary sentence.
func NewKey(canary string) Key { return sha256.Sum256([]byte(canary)) }

// ErrWrongCanary is wrapped where a text deciphers to nothing readable, or where the canary is
// known not to be the right one.
var ErrWrongCanary = errors.New("the canary is not the right one")

// Check compares the key with the hexadecimal beginning of the right one, so that a wrong canary
// is recognised before anything is fetched.
func (k Key) Check(prefix string) error {
	if !strings.HasPrefix(hex.EncodeToString(k[:]), prefix) {
		return fmt.Errorf("%w: its SHA-256 does not begin with %s; copy the sentence exactly, without blanks or a line end around it", ErrWrongCanary, prefix)
	}
	return nil
}

// Decrypt deciphers one published string. Its errors do not repeat the text.
func (k Key) Decrypt(text string) (string, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf("not an enciphered text: %w", err)
	}
	k.apply(b)
	if !utf8.Valid(b) {
		return "", fmt.Errorf("%w: a text deciphers to invalid UTF-8", ErrWrongCanary)
	}
	return string(b), nil
}

// Encrypt is the inverse of Decrypt.
func (k Key) Encrypt(text string) string {
	b := []byte(text)
	k.apply(b)
	return base64.StdEncoding.EncodeToString(b)
}

func (k Key) apply(b []byte) {
	for i := range b {
		b[i] ^= k[i%len(k)]
	}
}
