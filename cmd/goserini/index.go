package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/analysis"
	"goserini/internal/corpus"
	"goserini/internal/index"
)

type indexOptions struct {
	dir        string
	analyzer   string
	format     string
	memory     string
	workers    int
	duplicates string
	onBad      string
	refuseUTF8 bool
	maxRecord  string
	passages   bool
	verbose    bool
	json       bool
}

func newIndex(term *terminal) *cobra.Command {
	var o indexOptions
	cmd := &cobra.Command{
		Use:   "index SOURCE... --index DIR",
		Short: "Build an index from files or folders",
		Long: `Build an index from files or folders.

Sources are recognised by name and first bytes: JSONL ({id,contents}, {_id,title,text},
{docid,text,url}), TSV, TREC SGML, and folders of text, Markdown and HTML files, whose
docids are their relative paths. Files may be compressed with gzip, zstd or bzip2.

The index appears in DIR when it is complete; a build that is killed leaves what was
there before.`,
		Example: `  goserini index docs.jsonl --index my.index
  goserini index ./handbook --index handbook.index --analyzer english`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("SOURCE is missing: name a file or a folder of documents")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.dir == "" {
				return usagef(cmd, "--index DIR is missing: name the folder for the index")
			}
			return runIndex(cmd.Context(), term, cmd, args, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "index", "", "the folder for the index")
	f.StringVar(&o.analyzer, "analyzer", analysis.Default, "how text becomes terms: "+strings.Join(analysis.Names(), ", "))
	f.StringVar(&o.format, "format", "", "format of the sources; recognised if not given")
	f.StringVar(&o.memory, "memory", "512MB", "memory the process keeps to, at least 256MB")
	f.IntVar(&o.workers, "workers", 0, "goroutines; 0 is one per processor")
	f.StringVar(&o.duplicates, "duplicates", "refuse", "when a docid occurs twice: refuse, first, last")
	f.StringVar(&o.onBad, "on-bad", "stop", "at a record that cannot be read: stop, or skip it and finish with exit code 1")
	f.BoolVar(&o.refuseUTF8, "refuse-invalid-utf8", false, "treat invalid UTF-8 as a bad record instead of replacing it by U+FFFD")
	f.StringVar(&o.maxRecord, "max-record", "1GiB", "the longest record allowed")
	f.BoolVar(&o.passages, "passages", false, "hold passages of about 250 words, too, for tools with --parts passages")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "list every file that was ignored and every repair")
	f.BoolVar(&o.json, "json", false, "print the index's statistics as JSON")
	return cmd
}

func runIndex(ctx context.Context, term *terminal, cmd *cobra.Command, sources []string, o indexOptions) error {
	readOptions, buildOptions, err := o.resolve(cmd)
	if err != nil {
		return err
	}
	src, err := corpus.Open(sources, readOptions)
	if err != nil {
		return err
	}
	defer src.Close()
	buildOptions.Source = strings.Join(sources, " ")
	buildOptions.Progress = showBuild(term)
	start := time.Now()
	stats, err := index.Build(ctx, o.dir, src, buildOptions)
	term.endProgress()
	showReport(term, src.Report(), o.verbose)
	if err != nil {
		return err
	}
	if stats.Unsegmented > 0 {
		term.warn("%s of %s documents are mostly in scripts that the analyzer %s cannot cut into words: index them with --analyzer cjk, or searches in that language will find little",
			count(stats.Unsegmented), count(stats.Documents), stats.Analyzer)
	}
	if o.json {
		if err := term.json(stats); err != nil {
			return err
		}
	} else {
		term.say("indexed %s documents, %s tokens, %s terms in %s; index %s for %s of text",
			count(stats.Documents), count(stats.Tokens), count(stats.Terms), duration(time.Since(start)), size(stats.Bytes), size(stats.TextBytes))
		if p := stats.Passages; p != nil {
			term.say("with %s passages of %.0f tokens on average", count(p.Passages), p.AverageLength())
		}
		term.hint("next: goserini search --index %s \"your query\"", shellQuote(o.dir))
	}
	if src.Report().Failed() {
		return errors.New("the index is complete but for the records skipped above")
	}
	return nil
}

func (o indexOptions) resolve(cmd *cobra.Command) (corpus.Options, index.BuildOptions, error) {
	read := corpus.Options{Format: corpus.Format(o.format), RefuseInvalidUTF8: o.refuseUTF8}
	build := index.BuildOptions{Analyzer: o.analyzer, Workers: o.workers, Passages: o.passages}
	if _, err := analysis.ByName(o.analyzer); err != nil {
		return read, build, usagef(cmd, "--analyzer: %w", err)
	}
	switch o.onBad {
	case "stop":
	case "skip":
		read.OnBad = corpus.SkipBad
	default:
		return read, build, usagef(cmd, "--on-bad %q: want stop or skip", o.onBad)
	}
	switch o.duplicates {
	case "refuse":
	case "first", "last":
		build.Duplicates = index.DuplicatePolicy(o.duplicates)
	default:
		return read, build, usagef(cmd, "--duplicates %q: want refuse, first or last", o.duplicates)
	}
	if o.workers < 0 {
		return read, build, usagef(cmd, "--workers %d: want 0 or more", o.workers)
	}
	memory, err := parseSize(o.memory)
	if err != nil {
		return read, build, usagef(cmd, "--memory: %w", err)
	}
	if memory < leastMemory {
		return read, build, usagef(cmd, "--memory %s: want at least %s", o.memory, size(leastMemory))
	}
	build.Memory = memory - programMemory
	longest, err := parseSize(o.maxRecord)
	if err != nil {
		return read, build, usagef(cmd, "--max-record: %w", err)
	}
	read.MaxRecordBytes = int(longest)
	return read, build, nil
}

// --memory is what the process may take, of which programMemory goes to the program itself, its tables
// and buffers, whatever is built. Below leastMemory the garbage that a build makes between two
// collections takes it beyond.
const (
	programMemory = 40 << 20
	leastMemory   = 256 << 20
)

// showBuild returns the progress callback of a build.
func showBuild(term *terminal) func(index.Progress) {
	start := time.Now()
	return func(p index.Progress) {
		share := ""
		if p.BytesTotal > 0 {
			share = fmt.Sprintf(" %3.0f %%", 100*float64(p.BytesRead)/float64(p.BytesTotal))
		}
		term.progress("%s%s: %s documents, %s of %s, %s", p.Phase, share, count(p.Documents), size(p.BytesRead), size(p.BytesTotal), duration(time.Since(start)))
	}
}

// parseSize reads a number of bytes such as 512MB, 1GiB or 1048576. Decimal and binary
// prefixes both mean powers of 1024, as memory limits are commonly written.
func parseSize(s string) (int64, error) {
	text := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B"), "I")
	shift := 0
	if i := strings.IndexAny("KMGT", lastByte(text)); i >= 0 && text != "" {
		shift, text = 10*(i+1), text[:len(text)-1]
	}
	var n int64
	if _, err := fmt.Sscanf(text+" ", "%d ", &n); err != nil || n <= 0 || n > 1<<(62-shift) || fmt.Sprint(n) != strings.TrimSpace(text) {
		return 0, fmt.Errorf("%q is no size: want a whole number above 0 with K, M, G or T, such as 512MB", s)
	}
	return n << shift, nil
}

func lastByte(s string) string {
	if s == "" {
		return "-"
	}
	return s[len(s)-1:]
}

// shellQuote quotes a word of a command that is shown for copying.
func shellQuote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r == '/' || r == '.' || r == '-' || r == '_' || r == ':' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
