package llm

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
)

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

func load(t *testing.T, content string) *Prices {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := LoadPrices(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheNineModelsOfThePaperArePriced(t *testing.T) {
	p, err := LoadPrices()
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Questions) > 0 {
		t.Errorf("the embedded table raises questions: %q", p.Questions)
	}
	for _, model := range []string{
		"openai/gpt-5", "openai/gpt-5.2", "openai/gpt-5.4", "openai/gpt-5.4-mini", "openai/gpt-5.5",
		"anthropic/claude-opus-4.7", "anthropic/claude-haiku-4.5", "deepseek/deepseek-v4-flash", "deepseek/deepseek-v4-pro",
	} {
		price, ok := p.For(model, time.Now())
		if !ok || price.Input <= 0 || price.Output <= price.Input || price.CacheRead >= price.Input || price.Source == "" || price.AsOf.IsZero() {
			t.Errorf("%s: got %+v, %v", model, price, ok)
		}
	}
	if p.Date().Before(day("2026-10-01")) {
		t.Errorf("got date %v", p.Date())
	}
	gpt55, _ := p.For("openai/gpt-5.5", time.Now())
	if gpt55.Input != 5 || gpt55.Output != 30 || gpt55.CacheRead != 0.5 {
		t.Errorf("gpt-5.5: got %+v, want 5.00 in, 30.00 out, 0.50 cache read", gpt55)
	}
	for _, price := range p.All() {
		if price.Source == "" {
			t.Errorf("%s has no source", price.Model)
		}
	}
}

func TestTheMostExactNameCounts(t *testing.T) {
	p := load(t, `{
		"openai/gpt-x": {"input_per_million": 1, "output_per_million": 1},
		"openai/gpt-x-2026-03-05": {"input_per_million": 2, "output_per_million": 2},
		"any": {"input_per_million": 3, "output_per_million": 3},
		"mine/*": {"input_per_million": 4, "output_per_million": 4}}`)
	for model, want := range map[string]float64{
		"openai/gpt-x": 1, "openai/gpt-x-2026-03-05": 2, "openai/gpt-x-2026-09-09": 1, "openai/GPT-X": 1,
		"other/any": 3, "other/any-20260101": 3, "any": 3, "mine/whatever": 4, "mine/org/whatever": 4,
		"builtin/lexical": 0, "openai/unknown": -1, "openrouter/openai/gpt-x": -1, "unknown": -1,
	} {
		price, ok := p.For(model, time.Now())
		got := price.Input
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s: got %g, want %g (-1 is unpriced)", model, got, want)
		}
	}
}

func TestThePriceOfTheDayCounts(t *testing.T) {
	p := load(t, `{"m": [
		{"input_per_million": 2, "output_per_million": 2, "as_of": "2026-06-01"},
		{"input_per_million": 1, "output_per_million": 1, "as_of": "2026-01-01"}]}`)
	for at, want := range map[string]float64{"2025-05-05": 1, "2026-01-01": 1, "2026-05-31": 1, "2026-06-01": 2, "2027-01-01": 2} {
		if price, _ := p.For("m", day(at)); price.Input != want {
			t.Errorf("%s: got %g, want %g", at, price.Input, want)
		}
	}
}

func TestCost(t *testing.T) {
	p := load(t, `{
		"cached": {"input_per_million": 3, "cache_read_per_million": 0.30, "cache_write_per_million": 3.75, "output_per_million": 15},
		"plain": {"input_per_million": 3, "output_per_million": 15}}`)
	u := trajectory.Usage{Input: 2000, CacheRead: 8000, CacheWrite: 1000, Output: 500, Reasoning: 400}
	for model, want := range map[string]float64{"cached": 0.01965, "plain": 0.0405} {
		price, _ := p.For(model, time.Now())
		if got := price.Cost(u); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", model, got, want)
		}
	}
}

func TestPricesInAnotherUnitAreQuestioned(t *testing.T) {
	dir := sharedtest.Path(t, "cases", "RUN-10")
	p, err := LoadPrices(filepath.Join(dir, "prices.json"))
	if err != nil {
		t.Fatal(err)
	}
	if free, ok := p.For("test/free-model", time.Now()); !ok || free.Cost(trajectory.Usage{Input: 1e6, Output: 1e6}) != 0 {
		t.Errorf("free-model: got %+v, %v; want a price of 0", free, ok)
	}
	if odd, ok := p.For("test/odd-model", time.Now()); ok {
		t.Errorf("odd-model: got %+v, want it unpriced", odd)
	}
	if _, ok := p.For("test/no-such-model", time.Now()); ok {
		t.Error("a model that is not in the table has a price")
	}
	if len(p.Questions) != 1 || !strings.Contains(p.Questions[0], "odd-model") || !strings.Contains(p.Questions[0], "per million") {
		t.Errorf("got questions %q", p.Questions)
	}
}

func TestAPricePerTokenIsQuestioned(t *testing.T) {
	p := load(t, `{"m": {"input_per_million": 0.000003, "output_per_million": 0.000015}}`)
	if _, ok := p.For("m", time.Now()); ok || len(p.Questions) != 1 {
		t.Errorf("got a price, questions %q", p.Questions)
	}
}

func TestBadPriceTablesAreRefused(t *testing.T) {
	for content, want := range map[string]string{
		`{`:                               "unexpected end",
		`[]`:                              "cannot unmarshal",
		`{"m": {"input_per_token": 1}}`:   "input_per_token",
		`{"m": {"input_per_million": 1}}`: "must be given",
		`{"m": {"input_per_million": -1, "output_per_million": 1}}`:                "negative",
		`{"m": {"input_per_million": 1, "output_per_million": 1, "as_of": "May"}}`: `as_of "May"`,
	} {
		path := filepath.Join(t.TempDir(), "prices.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadPrices(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error with %q and the file", content, err, want)
		}
	}
	if _, err := LoadPrices("no-such-file.json"); err == nil {
		t.Error("a missing file is accepted")
	}
}

func FuzzPrices(f *testing.F) {
	f.Add([]byte(`{"m": [{"input_per_million": 1, "output_per_million": 2, "as_of": "2026-01-01"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := &Prices{byModel: map[string][]Price{}}
		if p.add("fuzz", raw) != nil {
			return
		}
		for _, price := range p.All() {
			cost := price.Cost(trajectory.Usage{Input: 1e6, CacheRead: 1e6, CacheWrite: 1e6, Output: 1e6})
			if cost < 0 || cost > 4*dearest || math.IsNaN(cost) {
				t.Errorf("%s costs %v", price.Model, cost)
			}
		}
	})
}
