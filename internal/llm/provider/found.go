package provider

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// FoundKey is a provider for which a key is set.
type FoundKey struct {
	Provider string
	Key      Key
}

// Keys are the providers for which a key is set, in the order of Names.
func (r *Registry) Keys() []FoundKey {
	var out []FoundKey
	for _, e := range r.endpoints {
		if _, key := r.key(e); key.Var != "" {
			out = append(out, FoundKey{e.Name, key})
		}
	}
	return out
}

// Server is a local server that answers.
type Server struct {
	Provider string
	URL      string
	Models   []ServedModel
}

// ServedModel is a model a server offers.
type ServedModel struct {
	Name string
	// Window is its context window in tokens, 0 where the server does not say.
	Window int
}

// probeTime is how long a server on this machine may take to say that it is there.
const probeTime = 500 * time.Millisecond

// Servers asks the local endpoints, all at once and briefly, whether they are there. Only
// addresses on loopback are asked, and those the user has set.
func (r *Registry) Servers(ctx context.Context) []Server {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	found := make([]*Server, len(r.endpoints))
	var all sync.WaitGroup
	for i, e := range r.endpoints {
		base, configured := r.baseURL(e, Options{})
		if !e.Local || !configured && !isLoopback(base) {
			continue
		}
		all.Go(func() {
			if models, ok := probe(ctx, e.Protocol, strings.TrimRight(base, "/")); ok {
				found[i] = &Server{Provider: e.Name, URL: base, Models: models}
			}
		})
	}
	all.Wait()
	var out []Server
	for _, s := range found {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out
}

func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// probe lists the models of a server.
func probe(ctx context.Context, protocol Protocol, base string) ([]ServedModel, bool) {
	if protocol == Ollama {
		var tags struct {
			Models []struct {
				Name string `json:"name"`
			} `json:"models"`
		}
		ok := get(ctx, strings.TrimSuffix(base, "/v1")+"/api/tags", &tags)
		var out []ServedModel
		for _, m := range tags.Models {
			out = append(out, ServedModel{Name: m.Name})
		}
		return out, ok
	}
	var list struct {
		Data []struct {
			ID     string `json:"id"`
			Window int    `json:"max_model_len"` // vLLM and SGLang
		} `json:"data"`
	}
	ok := get(ctx, base+"/models", &list)
	var out []ServedModel
	for _, m := range list.Data {
		out = append(out, ServedModel{m.ID, m.Window})
	}
	if ok && len(out) > 0 && !slices.ContainsFunc(out, func(m ServedModel) bool { return m.Window > 0 }) {
		fillWindows(ctx, base, out)
	}
	return out, ok
}

// fillWindows asks what llama.cpp and LM Studio say of the windows of their models.
func fillWindows(ctx context.Context, base string, models []ServedModel) {
	root := strings.TrimSuffix(base, "/v1")
	var props struct {
		Window   int `json:"n_ctx"`
		Settings struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if get(ctx, root+"/props", &props) {
		for i := range models {
			models[i].Window = max(props.Window, props.Settings.Window)
		}
		return
	}
	var studio struct {
		Data []struct {
			ID     string `json:"id"`
			Loaded int    `json:"loaded_context_length"`
		} `json:"data"`
	}
	if !get(ctx, root+"/api/v0/models", &studio) {
		return
	}
	for _, s := range studio.Data {
		for i := range models {
			if models[i].Name == s.ID {
				models[i].Window = s.Loaded
			}
		}
	}
}

// prober follows no redirect: a server on loopback does not send us elsewhere.
var prober = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// get reads a JSON document of at most a megabyte.
func get(ctx context.Context, address string, into any) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	resp, err := prober.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false
	}
	return json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(into) == nil
}

// Window is the context window of the model in tokens, as the endpoint's file or its server says,
// and 0 where neither does. The price table knows those of hosted models.
func (m Model) Window(ctx context.Context) (int, error) {
	switch {
	case m.ollama != nil:
		return m.ollama.Window(ctx, m.Name.Model)
	case m.endpoint.Window > 0:
		return m.endpoint.Window, nil
	case m.endpoint.Protocol != Chat || !m.endpoint.Local:
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	models, _ := probe(ctx, Chat, strings.TrimRight(m.BaseURL, "/"))
	if len(models) == 1 { // llama.cpp answers with its one model, whatever name is asked for
		return models[0].Window, nil
	}
	for _, served := range models {
		if served.Name == m.Name.Model {
			return served.Window, nil
		}
	}
	return 0, nil
}
