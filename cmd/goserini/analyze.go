package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"goserini/internal/analysis"
)

// analyzedToken is the JSON form of one token.
type analyzedToken struct {
	Term  string `json:"term"`
	Text  string `json:"text"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

func newAnalyze(term *terminal) *cobra.Command {
	var name, dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "analyze [--] [TEXT]",
		Short: "Show which terms a text becomes",
		Long:  "Show which terms a text becomes. Without TEXT, standard input is read.",
		Example: `  goserini analyze "The harbour's keepers"
  goserini analyze --index my.index "The harbour's keepers"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := analysis.ByName(name)
			if err != nil {
				return usagef(cmd, "--analyzer: %w", err)
			}
			if dir != "" {
				ix, err := openIndex(dir)
				if err != nil {
					return err
				}
				defer ix.Close()
				a = ix.Analyzer()
			}
			text := strings.Join(args, " ")
			if len(args) == 0 {
				b, err := io.ReadAll(term.in)
				if err != nil {
					return err
				}
				text = string(b)
			}
			tokens := []analyzedToken{}
			a.Analyze(text, func(t analysis.Token) {
				tokens = append(tokens, analyzedToken{Term: string(t.Term), Text: text[t.Start:t.End], Start: t.Start, End: t.End})
			})
			if asJSON {
				return term.json(tokens)
			}
			for _, t := range tokens {
				term.print("%s\t%s\t%d-%d\n", printable(t.Term), printable(t.Text), t.Start, t.End)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "analyzer", analysis.Default, "analyzer: "+strings.Join(analysis.Names(), ", "))
	cmd.Flags().StringVar(&dir, "index", "", "use the analyzer of this index instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
