package llm

import (
	"bytes"
	_ "embed" // the price table
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"goserini/internal/lazyregexp"
	"goserini/internal/trajectory"
)

// Prices is a table of what tokens cost, in USD per million tokens. Each price has its
// source and the day from which it is known to hold; a model that is not in the table is unpriced.
//
// The file is a JSON object: model names ("provider/model", "model" for any provider,
// "provider/*" for all models of one) and for each a price, or a list of prices of
// different days. docs/models.md describes it.
type Prices struct {
	byModel map[string][]Price
	// Questions are entries that were left out because their numbers cannot be meant, each with what to do.
	Questions []string
}

// Price is what one model's tokens cost, in USD per million.
type Price struct {
	// Model is the name in the table.
	Model         string
	Input, Output float64
	// CacheRead and CacheWrite are those of Input where the table gives none.
	CacheRead, CacheWrite float64
	// AsOf is the day from which the price is known to hold; zero where no day matters.
	AsOf time.Time
	// Window is the model's context window in tokens, 0 where the table gives none.
	Window int
	// Source says where the price was read, Note what it leaves out.
	Source, Note string
}

//go:embed prices.json
var embedded []byte

// LoadPrices returns the embedded table, overridden model by model by the given files in order.
func LoadPrices(files ...string) (*Prices, error) {
	p := &Prices{byModel: map[string][]Price{}}
	if err := p.add("embedded price table", embedded); err != nil {
		return nil, err
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("open price table: %w", err)
		}
		if err := p.add(path, raw); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// priceEntry is a price as the file gives it.
type priceEntry struct {
	Input      *float64 `json:"input_per_million"`
	Output     *float64 `json:"output_per_million"`
	CacheRead  *float64 `json:"cache_read_per_million"`
	CacheWrite *float64 `json:"cache_write_per_million"`
	AsOf       string   `json:"as_of"`
	Window     int      `json:"window"`
	Source     string   `json:"source"`
	Note       string   `json:"note"`
}

func (p *Prices) add(file string, raw []byte) error {
	var table map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), &table); err != nil {
		return fmt.Errorf("price table %s: %w", file, err)
	}
	for _, model := range slices.Sorted(maps.Keys(table)) {
		prices, questions, err := readPrices(model, table[model])
		if err != nil {
			return fmt.Errorf("price table %s: %s: %w", file, model, err)
		}
		for _, q := range questions {
			p.Questions = append(p.Questions, fmt.Sprintf("price table %s: %s: %s", file, model, q))
		}
		p.byModel[priceKey(model)] = prices
	}
	return nil
}

// readPrices reads one price or a list of them, newest last. Where one cannot be meant, the model stays unpriced.
func readPrices(model string, raw json.RawMessage) ([]Price, []string, error) {
	entries := make([]priceEntry, 1)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		err = d.Decode(&entries)
	} else {
		err = d.Decode(&entries[0])
	}
	if err != nil {
		return nil, nil, err
	}
	var out []Price
	for _, e := range entries {
		if q := e.question(); q != "" {
			return nil, []string{q}, nil
		}
		price, err := e.price(model)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, price)
	}
	slices.SortStableFunc(out, func(a, b Price) int { return a.AsOf.Compare(b.AsOf) })
	return out, nil, nil
}

func (e priceEntry) numbers() map[string]*float64 {
	return map[string]*float64{
		"input_per_million": e.Input, "output_per_million": e.Output,
		"cache_read_per_million": e.CacheRead, "cache_write_per_million": e.CacheWrite,
	}
}

// Prices outside these bounds, in USD per million tokens and 0 apart, are in another unit.
const (
	dearest  = 1000
	cheapest = 0.0001
)

func (e priceEntry) question() string {
	for _, name := range slices.Sorted(maps.Keys(e.numbers())) {
		n := e.numbers()[name]
		if n != nil && (*n > dearest || *n > 0 && *n < cheapest) {
			return fmt.Sprintf("%s is %g: is that the price per token or in another currency? Want USD per million tokens, between %g and %d, or 0 for free. The model counts as unpriced", name, *n, cheapest, dearest)
		}
	}
	return ""
}

