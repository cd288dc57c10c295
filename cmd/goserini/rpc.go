package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"goserini/internal/index"
	"goserini/internal/rpcserver"
)

type rpcOptions struct {
	dir       string
	transport string
	host      string
	port      int
	threads   int
	bm25      bm25Flags
	exposed   bool
}

func newRPC(term *terminal) *cobra.Command {
	var o rpcOptions
	cmd := &cobra.Command{
		Use:   "rpc --index DIR",
		Short: "Serve the BM25 protocol of the original Pi-Serini",
		Long: `Serve an index by the protocol of the original Pi-Serini's BM25 server: one JSON object a
line over the standard streams or TCP. The original's clients work unchanged; its own options
(--index-path, --transport, --host, --port, --k1, --b, --threads) are taken as well.`,
		Example: `  goserini rpc --index my.index --transport tcp --port 7777
  echo '{"id":1,"type":"search","query":"harbour survey"}' | goserini rpc --index my.index`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runRPC(cmd.Context(), term, cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "index", "", "the folder of the index")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "index-path" {
			name = "index"
		}
		return pflag.NormalizedName(name)
	})
	f.StringVar(&o.transport, "transport", "stdio", "stdio or tcp")
	f.StringVar(&o.host, "host", "127.0.0.1", "for tcp: the address to listen on")
	f.IntVar(&o.port, "port", 0, "for tcp: the port; 0 takes a free one, which the readiness line names")
	f.IntVar(&o.threads, "threads", 1, "commands carried out at a time")
	f.BoolVar(&o.exposed, "expose", false, "for tcp: allow an address that other machines reach; the protocol knows no token")
	o.bm25.register(cmd)
	return cmd
}

func (o rpcOptions) check(cmd *cobra.Command) error {
	switch {
	case o.dir == "":
		return usagef(cmd, "--index DIR is missing: name the folder of the index")
	case o.transport != "stdio" && o.transport != "tcp":
		return usagef(cmd, "--transport %q: want stdio or tcp", o.transport)
	case o.threads < 1:
		return usagef(cmd, "--threads %d: want at least 1", o.threads)
	case o.port < 0 || o.port > 65535:
		return usagef(cmd, "--port %d: want 0 to 65535", o.port)
	case o.transport == "tcp" && !isLoopback(o.host) && !o.exposed:
		return usagef(cmd, "--host %s can be reached from other machines and the protocol knows no token: add --expose if that is meant", o.host)
	}
	return nil
}

func runRPC(ctx context.Context, term *terminal, cmd *cobra.Command, o rpcOptions) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	started := time.Now()
	ix, err := openIndex(o.dir)
	if err != nil {
		return err
	}
	defer ix.Close()
	server, err := o.server(cmd, term, ix, started)
	if err != nil {
		return err
	}
	if o.transport == "stdio" {
		return serveStreams(ctx, term, server)
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", net.JoinHostPort(o.host, strconv.Itoa(o.port)))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	port := o.port
	if a, ok := listener.Addr().(*net.TCPAddr); ok {
		port = a.Port
	}
	if _, err := fmt.Fprintf(term.out, "%s\n", server.Ready(o.host, port)); err != nil {
		return fmt.Errorf("write readiness: %w", err)
	}
	return server.ServeTCP(ctx, listener)
}

// serveStreams answers until the input ends, or the process is told to end: reading of the
// standard input cannot be broken off.
func serveStreams(ctx context.Context, term *terminal, server *rpcserver.Server) error {
	ended := make(chan error, 1)
	go func() { ended <- server.ServeStream(ctx, term.in, term.out) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

func (o rpcOptions) server(cmd *cobra.Command, term *terminal, ix *index.Index, started time.Time) (*rpcserver.Server, error) {
	params, _, err := o.bm25.resolve(cmd, ix.Stats(), anseriniDefault)
	if err != nil {
		return nil, err
	}
	return rpcserver.New(rpcserver.Index(ix, params), rpcserver.Options{
		Params: params, Threads: o.threads, Started: started, Init: time.Since(started), Log: term.warn,
	}), nil
}
