package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"goserini/internal/controller"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/retrievaltest"
)

// coast is a collection of longer documents with addresses, front matter and a twin.
func coast() []retrievaltest.Document {
	tides := strings.Repeat("Harbour dues and tide tables fill this page.\n", 200)
	register := "REGISTER OF LIGHTS\n" + tides +
		"In 1871 the lighthouse at Orvane got its first keeper, Tamsin Hale.\nShe kept a diary of the lamp oil that was supplied.\n" + tides +
		"The lamp oil came from Port Sennet by sea.\n" + tides
	return []retrievaltest.Document{
		{DocID: "register", Title: "Register of lights", Text: register, URL: "https://archive.example.org/lights/register"},
		{DocID: "twin", Title: "Register of lights (copy)", Text: register + "\nCopied.", URL: "https://mirror.example.com/register"},
		{DocID: "front", Text: "---\ntitle: A keeper remembered\ndate: 1902-05-01\nurl: https://news.example.com/keeper\n---\nTamsin Hale, keeper of the Orvane lighthouse, died on Sunday. " + strings.Repeat("The paper prints more about dues. ", 40)},
		{DocID: "short", Title: "Lamp oil", Text: "Lamp oil was measured in gills.\n\nSee keeper.", URL: "https://archive.example.org/oil"},
		{DocID: "wide", Text: strings.Repeat("words of a long line without an end ", 3000) + "the keeper of Orvane appears here " + strings.Repeat("and it goes on ", 3000)},
		{DocID: "cjk", Text: strings.Repeat("海辺の町の記録。", 100) + "灯台守 keeper は日記をつけた。" + strings.Repeat("潮の満ち引き。", 100)},
		{DocID: "rtl", Text: strings.Repeat("سجل الميناء والرسوم. ", 80) + "حارس المنارة keeper كتب يومياته. " + strings.Repeat("جداول المد والجزر. ", 80)},
	}
}

// navigator returns a controller with the named parts on.
func navigator(t testing.TB, m retrieval.Retriever, parts ...string) *controller.Controller {
	t.Helper()
	n, err := controller.ParseNavigator(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return controller.New(m, controller.Options{Navigator: n})
}

func TestNavigatorPages(t *testing.T) {
	for _, tt := range []struct {
		file  string
		parts []string
		steps [][2]string
	}{
		{"excerpts", []string{"excerpts"}, [][2]string{{"search", `{"query":"who was the first keeper of the Orvane lighthouse"}`}}},
		{"find", []string{"find"}, [][2]string{
			{"search", `{"query":"keeper"}`},
			{"read_document", `{"docid":"register","find":"lamp oil"}`},
			{"read_search_results", `{"search_id":"s1","find":"Tamsin\\s+H\\w+"}`},
		}},
		{"read-at-best", []string{"read-at-best"}, [][2]string{{"search", `{"query":"first keeper Orvane lamp oil"}`}, {"read_document", `{"docid":"register"}`}}},
		{"syntax", []string{"syntax"}, [][2]string{{"search", `{"query":"\"lamp oil\" keeper -copied site:example.org xylograph lightho*"}`}}},
		{"multi-query", []string{"multi-query"}, [][2]string{{"search", `{"query":"Tamsin Hale","queries":["lamp oil supplied","lighthouse keeper died"]}`}}},
		{"novelty", []string{"novelty"}, [][2]string{
			{"search", `{"query":"keeper Orvane"}`},
			{"read_document", `{"docid":"front","limit":3}`},
			{"search", `{"query":"lamp oil keeper"}`},
			{"search", `{"query":"keeper  Orvane"}`},
			{"search", `{"query":"oil of the lamp","new_only":true}`},
		}},
		{"all", controller.PartNames(), [][2]string{{"search", `{"query":"first keeper of the Orvane lighthouse"}`}, {"read_document", `{"docid":"register"}`}}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			c := navigator(t, retrievaltest.NewMemory(coast()...), tt.parts...)
			var b strings.Builder
			for _, s := range tt.steps {
				fmt.Fprintf(&b, "> %s(%s)\n%s\n\n", s[0], s[1], call(t, c, s[0], s[1]).Text)
			}
			golden(t, "navigator-"+tt.file, b.String())
		})
	}
}