func (e priceEntry) price(model string) (Price, error) {
	if e.Input == nil || e.Output == nil {
		return Price{}, errors.New("input_per_million and output_per_million must be given")
	}
	for _, name := range slices.Sorted(maps.Keys(e.numbers())) {
		if n := e.numbers()[name]; n != nil && *n < 0 {
			return Price{}, fmt.Errorf("%s is negative: %g", name, *n)
		}
	}
	p := Price{Model: model, Input: *e.Input, Output: *e.Output, CacheRead: *e.Input, CacheWrite: *e.Input, Window: e.Window, Source: e.Source, Note: e.Note}
	if e.CacheRead != nil {
		p.CacheRead = *e.CacheRead
	}
	if e.CacheWrite != nil {
		p.CacheWrite = *e.CacheWrite
	}
	if e.Window < 0 {
		return Price{}, fmt.Errorf("window is negative: %d", e.Window)
	}
	if e.AsOf != "" {
		day, err := time.Parse(time.DateOnly, e.AsOf)
		if err != nil {
			return Price{}, fmt.Errorf("as_of %q: want a day such as 2026-08-19", e.AsOf)
		}
		p.AsOf = day
	}
	return p, nil
}

// dateSuffix is how providers name the snapshot of a model: -20251001 or -2026-03-05.
var dateSuffix = lazyregexp.New(`-20\d\d-?\d\d-?\d\d$`)

// priceKey makes names comparable: providers write versions with dots or dashes.
func priceKey(model string) string {
	return strings.ReplaceAll(strings.ToLower(model), ".", "-")
}

// For returns the price of a model, named "provider/model", that held at a time. Where the table
// knows only later prices, the earliest counts. ok is false where the model is unpriced.
func (p *Prices) For(model string, at time.Time) (price Price, ok bool) {
	key := priceKey(model)
	provider, name, slash := strings.Cut(key, "/")
	names := []string{key, dateSuffix.ReplaceAllString(key, "")}
	if slash && !strings.Contains(name, "/") { // a gateway's prices are its own
		names = append(names, name, dateSuffix.ReplaceAllString(name, ""))
	}
	if slash {
		names = append(names, provider+"/*")
	}
	for _, n := range names {
		if list, found := p.byModel[n]; found {
			return valid(list, at)
		}
	}
	return Price{}, false
}

func valid(list []Price, at time.Time) (Price, bool) {
	if len(list) == 0 {
		return Price{}, false
	}
	best := list[0]
	for _, price := range list[1:] {
		if !price.AsOf.After(at) {
			best = price
		}
	}
	return best, true
}

// All are all prices, by model and day.
func (p *Prices) All() []Price {
	var out []Price
	for _, key := range slices.Sorted(maps.Keys(p.byModel)) {
		out = append(out, p.byModel[key]...)
	}
	return out
}

// Date is the newest day in the table, by which its age is known.
func (p *Prices) Date() time.Time {
	var newest time.Time
	for _, price := range p.All() {
		if price.AsOf.After(newest) {
			newest = price.AsOf
		}
	}
	return newest
}

// Cost is what a usage costs, in USD.
func (p Price) Cost(u trajectory.Usage) float64 {
	parts := p.Parts(u)
	return parts.Input + parts.CacheRead + parts.CacheWrite + parts.Output
}

// CostParts are the parts of a cost, in USD.
type CostParts struct {
	Input      float64 `json:"input_usd"`
	CacheRead  float64 `json:"cache_read_usd"`
	CacheWrite float64 `json:"cache_write_usd"`
	Output     float64 `json:"output_usd"`
}

// Parts is what each kind of token of a usage costs. Reasoning is part of the output.
func (p Price) Parts(u trajectory.Usage) CostParts {
	const million = 1e6
	return CostParts{
		Input:      float64(u.Input) * p.Input / million,
		CacheRead:  float64(u.CacheRead) * p.CacheRead / million,
		CacheWrite: float64(u.CacheWrite) * p.CacheWrite / million,
		Output:     float64(u.Output) * p.Output / million,
	}
}
