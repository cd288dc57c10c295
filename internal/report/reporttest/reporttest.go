// Package reporttest checks a finished HTML report the way a reader meets it: in a browser, at the
// width of a telephone and of a desk, light and dark, with and without scripts.
package reporttest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"goserini/internal/browsertest"
)

// Want says what a page must hold.
type Want struct {
	// Questions is the number of cards.
	Questions int
	// StaticPlaces says that citations lead somewhere without scripts, too.
	StaticPlaces bool
}

// Screenshots names the variable with a folder for pictures of the pages that were checked.
const Screenshots = "GOSERINI_SCREENSHOTS"

// Check opens the report in a file and checks all of it.
func Check(t *testing.T, path string, want Want) {
	t.Helper()
	b := browsertest.Start(t)
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	c := checker{browser: b, url: "file://" + filepath.ToSlash(abs), want: want}
	t.Run("it is quiet and fits at every width and theme", c.fits)
	t.Run("a card opens and citations jump to the cited text", c.jumps)
	t.Run("an address with a place opens its card", c.deepLink)
	t.Run("the list can be searched", c.filters)
	t.Run("it can be read without scripts", c.withoutScripts)
}

type checker struct {
	browser *browsertest.Browser
	url     string
	want    Want
}

// quiet fails the test if a page asked for anything or complained about anything.
func quiet(t *testing.T, p *browsertest.Page) {
	t.Helper()
	if got := p.Problems(); len(got) > 0 {
		t.Errorf("the page complained: %q", got)
	}
	if got := p.Requests(); len(got) > 0 {
		t.Errorf("the page asked for %q, want nothing", got)
	}
}

// desk is the width of a small desktop screen, in pixels.
const desk = 1280

func (c checker) fits(t *testing.T) {
	for _, width := range []int{390, desk} {
		for _, dark := range []bool{false, true} {
			p := c.browser.Open(t, c.url, browsertest.View{Width: width, Height: 900, Dark: dark})
			var page struct {
				Width, Cut, Cards, Charts, Unnamed int
				Background                         string
			}
			p.Eval(t, `({width: document.documentElement.scrollWidth, cut: [...document.querySelectorAll(".scroll")].filter((s) => s.scrollWidth > s.clientWidth).length, cards: document.querySelectorAll("details.q").length,
				charts: document.querySelectorAll("main svg").length, unnamed: document.querySelectorAll("svg:not([role=img][aria-label])").length,
				background: getComputedStyle(document.body).backgroundColor})`, &page)
			if page.Width > width {
				t.Errorf("at %d pixels the page is %d wide", width, page.Width)
			}
			if width == desk && page.Cut > 0 {
				t.Errorf("at %d pixels %d tables are wider than their place", width, page.Cut)
			}
			if page.Cards != c.want.Questions {
				t.Errorf("the page has %d questions, want %d", page.Cards, c.want.Questions)
			}
			if page.Charts < 5 || page.Unnamed > 0 {
				t.Errorf("the page has %d charts, %d of them without a name for screen readers", page.Charts, page.Unnamed)
			}
			if isDark := page.Background == "rgb(20, 23, 26)"; isDark != dark {
				t.Errorf("background %s with dark = %t", page.Background, dark)
			}
			quiet(t, p)
			picture(t, p, fmt.Sprintf("%d-%t", width, dark))
		}
	}
}

// picture keeps a screenshot where one is wanted.
func picture(t *testing.T, p *browsertest.Page, name string) {
	t.Helper()
	dir := os.Getenv(Screenshots)
	if dir == "" {
		return
	}
	name = filepath.Base(filepath.Dir(t.Name())) + "-" + name + ".png"
	if err := os.WriteFile(filepath.Join(dir, name), p.Screenshot(t, 16_000), 0o644); err != nil {
		t.Fatal(err)
	}
}

// waitFor is a script that waits until an expression holds.
const waitFor = `const until = async (holds) => { for (let i = 0; i < 1200; i++) { const v = holds(); if (v) return v; await new Promise((r) => setTimeout(r, 50)); } throw new Error("waited in vain for " + holds); };`

