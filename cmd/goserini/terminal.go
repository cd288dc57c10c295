package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// terminal is the voice of the program. Results go to out, everything else to err;
// colour and redrawing happen only on a real terminal, never under NO_COLOR or
// TERM=dumb, and text that comes from documents or models is never allowed to
// send control sequences.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	// live says that err is a terminal whose last line may be redrawn.
	live   bool
	colour bool
	width  int

	mu      sync.Mutex
	drawn   int // so many status lines stand on err
	logged  time.Time
	started time.Time
}

func newTerminal(in io.Reader, out, err io.Writer) *terminal {
	t := &terminal{in: in, out: out, err: err, width: 80, started: time.Now()}
	t.live = isTerminal(err) && os.Getenv("TERM") != "dumb"
	t.colour = t.live && os.Getenv("NO_COLOR") == ""
	if n, e := strconv.Atoi(os.Getenv("COLUMNS")); e == nil && n >= 20 {
		t.width = n
	} else if f, ok := err.(*os.File); ok && t.live {
		if w := terminalWidth(f); w >= 20 {
			t.width = w
		}
	}
	return t
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// say prints a line on the error stream, above any status line.
func (t *terminal) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	fmt.Fprintf(t.err, format+"\n", args...)
}

// print writes to the result stream.
func (t *terminal) print(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	fmt.Fprintf(t.out, format, args...)
}

func (t *terminal) errorf(format string, args ...any) {
	t.say("%s %s", t.paint(red, "goserini:"), printable(fmt.Sprintf(format, args...)))
}

func (t *terminal) warn(format string, args ...any) {
	t.say("%s %s", t.paint(yellow, "warning:"), printable(fmt.Sprintf(format, args...)))
}

func (t *terminal) hint(format string, args ...any) {
	t.say("  %s", printable(fmt.Sprintf(format, args...)))
}

// json writes one indented JSON document to the result stream.
func (t *terminal) json(v any) error {
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// progress shows how long work stands: redrawn on a terminal, one line per 10 s in a log.
func (t *terminal) progress(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	every := 10 * time.Second
	if t.live {
		every = 100 * time.Millisecond
	}
	if t.logged.IsZero() {
		t.logged = t.started
	}
	if now.Sub(t.logged) < every {
		return
	}
	t.logged = now
	line := fmt.Sprintf(format, args...)
	if !t.live {
		fmt.Fprintln(t.err, line)
		return
	}
	t.clear()
	fmt.Fprint(t.err, clip(line, t.width-1))
	t.drawn = 1
}

// endProgress removes the status line.
func (t *terminal) endProgress() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
}

func (t *terminal) clear() {
	if t.drawn == 0 {
		return
	}
	fmt.Fprint(t.err, "\r\x1b[K"+strings.Repeat("\x1b[1A\x1b[K", t.drawn-1))
	t.drawn = 0
}

type colour string

const (
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	cyan   colour = "36"
	dim    colour = "2"
	bold   colour = "1"
)

func (t *terminal) paint(c colour, s string) string {
	if !t.colour || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// printable makes foreign text safe to show: control characters other than newline and
// tab become visible escapes, so that a document cannot drive the terminal.
func printable(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unprintable(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	bidiControl := r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
	return r < 0x20 || r >= 0x7F && r < 0xA0 || bidiControl
}

// oneLine folds white space so that a text fits on one line of output.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip shortens a line to n characters for display and marks that it did.
func clip(s string, n int) string {
	if n < 1 {
		return ""
	}
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// duration prints times as people read them: 41 ms, 3.2 s, 4 m 12 s, 2 h 05 m.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
}

// size prints bytes with a binary unit.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/unit, 0
	for f >= unit && i < 4 {
		f, i = f/unit, i+1
	}
	return fmt.Sprintf("%.1f %ciB", f, "KMGTP"[i])
}

// count groups digits: 320,968.
func count[T ~int | ~int64 | ~uint32](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
