package lockfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestSecondHolderIsRefusedAndToldTheOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := Acquire(path, "first")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(path, "second")
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("got %v, want a HeldError", err)
	}
	if held.Owner.PID != os.Getpid() || held.Owner.Command != "first" {
		t.Errorf("got owner %+v, want this process running first", held.Owner)
	}
	if owner, isHeld, err := ReadOwner(path); err != nil || !isHeld || owner.Command != "first" {
		t.Errorf("ReadOwner: got %+v %v %v", owner, isHeld, err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, isHeld, err := ReadOwner(path); err != nil || isHeld {
		t.Errorf("after release: held %v, error %v", isHeld, err)
	}
	l, err = Acquire(path, "third")
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	l.Release()
}

func TestLockLeftByADeadProcessIsFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, []byte(`{"pid":1,"host":"gone","command":"dead"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := Acquire(path, "heir")
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

func TestLookingAtALockKeepsItFromNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	// The name of a process that was killed stays in the file.
	if err := os.WriteFile(path, []byte(`{"pid":1,"host":"gone","command":"dead"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	looks, over := make(chan struct{}), make(chan struct{})
	for range 4 {
		go func() {
			defer func() { over <- struct{}{} }()
			for {
				select {
				case <-looks:
					return
				default:
				}
				if _, _, err := ReadOwner(path); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	for range 50 {
		l, err := Acquire(path, "heir")
		if err != nil {
			t.Error(err)
			break
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	close(looks)
	for range 4 {
		<-over
	}
}

func TestALockIsSeenWithoutTheRightToWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := Acquire(path, "owner")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if owner, held, err := ReadOwner(path); err != nil || !held || owner.Command != "owner" {
		t.Errorf("got %+v %v %v", owner, held, err)
	}
}
