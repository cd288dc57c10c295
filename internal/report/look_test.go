package report_test

import (
	"os"
	"testing"

	"goserini/internal/browsertest"
)

func TestLook(t *testing.T) {
	url, out := os.Getenv("LOOK_URL"), os.Getenv("LOOK_OUT")
	if url == "" {
		t.Skip()
	}
	b := browsertest.Start(t)
	w := 1440
	if os.Getenv("LOOK_W") == "390" {
		w = 390
	}
	p := b.Open(t, url, browsertest.View{Width: w, Height: 900, Dark: os.Getenv("LOOK_DARK") != "", NoScript: os.Getenv("LOOK_NOJS") != ""})
	if js := os.Getenv("LOOK_JS"); js != "" {
		var v any
		p.Eval(t, js, &v)
		t.Log(v)
	}
	os.WriteFile(out, p.Screenshot(t, os.Getenv("LOOK_WHOLE") != ""), 0o644)
	t.Log(p.Problems(), p.Requests())
}
