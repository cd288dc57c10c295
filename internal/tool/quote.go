package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// QuoteJSON renders s as a JSON string on one line: whatever does not print is
// escaped, whatever prints stands as it is, markup included.
func QuoteJSON(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// UnquoteJSON undoes QuoteJSON.
func UnquoteJSON(s string) (string, bool) {
	var out string
	if !strings.HasPrefix(s, `"`) || json.Unmarshal([]byte(s), &out) != nil {
		return "", false
	}
	return out, true
}

// ShowID renders a docid or search id so that it cannot break a line and can be given
// back exactly: bare where it consists of printing characters other than quotes and
// backslashes, else as a JSON string.
func ShowID(id string) string {
	bare := id != "" && utf8.ValidString(id) && !strings.ContainsFunc(id, func(r rune) bool {
		return r == '"' || r == '\\' || unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
	if bare {
		return id
	}
	return QuoteJSON(id)
}

// OneLine renders foreign text for a one-line field: line breaks and tabs become
// blanks, other control characters and broken bytes become U+FFFD, everything else is
// literal. It keeps the number of characters.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= ' ' && r < 0x7f:
			return r
		case r >= '\t' && r <= '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r):
			return utf8.RuneError
		}
		return r
	}, s)
}

// Clip cuts s to n characters and reports how many it has if it had to.
func Clip(s string, n int) (shown string, total int, cut bool) {
	if len(s) <= n {
		return s, 0, false
	}
	at := 0
	for i := range s {
		if at == n {
			return s[:i], utf8.RuneCountInString(s), true
		}
		at++
	}
	return s, 0, false
}
