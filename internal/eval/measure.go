package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"goserini/internal/lazyregexp"
)

// Measure is one measure over rankings, with its parameters. Two measures are equal if ==.
type Measure struct {
	def *definition
	// Cutoff is the rank down to which a ranking is looked at; 0 is all of it.
	Cutoff int
	// Level is the least grade that counts as relevant; 0 leaves it to RunOptions.
	Level int
	// Exponential gains are 2^grade - 1 instead of the grade. For nDCG only.
	Exponential bool
}

// definition says what a measure is.
type definition struct {
	// name is the one of ir_measures; aliases are also read.
	name    string
	aliases []string
	// whole and cut are trec_eval's names without and with a cutoff, empty where
	// trec_eval has no such form.
	whole, cut string
	// cutoffs are those that trec_eval computes when it is given none; a measure that has
	// them needs a cutoff.
	cutoffs []int
	// uncuttable measures take no cutoff, ungraded ones no level.
	uncuttable, ungraded bool
	// about is the definition in words.
	about string
	// value computes the measure for one query.
	value func(q judgedRanking, m Measure) float64
	// count says that the measure is a whole number that is summed, not averaged.
	count bool
	// completeLevel is the level that counts in the sum over all judged queries (-c), 0 for the one
	// asked for.
	completeLevel int
	// summaryOnly measures are not printed for single queries.
	summaryOnly bool
}

// definitions in the order in which trec_eval prints.
var definitions = []*definition{
	&numQueries, &numRetrieved, &numRelevant, &numRelevantRetrieved,
	&averagePrecision, &rPrecision, &reciprocalRank, &precision, &recall, &ndcg, &success, &judged,
}

// trecOrder is the order in which trec_eval prints its names.
var trecOrder = []string{
	"num_q", "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "recip_rank", "P", "recall",
	"ndcg", "ndcg_cut", "map_cut", "success",
}

// Definitions explains every measure, one paragraph each, for help texts.
func Definitions() string {
	var b strings.Builder
	for i, d := range definitions {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s\n", d.names(), d.about)
	}
	return b.String()
}

// names shows how a measure is written: AP, AP@k (trec_eval: map, map_cut_k).
func (d *definition) names() string {
	var ours, theirs []string
	if d.cutoffs == nil {
		ours = append(ours, d.name)
	}
	if !d.uncuttable {
		ours = append(ours, d.name+"@k")
	}
	if d.whole != "" {
		theirs = append(theirs, d.whole)
	}
	if d.cut != "" {
		theirs = append(theirs, d.cut+"_k")
	}
	if theirs == nil {
		theirs = []string{"none"}
	}
	return strings.Join(ours, ", ") + " (trec_eval: " + strings.Join(theirs, ", ") + ")"
}

// DefaultMeasures are computed where none are named.
func DefaultMeasures() []Measure {
	return []Measure{
		{def: &ndcg, Cutoff: 10}, {def: &recall, Cutoff: 100}, {def: &recall, Cutoff: 1000},
		{def: &averagePrecision}, {def: &reciprocalRank, Cutoff: 10}, {def: &precision, Cutoff: 10},
		{def: &success, Cutoff: 5}, {def: &judged, Cutoff: 10},
	}
}

// String is the name that ir_measures uses, for example nDCG@10 or R(rel=2)@1000.
func (m Measure) String() string {
	if m.def == nil {
		return "no measure"
	}
	var params []string
	if m.Exponential {
		params = append(params, "dcg='exp-log2'")
	}
	if m.Level != 0 {
		params = append(params, "rel="+strconv.Itoa(m.Level))
	}
	s := m.def.name
	if params != nil {
		s += "(" + strings.Join(params, ", ") + ")"
	}
	if m.Cutoff != 0 {
		s += "@" + strconv.Itoa(m.Cutoff)
	}
	return s
}

// TrecName is the name that trec_eval prints, or String where trec_eval has no such measure.
func (m Measure) TrecName() string {
	base := m.trecBase()
	if base == "" {
		return m.String()
	}
	if m.Cutoff != 0 {
		return base + "_" + strconv.Itoa(m.Cutoff)
	}
	return base
}

func (m Measure) trecBase() string {
	switch {
	case m.Exponential || m.Level != 0:
		return ""
	case m.Cutoff != 0:
		return m.def.cut
	}
	return m.def.whole
}

// MarshalText writes the measure as String does.
func (m Measure) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// ParseMeasures reads measures in either notation: nDCG@10, AP(rel=2), P@5, or ndcg_cut_10,
// map, ndcg_cut.10,100. A name of trec_eval without the cutoffs it needs means all its default
// ones, as there. Case does not matter.
func ParseMeasures(spec string) ([]Measure, error) {
	spec = strings.TrimSpace(spec)
	measures, err := parseTrec(spec)
	if measures == nil && err == nil {
		measures, err = parseName(spec)
	}
	if err != nil {
		return nil, fmt.Errorf("measure %q: %w", spec, err)
	}
	return measures, nil
}

