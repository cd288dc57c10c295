package httpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guard keeps out web pages that a browser on this machine was lured into loading, and
// clients without the token.
type guard struct {
	anyHost bool
	hosts   []string
	origins []string
	// sum is the hash of the token: comparing hashes takes the same time whatever is sent,
	// its length included. nil asks for none.
	sum *[sha256.Size]byte
}

func newGuard(c Config) *guard {
	g := &guard{anyHost: c.AnyHost, hosts: []string{"localhost", "127.0.0.1", "::1"}}
	for _, h := range c.AllowHosts {
		g.hosts = append(g.hosts, hostOf(h))
	}
	for _, o := range c.AllowOrigins {
		g.origins = append(g.origins, strings.ToLower(strings.TrimSuffix(o, "/")))
	}
	if c.Token != "" {
		sum := sha256.Sum256([]byte(c.Token))
		g.sum = &sum
	}
	return g
}

// hostOf is the name in a Host header, without port and brackets, in lower case.
func hostOf(header string) string {
	name := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		name = h
	}
	return strings.ToLower(strings.Trim(name, "[]"))
}

// origin refuses requests for other names than ours: a page can make a browser send one to
// this machine by pointing its own name here. And it refuses requests from pages of other
// origins.
func (g *guard) origin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !g.anyHost && !slices.Contains(g.hosts, hostOf(r.Host)) {
			fail(w, http.StatusForbidden, "requests for the host %q are not served; the operator can allow it with --allow-host", clip(r.Host))
			return
		}
		if origins := r.Header.Values("Origin"); len(origins) > 0 && !g.sameOrigin(r.Host, origins) {
			fail(w, http.StatusForbidden, "requests from pages of %q are not served; the operator can allow them with --allow-origin", clip(strings.Join(origins, ", ")))
			return
		}
		if origin := r.Header.Get("Origin"); g.allowed(origin) {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Add("Vary", "Origin")
			if r.Method == http.MethodOptions {
				// The browser asks beforehand, without the token, whether the page may.
				w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
				w.Header().Set("Access-Control-Allow-Headers", pageHeaders)
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// pageHeaders are those that pages of allowed origins may send: those of the endpoints, and of
// MCP's revisions.
const pageHeaders = "Authorization, Content-Type, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID"

// allowed reports whether the operator has allowed the pages of an origin.
func (g *guard) allowed(origin string) bool {
	return slices.Contains(g.origins, strings.ToLower(origin))
}

func (g *guard) sameOrigin(host string, origins []string) bool {
	if len(origins) != 1 {
		return false
	}
	if g.allowed(origins[0]) {
		return true
	}
	u, err := url.Parse(strings.ToLower(origins[0]))
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.Host == strings.ToLower(host)
}

// token refuses requests without the bearer token. The scheme may be in any case; blanks
// around the token do not count.
func (g *guard) token(next http.Handler) http.Handler {
	if g.sum == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.admits(r.Header.Values("Authorization")) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="goserini"`)
			fail(w, http.StatusUnauthorized, "this server asks for a token: send it as Authorization: Bearer TOKEN")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *guard) admits(headers []string) bool {
	if len(headers) != 1 {
		return false
	}
	scheme, token, ok := strings.Cut(headers[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], g.sum[:]) == 1
}

// clip bounds what an answer repeats of a request.
func clip(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}
