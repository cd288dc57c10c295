package judge

import (
	"math"
	"strconv"
	"strings"

	"goserini/internal/lazyregexp"
)

// quantity is a number with what it counts or measures.
type quantity struct {
	// stated is the number as written, value is in the base unit of the dimension.
	stated, value float64
	// dimension is the measured dimension (length, mass, …) or empty.
	dimension string
	// noun is what is counted, where the unit is no known one: "3 people".
	noun string
}

// unit converts to the base unit of its dimension.
type unit struct {
	dimension string
	factor    float64
}

// units are the written forms of common units after folding. Conversion factors are the
// exact ones of the SI and of the international yard and pound agreement.
var units = map[string]unit{
	"mm": {"length", 1e-3}, "millimetre": {"length", 1e-3}, "millimeter": {"length", 1e-3},
	"cm": {"length", 1e-2}, "centimetre": {"length", 1e-2}, "centimeter": {"length", 1e-2},
	"m": {"length", 1}, "metre": {"length", 1}, "meter": {"length", 1},
	"km": {"length", 1e3}, "kilometre": {"length", 1e3}, "kilometer": {"length", 1e3},
	"inch": {"length", 0.0254}, "inches": {"length", 0.0254},
	"ft": {"length", 0.3048}, "foot": {"length", 0.3048}, "feet": {"length", 0.3048},
	"mi": {"length", 1609.344}, "mile": {"length", 1609.344},
	"mg": {"mass", 1e-6}, "milligram": {"mass", 1e-6},
	"g": {"mass", 1e-3}, "gram": {"mass", 1e-3},
	"kg": {"mass", 1}, "kilogram": {"mass", 1},
	"t": {"mass", 1e3}, "tonne": {"mass", 1e3},
	"lb": {"mass", 0.45359237}, "pound": {"mass", 0.45359237},
	"ml": {"volume", 1e-3}, "millilitre": {"volume", 1e-3}, "milliliter": {"volume", 1e-3},
	"l": {"volume", 1}, "litre": {"volume", 1}, "liter": {"volume", 1},
	"km2": {"area", 1e6}, "km^2": {"area", 1e6}, "square kilometre": {"area", 1e6}, "square kilometer": {"area", 1e6},
	"m2": {"area", 1}, "m^2": {"area", 1}, "square metre": {"area", 1}, "square meter": {"area", 1},
	"ha": {"area", 1e4}, "hectare": {"area", 1e4},
	"s": {"time", 1}, "sec": {"time", 1}, "second": {"time", 1},
	"min": {"time", 60}, "minute": {"time", 60},
	"h": {"time", 3600}, "hour": {"time", 3600},
	"day": {"time", 86400}, "week": {"time", 604800},
	"%": {"share", 1}, "percent": {"share", 1}, "per cent": {"share", 1},
	"$": {"USD", 1}, "usd": {"USD", 1}, "us$": {"USD", 1}, "dollar": {"USD", 1}, "us dollar": {"USD", 1},
	"€": {"EUR", 1}, "eur": {"EUR", 1}, "euro": {"EUR", 1},
	"£": {"GBP", 1}, "gbp": {"GBP", 1},
	"°c": {"celsius", 1}, "degrees celsius": {"celsius", 1},
	"°f": {"fahrenheit", 1}, "degrees fahrenheit": {"fahrenheit", 1},
}

var multipliers = map[string]float64{
	"hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12,
}

var numberWords = map[string]float64{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
	"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}

var (
	approximate = lazyregexp.New(`^(about|approximately|approx\.?|around|roughly|circa|ca\.?|~)\s*`)
	digits      = lazyregexp.New(`^([$€£]|us\$)?\s*([-+]?)\s*([1-9]\d{0,2}(?:[ ,']\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)\s*(.*)$`)
	grouping    = lazyregexp.New(`[ ,']`)
	grouped     = lazyregexp.New(`^[1-9]\d{0,2}([ ,']\d{3})+(\.\d+)?$`)
)

// parseQuantity reads a text that is a number with an optional unit or noun and nothing else.
func parseQuantity(s string) (quantity, bool) {
	s = strings.TrimRight(fold(s), ".!;")
	s = strings.ReplaceAll(s, "’", "'")
	s = approximate.ReplaceAllString(s, "")
	value, currency, rest, ok := number(s)
	if !ok {
		return quantity{}, false
	}
	first, tail, _ := strings.Cut(rest, " ")
	if factor, ok := multipliers[first]; ok {
		value *= factor
		rest = strings.TrimSpace(tail)
	}
	if currency != "" && rest == "" {
		rest = currency
	}
	return measured(value, rest)
}

// number takes the number off the front of a folded text.
func number(s string) (value float64, currency, rest string, ok bool) {
	m := digits.FindStringSubmatch(s)
	if m == nil {
		return spelledNumber(s)
	}
	text := m[3]
	if grouped.MatchString(text) {
		text = grouping.ReplaceAllString(text, "")
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", "."), 64)
	if err != nil {
		return 0, "", "", false
	}
	if m[2] == "-" {
		value = -value
	}
	return value, m[1], strings.TrimSpace(m[4]), true
}

func spelledNumber(s string) (value float64, currency, rest string, ok bool) {
	first, tail, _ := strings.Cut(s, " ")
	tens, ones, hyphenated := strings.Cut(first, "-")
	value, ok = numberWords[tens]
	if !ok {
		return 0, "", "", false
	}
	if hyphenated {
		n, known := numberWords[ones]
		if !known || value < 20 || n < 1 || n > 9 {
			return 0, "", "", false
		}
		value += n
	}
	return value, "", strings.TrimSpace(tail), true
}

// measured attaches the unit: a known one, or at most two words for what is counted.
func measured(value float64, rest string) (quantity, bool) {
	for _, form := range []string{rest, strings.TrimSuffix(rest, "."), strings.TrimSuffix(rest, "s")} {
		if u, ok := units[form]; ok {
			return quantity{stated: value, value: value * u.factor, dimension: u.dimension}, true
		}
	}
	noun := words(rest)
	if len(noun) > 2 || strings.ContainsAny(rest, "0123456789") {
		return quantity{}, false
	}
	return quantity{stated: value, value: value, noun: strings.Join(noun, " ")}, true
}

// compareQuantities decides on two quantities.
func compareQuantities(a, b quantity) (Match, string) {
	oneUnit := (a.dimension == "") != (b.dimension == "")
	switch {
	case a.dimension != "" && b.dimension != "" && a.dimension != b.dimension:
		return Different, "the units measure different things"
	case !oneUnit && !near(a.value, b.value), oneUnit && !near(a.stated, b.stated):
		return Different, "the numbers differ"
	case oneUnit:
		// Without the question one cannot tell whether the same unit was left out.
		return Unsure, "only one of the equal numbers has a unit of measure"
	case strings.TrimSuffix(a.noun, "s") != strings.TrimSuffix(b.noun, "s"):
		return Unsure, "the numbers are equal, what they count is worded differently"
	}
	return Same, "equal numbers"
}

// near allows for the rounding of unit conversions.
func near(x, y float64) bool {
	return math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}
