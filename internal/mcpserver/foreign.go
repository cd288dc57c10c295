package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// Foreign describes tools whose contract others have fixed.
type Foreign struct {
	Retriever retrieval.Retriever
	// Name is that of the collection, for the addresses of documents that have none.
	Name string
	// Hits is the number of hits of a search. Default 10 for ChatGPT, 5 for BrowseComp-Plus.
	Hits int
	// SnippetTokens is the length of a BrowseComp-Plus snippet, in tokens by estimate. Default
	// 512, as the benchmark has it; −1 shows whole documents.
	SnippetTokens int
	// MaxBytes bounds a result, in bytes. Default DefaultMaxBytes; −1 lifts it.
	MaxBytes int
}

func (f Foreign) resolved(hits int) Foreign {
	if f.Hits <= 0 {
		f.Hits = hits
	}
	switch {
	case f.MaxBytes == 0:
		f.MaxBytes = DefaultMaxBytes
	case f.MaxBytes < 0:
		f.MaxBytes = math.MaxInt
	}
	if f.SnippetTokens == 0 {
		f.SnippetTokens = 512
	}
	return f
}

// oneString is the schema of a tool that takes one string.
func oneString(name, about string) json.RawMessage {
	schema, err := marshal(struct {
		Type       string         `json:"type"`
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}{"object", map[string]any{name: map[string]string{"type": "string", "description": about}}, []string{name}})
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return schema
}

// fit makes a text of at most most bytes. What write makes has parts of limit bytes, which is
// lowered until the whole fits: names, marks and the escapes of JSON count as well.
func fit(most int, write func(limit int) (string, error)) (string, error) {
	for limit := most; ; {
		text, err := write(limit)
		if err != nil || len(text) <= most || limit <= 1 {
			return text, err
		}
		limit = max(1, int(float64(limit)*float64(most)/float64(len(text))))
	}
}

// answerer answers a string with what goes into JSON, with about limit bytes of text.
type answerer func(ctx context.Context, value string, limit int) (any, trajectory.Access, error)

// stringTool makes a tool of one string and a function that answers, with at most most bytes.
func stringTool(name, description, argument, about string, most int, answer answerer) tool.Tool {
	return tool.Tool{
		Name: name, Description: description, Schema: oneString(argument, about),
		Begin: func(raw json.RawMessage) func(context.Context) (tool.Result, error) {
			return func(ctx context.Context) (tool.Result, error) {
				var args map[string]any
				value := ""
				if json.Unmarshal(raw, &args) == nil {
					value, _ = args[argument].(string)
				}
				if strings.TrimSpace(value) == "" {
					return mistake("%s: %s must be a string that is not empty.", name, argument), nil
				}
				var access trajectory.Access
				text, err := fit(most, func(limit int) (string, error) {
					result, seen, err := answer(ctx, value, limit)
					if access = seen; err != nil {
						return "", err
					}
					text, err := marshal(result)
					return string(text), err
				})
				switch {
				case errors.Is(err, retrieval.ErrNoDocument):
					return mistake("%s: no document has the id %s. Give an id exactly as search returned it.", name, shorten(value)), nil
				case errors.Is(err, retrieval.ErrUnavailable):
					return mistake("%s: the document collection did not answer. Make the same call once more; if it fails again, go on without it.", name), nil
				case err != nil:
					return tool.Result{}, err
				}
				return tool.Result{Text: text, Access: access}, nil
			}
		},
	}
}

