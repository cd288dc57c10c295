package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Load is what a closed loop of workers got done.
type Load struct {
	PerSecond float64 `json:"per_second"`
	P99       float64 `json:"p99_seconds"`
}

// ClosedLoop lets some workers do tasks 0 to n-1 over and over, each worker one after the
// other, for a while, and each at least one, however busy the machine is.
func ClosedLoop(ctx context.Context, workers, n int, length time.Duration, task func(ctx context.Context, i int) error) (Load, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next atomic.Int64
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wg sync.WaitGroup
	start := time.Now()
	for range workers {
		wg.Go(func() {
			var times []time.Duration
			for ctx.Err() == nil && (len(times) == 0 || time.Since(start) < length) {
				began := time.Now()
				err := task(ctx, int(next.Add(1)-1)%n)
				if err != nil {
					cancel()
					mu.Lock()
					if failed == nil {
						failed = err
					}
					mu.Unlock()
					return
				}
				times = append(times, time.Since(began))
			}
			mu.Lock()
			all = append(all, times...)
			mu.Unlock()
		})
	}
	wg.Wait()
	elapsed := time.Since(start)
	if failed != nil {
		return Load{}, failed
	}
	if err := ctx.Err(); err != nil {
		return Load{}, err
	}
	return Load{PerSecond: float64(len(all)) / elapsed.Seconds(), P99: P99(all)}, nil
}
