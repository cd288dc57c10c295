package report_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"goserini/internal/benchmark"
	"goserini/internal/browsertest"
	"goserini/internal/report"
	"goserini/internal/trajectory"
)

var small = size{questions: 14, readBytes: 2000, depth: 160, resamples: 20}

func html(t testing.TB, o report.Options, runs ...report.Run) string {
	t.Helper()
	doc, err := report.HTML(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc.Bytes)
}

func markdown(t testing.TB, runs ...report.Run) string {
	t.Helper()
	doc, err := report.Markdown(runs, report.Options{Paper: true})
	if err != nil {
		t.Fatal(err)
	}
	return string(doc.Bytes)
}

var packed = regexp.MustCompile(`<script type="application/octet-stream"[^>]*>([^<]*)</script>`)

// unpacked is the page with everything that scripts would put into it.
func unpacked(t testing.TB, page string) string {
	t.Helper()
	var all strings.Builder
	all.WriteString(page)
	for _, m := range packed.FindAllStringSubmatch(page, -1) {
		raw, err := base64.StdEncoding.DecodeString(m[1])
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func TestEqualRunsGiveEqualBytes(t *testing.T) {
	run := invent(t, "one", small)
	if first, second := html(t, report.Options{}, run), html(t, report.Options{}, run); first != second {
		t.Error("two HTML reports of one run differ")
	}
	if first, second := markdown(t, run), markdown(t, run); first != second {
		t.Error("two Markdown reports of one run differ")
	}
}

func TestAPageRefersToNothingOutside(t *testing.T) {
	page := unpacked(t, html(t, report.Options{Paper: true}, invent(t, "one", small)))
	for _, m := range regexp.MustCompile(`(?i)\b(?:src|href|action|srcset|poster|data)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page refers to %q", m[1])
		}
	}
	if m := regexp.MustCompile(`(?i)@import|url\(|<iframe|<object|<embed|\son\w+=| style=`).FindString(page); m != "" {
		t.Errorf("the page has %q", m)
	}
	if !strings.Contains(page, `http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;`) {
		t.Error("the page has no policy that forbids everything")
	}
}

func TestAReportHoldsWhatItPromises(t *testing.T) {
	run := invent(t, "one", small)
	page, text := html(t, report.Options{}, run), markdown(t, run)
	for _, want := range []string{"invented/judge", "accuracy, all questions", "accuracy, completed ones", "official: without the most confident bin", "too few", "strict: every bin", "cited and never opened",
		"input read from a cache, share", "a correct answer", "never retrieved", "Recall by depth", "told to hurry", "retrieved, never shown"} {
		for format, s := range map[string]string{"HTML": page, "Markdown": text} {
			if !strings.Contains(s, want) {
				t.Errorf("%s says nothing of %q", format, want)
			}
		}
	}
	for _, want := range []string{"Time of 13 questions by what it went to", "Stated confidence against share of right answers", "never seen"} {
		if !strings.Contains(page, want) {
			t.Errorf("HTML says nothing of %q", want)
		}
	}
	full := unpacked(t, page)
	for _, want := range []string{"what the model saw", "relevant documents", "<mark id=", "the lines the answer quotes", "model call failed, try 1", "told to stop: time"} {
		if !strings.Contains(full, want) {
			t.Errorf("the opened questions say nothing of %q", want)
		}
	}
}

func TestSeveralRunsStandSideBySideWithWhatDiffers(t *testing.T) {
	a, b := invent(t, "one", small), invent(t, "another", small)
	b.Manifest.Spec.Retrieval.Depth = 5
	for format, s := range map[string]string{"HTML": html(t, report.Options{}, a, b), "Markdown": markdown(t, a, b)} {
		for _, want := range []string{"What differs", "retrieval.depth", "another"} {
			if !strings.Contains(s, want) {
				t.Errorf("%s says nothing of %q", format, want)
			}
		}
	}
}

func TestThePapersRowsAreMarkedAsThePapers(t *testing.T) {
	run := invent(t, "one", small)
	page := html(t, report.Options{Paper: true}, run)
	if !strings.Contains(page, "Paper: Pi-Serini") || !strings.Contains(page, `<tr class="paper"><td>(m) gpt-5.5 &#43; bm25</td><td class="n">83.1</td>`) {
		t.Error("the paper's rows are missing or not marked")
	}
	if strings.Contains(html(t, report.Options{}, run), "Pi-Serini") {
		t.Error("the paper's rows are shown unasked")
	}
}

func TestReportsNeedRunsWithNamesOfTheirOwn(t *testing.T) {
	if _, err := report.HTML(nil, report.Options{}); !errors.Is(err, report.ErrNoRuns) {
		t.Errorf("no runs: %v", err)
	}
	run := invent(t, "one", size{questions: 1, readBytes: 100, depth: 160, resamples: 1})
	if _, err := report.Markdown([]report.Run{run, run}, report.Options{}); err == nil {
		t.Error("two runs of one name were taken")
	}
}

func TestWhatDoesNotFitIsCutAndSaid(t *testing.T) {
	run := invent(t, "one", small)
	whole, err := report.HTML([]report.Run{run}, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Notes) != 0 {
		t.Errorf("a report of everything has notes: %q", whole.Notes)
	}
	if strings.Contains(unpacked(t, string(whole.Bytes)), "not shown here") {
		t.Error("something was cut though there was room")
	}
	half, err := report.HTML([]report.Run{run}, report.Options{MaxBytes: len(whole.Bytes) * 2 / 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(half.Bytes) > len(whole.Bytes)*2/3 {
		t.Errorf("%d bytes, want at most %d", len(half.Bytes), len(whole.Bytes)*2/3)
	}
	if len(half.Notes) != 1 || !strings.Contains(half.Notes[0], "--max-size") || !strings.Contains(unpacked(t, string(half.Bytes)), "bytes not shown here") {
		t.Errorf("what was cut is not said: %q", half.Notes)
	}
	none, err := report.HTML([]report.Run{run}, report.Options{MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if len(none.Notes) != 2 || !strings.Contains(none.Notes[0], "still larger than 1,000") {
		t.Errorf("a size that cannot be kept to is not said: %q", none.Notes)
	}
}

func TestMissingAndDamagedTrajectoriesAreSaidAndCostNothingElse(t *testing.T) {
	run := invent(t, "one", small)
	trajectories := func(i int) string { return filepath.Join(run.Dir, run.Records[i].Trajectory) }
	if err := os.Remove(trajectories(0)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(trajectories(1), []byte("{\"type\":\"turn\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(filepath.Dir(run.Dir), "outside.jsonl")
	if raw, err := os.ReadFile(trajectories(2)); err != nil || os.WriteFile(outside, raw, 0o644) != nil {
		t.Fatal("cannot place a file outside the run")
	}
	run.Records[2].Trajectory = "../outside.jsonl"
	doc, err := report.HTML([]report.Run{run}, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Notes) != 3 {
		t.Fatalf("notes %q, want one for each of three questions", doc.Notes)
	}
	page := string(doc.Bytes)
	for i, want := range []string{"is missing from the run directory", "could not be read", "could not be read"} {
		card := page[strings.Index(page, fmt.Sprintf(`id="q%d"`, i+1)):]
		card = card[:strings.Index(card, "</details>")]
		if !strings.Contains(card, want) {
			t.Errorf("question %d does not say that its trajectory %s", i+1, want)
		}
		if !strings.Contains(doc.Notes[i], "query "+run.Records[i].QueryID) {
			t.Errorf("note %q does not name query %s", doc.Notes[i], run.Records[i].QueryID)
		}
	}
}

// secretRun is a run whose every foreign text holds a word.
func secretRun(t testing.TB, word string) report.Run {
	t.Helper()
	run := invent(t, "secret", size{questions: 8, readBytes: 500, depth: 160, resamples: 5})
	for i := range run.Questions {
		run.Questions[i].Text = word
		run.Questions[i].Answer = &benchmark.Answer{Text: word, Aliases: []string{word}}
	}
	for i := range run.Verdicts {
		v := &run.Verdicts[i]
		v.Reasoning, v.ExtractedFinalAnswer, v.CorrectAnswer = &word, &word, &word
		v.Error, v.Reply = word, word
	}
	for i := range run.Records {
		rec := &run.Records[i]
		path := filepath.Join(run.Dir, rec.Trajectory)
		file, err := trajectory.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		for k := range file.Events {
			taint(&file.Events[k], word, k)
			if err := enc.Encode(file.Events[k]); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		name := rec.Trajectory
		*rec = trajectory.Replay(file.Events)
		rec.Trajectory = name
	}
	return run
}

// taint puts a word into every text of an event.
func taint(e *trajectory.Event, word string, k int) {
	args, _ := json.Marshal(map[string]any{"reason": word, "query": word, word: word})
	switch {
	case e.Header != nil:
		e.Header.Question, e.Header.Prompt, e.Header.System = word, word, word
	case e.Turn != nil:
		e.Turn.Text, e.Turn.Reasoning = word, word
	case e.Call != nil:
		e.Call.Arguments, e.Call.RawArguments = args, word
		if k%3 == 0 {
			e.Call.Tool, e.Call.RawTool = word, word
		}
	case e.Observation != nil:
		e.Observation.Text = word + "\n1\t" + word + "\n"
		e.Observation.Details = word
		if k%3 == 0 {
			e.Observation.Tool, e.Observation.Rejected, e.Observation.IsError = word, true, true
		}
	case e.Steer != nil:
		e.Steer.Text = word
	case e.Attempt != nil:
		e.Attempt.Error = word
	case e.End != nil:
		e.End.Error = word
		if n := e.End.Notebook; n != nil {
			n.Rejected = []string{word, word}
			for i := range n.Constraints {
				n.Constraints[i].Text, n.Constraints[i].Status, n.Constraints[i].Candidate = word, word, word
			}
			e.End.Verification.Outcome, e.End.Verification.Unshown, e.End.Verification.HeldBack = word, []string{word}, []string{word}
		}
		a := &e.End.Answer
		if a.Text != "" {
			a.Exact, a.Text, a.Notes = word, word, []string{word}
			a.Explanation = word + " [" + word + "] " + a.Explanation
			a.Citations = append(a.Citations, trajectory.Citation{DocID: word, Access: "never", Unknown: true})
		}
	}
}

func TestAPrivateBenchmarksTextsAreLeftOut(t *testing.T) {
	const word = "Xyzzyword"
	run := secretRun(t, word)
	if page := unpacked(t, html(t, report.Options{}, run)); strings.Count(page, word) < 100 {
		t.Fatalf("the word is in the revealed report only %d times: the test would see nothing", strings.Count(page, word))
	}
	run.Redact = true
	page := unpacked(t, html(t, report.Options{}, run))
	if i := strings.Index(page, word); i >= 0 {
		t.Errorf("the redacted HTML report says it: …%s…", page[max(0, i-200):min(len(page), i+50)])
	}
	if i := strings.Index(markdown(t, run), word); i >= 0 {
		t.Errorf("the redacted Markdown report says it at %d", i)
	}
	for _, want := range []string{"keeps its questions and answers out of public files", "answer left out", "turn 2"} {
		if !strings.Contains(page, want) {
			t.Errorf("the redacted report lost %q", want)
		}
	}
}

// hostile tries to leave every context a page has.
const hostile = `</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><svg onload=window.pwned=1>"'` +
	"`" + `--><!--<a href="javascript:window.pwned=1">x</a></pre></details></title></style>{{.}}${1}` + "\u202eevil\u2066\x00\x1b[31m"

func TestHostileTextStaysText(t *testing.T) {
	run := secretRun(t, hostile)
	run.Manifest.Spec.Model.Name, run.Manifest.Spec.Benchmark = hostile, hostile
	run.Name = hostile
	run.Scores.Accuracy.Judge = hostile
	path := writeHTML(t, report.Options{}, run)
	p := browsertest.Start(t).Open(t, "file://"+path, browsertest.View{Width: 1200, Height: 900})
	var got struct {
		Pwned, Foreign int
		Shown          bool
	}
	p.Eval(t, `(async () => {
		for (const c of document.querySelectorAll("details.q")) c.open = true;
		for (let i = 0; i < 1200 && document.querySelectorAll("details.q:not(.full)").length > 0; i++) await new Promise((r) => setTimeout(r, 50));
		for (const d of document.querySelectorAll("details")) d.open = true;
		for (const a of document.querySelectorAll("a.cite")) a.click();
		await new Promise((r) => setTimeout(r, 200));
		return {pwned: window.pwned ?? 0, foreign: document.querySelectorAll("img, iframe, [onerror], [onload], a[href^='javascript']").length,
			shown: document.body.textContent.includes("<script>window.pwned=1</scr" + "ipt>")};
	})()`, &got)
	if got.Pwned != 0 || got.Foreign != 0 {
		t.Errorf("foreign text became markup: %+v", got)
	}
	if !got.Shown {
		t.Error("the foreign text is not shown as text")
	}
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("the page complained: %q", problems)
	}
	page := unpacked(t, html(t, report.Options{}, run))
	if i := strings.IndexAny(page, "\u202e\u2066\x1b"); i >= 0 {
		t.Errorf("a control character came through: …%q…", page[max(0, i-200):i+20])
	}
}

func TestMarkdownTablesHoldAgainstForeignText(t *testing.T) {
	text := markdown(t, secretRun(t, "a|b `c` *d* <img src=x> [e](http://f) \n# g\n| h |"))
	link := regexp.MustCompile(`[^\\]\]\(`)
	columns := 0
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "# g") || strings.HasPrefix(line, "| h") || strings.Contains(line, "<img") || link.MatchString(line) {
			t.Errorf("line %d: foreign text is markup: %s", i+1, line)
		}
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(line, "|") - strings.Count(line, `\|`)
		if columns != 0 && n != columns {
			t.Errorf("line %d has %d columns, want %d: %s", i+1, n-1, columns-1, line)
		}
		columns = n
	}
}

func TestChartsGiveTheirDataAsCSV(t *testing.T) {
	page := html(t, report.Options{Paper: true}, invent(t, "one", small))
	charts, links := strings.Count(page, "<figure>"), strings.Count(page, `<details class="csv"><summary>data</summary>`)
	if charts < 7 || links != charts {
		t.Errorf("%d charts, %d of them with data", charts, links)
	}
	for _, want := range []string{`download="timelines.csv" href="data:text/csv;charset=utf-8,question,status,seconds,model,tools,`, `download="cost.csv" href="data:text/csv`, `download="recall-by-depth.csv"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
}
