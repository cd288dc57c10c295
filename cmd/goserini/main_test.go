package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"goserini/internal/sharedtest"
)

// TestMain lets the test binary answer to the program's name, so that scripts drive the
// real command line in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"goserini": main})
}

func TestScripts(t *testing.T) { runScripts(t, "testdata/script", "") }

// TestSharedScripts drives the program over real collections.
func TestSharedScripts(t *testing.T) {
	runScripts(t, "testdata/shared", sharedtest.Path(t))
}

// runScripts gives each script an empty home, and nothing of the developer's own environment.
func runScripts(t *testing.T, dir, shared string, more ...func(set func(name, value string))) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SHARED", shared)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/.cache")
			env.Setenv("XDG_DATA_HOME", env.WorkDir+"/.data")
			env.Setenv("NO_COLOR", "1")
			for _, add := range more {
				add(env.Setenv)
			}
			return nil
		},
	})
}
