package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// The text of all documents, one after the other and without anything between them, is
// cut into blocks that are compressed one by one. A block holds at most blockBytes and
// ends at the last line end that fits; only where a line is longer it ends inside the
// line. The builder also ends a block after every batch of documents.
const blockBytes = 16 << 10

// The words of a block are replaced by numbers before it is compressed; see wordcode.go.
//
// A block's entry in the table of blocks has four numbers of 64 bits: where its
// compressed bytes begin in the section of text, its position in the text, the line ends
// before it, and the checksum of the compressed bytes. One more entry ends the table.
const blockEntryBytes = 32

// block is an entry of the table of blocks.
type block struct {
	offset   int64
	start    int64
	newlines int64
	sum      uint64
}

func appendBlock(b []byte, e block) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(e.offset))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.start))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.newlines))
	return binary.LittleEndian.AppendUint64(b, e.sum)
}

// blockEnd returns the length of the first block of text.
func blockEnd(text []byte) int {
	if len(text) <= blockBytes {
		return len(text)
	}
	if end := bytes.LastIndexByte(text[:blockBytes], '\n'); end >= 0 {
		return end + 1
	}
	return blockBytes
}

// newBlockEncoder returns the encoder of blocks. It is not safe for concurrent use.
func newBlockEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(blockBytes), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
}

// textReader reads stored text.
type textReader struct {
	file io.ReaderAt
	// offset is where the section of text begins in the file, length its length.
	offset, length int64
	// total is the length of the text of all documents.
	total    int64
	table    section
	words    section
	dir      string
	decoders sync.Pool
	cache    blockCache

	// decoder of words is made when it is first needed; decoded counts the blocks that one with
	// few slots has decoded.
	coding  sync.Mutex
	decoder atomic.Pointer[wordDecoder]
	decoded atomic.Int32
}

// Slots for all pieces take longer to make than a few blocks to decode. A process that
// answers one query decodes no more than those, so the first blocks do with fewSlots slots.
const (
	fewBlocks = 64
	fewSlots  = 1 << 12
)

// blockDecoder is what decoding a block needs besides room for its text.
type blockDecoder struct {
	*zstd.Decoder
	raw, coded []byte
}

func newBlockDecoder() (*blockDecoder, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(1<<20))
	return &blockDecoder{Decoder: d}, err
}

// wordDecoder returns the decoder of words for one block.
func (t *textReader) wordDecoder() (*wordDecoder, error) {
	if d := t.decoder.Load(); d != nil && (d.whole() || t.decoded.Add(1) <= fewBlocks) {
		return d, nil
	}
	t.coding.Lock()
	defer t.coding.Unlock()
	d := t.decoder.Load()
	switch {
	case d == nil:
		all, err := t.words.bytes(0, len(t.words.data))
		if err != nil {
			return nil, err
		}
		list, ok := parseWordList(all)
		if !ok {
			return nil, t.words.corrupt("bad list of words")
		}
		d = newWordDecoder(list, fewSlots)
	case t.decoded.Load() > fewBlocks && !d.whole():
		d = newWordDecoder(d.list, math.MaxInt)
	}
	t.decoder.Store(d)
	return d, nil
}

func (t *textReader) corrupt(detail string) error {
	return corrupt(t.dir, sectionNames[textSection], detail)
}

// blocks is the number of blocks.
func (t *textReader) blocks() int { return len(t.table.data)/blockEntryBytes - 1 }

func (t *textReader) entry(i int) (block, error) {
	b, err := t.table.bytes(i*blockEntryBytes, blockEntryBytes)
	if err != nil {
		return block{}, err
	}
	return block{
		offset:   int64(binary.LittleEndian.Uint64(b)),
		start:    int64(binary.LittleEndian.Uint64(b[8:])),
		newlines: int64(binary.LittleEndian.Uint64(b[16:])),
		sum:      binary.LittleEndian.Uint64(b[24:]),
	}, nil
}

// last returns the last block whose entry has a key of at most v. Keys never fall.
func (t *textReader) last(v int64, key func(block) int64) (int, error) {
	var failed error
	i := sort.Search(t.blocks(), func(i int) bool {
		e, err := t.entry(i)
		if err != nil {
			failed = err
		}
		return key(e) > v
	})
	if failed == nil && i == 0 {
		failed = t.table.corrupt(fmt.Sprintf("no block holds position %d", v))
	}
	return i - 1, failed
}

// blockText is a decoded block, or the beginning of one, and where it stands.
type blockText struct {
	block
	text []byte
	// whole says that text is all of the block.
	whole bool
}

// reaches tells whether the text goes on to a position or to the end of the block.
func (b blockText) reaches(position int64) bool {
	return b.whole || b.start+int64(len(b.text)) >= position
}

