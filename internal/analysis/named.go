package analysis

import (
	"fmt"
	"slices"
	"strings"
)

// Default is the name of the analyzer used where none is named.
const Default = "english"

// ByName returns the analyzer of that name; "" is [Default].
//
//   - english: Lucene's tokenizer, possessives, lower case, 33 stop words, Porter;
//     equal to Anserini's default. Chinese and Japanese become single characters,
//     Thai and its kin are not divided, accents and compatibility forms count.
//   - none: Lucene's tokenizer and lower case, nothing else.
//   - cjk: for mixed languages. Compatibility forms are normalised (NFKC: half-width
//     and full-width forms, ligatures, composed letters), scripts written without
//     spaces become overlapping pairs of characters, a lone character stays as it
//     is, and all else takes the English chain.
//   - folding: cjk without accents and vowel marks in Latin, Greek, Cyrillic, Arabic
//     and Hebrew, and with one form of the letters that Arabic and Persian spell
//     in several ways.
//   - arabic, danish, dutch, finnish, french, german, hungarian, irish, italian,
//     norwegian, portuguese, romanian, russian, spanish, swedish, tamil, turkish:
//     the tokenizer of cjk, that language's stop words and Snowball stemmer.
func ByName(name string) (Analyzer, error) {
	switch name {
	case "", "english":
		return &chain{name: "english", tokenizer: newStandardTokenizer, normalize: normalizeEnglish}, nil
	case "none":
		return &chain{name: name, tokenizer: newStandardTokenizer, normalize: keepRaw}, nil
	case "cjk":
		return &chain{name: name, tokenizer: newMixedTokenizer, normalize: normalizeMixed, unspaced: true}, nil
	case "folding":
		return &chain{name: name, tokenizer: newMixedTokenizer, normalize: normalizeFolded, unspaced: true}, nil
	}
	for _, l := range languages {
		if l.name == name {
			return l.chain(), nil
		}
	}
	return nil, fmt.Errorf("analyzer %q is unknown: use one of %s", name, strings.Join(Names(), ", "))
}

// Names lists the analyzers that [ByName] knows, the default first.
func Names() []string {
	names := []string{"english", "none", "cjk", "folding"}
	for _, l := range languages {
		names = append(names, l.name)
	}
	return slices.Clip(names)
}
