package peers;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.search.TopDocs;

/** Times queries one by one, and many in a closed loop. */
final class Timing {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** Where results go, so that making them is not optimised away. */
  private static volatile Object sink;

  private Timing() {}

  static String times(Engine engine, List<Main.Query> queries, int k, boolean named) throws Exception {
    StringBuilder out = new StringBuilder("times");
    for (Main.Query query : queries) {
      long thread = THREADS.getCurrentThreadCpuTime();
      long start = System.nanoTime();
      TopDocs found = engine.search(query.terms(), k);
      if (named) {
        sink = engine.docids(found);
      }
      long wall = System.nanoTime() - start;
      out.append(' ').append(wall).append(':').append(THREADS.getCurrentThreadCpuTime() - thread);
    }
    return out.toString();
  }

  static String load(Engine engine, List<Main.Query> queries, int k, int workers, double seconds)
      throws Exception {
    AtomicInteger next = new AtomicInteger();
    long start = System.nanoTime();
    long end = start + (long) (seconds * 1e9);
    Callable<long[]> worker =
        () -> {
          long[] times = new long[1024];
          int n = 0;
          for (long begin = System.nanoTime(); begin < end; begin = System.nanoTime()) {
            engine.docids(engine.search(queries.get((next.getAndIncrement() & Integer.MAX_VALUE) % queries.size()).terms(), k));
            times = n == times.length ? Arrays.copyOf(times, 2 * n) : times;
            times[n++] = System.nanoTime() - begin;
          }
          return Arrays.copyOf(times, n);
        };
    ExecutorService pool = Executors.newFixedThreadPool(workers);
    try {
      List<Future<long[]>> running = new ArrayList<>();
      for (int i = 0; i < workers; i++) {
        running.add(pool.submit(worker));
      }
      long[] all = new long[0];
      for (Future<long[]> future : running) {
        long[] times = future.get();
        all = Arrays.copyOf(all, all.length + times.length);
        System.arraycopy(times, 0, all, all.length - times.length, times.length);
      }
      double elapsed = (System.nanoTime() - start) / 1e9;
      Arrays.sort(all);
      return "load " + all.length / elapsed + " " + all[(int) Math.ceil(all.length * 0.99) - 1] / 1e9;
    } finally {
      pool.shutdown();
    }
  }
}
