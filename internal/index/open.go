package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/zeebo/xxh3"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
)

// Index is an open index. It is safe for concurrent use.
type Index struct {
	dir         string
	file        *os.File
	mapping     mapping
	region      *region
	analyzer    analysis.Analyzer
	stats       Stats
	fingerprint string

	dictionary dictionary
	postings   section
	norms      section
	documents  documents
	text       textReader
	searchers  sync.Pool
	hopes      hopes
	grids      sync.Pool
	gridHopes  hopes
	// passages is nil in an index without.
	passages *passages

	// lowNorm and highNorm bound the norms of documents that have tokens.
	lowNorm, highNorm byte
}

// Open opens the index in dir. It reads the table of contents; everything else is read,
// and compared with its checksums, when it is first used.
//
// The file must not be changed while it is open. Build never does: it writes a new file,
// and whoever has the old one open goes on with that.
func Open(dir string) (*Index, error) {
	f, err := openFile(dir)
	if err != nil {
		return nil, err
	}
	ix := &Index{dir: dir, file: f}
	if err := ix.open(); err != nil {
		_ = ix.Close()
		return nil, err
	}
	return ix, nil
}

// openFile opens the index file of a directory, or says why there is none.
func openFile(dir string) (*os.File, error) {
	fi, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, problem(ErrNoIndex, dir, "", buildFix(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	if !fi.IsDir() {
		return nil, problem(ErrNotIndex, dir, "it is a file", "name the directory that `goserini index` wrote")
	}
	f, err := os.Open(filepath.Join(dir, FileName))
	if errors.Is(err, os.ErrNotExist) {
		if leftover, err := abandoned(dir); err != nil || leftover {
			return nil, errors.Join(problem(ErrIncomplete, dir, "its build has not ended", rebuild(dir)), err)
		}
		return nil, problem(ErrNotIndex, dir, "it holds no "+FileName, buildFix(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	return f, nil
}

func (ix *Index) open() error {
	fi, err := ix.file.Stat()
	if err != nil {
		return fmt.Errorf("open index: %w", err)
	}
	if !fi.Mode().IsRegular() {
		return problem(ErrNotIndex, ix.dir, FileName+" is not a file", buildFix(ix.dir))
	}
	foot, text, err := readContents(ix.file, fi.Size(), ix.dir)
	if err != nil {
		return err
	}
	sum := xxh3.Hash128(text)
	ix.fingerprint = fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
	ix.stats = foot.Stats
	ix.stats.Bytes = fi.Size()
	ix.stats.FormatVersion = FormatVersion
	for _, s := range foot.Sections {
		ix.stats.Parts = append(ix.stats.Parts, Part{s.Name, s.Length})
	}
	if ix.analyzer, err = analysis.ByName(foot.Stats.Analyzer); err != nil {
		return problem(ErrVersion, ix.dir, err.Error(), rebuild(ix.dir))
	}
	start := foot.section(textSection + 1).Offset
	last := foot.section(checksSection)
	if ix.mapping, err = mapFile(ix.file, start, last.Offset+last.Length-start); err != nil {
		return fmt.Errorf("open index %s: %w", ix.dir, err)
	}
	return ix.arrange(foot)
}

// readContents reads and checks header, tail and footer.
func readContents(f io.ReaderAt, size int64, dir string) (footer, []byte, error) {
	header := make([]byte, headerBytes)
	if size < headerBytes {
		return footer{}, nil, problem(ErrNotIndex, dir, FileName+" is too short", buildFix(dir))
	}
	if _, err := f.ReadAt(header, 0); err != nil {
		return footer{}, nil, fmt.Errorf("read index: %w", err)
	}
	version, ok := headerVersion(header)
	if !ok {
		return footer{}, nil, problem(ErrNotIndex, dir, FileName+" does not begin like one", buildFix(dir))
	}
	if version != FormatVersion {
		return footer{}, nil, problem(ErrVersion, dir, fmt.Sprintf("version %d, this program reads %d", version, FormatVersion), rebuild(dir))
	}
	passages, known := headerPassages(header)
	if !known {
		return footer{}, nil, problem(ErrVersion, dir, "it has flags this program does not know", rebuild(dir))
	}
	tail := make([]byte, tailBytes)
	if size < headerBytes+tailBytes {
		return footer{}, nil, corrupt(dir, "footer", "the file is cut short")
	}
	if _, err := f.ReadAt(tail, size-tailBytes); err != nil {
		return footer{}, nil, fmt.Errorf("read index: %w", err)
	}
	offset, length, sum, ok := parseTail(tail, size)
	if !ok {
		return footer{}, nil, corrupt(dir, "footer", "the file is cut short or its end is damaged")
	}
	text := make([]byte, length)
	if _, err := f.ReadAt(text, offset); err != nil {
		return footer{}, nil, fmt.Errorf("read index: %w", err)
	}
	foot, err := parseFooter(text, offset, sum)
	if err != nil {
		return footer{}, nil, corrupt(dir, "footer", err.Error())
	}
	if passages != (foot.Stats.Passages != nil) {
		return footer{}, nil, corrupt(dir, "header", "it does not say whether there are passages as the footer does")
	}
	return foot, text, nil
}

// arrange makes readers of the sections, whose sizes it checks.
func (ix *Index) arrange(foot footer) error {
	start := foot.section(textSection + 1).Offset
	checks := foot.section(checksSection)
	data := ix.mapping.data[:checks.Offset-start]
	sums := ix.mapping.data[checks.Offset-start:]
	if len(sums) != 8*pages(len(data)) || checksum(xxh3.Hash(sums)) != foot.Checks {
		return corrupt(ix.dir, sectionNames[checksSection], "it does not match its checksum")
	}
	ix.region = newRegion(data, sums, start, foot.Sections, ix.dir)
	at := func(id sectionID) section {
		s := foot.section(id)
		off := int(s.Offset - start)
		return section{r: ix.region, name: s.Name, data: data[off : off+int(s.Length)], off: off}
	}
	ix.postings = at(postingsSection)
	ix.dictionary = dictionary{terms: at(termsSection), index: at(termIndexSection)}
	ix.norms = at(normsSection)
	n := foot.Stats.Documents
	offsetBits, rankBits := documentIndexWidths(n, foot.section(docsSection).Length, foot.section(orderSection).Length > 0)
	index := at(docIndexSection)
	d := &ix.documents
	d.n, d.gaps, d.records, d.groups = int(n), foot.Gaps, at(docsSection), at(docGroupsSection)
	d.offsets = packed{index, offsetBits, offsetBits + rankBits, 0}
	d.ranks = packed{index, rankBits, offsetBits + rankBits, offsetBits}
	d.order = packed{at(orderSection), rankBits, rankBits, 0}
	text := foot.section(textSection)
	ix.text.file, ix.text.offset, ix.text.length = ix.file, text.Offset, text.Length
	ix.text.table, ix.text.words, ix.text.dir = at(blocksSection), at(wordsSection), ix.dir
	ix.lowNorm, ix.highNorm = bm25.Quantise(int(foot.Stats.Lengths.Min)), bm25.Quantise(int(foot.Stats.Lengths.Max))
	if err := ix.checkSizes(n); err != nil || foot.Stats.Passages == nil {
		return err
	}
	ix.passages = newPassages(ix, foot.Stats.Passages, at)
	return ix.passages.checkSizes()
}

// checkSizes compares the lengths of sections with the number of documents.
func (ix *Index) checkSizes(n int64) error {
	d := &ix.documents
	permutation := int64(0)
	if len(d.order.data) > 0 {
		permutation = packedBytes(n, d.order.width)
	}
	err := errors.Join(
		ix.norms.wantBytes((n+chunkDocs-1)/chunkDocs*chunkDocs),
		d.offsets.wantBytes(packedBytes(n, d.offsets.stride)),
		d.groups.wantBytes((n+documentGroup-1)/documentGroup*documentGroupBytes),
		d.order.wantBytes(permutation),
		ix.dictionary.check(),
	)
	if err != nil {
		return err
	}
	table := ix.text.table
	if len(table.data)%blockEntryBytes != 0 || len(table.data) == 0 {
		return table.corrupt("its length is not that of a table")
	}
	end, err := ix.text.entry(ix.text.blocks())
	ix.text.total = end.start
	return err
}

// Stats returns what was recorded when the index was built.
func (ix *Index) Stats() Stats { return ix.stats }

// Fingerprint identifies the index: it follows from all its bytes by their checksums.
func (ix *Index) Fingerprint() string { return ix.fingerprint }

// Analyzer is the one that made the terms.
func (ix *Index) Analyzer() analysis.Analyzer { return ix.analyzer }

// Verify compares every byte of the index with its checksums.
func (ix *Index) Verify(ctx context.Context) error {
	for p := range pages(len(ix.region.data)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := ix.region.compare(p); err != nil {
			return err
		}
	}
	if _, _, err := readContents(ix.file, ix.stats.Bytes, ix.dir); err != nil {
		return err
	}
	var buf []byte
	for i := range ix.text.blocks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if buf, err = ix.text.compare(i, buf); err != nil {
			return err
		}
	}
	return nil
}

// compare checks the stored bytes of a block, for which it uses buf.
func (t *textReader) compare(i int, buf []byte) ([]byte, error) {
	e, err := t.entry(i)
	if err != nil {
		return buf, err
	}
	end, err := t.entry(i + 1)
	if err != nil {
		return buf, err
	}
	n := end.offset - e.offset
	if n <= 0 || n > 2*blockBytes || e.offset < 0 || end.offset > t.length || i == 0 && e.offset != 0 || i == t.blocks()-1 && end.offset != t.length {
		return buf, t.table.corrupt(fmt.Sprintf("bad entry of block %d", i))
	}
	buf = append(buf[:0], make([]byte, n)...)
	if _, err := t.file.ReadAt(buf, t.offset+e.offset); err != nil {
		return buf, fmt.Errorf("read block %d of %s: %w", i, t.dir, err)
	}
	if xxh3.Hash(buf) != e.sum {
		return buf, t.corrupt(fmt.Sprintf("block %d does not match its checksum", i))
	}
	return buf, nil
}

// Close releases the index. No method may be called afterwards, and none may be running.
func (ix *Index) Close() error {
	return errors.Join(ix.mapping.unmap(), ix.file.Close())
}
