package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"goserini/internal/bm25"
)

// The peers and where they come from: Maven Central, crates.io and PyPI.
const (
	luceneVersion   = "10.6.0"
	pyseriniVersion = "2.4.0" // its source package holds Anserini's jar
	anseriniJar     = "anserini-2.3.0-fatjar.jar"
	minJava         = 21
)

var pythonPackages = []string{"bm25s==0.3.16", "numba==0.68.1", "pyterrier-pisa==0.4.9"}

// tools builds programs, each once.
type tools struct{ *workspace }

func (t *tools) build(parts ...string) string { return t.path(append([]string{"build"}, parts...)...) }

// goProgram builds a command of the project, always anew: the project changes.
func (t *tools) goProgram(ctx context.Context, pkg, name string) (string, error) {
	path := t.build(name)
	cmd := t.command(ctx, "go", "build", "-o", path, pkg)
	cmd.Dir = t.root
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build %s: %w", pkg, err)
	}
	return path, nil
}

// java returns the home of the newest installed JDK.
func (t *tools) java() (string, error) {
	homes, err := filepath.Glob("/usr/lib/jvm/*")
	if err != nil {
		return "", err
	}
	best, newest := "", 0
	for _, home := range append(homes, os.Getenv("JAVA_HOME")) {
		out, err := exec.Command(filepath.Join(home, "bin", "javac"), "-version").Output()
		if home == "" || err != nil {
			continue
		}
		if m := regexp.MustCompile(`^javac (\d+)`).FindSubmatch(out); m != nil {
			if v, err := strconv.Atoi(string(m[1])); err == nil && v > newest {
				best, newest = home, v
			}
		}
	}
	if newest < minJava {
		return "", fmt.Errorf("no JDK of version %d or newer under JAVA_HOME or /usr/lib/jvm", minJava)
	}
	return best, nil
}

// maven copies an artifact into a folder.
func (t *tools) maven(ctx context.Context, artifact, folder string) error {
	return t.run(ctx, "mvn", "-q", "-B", "-Djava.io.tmpdir="+t.scratch, "dependency:copy", "-Dartifact="+artifact, "-DoutputDirectory="+folder)
}

// compile compiles Java sources of a folder of the project against jars.
func (t *tools) compile(ctx context.Context, name, classpath string) (classes string, err error) {
	home, err := t.java()
	if err != nil {
		return "", err
	}
	sources, err := filepath.Glob(filepath.Join(t.source, name, "peers", "*.java"))
	if err != nil {
		return "", err
	}
	classes = t.build(name + "-classes")
	args := append([]string{"-Xlint:all,-classfile,-processing", "-proc:none", "-d", classes, "-cp", classpath}, sources...)
	return classes, t.run(ctx, filepath.Join(home, "bin", "javac"), args...)
}

// lucene returns the command line of the Lucene driver.
func (t *tools) lucene(ctx context.Context) ([]string, error) {
	jars := t.build("lucene-" + luceneVersion)
	for _, artifact := range []string{"lucene-core", "lucene-analysis-common"} {
		err := t.once(filepath.Join(jars, artifact+"-"+luceneVersion+".jar"), func(partial string) error {
			if err := t.maven(ctx, "org.apache.lucene:"+artifact+":"+luceneVersion, t.scratch); err != nil {
				return err
			}
			return os.Rename(filepath.Join(t.scratch, artifact+"-"+luceneVersion+".jar"), partial)
		})
		if err != nil {
			return nil, err
		}
	}
	classes, err := t.compile(ctx, "lucene", filepath.Join(jars, "*"))
	if err != nil {
		return nil, err
	}
	return t.jvm(classes+":"+filepath.Join(jars, "*"), "peers.Main")
}

// jvm is the command line of a Java program, the same memory and collector for all.
func (t *tools) jvm(classpath, class string) ([]string, error) {
	home, err := t.java()
	if err != nil {
		return nil, err
	}
	return []string{filepath.Join(home, "bin", "java"), "-Xms2g", "-Xmx2g", "-XX:+UseParallelGC", "--enable-native-access=ALL-UNNAMED",
		"--add-modules", "jdk.incubator.vector", "-Djava.io.tmpdir=" + t.scratch, "-cp", classpath, class}, nil
}

// anserini returns the path of Anserini's jar.
func (t *tools) anserini(ctx context.Context) (string, error) {
	jar := t.build("anserini", anseriniJar)
	return jar, t.once(jar, func(partial string) error {
		python, err := t.python(ctx)
		if err != nil {
			return err
		}
		// The package is unpacked, never installed, so that it may want another Python.
		if err := t.run(ctx, python, "-m", "pip", "-q", "download", "--no-deps", "--no-binary", ":all:", "--ignore-requires-python", "-d", t.scratch,
			"pyserini=="+pyseriniVersion); err != nil {
			return err
		}
		archive := filepath.Join(t.scratch, "pyserini-"+pyseriniVersion+".tar.gz")
		member := "pyserini-" + pyseriniVersion + "/pyserini/resources/jars/" + anseriniJar
		if err := t.run(ctx, "tar", "xzf", archive, "-C", t.scratch, member); err != nil {
			return err
		}
		if err := os.Remove(archive); err != nil {
			return err
		}
		return os.Rename(filepath.Join(t.scratch, member), partial)
	})
}