func TestNavigatorToolDefinitions(t *testing.T) {
	o, err := controller.Profile("navigator")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, tl := range controller.New(retrievaltest.NewMemory(), o).Tools() {
		if !json.Valid(tl.Schema) {
			t.Errorf("schema of %s is not JSON: %s", tl.Name, tl.Schema)
		}
		fmt.Fprintf(&b, "# %s\n\n%s\n\n%s\n\n", tl.Name, tl.Description, tl.Schema)
	}
	golden(t, "navigator-tools", b.String())
}

func TestProfilesAndParts(t *testing.T) {
	if _, err := controller.Profile("best"); err == nil || !strings.Contains(err.Error(), "paper, navigator") {
		t.Errorf("got %v", err)
	}
	if _, err := controller.ParseNavigator("excerpts", "magic"); err == nil || !strings.Contains(err.Error(), "budget-line") {
		t.Errorf("got %v", err)
	}
	n, err := controller.ParseNavigator("find", "novelty")
	if err != nil || !cmp.Equal(n.Parts(), []string{"find", "novelty"}) {
		t.Errorf("got %v, %v", n.Parts(), err)
	}
	// What is not measured is in no profile, and comes beside one when it is asked for.
	profile, err := controller.Profile("navigator")
	if err != nil || len(profile.Navigator.Parts()) == 0 || profile.Navigator.Notebook || profile.Navigator.Verify {
		t.Errorf("got %v, %v", profile.Navigator.Parts(), err)
	}
	n, err = controller.ParseNavigator("navigator", "verify")
	if want := append(profile.Navigator.Parts(), "verify"); err != nil || !cmp.Equal(n.Parts(), want) {
		t.Errorf("got %v, %v, want %v", n.Parts(), err, want)
	}
	if o := controller.New(nil, controller.Options{Stateless: true, Navigator: n}).Options(); o.Navigator.Verify || !o.Navigator.Find {
		t.Errorf("stateless tools have %v", o.Navigator.Parts())
	}
	paper, err := controller.Profile("paper")
	if err != nil || len(paper.Navigator.Parts()) != 0 || paper.Depth != 1000 || paper.PageBytes != 51200 {
		t.Errorf("got %+v, %v", paper, err)
	}
}

func TestEachPartChangesTheFingerprintOnlyIfTheModelIsToldOfIt(t *testing.T) {
	m := retrievaltest.NewMemory()
	paper := navigator(t, m).Fingerprint()
	seen := map[string]string{paper: "none"}
	for _, part := range controller.PartNames() {
		print := navigator(t, m, part).Fingerprint()
		if part == "budget-line" || part == controller.NotebookPart || part == controller.VerifyPart { // nothing to say beforehand, or not here
			if print != paper {
				t.Errorf("%s changes the definitions", part)
			}
			continue
		}
		if other, ok := seen[print]; ok {
			t.Errorf("%s and %s have the same definitions", part, other)
		}
		seen[print] = part
	}
}