// ParseMeasureList reads several specs and keeps each measure once.
func ParseMeasureList(specs []string) ([]Measure, error) {
	var out []Measure
	for _, spec := range specs {
		measures, err := ParseMeasures(spec)
		if err != nil {
			return nil, err
		}
		for _, m := range measures {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out, nil
}

var (
	trecForm = lazyregexp.New(`^(.*?)(?:[._](\d+(?:,\d+)*))?$`)
	nameForm = lazyregexp.New(`^([A-Za-z]+)(?:\(([^()]*)\))?(?:@(\d+))?$`)
)

// parseTrec reads trec_eval's notation; nil if the name is not one of trec_eval's.
func parseTrec(spec string) ([]Measure, error) {
	parts := trecForm.FindStringSubmatch(spec)
	if parts == nil {
		return nil, nil
	}
	base, list := parts[1], parts[2]
	for _, d := range definitions {
		switch {
		case list == "" && d.whole != "" && strings.EqualFold(base, d.whole):
			return []Measure{{def: d}}, nil
		case d.cut != "" && strings.EqualFold(base, d.cut):
			return d.atCutoffs(list)
		case list != "" && !d.uncuttable && (d.called(base) || d.whole != "" && strings.EqualFold(base, d.whole)):
			return d.atCutoffs(list) // not trec_eval's, but plain: recip_rank_10, mrr_10
		}
	}
	return nil, nil
}

// atCutoffs makes one measure of each cutoff in a comma list, or of the default cutoffs.
func (d *definition) atCutoffs(list string) ([]Measure, error) {
	cutoffs := d.cutoffs
	if list == "" && cutoffs == nil {
		cutoffs = rankCutoffs
	}
	if list != "" {
		cutoffs = nil
		for text := range strings.SplitSeq(list, ",") {
			k, err := parseCutoff(text)
			if err != nil {
				return nil, err
			}
			cutoffs = append(cutoffs, k)
		}
	}
	var out []Measure
	for _, k := range cutoffs {
		out = append(out, Measure{def: d, Cutoff: k})
	}
	return out, nil
}

// parseName reads the notation of ir_measures.
func parseName(spec string) ([]Measure, error) {
	parts := nameForm.FindStringSubmatch(spec)
	if parts == nil {
		return nil, unknownMeasure()
	}
	d := find(parts[1])
	if d == nil {
		return nil, unknownMeasure()
	}
	m := Measure{def: d}
	if err := m.setParams(parts[2]); err != nil {
		return nil, err
	}
	if parts[3] == "" {
		if d.cutoffs != nil {
			return nil, fmt.Errorf("a cutoff is missing: write %s@%d", d.name, d.cutoffs[0])
		}
		return []Measure{m}, nil
	}
	if d.uncuttable {
		return nil, fmt.Errorf("%s has no cutoff", d.name)
	}
	k, err := parseCutoff(parts[3])
	if err != nil {
		return nil, err
	}
	m.Cutoff = k
	return []Measure{m}, nil
}

func find(name string) *definition {
	for _, d := range definitions {
		if d.called(name) {
			return d
		}
	}
	return nil
}

func (d *definition) called(name string) bool {
	return strings.EqualFold(name, d.name) || slices.ContainsFunc(d.aliases, func(a string) bool { return strings.EqualFold(name, a) })
}

func unknownMeasure() error {
	var names []string
	for _, d := range definitions {
		names = append(names, d.names())
	}
	return fmt.Errorf("unknown; known are %s", strings.Join(names, "; "))
}

// setParams reads what stands in brackets: rel=2, dcg='exp-log2'.
func (m *Measure) setParams(list string) error {
	if strings.TrimSpace(list) == "" {
		return nil
	}
	for param := range strings.SplitSeq(list, ",") {
		key, value, _ := strings.Cut(param, "=")
		key, value = strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `'"`)
		switch {
		case key == "rel" && !m.def.ungraded:
			level, err := strconv.Atoi(value)
			if err != nil || level < 1 {
				return fmt.Errorf("rel=%s is not a grade of 1 or more", value)
			}
			m.Level = level
		case key == "dcg" && m.def == &ndcg && (value == "log2" || value == "exp-log2"):
			m.Exponential = value == "exp-log2"
		default:
			return fmt.Errorf("%s does not take the parameter %q", m.def.name, strings.TrimSpace(param))
		}
	}
	return nil
}

// parseCutoff reads a rank of at least 1.
func parseCutoff(s string) (int, error) {
	k, err := strconv.Atoi(s)
	if err != nil || k < 1 {
		return 0, fmt.Errorf("cutoff %q is not a rank of 1 or more", s)
	}
	return k, nil
}
