package userdir

import (
	"path/filepath"
	"testing"
)

func TestFoldersFollowTheVariables(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "relative/paths/are/ignored")
	t.Setenv("XDG_DATA_HOME", "")
	for want, get := range map[string]func() (string, error){
		filepath.Join(home, ".cache", "goserini"):          Cache,
		filepath.Join(home, ".local", "share", "goserini"): Data,
	} {
		if got, err := get(); err != nil || got != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
	t.Setenv("XDG_DATA_HOME", home)
	if got, _ := Data(); got != filepath.Join(home, "goserini") {
		t.Errorf("got %s", got)
	}
}
