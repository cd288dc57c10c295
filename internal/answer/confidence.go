package answer

import (
	"strconv"
	"strings"

	"goserini/internal/lazyregexp"
)

// wide turns full-width digits and signs into plain ones.
var wide = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9",
	"％", "%", "．", ".", "，", ",", "－", "-", "−", "-", "～", "~", "／", "/")

// numbers finds numbers with what decides their scale: a second number of a range, a
// denominator, a percent sign.
var numbers = lazyregexp.New(`(?i)(-?)(\d*[.,]?\d+)\s*(%|percent|per cent|pct)?(?:\s*(?:-|–|—|~|to|and)\s*(\d*[.,]?\d+)\s*(%|percent|per cent|pct)?)?(?:\s*(?:/|out of)\s*(\d+))?`)

// confidence reads the last confidence that is a number, on the scale 0–100.
func (p parts) confidence() (*float64, string) {
	var value *float64
	note := ""
	for _, s := range p.sections {
		if s.part != confidence {
			continue
		}
		line := firstLine(s.lines)
		if line == "" {
			continue
		}
		if v, n, ok := readConfidence(line); ok {
			value, note = &v, n
		} else if value == nil {
			note = "confidence is no number: " + line
		}
	}
	return value, note
}

func firstLine(lines []string) string {
	for _, line := range lines {
		if t := strings.TrimSpace(line); t != "" {
			return t
		}
	}
	return ""
}

// readConfidence reads 85%, 85, 0.85, 85–90 %, 85/100 and their relatives. The first
// number with a percent sign counts, else the first.
func readConfidence(line string) (float64, string, bool) {
	line = wide.Replace(line)
	all := numbers.FindAllStringSubmatch(line, -1)
	if len(all) == 0 {
		return 0, "", false
	}
	best := all[0]
	for _, m := range all {
		if m[3] != "" || m[5] != "" {
			best = m
			break
		}
	}
	return scale(best)
}

// scale brings a match of numbers to 0–100.
func scale(m []string) (float64, string, bool) {
	percent := m[3] != "" || m[5] != ""
	v, note, ok := onScale(m[2], percent, m[6])
	if !ok {
		return 0, "", false
	}
	if m[1] == "-" {
		v = -v
	}
	if m[4] != "" {
		if w, _, ok := onScale(m[4], percent, m[6]); ok {
			v, note = (v+w)/2, "confidence is a range: its middle is taken"
		}
	}
	if v < 0 || v > 100 {
		v, note = min(100, max(0, v)), "confidence clamped"
	}
	return v, note, true
}

// onScale reads one number. One up to 1 with a decimal point and no percent sign is a
// fraction.
func onScale(number string, percent bool, outOf string) (float64, string, bool) {
	v, err := strconv.ParseFloat(strings.Replace(number, ",", ".", 1), 64)
	if err != nil {
		return 0, "", false
	}
	if whole, err := strconv.ParseFloat(outOf, 64); err == nil && whole > 0 && !percent {
		return v / whole * 100, "", true
	}
	if !percent && v <= 1 && strings.ContainsAny(number, ".,") {
		return v * 100, "confidence is a fraction", true
	}
	return v, "", true
}
