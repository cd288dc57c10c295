package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizeFolded is the second stage of the analyzer folding.
func normalizeFolded(dst, raw []byte) ([]byte, bool) {
	if isASCII(raw) {
		return normalizeEnglish(dst, raw)
	}
	return thenEnglish(appendFolded(dst, dropInvisible(nil, raw)), len(dst))
}

// appendFolded appends a lower-cased word without the accents and vowel marks of the
// alphabets in which words are commonly written without them, and with one form for
// letters that are commonly exchanged. Marks of other scripts are letters in all but
// name and stay.
func appendFolded(dst, word []byte) []byte {
	start := len(dst)
	marksDrop := false
	for _, r := range string(norm.NFKD.Bytes(word)) {
		if unicode.Is(unicode.Mn, r) {
			if !marksDrop {
				dst = utf8.AppendRune(dst, r)
			}
			continue
		}
		marksDrop = r < utf8.RuneSelf || unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew)
		dst = appendFoldedLetter(dst, r)
	}
	return append(dst[:start], norm.NFC.Bytes(dst[start:])...)
}

// appendFoldedLetter appends what stands for a letter that has no decomposition.
func appendFoldedLetter(dst []byte, r rune) []byte {
	switch r {
	case 'ß':
		return append(dst, "ss"...)
	case 'æ':
		return append(dst, "ae"...)
	case 'œ':
		return append(dst, "oe"...)
	case 'þ':
		return append(dst, "th"...)
	case 'ø':
		return append(dst, 'o')
	case 'đ', 'ð':
		return append(dst, 'd')
	case 'ħ':
		return append(dst, 'h')
	case 'ı':
		return append(dst, 'i')
	case 'ł':
		return append(dst, 'l')
	case 'ς':
		return utf8.AppendRune(dst, 'σ')
	case 'ـ': // tatweel only stretches a word
		return dst
	case 'ٱ':
		return utf8.AppendRune(dst, 'ا')
	case 'ى', 'ی':
		return utf8.AppendRune(dst, 'ي')
	case 'ة', 'ە':
		return utf8.AppendRune(dst, 'ه')
	case 'ک':
		return utf8.AppendRune(dst, 'ك')
	}
	if d := digit(r); d >= 0 {
		return append(dst, byte('0'+d))
	}
	return utf8.AppendRune(dst, r)
}

// digit returns the value of an Arabic or Persian digit, -1 if r is none.
func digit(r rune) int {
	switch {
	case r >= '٠' && r <= '٩':
		return int(r - '٠')
	case r >= '۰' && r <= '۹':
		return int(r - '۰')
	}
	return -1
}

func isASCII(word []byte) bool {
	for _, c := range word {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
