// Package eval computes measures: over rankings (TREC runs), over the document sets and
// answers of run records, and over pairs of runs. One file per measure, its definition
// beside the code.
//
// Two rules hold everywhere. Every query of the set is in every denominator unless the
// measure's name says otherwise: a query that was not run counts like one that found
// nothing. And where the definition behind a published number differs from the strict one,
// both are computed, under two names.
//
//	qrels {q1: {a: 1, b: 1}}, ranking c a b: AP = (1/2 + 2/3) / 2 = 0.5833, RR@10 = 1/2
package eval
