package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot builds the command tree.
func newRoot(term *terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "goserini",
		Short: "Research questions over your documents with BM25 and a language model",
		Long: `goserini indexes a document collection with BM25, lets a language model research a
question over it with three tools (search, browse the cached ranking, read by lines)
under a time budget, records every step, runs benchmarks, judges answers and measures
which evidence was surfaced, previewed, opened and cited.

It sends nothing anywhere except to the model endpoint you name.

Start here:
  goserini demo                                   the whole pipeline, offline, no key
  goserini ask ./folder "your question"           answers from a folder of documents
  goserini index docs.jsonl --index my.index      an index of your own`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetOut(term.out)
	root.SetErr(term.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		for _, argument := range []string{"QUERY", "QUESTION"} {
			if strings.Contains(cmd.Use, argument) {
				err = fmt.Errorf("%w (put -- before a %s that begins with a dash)", err, strings.ToLower(argument))
			}
		}
		return &usageError{command: cmd.CommandPath(), err: err}
	})
	root.AddGroup(
		&cobra.Group{ID: "start", Title: "Start:"},
		&cobra.Group{ID: "documents", Title: "Documents and search:"},
		&cobra.Group{ID: "experiments", Title: "Experiments:"},
		&cobra.Group{ID: "servers", Title: "Servers:"},
		&cobra.Group{ID: "about", Title: "About:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("start", newDemo(term), newAsk(term))
	add("documents", newIndex(term), newSearch(term), newRead(term), newExplain(term), newAnalyze(term), newShow(term))
	add("experiments", newSetup(term), newRun(term), newStatus(term), newMerge(term), newImport(term), newExport(term), newJudge(term), newEval(term), newTune(term), newCompare(term), newReport(term), newBench(term), newBenchmarks(term))
	add("servers", newMCP(term), newServe(term), newRPC(term))
	add("about", newModels(term), newDoctor(term), newVersion(term), newExitCodes())
	root.SetHelpCommandGroupID("about")
	root.SetCompletionCommandGroupID("about")
	adoptUsageErrors(root)
	return root
}

// adoptUsageErrors makes every complaint about arguments a usage error, so that the exit
// code tells a wrong command line from a failure.
func adoptUsageErrors(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil {
				return nil
			}
			if strings.HasPrefix(err.Error(), "unknown command") {
				return &usageError{command: cmd.CommandPath(), err: unknownCommand(cmd, args[0])}
			}
			return &usageError{command: cmd.CommandPath(), err: err}
		}
	}
	for _, sub := range cmd.Commands() {
		adoptUsageErrors(sub)
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	text := fmt.Sprintf("there is no command %q", name)
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return errors.New(text)
}

func newExitCodes() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodesHelp,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), exitCodesHelp)
			return err
		}}
}

// exactly is cobra.ExactArgs with a sentence that names what is missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fmt.Errorf("%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return fmt.Errorf("unexpected argument %q: quote texts that hold blanks", args[len(names)])
		}
		return nil
	}
}
