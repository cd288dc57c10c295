package main

// The kinds of token, in order of precedence where two match the same text.
const (
	_ = iota
	kindEmoji
	kindNumber
	kindHangul
	kindKatakana
	kindWord
	kindSoutheastAsian
	kindHan
	kindHiragana
)

// grammar builds the nondeterministic automaton of all kinds of token: the word
// break rules of UAX #29 with the emoji sequences of UTS #51, as Lucene reads them.
func grammar(a *alphabet) *nfa {
	g := &nfa{}
	g.start = g.state()
	for _, token := range []struct {
		kind int
		expr expr
	}{
		{kindEmoji, emoji(a)},
		{kindNumber, number(a, true)},
		{kindHangul, plus(letter(a, a.all("Hangul")&a.all("ALetter", "Hebrew_Letter")))},
		{kindKatakana, plus(property(a, "Katakana"))},
		{kindWord, word(a)},
		{kindSoutheastAsian, plus(property(a, "Complex_Context"))},
		{kindHan, property(a, "Han")},
		{kindHiragana, property(a, "Hiragana")},
	} {
		begin := g.state()
		g.empty[g.start] = append(g.empty[g.start], begin)
		g.accept[token.expr(g, begin)] = token.kind
	}
	return g
}

// letter is one character and whatever extends it (rule WB4).
func letter(a *alphabet, set classSet) expr {
	return seq(one(set), star(one(a.all("Extend", "Format", "ZWJ"))))
}

func property(a *alphabet, names ...string) expr { return letter(a, a.all(names...)) }

// number is a run of digits with single points or commas inside (WB8, WB11, WB12)
// and, if it stands alone, low lines around it (WB13a, WB13b).
func number(a *alphabet, alone bool) expr {
	digit := property(a, "Numeric", "full-width digit")
	low := property(a, "ExtendNumLet")
	inner := property(a, "MidNum", "MidNumLet", "Single_Quote")
	run := seq(digit, star(alt(seq(star(low), digit), seq(inner, digit))))
	if !alone {
		return run
	}
	return seq(star(low), run, star(low))
}

// word is letters, digits and low lines (WB5 to WB13b).
func word(a *alphabet) expr {
	low := property(a, "ExtendNumLet")
	katakana := property(a, "Katakana")
	hebrew := property(a, "Hebrew_Letter")
	alphabetic := property(a, "ALetter", "Hebrew_Letter")
	inner := property(a, "MidLetter", "MidNumLet", "Single_Quote")

	core := alt(
		seq(katakana, star(seq(star(low), katakana))),
		plus(alt(
			seq(hebrew, alt(property(a, "Single_Quote"), seq(property(a, "Double_Quote"), hebrew))),
			number(a, false),
			seq(alphabetic, star(alt(seq(star(low), alphabetic), seq(inner, alphabetic)))),
		)),
	)
	return seq(star(low), core, star(seq(plus(low), core)), star(low))
}

// emoji is a pictograph with its presentation, skin tone, joined parts or tags, a
// keycap, or a flag.
func emoji(a *alphabet) expr {
	presentations := a.all("text presentation", "emoji presentation")
	joiner := a.all("ZWJ")
	extend := star(one(a.all("Extend", "Format", "ZWJ") &^ presentations))
	present := one(a.all("emoji presentation"))

	notPictographs := a.all("Regional_Indicator", "keycap base", "accidental emoji", "Emoji_Modifier")
	pictograph := a.all("Extended_Pictographic") | a.all("Emoji")&^notPictographs

	element := alt(
		seq(star(one(joiner)), one(pictograph), extend, opt(present)),
		seq(
			opt(seq(star(one(joiner)), one(a.all("Emoji_Modifier_Base")), extend)),
			one(a.all("Emoji_Modifier")), extend,
		),
	)
	flag := property(a, "Regional_Indicator")
	return alt(
		seq(element, alt(
			star(seq(one(joiner), element)),
			seq(plus(one(a.all("tag"))), one(a.all("tag end"))),
		)),
		seq(one(a.all("keycap base")), extend, opt(present), one(a.all("keycap")), extend),
		seq(flag, flag),
	)
}
