package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"goserini/internal/trajectory"
)

// childVariable makes the test binary carry out a run in a process of its own.
const childVariable = "GOSERINI_EXPERIMENT_CHILD"

// child says what such a process does.
type child struct {
	Dir       string
	Questions int
	// Bytes is the length of an answer, FileSize the largest file the process may write.
	Bytes, FileSize int
	// Sleep is how long a question takes; with a Gate it takes until that file exists.
	Sleep time.Duration
	Gate  string
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childVariable); text != "" {
		os.Exit(runChild(text))
	}
	os.Exit(m.Run())
}

func runChild(text string) int {
	var c child
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if err := limitFileSize(c.FileSize); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	s, err := Run(context.Background(), c.Dir, c.plan(), Options{Command: "child", Concurrency: 2})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(s.Ran, "ran")
	return 0
}

func (c child) plan() Plan {
	plan := Plan{Name: "child", Spec: Spec{Questions: c.Questions}}
	for i := range c.Questions {
		plan.Questions = append(plan.Questions, Question{ID: fmt.Sprint("q", i), Text: "what?"})
	}
	plan.Research = func(_ context.Context, q Question, emit func(trajectory.Event)) (trajectory.Record, error) {
		time.Sleep(c.Sleep)
		for c.Gate != "" {
			if _, err := os.Stat(c.Gate); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		emit(header(q))
		text := strings.Repeat("x", c.Bytes)
		emit(trajectory.Event{Type: trajectory.TypeEnd, Seq: 2, Time: time.Unix(0, 0).UTC(), End: &trajectory.End{Status: trajectory.Completed, Answer: trajectory.Answer{Text: text}}})
		return trajectory.Record{Status: trajectory.Completed, Answer: trajectory.Answer{Text: text}}, nil
	}
	return plan
}

// start begins such a process.
func (c child) start(t *testing.T) (cmd *exec.Cmd, stderr *strings.Builder) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	stderr = &strings.Builder{}
	cmd = exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, stderr
}

// exitCode waits for a process.
func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}
