// Package lazyregexp compiles regular expressions when they are first used. A program that
// has many of them in its variables would else spend more time on compiling them than on
// what it was started for.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression. Its methods are those of [regexp.Regexp]; it is safe for
// concurrent use.
type Regexp struct{ compiled func() *regexp.Regexp }

// inTest says that this is a test's program, in which all expressions are compiled at once:
// a wrong one is found by any test of its package.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// New returns the regular expression that str stands for. Where str is none, the first use
// panics.
func New(str string) *Regexp {
	re := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(str) })}
	if inTest {
		re.compiled()
	}
	return re
}

// String is [regexp.Regexp.String].
func (re *Regexp) String() string { return re.compiled().String() }

// MatchString is [regexp.Regexp.MatchString].
func (re *Regexp) MatchString(s string) bool { return re.compiled().MatchString(s) }

// FindString is [regexp.Regexp.FindString].
func (re *Regexp) FindString(s string) string { return re.compiled().FindString(s) }

// FindStringIndex is [regexp.Regexp.FindStringIndex].
func (re *Regexp) FindStringIndex(s string) []int { return re.compiled().FindStringIndex(s) }

// FindStringSubmatch is [regexp.Regexp.FindStringSubmatch].
func (re *Regexp) FindStringSubmatch(s string) []string {
	return re.compiled().FindStringSubmatch(s)
}

// FindStringSubmatchIndex is [regexp.Regexp.FindStringSubmatchIndex].
func (re *Regexp) FindStringSubmatchIndex(s string) []int {
	return re.compiled().FindStringSubmatchIndex(s)
}

// FindSubmatch is [regexp.Regexp.FindSubmatch].
func (re *Regexp) FindSubmatch(b []byte) [][]byte { return re.compiled().FindSubmatch(b) }

// FindAllString is [regexp.Regexp.FindAllString].
func (re *Regexp) FindAllString(s string, n int) []string { return re.compiled().FindAllString(s, n) }

// FindAllStringIndex is [regexp.Regexp.FindAllStringIndex].
func (re *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return re.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is [regexp.Regexp.FindAllStringSubmatch].
func (re *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return re.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is [regexp.Regexp.FindAllStringSubmatchIndex].
func (re *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return re.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is [regexp.Regexp.ReplaceAllString].
func (re *Regexp) ReplaceAllString(src, repl string) string {
	return re.compiled().ReplaceAllString(src, repl)
}

// ReplaceAllStringFunc is [regexp.Regexp.ReplaceAllStringFunc].
func (re *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return re.compiled().ReplaceAllStringFunc(src, repl)
}

// Split is [regexp.Regexp.Split].
func (re *Regexp) Split(s string, n int) []string { return re.compiled().Split(s, n) }
