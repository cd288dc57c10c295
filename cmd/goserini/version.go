package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"goserini/internal/bm25"
	"goserini/internal/index"
	"goserini/internal/trajectory"
)

// buildInfo says which program this is; it goes into every manifest.
type buildInfo struct {
	Version    string `json:"version"`
	Revision   string `json:"revision,omitempty"`
	Time       string `json:"time,omitempty"`
	Modified   bool   `json:"modified,omitempty"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Index      int    `json:"index_format"`
	Trajectory int    `json:"trajectory_format"`
	Variant    string `json:"bm25_variant"`
}

func readBuildInfo() buildInfo {
	b := buildInfo{
		Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Index: index.FormatVersion, Trajectory: trajectory.Version, Variant: bm25.Variant,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func newVersion(term *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Which goserini this is", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := readBuildInfo()
			if asJSON {
				return term.json(b)
			}
			term.print("goserini %s", b.Version)
			if b.Revision != "" {
				term.print(" (%.12s, modified: %v)", b.Revision, b.Modified)
			}
			term.print("\n%s %s, index format %d, trajectory format %d, BM25 variant %s\n", b.Go, b.Platform, b.Index, b.Trajectory, b.Variant)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