// server returns the command line of the imitation of the paper's server.
func (t *tools) server(ctx context.Context) ([]string, error) {
	jar, err := t.anserini(ctx)
	if err != nil {
		return nil, err
	}
	classes, err := t.compile(ctx, "anserini", jar)
	if err != nil {
		return nil, err
	}
	return t.jvm(classes+":"+jar, "peers.Server")
}

// python returns the interpreter of an environment with the Python peers.
func (t *tools) python(ctx context.Context) (string, error) {
	home := t.build("python")
	python := filepath.Join(home, "bin", "python")
	// An environment knows its own path, so it is made in place and marked when complete.
	mark := filepath.Join(home, "complete")
	if _, err := os.Stat(mark); err == nil {
		return python, nil
	}
	say("making %s", home)
	if err := t.run(ctx, "python3", "-m", "venv", "--clear", home); err != nil {
		return "", err
	}
	if err := t.run(ctx, python, append([]string{"-m", "pip", "-q", "install"}, pythonPackages...)...); err != nil {
		return "", err
	}
	return python, os.WriteFile(mark, nil, 0o644)
}

// tantivy builds the tantivy driver for a setting, which is constant in its source.
func (t *tools) tantivy(ctx context.Context, p bm25.Params) (string, error) {
	name := fmt.Sprintf("tantivy-k1=%g-b=%g", p.K1, p.B)
	program := t.build(name, "tantivy-peer")
	return program, t.once(program, func(partial string) error {
		folder := t.build(name + "-source")
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
		if err := os.CopyFS(filepath.Join(folder, "tantivy"), os.DirFS(filepath.Join(t.source, "tantivy"))); err != nil {
			return err
		}
		original, err := t.tantivySource(ctx)
		if err != nil {
			return err
		}
		copied := filepath.Join(folder, "tantivy-source")
		if err := os.CopyFS(copied, os.DirFS(original)); err != nil {
			return err
		}
		if err := setConstants(filepath.Join(copied, "src", "query", "bm25.rs"), p); err != nil {
			return err
		}
		target := filepath.Join(folder, "target")
		if err := t.run(ctx, "cargo", "build", "-q", "--release", "--manifest-path", filepath.Join(folder, "tantivy", "Cargo.toml"), "--target-dir", target); err != nil {
			return err
		}
		return os.Rename(filepath.Join(target, "release", "tantivy-peer"), partial)
	})
}

// tantivySource lets cargo fetch tantivy and returns where its source is.
func (t *tools) tantivySource(ctx context.Context) (string, error) {
	folder := filepath.Join(t.scratch, "fetch")
	if err := os.MkdirAll(filepath.Join(folder, "src"), 0o755); err != nil {
		return "", err
	}
	manifest, err := os.ReadFile(filepath.Join(t.source, "tantivy", "Cargo.toml"))
	if err != nil {
		return "", err
	}
	before, _, _ := bytes.Cut(manifest, []byte("# k1 and b are"))
	if err := os.WriteFile(filepath.Join(folder, "Cargo.toml"), append(before, "[workspace]\n"...), 0o644); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, "src", "main.rs"), []byte("fn main() {}\n"), 0o644); err != nil {
		return "", err
	}
	cmd := t.command(ctx, "cargo", "metadata", "--format-version", "1", "--manifest-path", filepath.Join(folder, "Cargo.toml"))
	cmd.Stdout = nil
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cargo metadata: %w", err)
	}
	var metadata struct {
		Packages []struct {
			Name     string
			Manifest string `json:"manifest_path"`
		}
	}
	if err := json.Unmarshal(out, &metadata); err != nil {
		return "", fmt.Errorf("read cargo metadata: %w", err)
	}
	for _, p := range metadata.Packages {
		if p.Name == "tantivy" {
			return filepath.Dir(p.Manifest), nil
		}
	}
	return "", errors.New("cargo knows no tantivy")
}

// setConstants writes k1 and b into tantivy's source.
func setConstants(path string, p bm25.Params) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(source)
	for name, value := range map[string]float32{"K1": p.K1, "B": p.B} {
		line := regexp.MustCompile(`(?m)^const ` + name + `: Score = [0-9.]+;$`)
		if len(line.FindAllString(text, -1)) != 1 {
			return fmt.Errorf("%s has no constant %s", path, name)
		}
		number := strconv.FormatFloat(float64(value), 'f', -1, 32)
		if !strings.Contains(number, ".") {
			number += ".0"
		}
		text = line.ReplaceAllString(text, "const "+name+": Score = "+number+";")
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
