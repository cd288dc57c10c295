// Command gen writes the tables of the standard tokenizer: a class for every code
// point, and a deterministic automaton over classes.
//
// It reads unicode-12.1.txt beside it, which properties.mjs makes from the npm
// package @unicode/unicode-12.1.0:
//
//	npm pack @unicode/unicode-12.1.0 && tar xzf unicode-unicode-12.1.0-*.tgz
//	node properties.mjs package >unicode-12.1.txt
//
// Lucene's tokenizer has used the data of Unicode 12.1 since its release 9.1, and
// an index is only comparable if its words are cut by the same version.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	properties := flag.String("properties", "internal/gen/unicode-12.1.txt", "Unicode properties, a range a line")
	out := flag.String("out", "standard_tables.go", "Go file to write")
	flag.Parse()

	source, err := generate(*properties)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, source, 0o666); err != nil {
		log.Fatal(err)
	}
}

// generate makes the Go source of the tables from a file of properties.
func generate(properties string) ([]byte, error) {
	f, err := os.Open(properties)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	alphabet, err := readAlphabet(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", properties, err)
	}
	automaton := minimize(determinize(grammar(alphabet), len(alphabet.classes)))
	source, err := render(alphabet, automaton)
	if err != nil {
		return nil, fmt.Errorf("render tables: %w", err)
	}
	return source, nil
}
