package eval

import (
	"cmp"
	"math"
	"slices"
)

// Calibration compares what answers claim to know with what they know. Errors are shares
// of 1 (0.23 is 23 percentage points); an error is nil where it is not defined.
//
// Counted are answers that a judge decided on. Their confidences are sorted (equal ones by
// query id) and cut into bins of 100 answers; with n_b answers in bin b and n in all
//
//		error = sqrt( Σ_b n_b/n · (mean confidence_b − share correct_b)² )
//
//	  - official: as the evaluators of BrowseComp-Plus and Humanity's Last Exam compute it: a
//	    rest of fewer than 100 is added to the last bin, and the last bin, the most
//	    confident one, is never summed. Needs 100 answers.
//	  - strict: the rest is a bin of its own and every bin is summed.
//
// An answer without a stated confidence counts as 100 % in both, as there; the
// forms "stated" leave such answers out.
type Calibration struct {
	Official       *float64 `json:"calibration_error_official"`
	Strict         *float64 `json:"calibration_error_strict"`
	OfficialStated *float64 `json:"calibration_error_official_stated"`
	StrictStated   *float64 `json:"calibration_error_strict_stated"`
	// N answers were counted, Defaulted of them stated no confidence.
	N         int `json:"n"`
	Defaulted int `json:"defaulted"`
	// Reliability has a bin for each tenth of confidence, empty ones included.
	Reliability []ReliabilityBin `json:"reliability"`
}

// ReliabilityBin is one bar of a calibration plot; the last one includes 100 %.
type ReliabilityBin struct {
	From       float64 `json:"from"`
	To         float64 `json:"to"`
	N          int     `json:"n"`
	Confidence float64 `json:"mean_confidence"`
	Accuracy   float64 `json:"accuracy"`
}

// Claim is one decided answer with its confidence.
type Claim struct {
	QueryID string
	// Confidence is between 0 and 100; nil if the answer states none.
	Confidence *float64
	Correct    bool
}

// calibrationBin is the number of answers in a bin.
const calibrationBin = 100

// unstatedConfidence is what both published evaluators assume, in percent.
const unstatedConfidence = 100

// Calibrate computes all forms of calibration error.
func Calibrate(claims []Claim) Calibration {
	c := Calibration{N: len(claims), Reliability: reliability(claims)}
	var stated []Claim
	for _, claim := range claims {
		if claim.Confidence != nil {
			stated = append(stated, claim)
		}
	}
	c.Defaulted = len(claims) - len(stated)
	c.Official, c.Strict = CalibrationOfficial(claims), CalibrationStrict(claims)
	c.OfficialStated, c.StrictStated = CalibrationOfficial(stated), CalibrationStrict(stated)
	return c
}

// CalibrationOfficial skips the last bin; nil with fewer than 100 claims.
func CalibrationOfficial(claims []Claim) *float64 {
	bins := len(claims) / calibrationBin
	if bins == 0 {
		return nil
	}
	sorted := byConfidence(claims)
	var parts [][]Claim
	for i := range bins - 1 {
		parts = append(parts, sorted[i*calibrationBin:(i+1)*calibrationBin])
	}
	return calibrationError(parts, len(claims))
}

// CalibrationStrict sums every bin; nil without claims.
func CalibrationStrict(claims []Claim) *float64 {
	if len(claims) == 0 {
		return nil
	}
	return calibrationError(slices.Collect(slices.Chunk(byConfidence(claims), calibrationBin)), len(claims))
}

func byConfidence(claims []Claim) []Claim {
	sorted := slices.Clone(claims)
	slices.SortStableFunc(sorted, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(a.confidence(), b.confidence()), cmp.Compare(a.QueryID, b.QueryID))
	})
	return sorted
}

func (c Claim) confidence() float64 {
	if c.Confidence == nil {
		return unstatedConfidence
	}
	return *c.Confidence
}

func calibrationError(bins [][]Claim, n int) *float64 {
	var total float64
	for _, bin := range bins {
		confidence, accuracy := binMeans(bin)
		gap := confidence - accuracy
		total += float64(float64(len(bin)) / float64(n) * gap * gap)
	}
	total = math.Sqrt(total)
	return &total
}

// binMeans returns mean confidence and share correct, both between 0 and 1.
func binMeans(bin []Claim) (confidence, accuracy float64) {
	for _, c := range bin {
		confidence += c.confidence() / 100
		if c.Correct {
			accuracy++
		}
	}
	n := float64(len(bin))
	return confidence / n, accuracy / n
}

func reliability(claims []Claim) []ReliabilityBin {
	const bins = 10
	parts := make([][]Claim, bins)
	for _, c := range claims {
		i := min(max(int(c.confidence()/100*bins), 0), bins-1)
		parts[i] = append(parts[i], c)
	}
	out := make([]ReliabilityBin, bins)
	for i, part := range parts {
		out[i] = ReliabilityBin{From: float64(i) / bins, To: float64(i+1) / bins, N: len(part)}
		if len(part) > 0 {
			out[i].Confidence, out[i].Accuracy = binMeans(part)
		}
	}
	return out
}
