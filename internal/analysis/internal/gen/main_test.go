package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTablesAreWhatTheGeneratorWrites(t *testing.T) {
	want, err := generate("unicode-12.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../standard_tables.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("standard_tables.go is not what the generator writes: run go generate ./internal/analysis")
	}
}
