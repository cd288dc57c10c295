package analysis

import "bytes"

// normalizeEnglish is what follows tokenizing and lower case in Anserini's default
// chain: possessive, stop words, stem. Lucene removes the possessive before it
// lowers case; no letter but S has the lower case s, so the order is free.
func normalizeEnglish(dst, raw []byte) ([]byte, bool) {
	word := trimPossessive(raw)
	if englishStopWord(word) {
		return dst, false
	}
	start := len(dst)
	dst = append(dst, word...)
	return append(dst[:start], porterStem(dst[start:])...), true
}

// trimPossessive removes a final s and the apostrophe before it, which may be
// U+0027, U+2019 or U+FF07.
func trimPossessive(word []byte) []byte {
	n := len(word)
	if n < 2 || word[n-1] != 's' {
		return word
	}
	for _, apostrophe := range []string{"'", "\u2019", "\uff07"} {
		if bytes.HasSuffix(word[:n-1], []byte(apostrophe)) {
			return word[:n-1-len(apostrophe)]
		}
	}
	return word
}

// englishStopWord reports whether word is one of the 33 that Lucene's English
// analyzer drops.
func englishStopWord(word []byte) bool {
	switch string(word) {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
		"of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with":
		return true
	}
	return false
}
