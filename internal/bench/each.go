package bench

import (
	"context"
	"runtime"
	"time"
)

// Each makes a contestant of n tasks that are timed one by one, on one thread.
func Each(name string, n int, task func(ctx context.Context, i int) error) Contestant {
	return Contestant{Name: name, Run: func(ctx context.Context) (Batch, error) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		b := Batch{Wall: make([]time.Duration, n)}
		if _, known := ThreadTime(); known {
			b.Thread = make([]time.Duration, n)
		}
		for i := range n {
			before, _ := ThreadTime()
			start := time.Now()
			if err := task(ctx, i); err != nil {
				return b, err
			}
			b.Wall[i] = time.Since(start)
			if b.Thread != nil {
				after, _ := ThreadTime()
				b.Thread[i] = after - before
			}
		}
		return b, nil
	}}
}
