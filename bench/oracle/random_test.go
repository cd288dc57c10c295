package oracle_test

import (
	"math/rand/v2"
	"strings"
)

// pieces are what random texts are made of: characters of every kind that the
// tokenizer tells apart, and of the kinds that later steps do.
var pieces = []string{
	"a", "B", "s", "word", "Running", "national", "İ", "ß", "ẞ", "Σ", "ς", "é", "e\u0301", "ﬁ", "ǅ", "Ⅷ", "x²", "①",
	"0", "7", "42", "٣", "９", "1,000", "3.14",
	".", ",", ":", ";", "'", "’", "＇", "‘", "\"", "·", "‧", "．", "，", "׳", "״", "_", "__", "‿", "-", "/", "@", "#", "*", "+",
	" ", " ", " ", " ", "\n", "\t", "\u00a0", "\u2028", "\u200b", "\x00", "\u007f", "\ufffd",
	"\u0301", "\u0308", "\u200d", "\u00ad", "\u2060", "\ufeff", "\u200e", "\ufe0e", "\ufe0f", "\u20e3",
	"©", "™", "〰", "〽", "☺", "❤", "👍", "🏽", "🏿", "👩", "🚀", "👨\u200d👩\u200d👧", "🐻", "🇺", "🇸", "🇨🇭", "Ⓜ", "㊗",
	"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\U000e0061", "\U000e007f", "\U000e0101",
	"א", "ב", "שלום", "אּ", "привет", "Ёлка", "Ωμέγα", "ქართული", "Ა", "Բարեւ",
	"كتب", "كَتَبَ", "می\u200cروم", "नमस्ते", "ক্ষ", "தமிழ்", "ภาษาไทย", "ລາວ", "ខ្មែរ", "မြန်မာ",
	"日", "本", "語", "㐀", "𠀀", "々", "〇", "ひ", "ら", "ゟ", "カ", "タカナ", "ー", "ﾊﾝｶｸ", "ｶﾞ", "ﾞ",
	"한", "국어", "한", "ᄀ", "𐐀", "𝐀", "𝟘",
	"the", "The", "it's", "IT'S", "boys’", "theirs'", "don’t", "O'Neil’s", "a's", "'s", "s's", "U.S.A.", "e-mail", "foo_bar",
}

// randomText strings pieces together, now and then one many times.
func randomText(rng *rand.Rand) string {
	var text strings.Builder
	for range 1 + rng.IntN(16) {
		piece := pieces[rng.IntN(len(pieces))]
		if rng.IntN(400) == 0 {
			piece = strings.Repeat(piece, 60+rng.IntN(300))
		}
		text.WriteString(piece)
	}
	return text.String()
}

var (
	syllables = []string{
		"a", "e", "i", "o", "u", "y", "ab", "al", "at", "bl", "car", "con", "de", "eed", "fi", "fl", "gen", "hop", "ing",
		"iz", "jo", "kn", "log", "min", "nat", "oy", "pl", "que", "rel", "ss", "st", "sy", "tan", "tt", "ver", "wh", "xx", "yy",
		"zz", "é", "ñ", "ξξ", "1", "0", "'", ".", "_", "\U00010428",
	}
	suffixes = []string{
		"", "s", "es", "ies", "sses", "ss", "us", "eed", "eeds", "ed", "ing", "ated", "bled", "ized", "ating", "y", "ly",
		"ational", "tional", "enci", "anci", "izer", "bli", "ably", "alli", "entli", "eli", "ousli", "ization", "ation", "ations",
		"ator", "alism", "iveness", "fulness", "ousness", "aliti", "ality", "iviti", "biliti", "ability", "logi", "logy", "icate",
		"ative", "alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment",
		"ent", "ion", "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e", "le", "ll", "lle", "ee", "ye", "owe", "axe",
	}
)

// randomWord makes a lower-cased word of which the stemmer's rules apply to some.
func randomWord(rng *rand.Rand) string {
	var word strings.Builder
	for range rng.IntN(4) {
		word.WriteString(syllables[rng.IntN(len(syllables))])
	}
	word.WriteString(suffixes[rng.IntN(len(suffixes))])
	if rng.IntN(3) == 0 {
		word.WriteString(suffixes[rng.IntN(len(suffixes))])
	}
	if word.Len() == 0 {
		return "a"
	}
	return word.String()
}
