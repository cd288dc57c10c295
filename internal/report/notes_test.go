package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"goserini/internal/browsertest"
	"goserini/internal/report"
	"goserini/internal/report/reporttest"
)

// notesOf is what the opened card of the first question with a notebook says of it.
func notesOf(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(unpacked(t, page), `<details class="fold notes" open>`)
	if !ok {
		t.Fatal("no question shows a notebook")
	}
	notes, _, _ := strings.Cut(rest, "</details>")
	return notes
}

func TestAQuestionShowsItsNotebookAndTheCheckOfItsAnswer(t *testing.T) {
	run := invent(t, "one", small)
	page := html(t, report.Options{}, run)
	notes := notesOf(t, page)
	for _, want := range []string{
		"<summary>notebook: 1 of 3 constraints met, 1 failed, 1 open · 1 citation of lines not opened · 1 warning of a branch searched in vain · answer check: failed (held back 2 times, research reopened once)</summary>",
		`<i class="good">met</i> <bdi>was the first keeper of the light</bdi> <b><bdi>the right keeper</bdi></b><p><small>50000, lines 1–2</small> <q>`,
		`<i class="bad">failed</i> <bdi>kept a diary of what the lamp used</bdi> <b><bdi>the wrong keeper</bdi></b><p><small>50000, line 900 <em>not opened</em></small></p>`,
		`<i class="none">open</i> <bdi>وصل إلى الميناء في عام 1871 灯台守</bdi>`,
		"<dt>candidates that failed</dt><dd>the wrong keeper</dd>",
		"<dt>not shown in the last check</dt><dd>kept a diary (no line is cited for it)</dd>",
		"<dt>answers held back</dt><dd>the wrong keeper</dd><dd>the right keeper</dd>",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notebook does not say %q:\n%s", want, notes)
		}
	}
	if !regexp.MustCompile(`<dt>warned</dt><dd>[^<]+: Your last 4 searches were all about &#34;the wrong keeper&#34;, and nothing has been noted from them\.`).MatchString(notes) {
		t.Errorf("the warning is not shown:\n%s", notes)
	}
	// The closed card, which is all there is without scripts, has the standing.
	if !strings.Contains(page, "1 of 3 constraints met · answer check: failed") {
		t.Error("the closed card says nothing of it")
	}
	with := 0
	for _, r := range run.Records {
		if r.Notebook != nil {
			with++
		}
	}
	if shown := strings.Count(unpacked(t, page), `class="fold notes"`); shown != with || with == len(run.Records) || with == 0 {
		t.Errorf("%d notebooks shown, want %d of %d", shown, with, len(run.Records))
	}
}

func TestTheSummaryCountsNotebooksAndChecks(t *testing.T) {
	run := invent(t, "one", small)
	with := 0
	for _, r := range run.Records {
		if r.Notebook != nil {
			with++
		}
	}
	text := markdown(t, run)
	for label, each := range map[string]int{"questions with notes": 1, "constraints noted": 3, "of them met": 1, "of them failed": 1, "of them open": 1, "citations of lines": 2, "of them not opened": 1,
		"warnings of a branch searched in vain": 1, "answer checks: failed": 1, "answer checks: passed": 0, "answers held back": 2, "research reopened": 1} {
		m := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(label) + ` \| (\d+) \|(?:[^|\n]*\|)? (\d+) \|$`).FindStringSubmatch(text)
		if m == nil || m[1] != strconv.Itoa(each*with) || m[2] != strconv.Itoa(with) {
			t.Errorf("%s: got %q, want %d over %d", label, m, each*with, with)
		}
	}
	for i := range run.Records {
		run.Records[i].Notebook, run.Records[i].Verification = nil, nil
	}
	if text := markdown(t, run); strings.Contains(text, "Notebooks and answer checks") {
		t.Error("a run without the parts has a table of them")
	}
}

func TestTheSmallestReportHasTheCountsOfNotebooks(t *testing.T) {
	doc, err := report.HTML([]report.Run{invent(t, "one", small)}, report.Options{MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	notes := notesOf(t, string(doc.Bytes))
	if !strings.Contains(notes, "notebook: 1 of 3 constraints met, 1 failed, 1 open") || !strings.Contains(notes, " · not shown here in full</summary>") || strings.Contains(notes, "<li>") {
		t.Errorf("got %s", notes)
	}
}

// A reader at a telephone and at a desk sees the whole notebook of an opened question.
func TestNotebooksFitInABrowser(t *testing.T) {
	run := invent(t, "one", small)
	path := writeHTML(t, report.Options{}, run)
	b := browsertest.Start(t)
	for _, width := range []int{390, 1280} {
		p := b.Open(t, "file://"+path+"#q1", browsertest.View{Width: width, Height: 900})
		var got struct {
			Width, Wide, Items int
			Visible            bool
			Text               string
		}
		p.Eval(t, `(async () => {
			let el;
			for (let i = 0; i < 1200 && !(el = document.querySelector("#q1.full .notes")); i++) await new Promise((r) => setTimeout(r, 50));
			el.scrollIntoView();
			return {width: document.documentElement.scrollWidth, wide: [...el.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length,
				items: el.querySelectorAll("li").length, visible: el.checkVisibility(), text: el.innerText};
		})()`, &got)
		if got.Width > width || got.Wide > 0 || got.Items != 3 || !got.Visible || !strings.Contains(got.Text, "not opened") {
			t.Errorf("at %d pixels: %+v", width, got)
		}
		if problems := p.Problems(); len(problems) > 0 {
			t.Errorf("the page complained: %q", problems)
		}
		if dir := os.Getenv(reporttest.Screenshots); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("notebook-%d.png", width)), p.Screenshot(t, 16_000), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