func TestPlainQueriesRankTheSameWithSyntax(t *testing.T) {
	m := retrievaltest.NewMemory(coast()...)
	for _, query := range []string{"keeper of the lighthouse", "-5 degrees oil", "lamp-oil", "keeper's +oil", "--help oil", "C* 5", `"oil"`, "it's \"", "-oil", "site:", "a|b OR", "site:example.org"} {
		args, err := json.Marshal(map[string]string{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		plain := call(t, navigator(t, m), "search", string(args)).Access.Surfaced
		read := call(t, navigator(t, m, "syntax"), "search", string(args)).Access.Surfaced
		if diff := cmp.Diff(plain, read); diff != "" {
			t.Errorf("%q ranks differently:\n%s", query, diff)
		}
	}
}

func TestOperatorsAreHonouredAndRelaxed(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		surfaced    []string
		says        string
	}{
		{"a phrase comes first", `"kept a diary" lamp oil`, []string{"register", "twin", "short", "wide", "front"}, `phrase "kept a diary": held by 2 hits, which come first`},
		{"a phrase over a line end", `"Hale. She kept" oil`, nil, "held by 2 hits"},
		{"curly quotes", `“lamp oil” keeper`, nil, `phrase "lamp oil": held by 3 hits`},
		{"a phrase nobody has", `"sea oil" keeper`, nil, "no hit holds it, ranked by words"},
		{"an excluded word", `keeper -tide oil`, []string{"short", "front", "cjk", "rtl", "wide"}, `without "tide" (2 hits left out)`},
		{"an excluded phrase", `oil -"lamp oil" measured`, nil, `without "lamp oil" ignored: every hit holds it`},
		{"a site", `oil site:example.org`, []string{"register", "short"}, "site example.org (2 of 3 hits)"},
		{"a site with a path", `oil site:https://archive.example.org/lights`, []string{"register"}, "(1 of 3 hits)"},
		{"a site nobody is on", `oil site:ample.org`, []string{"register", "short", "twin"}, "site ample.org ignored: none of the hits is on it"},
		{"OR", `gills OR supplied`, nil, "OR: any of the words may match"},
		{"a prefix", `supp*`, []string{"register", "twin"}, "Read as: words \"supplied\"; supp* as supplied"},
		{"a prefix nobody has", `xylo* oil`, nil, "xylo* (no word begins so)"},
		{"a word nobody has", `oil xylograph`, nil, `Not in the collection: "xylograph"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args, err := json.Marshal(map[string]string{"query": tt.query})
			if err != nil {
				t.Fatal(err)
			}
			result := call(t, navigator(t, retrievaltest.NewMemory(coast()...), "syntax"), "search", string(args))
			if tt.surfaced != nil && !cmp.Equal(result.Access.Surfaced, tt.surfaced) {
				t.Errorf("surfaced %v, want %v", result.Access.Surfaced, tt.surfaced)
			}
			if !strings.Contains(result.Text, tt.says) {
				t.Errorf("the page does not say %q:\n%s", tt.says, result.Text)
			}
		})
	}
}

func TestFusedRankings(t *testing.T) {
	c := navigator(t, retrievaltest.NewMemory(coast()...), "multi-query")
	for _, tt := range []struct{ name, args, want string }{
		{"one of several found each hit", `{"query":"gills","queries":["died"]}`, "Found by: query 2 rank 1"},
		{"a list inside a string", `{"query":"gills","queries":"[\"died\"]"}`, `Query 2: "died"`},
		{"one string", `{"query":"gills","queries":"died"}`, `Query 2: "died"`},
		{"only queries", `{"queries":["died"]}`, `Query: "died"`},
		{"empty ones do not count", `{"query":"gills","queries":[""," "]}`, `Query: "gills"`},
	} {
		if got := call(t, c, "search", tt.args).Text; !strings.Contains(got, tt.want) {
			t.Errorf("%s: the page does not say %q:\n%s", tt.name, tt.want, got)
		}
	}
	for _, args := range []string{`{"queries":[{}]}`, `{"queries":[[]]}`, `{"queries":["1","2","3","4","5","6","7","8","9"]}`, `{"queries":[]}`} {
		if result := call(t, c, "search", args); !result.IsError {
			t.Errorf("%s: got %s", args, result.Text)
		}
	}
}

func TestStatelessIdsCarrySeveralQueries(t *testing.T) {
	o := controller.Options{Stateless: true, Navigator: controller.Navigator{MultiQuery: true}}
	m := retrievaltest.NewMemory(coast()...)
	for _, args := range []string{`{"query":"gills","queries":["died \"x\""]}`, `{"query":"[oil]"}`, `{"query":"[\"oil\"]"}`} {
		first := call(t, controller.New(m, o), "search", args)
		id := first.Details.(controller.RankingDetails).SearchID
		again, err := json.Marshal(map[string]any{"search_id": id, "offset": 1, "limit": 5})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first.Text, call(t, controller.New(m, o), "read_search_results", string(again)).Text); diff != "" {
			t.Errorf("%s: another process shows another page:\n%s", args, diff)
		}
	}
}

func TestASharedControllerRemembersNoConversation(t *testing.T) {
	o, err := controller.Profile("navigator")
	if err != nil {
		t.Fatal(err)
	}
	o.Stateless = true
	c := controller.New(retrievaltest.NewMemory(coast()...), o)
	first := call(t, c, "search", `{"query":"keeper Orvane"}`).Text
	call(t, c, "read_document", `{"docid":"register"}`)
	if diff := cmp.Diff(first, call(t, c, "search", `{"query":"keeper Orvane"}`).Text); diff != "" {
		t.Errorf("the same call gives another page:\n%s", diff)
	}
}

func TestNoveltyDoesNotDependOnWhichCallEndsFirst(t *testing.T) {
	pages := func(order []int) []string {
		c := navigator(t, retrievaltest.NewMemory(coast()...), "novelty", "excerpts")
		call(t, c, "search", `{"query":"diary"}`)
		works := []func() string{}
		for _, query := range []string{"keeper", "oil", "lighthouse"} {
			do := begin(t, c, "search", fmt.Sprintf(`{"query":%q}`, query))
			works = append(works, func() string {
				result, err := do(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				return result.Text
			})
		}
		texts := make([]string, len(works)+1)
		for _, i := range order {
			texts[i] = works[i]()
		}
		texts[len(works)] = call(t, c, "search", `{"query":"keeper oil lighthouse"}`).Text
		return texts
	}
	want := pages([]int{0, 1, 2})
	for _, order := range [][]int{{2, 1, 0}, {1, 2, 0}} {
		if diff := cmp.Diff(want, pages(order)); diff != "" {
			t.Errorf("order %v:\n%s", order, diff)
		}
	}
}

func TestEveryPageOfHitsSaysHowManyAreNew(t *testing.T) {
	c := navigator(t, retrievaltest.NewMemory(coast()...), "novelty")
	for _, tt := range []struct{ tool, args, want string }{
		{"search", `{"query":"keeper Orvane"}`, "ranks 1-5 of 7, all new, search_id=s1\n"},
		{"read_search_results", `{"search_id":"s1","offset":6}`, "ranks 6-7 of 7, all new, search_id=s1\n"},
		{"read_search_results", `{"search_id":"s1","offset":6}`, "\nNew: 0 of the hits shown.\n"},
		{"search", `{"query":"Orvane keeper"}`, "\nNew: 0 of the hits shown, 0 of all 7.\n"},
	} {
		if got := call(t, c, tt.tool, tt.args).Text; !strings.Contains(got, tt.want) {
			t.Errorf("%s(%s): no %q on\n%s", tt.tool, tt.args, tt.want, got)
		}
	}
}

func TestNewOnlyBackfills(t *testing.T) {
	c := navigator(t, retrievaltest.NewMemory(harbour()...), "novelty")
	call(t, c, "search", `{"query":"lighthouse keeper"}`)
	result := call(t, c, "search", `{"query":"keeper lighthouse","new_only":true}`)
	d := result.Details.(controller.RankingDetails)
	if len(result.Access.Previewed) != 5 || d.FirstRank != 6 || d.NewShown != 5 {
		t.Errorf("previewed %v, %+v", result.Access.Previewed, d)
	}
	rest := call(t, c, "read_search_results", `{"search_id":"s2","offset":1,"limit":50,"new_only":"true"}`)
	if len(rest.Access.Previewed) != 3 {
		t.Errorf("previewed %v", rest.Access.Previewed)
	}
	none := call(t, c, "read_search_results", `{"search_id":"s2","offset":1,"new_only":true}`)
	if none.IsError || !strings.Contains(none.Text, "have been shown before") || len(none.Access.Previewed) != 0 {
		t.Errorf("got %s", none.Text)
	}
}

func TestExcerptsOfEveryScriptAreValidAndBounded(t *testing.T) {
	for _, m := range []retrieval.Retriever{retrievaltest.NewMemory(coast()...), plain{retrievaltest.NewMemory(coast()...)}} {
		c := navigator(t, m, "excerpts")
		result := call(t, c, "search", `{"query":"keeper"}`)
		for _, line := range strings.Split(result.Text, "\n") {
			text, ok := strings.CutPrefix(line, "   Excerpt: ")
			if !ok {
				continue
			}
			if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 606 || !strings.Contains(strings.ToLower(text), "keeper") {
				t.Errorf("%d characters: %q", utf8.RuneCountInString(text), text)
			}
		}
	}
}

// plain hides the optional interfaces of a retriever.
type plain struct{ r retrieval.Retriever }

func (p plain) Search(ctx context.Context, req retrieval.SearchRequest) (retrieval.Ranking, error) {
	return p.r.Search(ctx, req)
}

func (p plain) Read(ctx context.Context, req retrieval.ReadRequest) (retrieval.Chunk, error) {
	return p.r.Read(ctx, req)
}

func TestEveryPartWorksOverARetrieverThatOnlySearchesAndReads(t *testing.T) {
	c := navigator(t, plain{retrievaltest.NewMemory(coast()...)}, controller.PartNames()...)
	for _, step := range [][2]string{
		{"search", `{"query":"\"lamp oil\" -copied lightho* site:example.org","queries":["keeper Orvane"]}`},
		{"read_search_results", `{"search_id":"s1","offset":1,"new_only":false}`},
		{"read_search_results", `{"search_id":"all","find":"keeper"}`},
		{"read_document", `{"docid":"register"}`},
		{"read_document", `{"docid":"register","find":"sea"}`},
	} {
		if result := call(t, c, step[0], step[1]); result.IsError {
			t.Errorf("%s(%s): %s", step[0], step[1], result.Text)
		}
	}
}

func TestPagesWithoutALimitLeaveNothingOut(t *testing.T) {
	long := strings.Repeat("灯台 λάμπα keeper ", 2000)
	text := "first\n" + long + "\n\n" + manyLines(700)
	c := navigator(t, retrievaltest.NewMemory(retrievaltest.Document{DocID: "d", Text: text}), "read-at-best")
	joined, args, pages := "", `{"docid":"d","offset":1}`, 0
	for args != "" {
		page := call(t, c, "read_document", args).Text
		if n := utf8.RuneCountInString(page); n > 4500 {
			t.Fatalf("page %d has %d characters, want about 4000", pages, n)
		}
		for line := range strings.Lines(page) {
			if number, rest, ok := strings.Cut(line, "\t"); ok && !strings.Contains(number, " ") {
				joined += rest
				if strings.Contains(number, ":") || number == "2" { // a piece of the long line: its end is not the line's
					joined = strings.TrimSuffix(joined, "\n")
				}
			}
		}
		_, args, _ = strings.Cut(page, "More lines: read_document(")
		args = strings.TrimSuffix(strings.TrimSpace(args), ")")
		pages++
	}
	want := strings.Replace(text, long+"\n", long, 1)
	if strings.TrimSuffix(joined, "\n") != want {
		t.Errorf("the %d pages joined have %d bytes, want the document's %d", pages, len(joined), len(want))
	}
	if pages < 8 {
		t.Errorf("%d pages, want several", pages)
	}
}

func TestReadOpensAtTheBestPassage(t *testing.T) {
	c := navigator(t, retrievaltest.NewMemory(coast()...), "read-at-best")
	for _, tt := range []struct {
		name, args, want, not string
	}{
		{"before any search at the beginning", `{"docid":"register"}`, "docid=register lines 1-84 of", "Opened at"},
		{"a limit is obeyed", `{"docid":"register","limit":200}`, "docid=register lines 1-200 of", "Opened at"},
		{"the page proposed has no limit either", `{"docid":"register","offset":126}`, `"docid":"register","offset":207})`, `"limit"`},
	} {
		if got := call(t, c, "read_document", tt.args).Text; !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: got %.300s", tt.name, got)
		}
	}
	call(t, c, "search", `{"query":"keeper Orvane"}`)
	call(t, c, "search", `{"query":"lamp oil sea"}`)
	for _, tt := range []struct {
		name, args, want, not string
	}{
		{"the latest search that ranked it", `{"docid":"register"}`, `Opened at the best passage for s2 "lamp oil sea"`, "Tamsin Hale, keeper"},
		{"a search that did not rank it does not count", `{"docid":"wide"}`, `Opened at the best passage for s1 "keeper Orvane"`, "for s2"},
		{"inside a long line", `{"docid":"wide"}`, "the keeper of Orvane appears here", "1\twords"},
		{"an offset is obeyed", `{"docid":"register","offset":1,"limit":2}`, "docid=register lines 1-2 of", "Opened at"},
		{"a short document is shown whole", `{"docid":"short"}`, "lines 1-4 of 4", "Opened at"},
		{"right-to-left text", `{"docid":"rtl"}`, "keeper", "Opened at"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := call(t, c, "read_document", tt.args)
			if !strings.Contains(got.Text, tt.want) || strings.Contains(got.Text, tt.not) {
				t.Errorf("got %.900s", got.Text)
			}
			if len(got.Text) > 6000 && !strings.Contains(tt.args, "offset") {
				t.Errorf("the opening page has %d bytes", len(got.Text))
			}
		})
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name, tool, args string
		want             []string
	}{
		{"a phrase, letter case aside", "read_document", `{"docid":"register","find":"LAMP OIL"}`, []string{"2 matching lines", "\n204\tShe kept", "\n405\tThe lamp"}},
		{"a phrase over a line end", "read_document", `{"docid":"register","find":"Hale. She kept"}`, []string{"1 matching lines", "\n203\tIn 1871"}},
		{"characters of expressions are themselves first", "read_document", `{"docid":"cjk","find":"記録。"}`, []string{"1 matching lines"}},
		{"an expression", "read_document", `{"docid":"register","find":"^The lamp.*sea\\.$"}`, []string{"1 matching lines", "\n405\t"}},
		{"an expression between slashes", "read_document", `{"docid":"register","find":"/port \\w+net/"}`, []string{"1 matching lines"}},
		{"an expression that could reach to the end of the document", "read_document", `{"docid":"register","find":"(?s)The lamp.*harbour"}`, []string{"2 matching lines", "\n405\t"}},
		{"no expression", "read_document", `{"docid":"register","find":"(oil"}`, []string{"Note: find is no regular expression", "0 matching lines", "No line of the document matches"}},
		{"a piece of a long line", "read_document", `{"docid":"wide","find":"keeper"}`, []string{"1 matching lines", "\n1:"}},
		{"from a line on", "read_document", `{"docid":"register","find":"lamp","offset":300}`, []string{"1 matching lines from line 300 on", "lines 405-405"}},
		{"a few of many", "read_document", `{"docid":"register","find":"harbour","limit":2}`, []string{"600 matching lines", `"find":"harbour","offset":5,"limit":2`}},
		{"all documents of a ranking", "read_search_results", `{"search_id":"s1","find":"gills"}`, []string{"ranks 1-7 of 7 looked through", "docid=short\n", "Line 2: Lamp oil was measured in gills."}},
		{"all rankings", "read_search_results", `{"search_id":"all","find":"gills"}`, []string{"docid=short", "search_id=all"}},
		{"a few of many documents", "read_search_results", `{"search_id":"s1","find":"keeper","limit":2}`, []string{`"find":"keeper","offset":3,"limit":2`, "ranks 1-2 of 7"}},
		{"more lines in a document", "read_search_results", `{"search_id":"s1","find":"harbour","limit":1}`, []string{"597 more matching lines: read_document"}},
		{"nothing", "read_search_results", `{"search_id":"s1","find":"xylograph"}`, []string{"No document among them matches"}},
		{"past the end", "read_search_results", `{"search_id":"s1","find":"keeper","offset":99}`, []string{"ranks 0-7 of 7"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := navigator(t, retrievaltest.NewMemory(coast()...), "find")
			call(t, c, "search", `{"query":"keeper"}`)
			result := call(t, c, tt.tool, tt.args)
			for _, want := range tt.want {
				if result.IsError || !strings.Contains(result.Text, want) {
					t.Errorf("the page does not say %q:\n%.1500s", want, result.Text)
				}
			}
		})
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"read_document", `{"docid":"register","find":"x*"}`, "matches everywhere"},
		{"read_document", `{"docid":"register","find":"(a{400}){2}"}`, "too complex"},
		{"read_document", `{"docid":"register","find":"` + strings.Repeat("x", 501) + `"}`, "at most 500"},
		{"read_document", `{"docid":"nobody","find":"x"}`, "No document has the docid"},
		{"read_search_results", `{"search_id":"all","find":"x"}`, "no search has been made yet"},
	} {
		c := navigator(t, retrievaltest.NewMemory(coast()...), "find")
		if result := call(t, c, tt.tool, tt.args); !result.IsError || !strings.Contains(result.Text, tt.want) {
			t.Errorf("%s(%.60s): got %s", tt.tool, tt.args, result.Text)
		}
	}
}

// Plain words are looked for in a quicker way than expressions; both find the same.
func TestWordsAreFoundLikeExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"zinc", "Zinc", "ZINC", "onyx", "zi", "é", "É", "İ", "x", "\n"})
		text := strings.Join(rapid.SliceOfN(word, 0, 60).Draw(t, "text"), rapid.SampledFrom([]string{" ", "  ", ""}).Draw(t, "blank"))
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"zinc", "ONYX", "é", "x"}), 1, 3).Draw(t, "words")
		m := retrievaltest.NewMemory(retrievaltest.Document{DocID: "d", Text: text})
		n, err := controller.ParseNavigator("find")
		if err != nil {
			t.Fatal(err)
		}
		c := controller.New(m, controller.Options{Navigator: n})
		body := func(find string) string {
			args, err := json.Marshal(map[string]any{"docid": "d", "find": find, "limit": 100})
			if err != nil {
				t.Fatal(err)
			}
			result := mustCall(t, c, "read_document", string(args))
			_, body, _ := strings.Cut(result.Text, "\n\n")
			return body
		}
		quick, slow := body(strings.Join(words, " ")), body("/"+strings.Join(words, `\s+`)+"/")
		if quick != slow {
			t.Fatalf("%q in %q: got %q, want %q", words, text, quick, slow)
		}
	})
}

func TestFindSaysWhatItShowed(t *testing.T) {
	c := navigator(t, retrievaltest.NewMemory(coast()...), "find")
	call(t, c, "search", `{"query":"keeper"}`)
	if got := call(t, c, "read_document", `{"docid":"register","find":"lamp"}`).Access; !cmp.Equal(got.Opened, []string{"register"}) {
		t.Errorf("got %+v", got)
	}
	if got := call(t, c, "read_document", `{"docid":"register","find":"xylograph"}`).Access; !got.IsZero() {
		t.Errorf("nothing shown, but %+v", got)
	}
	if got := call(t, c, "read_search_results", `{"search_id":"s1","find":"gills"}`).Access; !cmp.Equal(got.Previewed, []string{"short"}) || got.Opened != nil {
		t.Errorf("got %+v", got)
	}
}

// huge is one document of 450-byte lines that are made when they are read.
type huge struct {
	lines int
	read  *int
}

var hugeLine = strings.Repeat("An entry of a register with tides, dues and other business of the harbour.", 6)

func (h huge) Search(context.Context, retrieval.SearchRequest) (retrieval.Ranking, error) {
	return retrieval.Ranking{{DocID: "huge", Score: 1, HasScore: true}}, nil
}

func (h huge) Read(_ context.Context, req retrieval.ReadRequest) (retrieval.Chunk, error) {
	chunk := retrieval.Chunk{DocID: "huge", Offset: req.Offset, TotalLines: h.lines}
	for n := req.Offset; n <= h.lines && len(chunk.Lines) < req.Limit; n++ {
		line := hugeLine
		if n%20_000 == 0 {
			line = fmt.Sprintf("The keeper of the lamp signs as number %d.", n)
		}
		chunk.Lines = append(chunk.Lines, line)
	}
	*h.read += len(chunk.Lines)
	return chunk, nil
}

// A document of 500 MB must not be read whole for a page.
func TestAHugeDocument(t *testing.T) {
	read := 0
	o, err := controller.Profile("navigator")
	if err != nil {
		t.Fatal(err)
	}
	c := controller.New(huge{1_100_000, &read}, o)
	for _, tt := range []struct {
		tool, args, want string
		most             int // lines read
	}{
		{"search", `{"query":"keeper lamp"}`, "best of the first 4 MB", 12_000},
		{"read_document", `{"docid":"huge"}`, "lines 1-", 12_000},
		{"read_document", `{"docid":"huge","offset":1099999}`, "lines 1099999-1100000 of 1100000", 10},
		{"read_document", `{"docid":"huge","offset":1090001,"find":"(?s)keeper.*nobody"}`, "0 matching lines", 11_000},
		{"read_document", `{"docid":"huge","offset":99990,"find":"keeper","limit":1}`, "at least 5 matching lines", 110_000},
	} {
		read = 0
		result := call(t, c, tt.tool, tt.args)
		if result.IsError || !strings.Contains(result.Text, tt.want) || read > tt.most {
			t.Errorf("%s(%s): read %d lines, at most %d wanted: %.400s", tt.tool, tt.args, read, tt.most, result.Text)
		}
	}
}

func TestPagesAfterAnOpeningGoOnWhereItEnded(t *testing.T) {
	c := navigator(t, retrievaltest.NewMemory(coast()...), "read-at-best")
	call(t, c, "search", `{"query":"keeper Orvane"}`)
	for _, id := range []string{"register", "wide"} {
		d := call(t, c, "read_document", fmt.Sprintf(`{"docid":%q}`, id)).Details.(controller.ReadDetails)
		if d.OpenedFor != "s1" || d.NextOffset == 0 {
			t.Fatalf("%s: %+v", id, d)
		}
		next := call(t, c, "read_document", fmt.Sprintf(`{"docid":%q,"offset":%d,"column":%d}`, id, d.NextOffset, max(d.NextColumn, 1)))
		n := next.Details.(controller.ReadDetails)
		if next.IsError || n.FirstLine != d.NextOffset {
			t.Errorf("%s: %+v goes on as %+v", id, d, n)
		}
	}
}

func TestBudgetLines(t *testing.T) {
	b := controller.Budget{Time: 210 * time.Second, TimeLeft: 143 * time.Second}
	o := controller.Options{Navigator: controller.Navigator{BudgetLine: true}, Budget: func() controller.Budget { return b }}
	c := controller.New(retrievaltest.NewMemory(harbour()...), o)
	if got := call(t, c, "search", `{"query":"keeper"}`).Text; !strings.HasSuffix(got, "\nBudget left for research: 143 s of 210 s.") {
		t.Errorf("got %s", got)
	}
	b = controller.Budget{Time: 210 * time.Second, TimeLeft: -time.Second, Calls: 10, CallsLeft: 7, Tokens: 100, TokensLeft: 90}
	if got := call(t, c, "read_document", `{"docid":"nobody"}`).Text; !strings.Contains(got, "0 s of 210 s, 7 of 10 calls, 90 of 100 tokens. More than half is used") {
		t.Errorf("got %s", got)
	}
	b = controller.Budget{}
	if got := call(t, c, "search", `{"query":"keeper"}`).Text; strings.Contains(got, "Budget") {
		t.Errorf("got %s", got)
	}
	b = controller.Budget{Time: time.Second}
	if got := call(t, c, "read_document", `{"docid":"long-line","offset":2}`).Text; len(got) > 50<<10 {
		t.Errorf("the page has %d bytes", len(got))
	}
}

func FuzzNavigatorArguments(f *testing.F) {
	for _, seed := range []string{
		`{"query":"\"lamp oil\" -copied site:example.org li* OR","queries":["keeper"],"new_only":true}`,
		`{"search_id":"all","find":"(a|b)*c"}`, `{"search_id":"s1","find":"keep.r","offset":3}`, `{"docid":"register","find":"^In \\d+"}`,
		`{"docid":"wide"}`, `{"docid":"cjk","find":"灯台"}`, `{"query":"“a b” -\"c d\" ** - \" site:"}`, `{"docid":"register","find":"("}`,
		`{"docid":"register","find":"x*"}`, `{"docid":"rtl","find":"\\b"}`, `{"docid":"register","find":"\n"}`,
	} {
		f.Add([]byte(seed))
	}
	m := retrievaltest.NewMemory(coast()...)
	o, err := controller.Profile("navigator")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := controller.New(m, o)
		call(t, c, "search", `{"query":"keeper"}`)
		for _, tl := range c.Tools() {
			result, err := tl.Begin(raw)(context.Background())
			if err != nil {
				t.Fatalf("%s: %v", tl.Name, err)
			}
			if result.Text == "" || !utf8.ValidString(result.Text) || len(result.Text) > 50<<10 {
				t.Fatalf("%s: text of %d bytes: %q", tl.Name, len(result.Text), result.Text)
			}
		}
	})
}
