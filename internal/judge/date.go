package judge

import (
	"strconv"
	"strings"

	"goserini/internal/lazyregexp"
)

// date is a calendar date; a month or day of 0 is not stated.
type date struct{ year, month, day int }

var months = map[string]int{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7,
	"august": 8, "september": 9, "october": 10, "november": 11, "december": 12,
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
}

var (
	weekday   = lazyregexp.New(`^(on )?((mon|tues|wednes|thurs|fri|satur|sun)day,? )?`)
	isoDate   = lazyregexp.New(`^(\d{4})-(\d{1,2})-(\d{1,2})$`)
	threePart = lazyregexp.New(`^(\d{1,2})[./](\d{1,2})[./](\d{4})$`)
	dayFirst  = lazyregexp.New(`^(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]+)\.?,? (\d{4})$`)
	monthDay  = lazyregexp.New(`^([a-z]+)\.? (?:the )?(\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$`)
	monthOnly = lazyregexp.New(`^([a-z]+)\.?,? (\d{4})$`)
)

// parseDate returns the dates that a text can mean, nil if it is no date: 03/04/1903 means
// two, everything else at most one.
func parseDate(s string) []date {
	s = strings.TrimRight(fold(s), ".")
	s = weekday.ReplaceAllString(s, "")
	if m := isoDate.FindStringSubmatch(s); m != nil {
		return valid(date{atoi(m[1]), atoi(m[2]), atoi(m[3])})
	}
	if m := threePart.FindStringSubmatch(s); m != nil {
		a, b, year := atoi(m[1]), atoi(m[2]), atoi(m[3])
		if a == b {
			return valid(date{year, a, b})
		}
		return valid(date{year, b, a}, date{year, a, b})
	}
	if m := dayFirst.FindStringSubmatch(s); m != nil && months[m[2]] != 0 {
		return valid(date{atoi(m[3]), months[m[2]], atoi(m[1])})
	}
	if m := monthDay.FindStringSubmatch(s); m != nil && months[m[1]] != 0 {
		return valid(date{atoi(m[3]), months[m[1]], atoi(m[2])})
	}
	if m := monthOnly.FindStringSubmatch(s); m != nil && months[m[1]] != 0 {
		return []date{{atoi(m[2]), months[m[1]], 0}}
	}
	return nil
}

// valid keeps the dates a calendar can have, give or take the length of the month.
func valid(dates ...date) []date {
	var out []date
	for _, d := range dates {
		if d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31 {
			out = append(out, d)
		}
	}
	return out
}

// atoi converts at most four digits, which a pattern has already checked.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// compareDates decides on two texts that are dates.
func compareDates(a, b []date) (Match, string) {
	compatible := false
	for _, x := range a {
		for _, y := range b {
			if x == y && len(a) == 1 && len(b) == 1 {
				return Same, "equal dates"
			}
			if x.year == y.year && x.month == y.month && (x.day == y.day || x.day == 0 || y.day == 0) {
				compatible = true
			}
		}
	}
	if compatible {
		return Unsure, "the dates can mean the same day"
	}
	return Different, "the dates differ"
}
