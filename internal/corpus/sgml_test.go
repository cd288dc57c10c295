package corpus

import (
	"strings"
	"testing"
)

const newswire = `<DOC>
<DOCNO> FT-1 </DOCNO>
<DATE>1
January 1991</DATE>
<HEADLINE>
Grain <P>
prices &amp; taxes
</P>
</HEADLINE>
<BYLINE>nobody</BYLINE>
<TEXT>
First line, x &lt; y.
<P>
Fish&hyph;and&blank;chips cost <B>3</B>p; a < b, R&D
<!-- a
comment --></TEXT>
<TEXT>Second part</TEXT>
</DOC>
<doc id="FT-2" type="story">
<headline>lower case</headline>
<url>https://example.org/2</url>
only <i>ital</i>ics<br>here
</doc>
`

func TestTREC(t *testing.T) {
	docs, report := mustRead(t, Options{}, file(t, "a.trec", newswire))
	diff(t, "documents", docs, []Document{
		{DocID: "FT-1", Title: "Grain prices & taxes", Date: "1 January 1991", Text: "First line, x < y.\n\n\nFish-and chips cost 3p; a < b, R&D\n \nSecond part"},
		{DocID: "FT-2", Title: "lower case", URL: "https://example.org/2", Text: "only italics\nhere"},
	})
	if got := noted(report, "outside the elements"); got != 1 {
		t.Errorf("documents with text not used: got %d, want 1", got)
	}
}

func TestTRECInSeveralFilesWithoutExtension(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "b/ft_2", "\n<DOC>\n<DOCNO>2</DOCNO>\nb\n</DOC>\n")
	put(t, dir, "ft_1", "<DOC>\n<DOCNO>1</DOCNO>\na\n</DOC>")
	put(t, dir, "readme.txt", "About these disks")
	docs, report := mustRead(t, Options{}, dir)
	diff(t, "documents", docs, []Document{{DocID: "2", Text: "b"}, {DocID: "1", Text: "a"}})
	if len(report.Ignored) != 1 || !strings.HasSuffix(report.Ignored[0].Path, "readme.txt") {
		t.Errorf("ignored: got %v, want readme.txt", report.Ignored)
	}
}

func TestTRECWithPagesInside(t *testing.T) {
	docs, _ := mustRead(t, Options{}, file(t, "a.trec",
		"<DOC>\n<DOCNO>W1</DOCNO>\n<DOCHDR>\nhttp://x HTTP/1.0\n</DOCHDR>\n<html><head><title>The page</title></head><body><p>One<p>Two<script>no()</script></body></html>\n</DOC>"))
	diff(t, "documents", docs, []Document{{DocID: "W1", Title: "The page", Text: "One\n\nTwo"}})
}

func TestTRECErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no DOCNO", "<DOC>\nx\n</DOC>\n", `a.trec:1: field "DOCNO": missing or empty`},
		{"not closed before the next", "<DOC>\n<DOCNO>1</DOCNO>\n\n<DOC>\n<DOCNO>2</DOCNO></DOC>", "a.trec:1: <DOC> without </DOC> before the next <DOC> on line 4"},
		{"not closed at the end", "<DOC><DOCNO>1</DOCNO></DOC>\n<DOC>\n<DOCNO>2</DOCNO>\n", "a.trec:2: <DOC> without </DOC>; is the file cut off?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := all(Options{}, file(t, "a.trec", c.in))
			wantError(t, err, c.want)
		})
	}
	docs, report := mustRead(t, Options{OnBad: SkipBad}, file(t, "a.trec", "<DOC>\n<DOCNO>1</DOCNO>\n<DOC>\n<DOCNO>2</DOCNO></DOC>\nbetween\n<DOC><DOCNO>3</DOCNO></DOC>"))
	if got := ids(docs); got != "2 3" || report.Bad != 1 || noted(report, "between documents") != 1 {
		t.Errorf("got ids %s, %d bad, notes %v; want 2 3, 1, text between documents", got, report.Bad, report.Notes)
	}
}

// TestTRECManyUnclosed would take hours if each tag were searched for to the end.
func TestTRECManyUnclosed(t *testing.T) {
	const n = 50_000
	_, report, err := all(Options{OnBad: SkipBad}, file(t, "a.trec", strings.Repeat("<DOC>", n)+"<DOCNO>1</DOCNO></DOC>"))
	if err != nil || report.Bad != n-1 {
		t.Errorf("got %d bad, %v; want %d", report.Bad, err, n-1)
	}
	in := "<DOC><DOCNO>1</DOCNO>" + strings.Repeat("<TITLE><DATE><TEXT><x1><!-- ", n) + "</DOC>"
	if _, _, err := all(Options{}, file(t, "a.trec", in)); err != nil {
		t.Error(err)
	}
}

func TestTRECTagsAcrossChunks(t *testing.T) {
	for pad := firstChunk - 60; pad < firstChunk+10; pad++ {
		in := "<DOC>\n<DOCNO>1</DOCNO>\n" + strings.Repeat("a", pad) + "\n</DOC>\n<DOC>\n<DOCNO>2</DOCNO>\nb</DOC>\n"
		docs, _ := mustRead(t, Options{}, file(t, "a.trec", in))
		if ids(docs) != "1 2" || len(docs[0].Text) != pad || docs[1].Text != "b" {
			t.Fatalf("at %d bytes: got ids %s and %d bytes", pad, ids(docs), len(docs[0].Text))
		}
	}
}

func FuzzTREC(f *testing.F) {
	for _, s := range []string{newswire, "<DOC><DOCNO>1</DOCNO><html><p>x", "<DOC", "<DOC><DOC></DOC>", "<DOC id='a'><TEXT><!-- x</TEXT></DOC>", "</DOC><DOC>\x00\xff</DOC>"} {
		f.Add(s)
	}
	fuzzFormat(f, kindTREC)
}
