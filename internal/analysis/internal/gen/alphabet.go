package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// alphabet divides the code points into classes that the grammar cannot tell
// apart. Class 0 is the class of code points without any property.
type alphabet struct {
	properties []string
	// classes holds the set of properties of each class, a bit for each.
	classes []uint64
	// class is indexed by code point.
	class []uint8
}

// literals are the code points that the grammar names itself.
var literals = []struct {
	name   string
	lo, hi rune
}{
	{"text presentation", 0xFE0E, 0xFE0E},
	{"emoji presentation", 0xFE0F, 0xFE0F},
	{"keycap", 0x20E3, 0x20E3},
	{"keycap base", '0', '9'},
	{"keycap base", '#', '#'},
	{"keycap base", '*', '*'},
	{"accidental emoji", 0xA9, 0xA9},
	{"accidental emoji", 0xAE, 0xAE},
	{"accidental emoji", 0x2122, 0x2122},
	{"accidental emoji", 0x3030, 0x3030},
	{"accidental emoji", 0x303D, 0x303D},
	{"tag", 0xE0020, 0xE007E},
	{"tag end", 0xE007F, 0xE007F},
	{"full-width digit", 0xFF10, 0xFF19},
}

// readAlphabet reads lines of a property's name and a range of code points in
// hexadecimal, ends included.
func readAlphabet(r io.Reader) (*alphabet, error) {
	a := &alphabet{}
	sets := make([]uint64, unicode.MaxRune+1)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var name string
		var lo, hi rune
		if _, err := fmt.Sscanf(lines.Text(), "%s %x %x", &name, &lo, &hi); err != nil {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		_, name, _ = strings.Cut(name, "/")
		a.mark(sets, name, lo, hi)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	for _, l := range literals {
		a.mark(sets, l.name, l.lo, l.hi)
	}
	a.number(sets)
	return a, nil
}

func (a *alphabet) mark(sets []uint64, name string, lo, hi rune) {
	bit := slices.Index(a.properties, name)
	if bit < 0 {
		bit = len(a.properties)
		a.properties = append(a.properties, name)
	}
	for c := lo; c <= hi; c++ {
		sets[c] |= 1 << bit
	}
}

// number gives classes their numbers in the order of their first code points.
func (a *alphabet) number(sets []uint64) {
	numbers := map[uint64]uint8{0: 0}
	a.classes = []uint64{0}
	a.class = make([]uint8, len(sets))
	for c, set := range sets {
		n, ok := numbers[set]
		if !ok {
			n = uint8(len(a.classes))
			numbers[set] = n
			a.classes = append(a.classes, set)
		}
		a.class[c] = n
	}
}

// classSet is a set of classes, a bit for each.
type classSet uint64

// all returns the classes that have one of the properties, which must exist.
func (a *alphabet) all(properties ...string) classSet {
	var mask uint64
	for _, p := range properties {
		bit := slices.Index(a.properties, p)
		if bit < 0 {
			panic("the data lack property " + p)
		}
		mask |= 1 << bit
	}
	var set classSet
	for n, properties := range a.classes {
		if properties&mask != 0 {
			set |= 1 << n
		}
	}
	return set
}
