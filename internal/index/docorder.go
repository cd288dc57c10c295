package index

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// docKey is a document on its way into the order of docids.
type docKey struct {
	// prefix is the beginning of the docid, as a number that sorts as it does.
	prefix uint64
	slot   uint32
}

// docids are the docids of a build by slot.
type docids struct {
	bytes  array[byte]
	starts array[uint64]
	keys   array[docKey]
	n      int
}

func (d *docids) free() error { return errors.Join(d.bytes.free(), d.starts.free(), d.keys.free()) }

func (d *docids) of(slot uint32) []byte { return d.bytes.s[d.starts.s[slot]:d.starts.s[slot+1]] }

// number brings the docids into order, applies the policy for duplicates and so settles
// which documents there are.
func (t *docTable) number(policy DuplicatePolicy) (err error) {
	if t.ascending {
		return nil
	}
	d := &docids{}
	defer func() { err = errors.Join(err, d.free()) }()
	if err := t.collect(d); err != nil {
		return err
	}
	keys := d.keys.s[:d.n]
	slices.SortFunc(keys, func(a, b docKey) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if c := bytes.Compare(d.of(a.slot), d.of(b.slot)); c != 0 {
			return c
		}
		return cmp.Compare(a.slot, b.slot)
	})
	if err := t.settle(d, keys, policy); err != nil {
		return err
	}
	return t.keepOrder(keys)
}

// collect reads the docids of all documents.
func (t *docTable) collect(d *docids) error {
	if err := errors.Join(d.starts.grow(len(t.states)+1), d.keys.grow(int(t.n))); err != nil {
		return err
	}
	used, next := 0, 0
	err := t.each(func(slot int, raw []byte) error {
		r := numbers{b: raw}
		id := r.bytes()
		for ; next <= slot; next++ {
			d.starts.s[next] = uint64(used)
		}
		if err := d.bytes.grow(used + len(id)); err != nil {
			return err
		}
		used += copy(d.bytes.s[used:], id)
		d.keys.s[d.n] = docKey{termPrefix(id), uint32(slot)}
		d.n++
		return nil
	})
	for ; next < len(d.starts.s); next++ {
		d.starts.s[next] = uint64(used)
	}
	return err
}

// settle finds docids that occur twice among sorted keys.
func (t *docTable) settle(d *docids, keys []docKey, policy DuplicatePolicy) error {
	first, second := uint32(0), uint32(done)
	drop := map[uint32]bool{}
	for i := 1; i < len(keys); i++ {
		if keys[i].prefix != keys[i-1].prefix || !bytes.Equal(d.of(keys[i].slot), d.of(keys[i-1].slot)) {
			continue
		}
		switch policy {
		case KeepLast:
			drop[keys[i-1].slot] = true
		case KeepFirst:
			drop[keys[i].slot] = true
		default:
			if keys[i].slot < second {
				first, second = keys[i-1].slot, keys[i].slot
			}
		}
	}
	if second != done {
		return t.duplicate(string(d.of(second)), int(first), int(second))
	}
	if len(drop) == 0 {
		return nil
	}
	return t.each(func(slot int, raw []byte) error {
		if drop[uint32(slot)] {
			p, _ := parseRecord(raw, false)
			t.count(p.extent.bytes, p.extent.tokens, -1)
			t.states[slot] = slotDropped
			t.dropped++
		}
		return nil
	})
}

// duplicate is the error that names the first docid that occurs again.
func (t *docTable) duplicate(docid string, first, second int) error {
	e := &DuplicateError{DocID: docid}
	var err error
	if e.First, err = t.location(first); err != nil {
		return fmt.Errorf("docid %q occurs twice: %w", docid, err)
	}
	if e.Second, err = t.location(second); err != nil {
		return fmt.Errorf("docid %q occurs twice: %w", docid, err)
	}
	return e
}

// keepOrder notes the ordinals in the order of sorted keys.
func (t *docTable) keepOrder(keys []docKey) error {
	if err := t.order.grow(int(t.n)); err != nil {
		return err
	}
	r := t.renumbering()
	n := 0
	identical := true
	for _, k := range keys {
		ord := k.slot
		if r != nil {
			if t.states[k.slot] != slotKept {
				continue
			}
			ord -= r.before[k.slot]
		}
		identical = identical && int(ord) == n
		t.order.s[n] = ord
		n++
	}
	if identical {
		return t.order.free()
	}
	return nil
}
