// Prints the Unicode properties that the tokenizer's grammar speaks of, a range a line:
// name, first and last code point in hexadecimal. The argument is the folder of the
// npm package @unicode/unicode-12.1.0.
import { pathToFileURL } from 'node:url';

const sets = [
	...[
		'ALetter', 'Hebrew_Letter', 'Numeric', 'Katakana', 'MidLetter', 'MidNumLet', 'MidNum', 'Single_Quote',
		'Double_Quote', 'ExtendNumLet', 'Extend', 'Format', 'ZWJ', 'Regional_Indicator',
	].map((name) => `Word_Break/${name}`),
	...['Han', 'Hiragana', 'Hangul'].map((name) => `Script/${name}`),
	'Line_Break/Complex_Context',
	...['Emoji', 'Emoji_Modifier', 'Emoji_Modifier_Base', 'Extended_Pictographic'].map((name) => `Binary_Property/${name}`),
];

for (const set of sets) {
	const url = pathToFileURL(`${process.argv[2]}/${set}/ranges.mjs`);
	const { default: ranges } = await import(url);
	for (const { begin, end } of ranges) {
		console.log(`${set} ${begin.toString(16)} ${(end - 1).toString(16)}`);
	}
}
