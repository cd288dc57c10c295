package corpus

import (
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     Document
	}{
		{"paragraphs, headings and lists",
			`<!DOCTYPE html><html><head><title> The
 title </title><style>p{}</style></head><body><h1>Big  <em>head</em>ing</h1><p>One
 line of <b>bo</b>ld&nbsp;text &lt;here&gt;.</p><ul><li>a</li><li>b<ol><li>c</ol></ul><div>x</div><div>y</div>last<br>line<script>if (a<b) alert("<p>")</script></body></html>`,
			Document{Title: "The title", Text: "# Big heading\n\nOne line of bold\u00a0text <here>.\n\n- a\n- b\n  - c\n\nx\ny\nlast\nline"}},
		{"tables", `<table><tr><th>k1</th><th>b</th></tr><tr><td>0.9<td> <td>0.4</table>`,
			Document{Text: "k1 | b\n0.9 | 0.4"}},
		{"preformatted text stays", "<p>a<pre>\n  x = 1\n\n    y</pre>b", Document{Text: "a\n\n  x = 1\n\n    y\n\nb"}},
		{"navigation is left out", `<nav><a>Home</a><nav>in</nav></nav><div role="navigation"><div>menu</div></div><p>text</p><footer>foot</footer>`, Document{Text: "text\n\nfoot"}},
		{"what is hidden is left out", `<div hidden>no</div><div style="color:red; display: none">no<div>no</div></div><p hidden>kept<div>x</div>`, Document{Text: "kept\nx"}},
		{"navigation that never closes is kept", `<p>a</p><nav><p>b</p>`, Document{Text: "a\n\nb"}},
		{"the first heading stands in for a title", `<h2>Head &amp; tail</h2><h1>No</h1><p>x`, Document{Title: "Head & tail", Text: "## Head & tail\n\n# No\n\nx"}},
		{"the head's date and address", `<head><meta name="date" content="2020-01-02"><link rel="canonical" href="https://example.org/"><meta property="og:url" content="no"></head>x`,
			Document{Text: "x", URL: "https://example.org/", Date: "2020-01-02"}},
		{"XHTML's short tags", `<html><head><script src="x"/><title>t</title></head><body><a name="y"/><p/>text<br/>more</body></html>`, Document{Title: "t", Text: "text\nmore"}},
		{"a script that never closes", `a<script>b<p>c`, Document{Text: "a"}},
		{"no tags at all", "just  words\n", Document{Text: "just words"}},
		{"nothing", "", Document{}},
		{"words are not joined across elements", `<dl><dt>term</dt><dd>meaning</dd></dl><span>a</span><span>b</span> <i>c</i>`, Document{Text: "term\nmeaning\n\nab c"}},
	} {
		t.Run(c.name, func(t *testing.T) { diff(t, "document", htmlPage([]byte(c.in)), c.want) })
	}
}

func TestHTMLOfAnyDepthIsRead(t *testing.T) {
	const n = 50_000
	got := htmlPage([]byte(strings.Repeat("<div><nav>", n) + "x" + strings.Repeat("</nav></div>", n) + "<p>y"))
	if got.Text != "y" {
		t.Errorf("got %q, want y", shorten(got.Text))
	}
}

func TestHTMLInOtherCharacterSets(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "latin.html", "<p>caf\xe9 \x93quoted\x94")
	put(t, dir, "declared.html", "<meta charset=koi8-r><p>\xcd\xc9\xd2")
	put(t, dir, "utf8.html", "<meta charset=iso-8859-1><p>café")
	docs, report := mustRead(t, Options{}, dir)
	diff(t, "documents", docs, []Document{{DocID: "declared.html", Text: "мир"}, {DocID: "latin.html", Text: "café “quoted”"}, {DocID: "utf8.html", Text: "café"}})
	if got := noted(report, "character set"); got != 2 {
		t.Errorf("pages decoded: got %d, want 2", got)
	}
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     Document
	}{
		{"the first heading is the title and leaves the text", "\n# Growing *basil* ##\n\nWater it.\n\n## More\n", Document{Title: "Growing *basil*", Text: "Water it.\n\n## More\n"}},
		{"an underlined heading", "Growing basil\n=====\nWater it.", Document{Title: "Growing basil", Text: "Water it."}},
		{"a heading further down stays", "intro\n\n## Part\nx", Document{Title: "Part", Text: "intro\n\n## Part\nx"}},
		{"code holds no headings", "```\n# comment\n```\ntext", Document{Text: "```\n# comment\n```\ntext"}},
		{"front matter", "---\ntitle: \"Basil\"\ndate: 2020-01-02\nurl: https://example.org/b\ntags:\n  - title: no\n---\n\nWater it.\n",
			Document{Title: "Basil", Date: "2020-01-02", URL: "https://example.org/b", Text: "tags:\n  - title: no\n\nWater it.\n"}},
		{"TOML front matter, CRLF", "+++\r\ntitle = 'Basil'\r\n+++\r\n# Head\r\nx", Document{Title: "Basil", Text: "# Head\nx"}},
		{"front matter without end is text", "---\ntitle: x\n", Document{Text: "---\ntitle: x\n"}},
		{"hashes without blank are no heading", "#tag\ntext", Document{Text: "#tag\ntext"}},
		{"empty", "", Document{}},
	} {
		t.Run(c.name, func(t *testing.T) { diff(t, "document", markdownPage(c.in), c.want) })
	}
}

func FuzzPage(f *testing.F) {
	for _, s := range []string{"<p>a<pre>b<table><tr><td>c", "<nav><nav></nav>", "# a\n---\n", "---\ntitle: x\n---\n", "a\n===\nb", "<title><svg><title/>", "<li><h1>x</h1>\x00\xff",
		"<plaintext>x", "\xff\xfea\x00", "+++\n+++\n", "<div role=navigation></p></div>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		for _, kind := range []pageKind{pageText, pageMarkdown, pageHTML} {
			rec := Record{data: []byte(content), docid: "x", loc: Location{File: "x"}, src: newTestSource(pageDecoder{kind}, Options{})}
			d, err := rec.Document()
			if err != nil {
				t.Fatalf("got error %v: any text is a page", err)
			}
			checkDocument(t, d)
		}
	})
}