func (c checker) jumps(t *testing.T) {
	p := c.browser.Open(t, c.url, browsertest.View{Width: 1200, Height: 900})
	var got []struct {
		Card, Place, Tag, Cited, Text string
		Visible, Marked               bool
	}
	// The first, a middle and the last card that cite something the model read.
	p.Eval(t, `(async () => {`+waitFor+`
		const out = [], cards = [...document.querySelectorAll("details.q")];
		for (const at of [0, cards.length >> 1, cards.length - 1]) {
			for (let i = at, n = 0; i < cards.length && n < 3; i++, n++) {
				const card = cards[i];
				card.open = true;
				await until(() => card.classList.contains("full"));
				const links = [...card.querySelectorAll(".body a.cite")];
				if (links.length === 0) continue;
				for (const link of links.slice(0, 4)) {
					link.click();
					const place = await until(() => { const el = document.querySelector(".hit"); return el && el.id === link.hash.slice(1) && el; });
					await until(() => { const r = place.getBoundingClientRect(); return r.bottom > 0 && r.top < innerHeight; });
					let open = true;
					for (let el = place.parentElement; el; el = el.parentElement) if (el.tagName === "DETAILS") open &&= el.open;
					out.push({card: card.id, place: place.id, tag: place.tagName, cited: link.textContent, text: place.textContent, visible: open && place.getClientRects().length > 0, marked: place.tagName === "MARK"});
				}
				break;
			}
		}
		return out;
	})()`, &got)
	if len(got) < 2 {
		t.Fatalf("%d citations jumped, want several", len(got))
	}
	marks := 0
	for _, j := range got {
		if !j.Visible {
			t.Errorf("citation of %s in %s leads to %s (%s), which cannot be seen", j.Cited, j.Card, j.Place, j.Tag)
		}
		if j.Marked && j.Text != "" {
			marks++
		}
	}
	if marks == 0 {
		t.Errorf("no citation jumped to marked text: %+v", got)
	}
	quiet(t, p)
	picture(t, p, "opened")
}

func (c checker) deepLink(t *testing.T) {
	p := c.browser.Open(t, c.url+"#q1", browsertest.View{Width: 1200, Height: 900})
	var steps int
	p.Eval(t, `(async () => {`+waitFor+`
		const card = document.getElementById("q1");
		await until(() => card.open && card.classList.contains("full"));
		return card.querySelectorAll(".steps > li").length;
	})()`, &steps)
	if steps == 0 {
		t.Error("the opened card shows no steps")
	}
	quiet(t, p)
}

func (c checker) filters(t *testing.T) {
	p := c.browser.Open(t, c.url, browsertest.View{Width: 1200, Height: 900})
	var got struct{ Found, Right, Rights, None int }
	p.Eval(t, `(() => {
		const form = document.querySelector(".filter"), [input, select] = form.querySelectorAll("input, select");
		const cards = [...form.parentElement.querySelectorAll("details.q")], shown = () => cards.filter((c) => !c.hidden).length;
		const type = (v) => { input.value = v; input.dispatchEvent(new Event("input", {bubbles: true})); };
		const out = {};
		type(cards[0].querySelector("b").textContent + " " + cards[0].querySelector(".t").textContent); out.found = shown();
		type("no question holds this"); out.none = shown();
		type(""); select.value = "right"; select.dispatchEvent(new Event("input", {bubbles: true}));
		out.right = shown(); out.rights = cards.filter((c) => c.querySelector("summary i").textContent === "right").length;
		return out;
	})()`, &got)
	if got.Found != 1 || got.None != 0 || got.Right != got.Rights {
		t.Errorf("searching found %+v", got)
	}
	quiet(t, p)
}

func (c checker) withoutScripts(t *testing.T) {
	p := c.browser.Open(t, c.url, browsertest.View{Width: 390, Height: 900, NoScript: true})
	var got struct {
		Cards, Bodies, Answers, Filters, Links, Dead int
		Filled                                       bool
	}
	p.Eval(t, `(() => {
		const cards = [...document.querySelectorAll("details.q")];
		for (const c of cards) c.open = true;
		const links = [...document.querySelectorAll("main a[href^='#'], nav a")];
		return {cards: cards.length, bodies: cards.filter((c) => c.querySelector(".body").textContent.trim() !== "").length,
			answers: cards.filter((c) => c.querySelector(".a").textContent.trim() !== "").length,
			filters: document.querySelectorAll(".filter:not([hidden])").length, filled: document.querySelector(".full") !== null,
			links: document.querySelectorAll("a.cite").length, dead: links.filter((a) => !document.getElementById(a.getAttribute("href").slice(1))).length};
	})()`, &got)
	if got.Cards != c.want.Questions || got.Bodies != got.Cards {
		t.Errorf("%d of %d questions have something to read, want %d", got.Bodies, got.Cards, c.want.Questions)
	}
	if got.Answers < got.Cards*9/10 {
		t.Errorf("only %d of %d questions show an answer", got.Answers, got.Cards)
	}
	if got.Filled || got.Filters > 0 {
		t.Error("something ran: scripts were meant to be off")
	}
	if got.Dead > 0 {
		t.Errorf("%d links lead nowhere", got.Dead)
	}
	if c.want.StaticPlaces && got.Links == 0 {
		t.Error("no citation is a link")
	}
	quiet(t, p)
	picture(t, p, "without-scripts")
}