// decode returns a block, at least as far as up to a position.
func (t *textReader) decode(i int, to int64) (blockText, error) {
	if b, ok := t.cache.get(i); ok && b.reaches(to) {
		return b, nil
	}
	e, err := t.entry(i)
	if err != nil {
		return blockText{}, err
	}
	end, err := t.entry(i + 1)
	if err != nil {
		return blockText{}, err
	}
	size, packedSize := end.start-e.start, end.offset-e.offset
	if size <= 0 || size > blockBytes || packedSize <= 0 || packedSize > 2*blockBytes || e.offset < 0 || end.offset > t.length {
		return blockText{}, t.table.corrupt(fmt.Sprintf("bad entry of block %d", i))
	}
	d, ok := t.decoders.Get().(*blockDecoder)
	if !ok {
		if d, err = newBlockDecoder(); err != nil {
			return blockText{}, err
		}
	}
	defer t.decoders.Put(d)
	d.raw = slices.Grow(d.raw[:0], int(packedSize))[:packedSize]
	if _, err := t.file.ReadAt(d.raw, t.offset+e.offset); err != nil {
		return blockText{}, fmt.Errorf("read block %d of %s: %w", i, t.dir, err)
	}
	if xxh3.Hash(d.raw) != e.sum {
		return blockText{}, t.corrupt(fmt.Sprintf("block %d does not match its checksum", i))
	}
	if d.coded, err = d.DecodeAll(d.raw, d.coded[:0]); err != nil {
		return blockText{}, t.corrupt(fmt.Sprintf("block %d: %v", i, err))
	}
	words, err := t.wordDecoder()
	if err != nil {
		return blockText{}, err
	}
	// The last piece and its slot may go further than wanted.
	want := max(to-e.start, 0)
	room := want + 1 + maxPiece + int64(len(pieceSlot{}))
	whole := room >= size
	if whole {
		room, want = size, math.MaxInt
	}
	text, ok := words.decode(make([]byte, 0, room), d.coded, int(want))
	if !ok || whole && int64(len(text)) != size || !whole && int64(len(text)) < want {
		return blockText{}, t.corrupt(fmt.Sprintf("block %d has %d bytes of %d", i, len(text), size))
	}
	b := blockText{e, text, whole}
	t.cache.put(i, b)
	return b, nil
}

// newline returns the position after the line end that has n line ends before it and does
// not stand behind a position.
func (t *textReader) newline(n, to int64) (int64, error) {
	i, err := t.last(n, func(b block) int64 { return b.newlines })
	if err != nil {
		return 0, err
	}
	b, err := t.decode(i, to)
	if err != nil {
		return 0, err
	}
	at := 0
	for left := n - b.newlines; ; left-- {
		j := bytes.IndexByte(b.text[at:], '\n')
		if j < 0 {
			return 0, t.table.corrupt(fmt.Sprintf("block %d holds fewer lines than its entry says", i))
		}
		at += j + 1
		if left == 0 {
			return b.start + int64(at), nil
		}
	}
}

// newlinesBefore counts the line ends before a position.
func (t *textReader) newlinesBefore(at int64) (int64, error) {
	if at == t.total {
		end, err := t.entry(t.blocks())
		return end.newlines, err
	}
	i, err := t.last(at, func(b block) int64 { return b.start })
	if err != nil {
		return 0, err
	}
	b, err := t.decode(i, at)
	if err != nil {
		return 0, err
	}
	if at-b.start > int64(len(b.text)) {
		return 0, t.table.corrupt(fmt.Sprintf("block %d does not hold position %d", i, at))
	}
	return b.newlines + int64(bytes.Count(b.text[:at-b.start], []byte{'\n'})), nil
}

// read returns the text between two positions.
func (t *textReader) read(from, to int64) (string, error) {
	if from == to {
		return "", nil
	}
	i, err := t.last(from, func(b block) int64 { return b.start })
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.Grow(int(min(to-from, 1<<30)))
	for at := from; at < to; i++ {
		if i >= t.blocks() {
			return "", t.table.corrupt(fmt.Sprintf("the text ends before position %d", to))
		}
		b, err := t.decode(i, to)
		if err != nil {
			return "", err
		}
		end := min(to, b.start+int64(len(b.text)))
		if at < b.start || end < at {
			return "", t.table.corrupt(fmt.Sprintf("block %d does not hold position %d", i, at))
		}
		out.Write(b.text[at-b.start : end-b.start])
		at = end
	}
	return out.String(), nil
}

// cachedBlocks is the number of decoded blocks that are kept: an agent nearly always
// reads on in a document whose excerpt it has just seen.
const cachedBlocks = 64

// blockCache keeps blocks that were decoded lately. It is safe for concurrent use.
type blockCache struct {
	mu     sync.Mutex
	blocks [cachedBlocks]cachedBlock
	clock  int64
}

// cachedBlock is a block and when it was used last, 0 for none.
type cachedBlock struct {
	number int
	used   int64
	blockText
}

func (c *blockCache) get(number int) (blockText, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.blocks {
		if b := &c.blocks[i]; b.number == number && b.used > 0 {
			c.clock++
			b.used = c.clock
			return b.blockText, true
		}
	}
	return blockText{}, false
}

// put keeps a block in place of what there is of it, else of the one that was not used for
// longest.
func (c *blockCache) put(number int, b blockText) {
	c.mu.Lock()
	defer c.mu.Unlock()
	oldest := 0
	for i := range c.blocks {
		if c.blocks[i].number == number && c.blocks[i].used > 0 {
			oldest = i
			break
		}
		if c.blocks[i].used < c.blocks[oldest].used {
			oldest = i
		}
	}
	c.clock++
	c.blocks[oldest] = cachedBlock{number, c.clock, b}
}
