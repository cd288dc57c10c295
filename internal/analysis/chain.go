package analysis

import "sync"

// chain is an analyzer made of its two stages.
type chain struct {
	name      string
	tokenizer func() Tokenizer
	normalize func(dst, raw []byte) (term []byte, keep bool)
	// unspaced says that the tokenizer divides scripts written without spaces.
	unspaced bool
	// runs keeps the buffers of finished calls of Analyze.
	runs sync.Pool
}

// run is what one call of Analyze needs to itself.
type run struct {
	tokenizer Tokenizer
	term      []byte
}

func (c *chain) Name() string { return c.name }

func (c *chain) Tokenizer() Tokenizer { return c.tokenizer() }

func (c *chain) Normalize(dst, raw []byte) ([]byte, bool) { return c.normalize(dst, raw) }

func (c *chain) Analyze(text string, emit func(Token)) {
	r, ok := c.runs.Get().(*run)
	if !ok {
		r = &run{tokenizer: c.tokenizer()}
	}
	r.tokenizer.Reset(text)
	for token, ok := r.tokenizer.Next(); ok; token, ok = r.tokenizer.Next() {
		term, keep := c.normalize(r.term[:0], token.Term)
		r.term = term
		if keep {
			token.Term = term
			emit(token)
		}
	}
	r.tokenizer.Reset("")
	c.runs.Put(r)
}

// keepRaw makes the raw token the term.
func keepRaw(dst, raw []byte) ([]byte, bool) { return append(dst, raw...), true }
