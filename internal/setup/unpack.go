package setup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"goserini/internal/atomicfile"
)

// unpack writes one file out of a .tar.gz.
func unpack(ctx context.Context, archive, member, place string) error {
	f, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", archive, err)
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("unpack %s: it holds no file %s", archive, member)
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", archive, err)
		}
		if h.Typeflag == tar.TypeReg && path.Clean(h.Name) == member {
			break
		}
	}
	out, err := atomicfile.Create(place, 0o644)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", archive, err)
	}
	defer out.Abort()
	if _, err := io.Copy(out, interruptible{ctx, r}); err != nil {
		return fmt.Errorf("unpack %s of %s: %w", member, archive, err)
	}
	return out.Commit()
}

// interruptible ends a long copy with its context.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}
