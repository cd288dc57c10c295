// Package parquetfile reads string columns of Parquet files as a stream of rows.
//
//	err := parquetfile.Read("train-00000.parquet", []parquetfile.Column{{Name: "docid"}, {Name: "url", Optional: true}},
//		func(row parquetfile.Row) error {
//			id, url := row.Text(0), row.Text(1)
//			…
//		})
//
// Only the named columns are read from disk, a page of each at a time, so that a file
// of gigabytes costs a few megabytes of memory. Files come from elsewhere: damage is an error
// that names the file, never a panic.
package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Column names a column of strings. "docid" is a plain one; "gold_docs.docid" is the field
// docid of the structs in the list gold_docs, however the writer named the levels between.
type Column struct {
	Name string
	// Optional says that a file may lack the column; its rows then have no value.
	Optional bool
}

// Row is one row of the columns asked for, valid until the callback returns.
type Row struct {
	// Number counts from 1 within the file.
	Number int64
	cells  [][]string
}

// Text returns the value of a plain column, "" where it is null or absent.
func (r Row) Text(column int) string {
	if len(r.cells[column]) == 0 {
		return ""
	}
	return r.cells[column][0]
}

// List returns the values of a column within a list; nulls are left out.
func (r Row) List(column int) []string { return r.cells[column] }

// Read calls each for every row of the file.
func Read(path string, columns []Column, each func(Row) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read Parquet file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read Parquet file: %w", err)
	}
	return ReadFrom(f, info.Size(), path, columns, each)
}

// stop carries an error of the callback out, unwrapped by this package.
type stop struct{ err error }

func (s stop) Error() string { return s.err.Error() }

// ReadFrom is Read over open storage of a known size that errors call name.
func ReadFrom(r io.ReaderAt, size int64, name string, columns []Column, each func(Row) error) (err error) {
	defer func() {
		// The decoder panics on some damage; a file from elsewhere must not end the program.
		if p := recover(); p != nil {
			err = fmt.Errorf("read Parquet file %s: damaged: %v", name, p)
		}
	}()
	if err := checkFooter(r, size); err != nil {
		return fmt.Errorf("read Parquet file %s: %w", name, err)
	}
	file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("read Parquet file %s: not a Parquet file, or damaged: %w", name, err)
	}
	leaves, err := find(file.Schema(), columns)
	if err != nil {
		return fmt.Errorf("read Parquet file %s: %w", name, err)
	}
	var done int64
	for _, group := range file.RowGroups() {
		n, err := readGroup(group, leaves, done, each)
		var s stop
		if errors.As(err, &s) {
			return s.err
		}
		if err != nil {
			return fmt.Errorf("read Parquet file %s: row %d: %w", name, done+n+1, err)
		}
		done += n
	}
	return nil
}

// checkFooter looks at the last bytes of a file, the length of its footer and a magic, before
// the decoder makes room for as much as they claim.
func checkFooter(r io.ReaderAt, size int64) error {
	const magic, tail = "PAR1", 8
	var end [tail]byte
	if size < tail+int64(len(magic)) {
		return fmt.Errorf("not a Parquet file: it has %d bytes", size)
	}
	if _, err := r.ReadAt(end[:], size-tail); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(end[4:]) != magic {
		return errors.New("not a whole Parquet file: it does not end with PAR1")
	}
	if footer := int64(binary.LittleEndian.Uint32(end[:4])); footer > size-tail-int64(len(magic)) {
		return fmt.Errorf("damaged: a footer of %d bytes in a file of %d", footer, size)
	}
	return nil
}

// absent stands for an optional column that the file lacks.
const absent = -1

// find returns the leaf index of each column.
func find(schema *parquet.Schema, columns []Column) ([]int, error) {
	paths := schema.Columns()
	out := make([]int, len(columns))
	for i, c := range columns {
		out[i] = absent
		first, last, nested := strings.Cut(c.Name, ".")
		for j, path := range paths {
			if path[0] == first && (!nested && len(path) == 1 || nested && len(path) > 1 && path[len(path)-1] == last) {
				out[i] = j
				break
			}
		}
		if out[i] == absent {
			if c.Optional {
				continue
			}
			return nil, fmt.Errorf("there is no column %s: it has %s", c.Name, describe(paths))
		}
		leaf, ok := schema.Lookup(paths[out[i]]...)
		if !ok || leaf.Node.Type().Kind() != parquet.ByteArray {
			return nil, fmt.Errorf("column %s does not hold strings", c.Name)
		}
	}
	if !slices.ContainsFunc(out, func(leaf int) bool { return leaf != absent }) {
		return nil, fmt.Errorf("it has none of the columns asked for: it has %s", describe(paths))
	}
	return out, nil
}

func describe(paths [][]string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = strings.Join(p, ".")
	}
	return strings.Join(names, ", ")
}

// readGroup reads the rows of one row group and returns how many there were.
func readGroup(group parquet.RowGroup, leaves []int, before int64, each func(Row) error) (int64, error) {
	chunks := group.ColumnChunks()
	cursors := make([]*cursor, len(leaves))
	for i, leaf := range leaves {
		if leaf == absent {
			continue
		}
		cursors[i] = &cursor{pages: chunks[leaf].Pages()}
		defer cursors[i].close()
	}
	row := Row{cells: make([][]string, len(leaves))}
	for n := range group.NumRows() {
		for i, c := range cursors {
			if c == nil {
				continue
			}
			cell, err := c.row(row.cells[i][:0])
			if err != nil {
				return n, err
			}
			row.cells[i] = cell
		}
		row.Number = before + n + 1
		if err := each(row); err != nil {
			return n, stop{err}
		}
	}
	return group.NumRows(), nil
}

// cursor walks the values of one column chunk.
type cursor struct {
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    [64]parquet.Value
	have   []parquet.Value
	ended  bool
}

// row appends the values of the next row: the next value, and those after it that
// repeat within the row.
func (c *cursor) row(cell []string) ([]string, error) {
	first := true
	for {
		if len(c.have) == 0 {
			if err := c.fill(); errors.Is(err, io.EOF) {
				if first {
					return nil, errors.New("a column ends before the others")
				}
				return cell, nil
			} else if err != nil {
				return nil, err
			}
		}
		v := c.have[0]
		if !first && v.RepetitionLevel() == 0 {
			return cell, nil
		}
		c.have, first = c.have[1:], false
		if !v.IsNull() {
			cell = append(cell, string(v.ByteArray()))
		}
	}
}

// fill reads more values, from the next page where this one is used up.
func (c *cursor) fill() error {
	for {
		if c.values != nil {
			n, err := c.values.ReadValues(c.buf[:])
			if n > 0 {
				c.have = c.buf[:n]
				return nil
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			c.release()
		}
		if c.ended {
			return io.EOF
		}
		page, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			c.ended = true
			return io.EOF
		}
		if err != nil {
			return err
		}
		c.page, c.values = page, page.Values()
	}
}

func (c *cursor) release() {
	if c.page != nil {
		clear(c.buf[:])
		parquet.Release(c.page)
		c.page, c.values = nil, nil
	}
}

func (c *cursor) close() {
	c.release()
	_ = c.pages.Close() // it was only read
}

// Is tells whether a path names a Parquet file.
func Is(path string) bool {
	return slices.Contains([]string{".parquet", ".pq"}, strings.ToLower(ext(path)))
}

func ext(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[i:]
	}
	return ""
}
