package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/experiment"
	"goserini/internal/httpserver"
	"goserini/internal/mcpserver"
	"goserini/internal/trajectory"
)

type serveOptions struct {
	researchFlags
	dir          string
	profile      profileFlags
	listen       string
	tokenFile    string
	allowHosts   []string
	allowOrigins []string
	limits       httpserver.Limits
}

// tokenVariable holds the bearer token where no file does.
const tokenVariable = "GOSERINI_TOKEN"

func newServe(term *terminal) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve --index DIR",
		Short: "Serve search, questions and MCP over HTTP",
		Long: `Serve a collection over HTTP: MCP at /mcp, search and reading at /v1/search and /v1/read
(the http-json contract of Pi-Serini), /retrieve (Search-R1), questions at /v1/ask with
server-sent events, /healthz, /readyz, /metrics. The page at / describes them.

Only programs on this machine can connect, unless --listen names another address; then a
token is needed, from --token-file or the variable GOSERINI_TOKEN.`,
		Example: `  goserini serve --index my.index
  GOSERINI_TOKEN=$(cat secret) goserini serve --index my.index --listen 0.0.0.0:8765`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(cmd.Context(), term, cmd, o) },
	}
	o.register(cmd)
	o.tools.profile = servedProfile // of the questions at /v1/ask, whatever tools are served
	o.profile.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.dir, "index", "", "the folder of an index")
	f.StringVar(&o.listen, "listen", "127.0.0.1:8765", "HOST:PORT to listen on; port 0 takes a free one")
	f.StringVar(&o.tokenFile, "token-file", "", "a file with the bearer token that clients must send")
	f.StringArrayVar(&o.allowHosts, "allow-host", nil, "a further name under which the server is reached, for example by a proxy (repeatable)")
	f.StringArrayVar(&o.allowOrigins, "allow-origin", nil, "an origin such as https://app.example whose pages may use the server (repeatable)")
	f.DurationVar(&o.limits.Timeout, "request-timeout", 30*time.Second, "longest time of a request other than a question")
	f.IntVar(&o.limits.Concurrency, "concurrency", 0, "requests at once; further ones wait (default: eight for each processor)")
	f.IntVar(&o.limits.Asks, "asks", 4, "questions at once; further ones are refused")
	return cmd
}

// check refuses values that could only be mistakes.
func (o *serveOptions) check(cmd *cobra.Command) error {
	switch {
	case o.limits.Timeout <= 0:
		return usagef(cmd, "--request-timeout %v: want more than 0", o.limits.Timeout)
	case o.limits.Concurrency < 0:
		return usagef(cmd, "--concurrency %d: want at least 1, or 0 for the default", o.limits.Concurrency)
	case o.limits.Asks < 1:
		return usagef(cmd, "--asks %d: want at least 1", o.limits.Asks)
	}
	for _, origin := range o.allowOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
			return usagef(cmd, "--allow-origin %q: want a scheme and a host such as https://app.example", origin)
		}
	}
	return nil
}

func runServe(ctx context.Context, term *terminal, cmd *cobra.Command, o serveOptions) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	token, err := o.token()
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return usagef(cmd, "--listen %q: want HOST:PORT", o.listen)
	}
	loopback := isLoopback(host)
	if !loopback && token == "" {
		return usagef(cmd, "--listen %s can be reached from other machines, so it needs a token: give one with --token-file FILE or in the variable %s", o.listen, tokenVariable)
	}
	c, r, err := o.open(cmd, term)
	if err != nil {
		return err
	}
	defer c.close()
	config := httpserver.Config{
		Name: c.name, Version: readBuildInfo().Version, Retriever: c.Retriever, Ask: r.ask,
		Token: token, AnyHost: !loopback, AllowHosts: o.allowHosts, AllowOrigins: o.allowOrigins, Limits: o.limits, Log: term.warn,
	}
	mcpConfig, err := o.profile.server(cmd, term, c)
	if err != nil {
		return err
	}
	var server *httpserver.Server
	mcpConfig.Observe = func(tool string, took time.Duration, failed bool) { server.ObserveTool(tool, took, failed) }
	config.MCP = mcpserver.New(mcpConfig).Handler()
	server = httpserver.New(config)

	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	r.describe(term)
	term.say("listening on http://%s/ (MCP at /mcp)%s", listener.Addr(), tokenNote(token))
	return server.Serve(ctx, listener)
}

// open opens what is searched, and a researcher over the same.
func (o *serveOptions) open(cmd *cobra.Command, term *terminal) (*collection, *researcher, error) {
	c, err := o.retriever.openCollection(cmd, term.warn, o.dir, o.bm25)
	if err != nil {
		return nil, nil, err
	}
	r, err := o.over(cmd, term, c)
	if err != nil {
		c.close()
		return nil, nil, err
	}
	return c, r, nil
}

func tokenNote(token string) string {
	if token == "" {
		return ", for programs on this machine"
	}
	return ", with a token"
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// token reads the bearer token. It never goes into a message.
func (o *serveOptions) token() (string, error) {
	token, from := os.Getenv(tokenVariable), "the variable "+tokenVariable
	if o.tokenFile != "" {
		text, err := os.ReadFile(o.tokenFile)
		if err != nil {
			return "", fmt.Errorf("read token: %w", err)
		}
		token, from = string(text), o.tokenFile
	}
	token = strings.TrimSpace(token)
	switch {
	case token == "" && o.tokenFile != "":
		return "", fmt.Errorf("read token: %s is empty", from)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("read token: %s holds blanks or characters that no header can carry: want one word", from)
	}
	return token, nil
}

// ask answers one question for a client.
func (r *researcher) ask(ctx context.Context, question string, emit func(trajectory.Event)) (trajectory.Record, error) {
	record, err := r.research(ctx, experiment.Question{ID: "ask", Text: question}, emit)
	if err != nil && record.Status == "" {
		err = errors.Join(errors.New("ask"), err)
	}
	return record, err
}
