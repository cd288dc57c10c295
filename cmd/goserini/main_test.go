package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary answer to the program's name, so that scripts drive the
// real command line in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"goserini": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/.cache")
			env.Setenv("XDG_DATA_HOME", env.WorkDir+"/.data")
			env.Setenv("NO_COLOR", "1")
			return nil
		},
	})
}