func mistake(format string, args ...any) tool.Result {
	return tool.Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// shorten quotes foreign text for a sentence.
func shorten(s string) string { return fmt.Sprintf("%q", clip(s, 100)) }

// clip is the beginning of s of at most n characters, with a mark where it is cut.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// ChatGPT returns the two tools that ChatGPT's connectors need: search and fetch.
func ChatGPT(f Foreign) []tool.Tool {
	f = f.resolved(10)
	return []tool.Tool{
		stringTool("search", "Search the document collection by keywords. Returns ids, titles and addresses of the best documents, best first; fetch gives their text.",
			"query", "A few telling words, as plain text.", f.MaxBytes, f.chatGPTSearch),
		stringTool("fetch", "Fetch the text of a document by an id that search returned. Of a long document this is a part; metadata.next is then the id to fetch for the next part.",
			"id", "The id of a document, exactly as search or metadata.next gave it.", f.MaxBytes, f.chatGPTFetch),
	}
}

type chatGPTResult struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

type chatGPTDocument struct {
	ID       string            `json:"id"`
	Title    string            `json:"title"`
	Text     string            `json:"text"`
	URL      string            `json:"url"`
	Metadata map[string]string `json:"metadata"`
}

func (f Foreign) chatGPTSearch(ctx context.Context, query string, limit int) (any, trajectory.Access, error) {
	ranking, access, err := f.search(ctx, query)
	if err != nil {
		return nil, access, err
	}
	limit /= 3 * max(len(ranking), 1)
	results := make([]chatGPTResult, len(ranking))
	for i, h := range ranking {
		if len(h.URL) > limit {
			h.URL = "" // its address in the collection serves as well
		}
		results[i] = chatGPTResult{ID: h.DocID, Title: f.title(h.Title, h.DocID, limit), URL: f.address(h.URL, h.DocID)}
	}
	return map[string]any{"results": results}, access, nil
}

func (f Foreign) chatGPTFetch(ctx context.Context, id string, limit int) (any, trajectory.Access, error) {
	p, asked, err := findDocument(ctx, f.Retriever, id, limit)
	if err != nil {
		return nil, trajectory.Access{}, err
	}
	metadata := map[string]string{"lines": fmt.Sprintf("%d-%d of %d", p.first, p.last, p.total)}
	if p.next.line > 0 {
		metadata["next"] = p.docid + "#" + p.next.String()
		p.text += "\n" + p.notice("fetch "+metadata["next"])
	}
	url := f.address("", p.docid)
	if !p.whole(asked) {
		url += "#" + asked.from.String()
	}
	return chatGPTDocument{ID: id, Title: f.title(p.title, p.docid, limit/10), Text: p.text, URL: url, Metadata: metadata}, opened(p), nil
}

// search ranks, and says so.
func (f Foreign) search(ctx context.Context, query string) (retrieval.Ranking, trajectory.Access, error) {
	ranking, err := f.Retriever.Search(ctx, retrieval.SearchRequest{Query: query, Depth: f.Hits})
	ids := make([]string, len(ranking))
	for i, h := range ranking {
		ids[i] = h.DocID
	}
	return ranking, trajectory.Access{Surfaced: ids, Previewed: ids}, err
}

func opened(p piece) trajectory.Access { return trajectory.Access{Opened: []string{p.docid}} }

// title is never empty, since clients show nothing else, and has at most limit bytes and a
// mark where it is cut.
func (f Foreign) title(title, docid string, limit int) string {
	title = strings.TrimSpace(title)
	if title == "" {
		return docid
	}
	if cut := cutBytes(title, limit); len(cut) < len(title) {
		return cut + "…"
	}
	return title
}

func (f Foreign) address(url, docid string) string {
	if url != "" {
		return url
	}
	return URI(f.Name, docid)
}

// BrowseCompPlus returns the two tools of that benchmark's official server. A document longer
// than MaxBytes comes in parts, which the official one does not do: lift the bound for its
// own runs.
func BrowseCompPlus(f Foreign) []tool.Tool {
	f = f.resolved(5)
	return []tool.Tool{
		stringTool("search", fmt.Sprintf("Search the knowledge source. Returns the %d best documents: docid, score, and the beginning of the text.", f.Hits),
			"query", "Search query, as plain text.", math.MaxInt, f.browseCompSearch),
		stringTool("get_document", "Get the text of a document by its docid.",
			"docid", "The docid of a document, as search returned it.", f.MaxBytes, f.browseCompGet),
	}
}

type browseCompHit struct {
	DocID   string   `json:"docid"`
	Score   *float32 `json:"score,omitempty"`
	Snippet string   `json:"snippet"`
}

type browseCompDocument struct {
	DocID string `json:"docid"`
	Text  string `json:"text"`
	// Next is the docid that gives the next part of a long document.
	Next string `json:"next,omitempty"`
}

// snippetBytes bounds what is read for a snippet: no token of text is longer on average.
const snippetBytes = 16

// browseCompSearch bounds each snippet by its tokens, and all of them by what they may come to.
func (f Foreign) browseCompSearch(ctx context.Context, query string, _ int) (any, trajectory.Access, error) {
	ranking, access, err := f.search(ctx, query)
	if err != nil {
		return nil, access, err
	}
	const frame = 100 // bytes of a hit besides its snippet
	most := max(f.MaxBytes/max(f.Hits, 1)-frame, frame)
	read := most
	if f.SnippetTokens > 0 {
		read = f.SnippetTokens * snippetBytes
	}
	hits := make([]browseCompHit, len(ranking))
	for i, h := range ranking {
		p, err := readPiece(ctx, f.Retriever, h.DocID, span{from: start}, read)
		if err != nil && !errors.Is(err, retrieval.ErrNoDocument) {
			return nil, access, err
		}
		hits[i] = browseCompHit{DocID: h.DocID, Snippet: cutWeight(p.text, most)}
		if f.SnippetTokens > 0 {
			hits[i].Snippet = cutTokens(hits[i].Snippet, f.SnippetTokens)
		}
		if h.HasScore {
			hits[i].Score = &h.Score
		}
	}
	return hits, access, nil
}

// cutWeight returns the beginning of text that, written as JSON, comes to at most n tokens
// whatever the tokenizer: one for each byte, and two for three letters or blanks of ASCII,
// which is what random ones come to.
func cutWeight(text string, n int) string {
	if n >= math.MaxInt/6 {
		return text
	}
	thirds := 0
	for i, r := range text {
		switch {
		case r == ' ' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			thirds += 2
		case r == '\n' || r == '"' || r == '\\':
			thirds += 3 * 2
		case r < ' ':
			thirds += 3 * len(`\u0000`)
		default:
			thirds += 3 * utf8.RuneLen(r)
		}
		if thirds > 3*n {
			return text[:i]
		}
	}
	return text
}

func (f Foreign) browseCompGet(ctx context.Context, docid string, limit int) (any, trajectory.Access, error) {
	p, _, err := findDocument(ctx, f.Retriever, docid, limit)
	if err != nil {
		return nil, trajectory.Access{}, err
	}
	d := browseCompDocument{DocID: docid, Text: p.text}
	if p.next.line > 0 {
		d.Next = p.docid + "#" + p.next.String()
		d.Text += "\n" + p.notice("get_document "+d.Next)
	}
	return d, opened(p), nil
}

// cutTokens returns the beginning of text of about n tokens. It counts as the tokenizers of
// language models do on average: a word of up to seven letters is one token, as is a digit,
// a mark, a run of blanks before a line end, and a character of a script without blanks.
func cutTokens(text string, n int) string {
	const lettersOfToken = 7
	letters, word, blank := 0, 0, true
	for i, r := range text {
		if letters == 0 {
			word = i
		}
		starts := false // a token at i
		switch {
		case unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r):
			starts, letters = true, 0
		case unicode.IsLetter(r) || unicode.IsMark(r):
			starts = letters%lettersOfToken == 0
			letters++
		case unicode.IsSpace(r):
			starts = r == '\n' && !blank
			letters = 0
		default:
			starts, letters = true, 0
		}
		blank = unicode.IsSpace(r)
		if starts {
			if n--; n < 0 {
				if letters > 0 && word > 0 {
					i = word // no word is cut
				}
				return strings.TrimRightFunc(text[:i], unicode.IsSpace)
			}
		}
	}
	return text
}
