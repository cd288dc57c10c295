// Command goserini indexes documents with BM25, lets a language model research
// questions over them, records every step, and measures what came of it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes of every command; `goserini help exit-codes` prints them.
const (
	exitDone          = 0
	exitError         = 1
	exitUsage         = 2
	exitFailedQueries = 3
	exitInterrupted   = 130
)

const exitCodesHelp = `Exit codes:
  0    done
  1    error: something could not be done; the message says what and how to fix it
  2    usage: a command, flag or argument is wrong
  3    finished, but some queries failed or timed out
  130  interrupted; what was done is saved
`

func main() {
	ignoreFileSizeLimit()
	os.Exit(mainWith(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// mainWith runs one command line and returns its exit code.
func mainWith(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := interruptible(context.Background(), stderr)
	defer stop()
	term := newTerminal(stdin, stdout, stderr)
	root := newRoot(term)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	return report(ctx, term, err)
}

// report prints an error for the operator and returns the exit code it stands for.
func report(ctx context.Context, term *terminal, err error) int {
	var usage *usageError
	var failed *failedQueriesError
	switch {
	case errors.As(err, &usage):
		term.errorf("%v", err)
		if usage.command != "" {
			term.hint("see: %s --help", usage.command)
		}
		return exitUsage
	case errors.As(err, &failed):
		term.errorf("%v", err)
		return exitFailedQueries
	}
	code := exitError
	if ctx.Err() != nil {
		code, err = exitInterrupted, fmt.Errorf("interrupted: %w", err)
	}
	term.errorf("%v", err)
	var hinted *hintedError
	if errors.As(err, &hinted) {
		term.hint("%s", hinted.hint)
	}
	return code
}

// interruptible returns a context that the first Ctrl-C cancels, so that the command can
// save and say how to go on; the second one leaves at once.
func interruptible(parent context.Context, stderr io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			fmt.Fprintln(stderr, "\ninterrupted: ending in order; interrupt again to leave at once")
			cancel()
		case <-done:
			return
		}
		select {
		case <-signals:
			os.Exit(exitInterrupted)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

// usageError is a wrong command line.
type usageError struct {
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{command: cmd.CommandPath(), err: fmt.Errorf(format, args...)}
}

// failedQueriesError says that a run finished and some of its queries did not.
type failedQueriesError struct{ message string }

func (e *failedQueriesError) Error() string { return e.message }

// hintedError is an error with the next command to type.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

func withHint(err error, format string, args ...any) error {
	return &hintedError{err: err, hint: fmt.Sprintf(format, args...)}
}
