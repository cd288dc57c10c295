package wire

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. It escapes only what JSON requires, so that
// text keeps its bytes, and replaces invalid UTF-8 by U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// RepairSurrogates replaces, in JSON text, every escape that is half of a surrogate pair
// by that of U+FFFD. Servers refuse such halves, and a model that writes one in its
// arguments would otherwise poison every later request. Whole pairs stay as they are.
func RepairSurrogates(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	out := []byte(text)
	for i := 0; i+1 < len(out); {
		if out[i] != '\\' {
			i++
			continue
		}
		unit, ok := escape(out[i:])
		switch {
		case !ok:
			i += 2
		case unit >= 0xD800 && unit < 0xDC00:
			if low, ok := escape(out[i+6:]); ok && low >= 0xDC00 && low < 0xE000 {
				i += 12
				continue
			}
			copy(out[i:], `\ufffd`)
			i += 6
		case unit >= 0xDC00 && unit < 0xE000:
			copy(out[i:], `\ufffd`)
			i += 6
		default:
			i += 6
		}
	}
	return string(out)
}

// escape reads \uXXXX at the start of b.
func escape(b []byte) (unit int, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		d := strings.IndexByte(hex, c|0x20)
		if d < 0 || c < '0' || c > '9' && c < 'A' {
			return 0, false
		}
		unit = unit<<4 | d
	}
	return unit, true
}

// HistoryArguments returns the arguments of a call as they may stand in a later request:
// unchanged when they are a JSON object, else {}. Servers answer anything else with a
// refusal of the whole conversation. The caller keeps the original for the record.
func HistoryArguments(args string) string {
	if IsObject(args) {
		return args
	}
	return "{}"
}

// IsObject reports whether text is one JSON object.
func IsObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}
