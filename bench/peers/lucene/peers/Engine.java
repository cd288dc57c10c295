package peers;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.MMapDirectory;

/** An open index of one segment. */
final class Engine implements Closeable {
  private final MMapDirectory directory;
  private final DirectoryReader reader;
  private final IndexSearcher searcher;

  Engine(Path index, float k1, float b) throws IOException {
    directory = new MMapDirectory(index);
    reader = DirectoryReader.open(directory);
    if (reader.leaves().size() != 1) {
      throw new IllegalStateException(reader.leaves().size() + " segments, want one");
    }
    IndexSearcher.setMaxClauseCount(Integer.MAX_VALUE);
    searcher = new IndexSearcher(reader);
    searcher.setQueryCache(null);
    searcher.setSimilarity(new BM25Similarity(k1, b));
  }

  /** The best k documents by score; their number is counted no further than k. */
  TopDocs search(String[] terms, int k) throws IOException {
    return searcher.search(query(terms), new TopScoreDocCollectorManager(k, null, k));
  }

  private static Query query(String[] terms) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    for (String term : terms) {
      counts.merge(term, 1, Integer::sum);
    }
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    counts.forEach(
        (term, count) -> {
          Query clause = new TermQuery(new Term(Indexing.CONTENTS, term));
          query.add(count == 1 ? clause : new BoostQuery(clause, count), BooleanClause.Occur.SHOULD);
        });
    return query.build();
  }

  /** The docids of hits, best first. They are read in the order of the documents, as Lucene likes it. */
  String[] docids(TopDocs found) throws IOException {
    long[] order = new long[found.scoreDocs.length];
    for (int i = 0; i < order.length; i++) {
      order[i] = (long) found.scoreDocs[i].doc << 32 | i;
    }
    Arrays.sort(order);
    String[] docids = new String[order.length];
    BinaryDocValues values = reader.leaves().get(0).reader().getBinaryDocValues(Indexing.ID);
    for (long o : order) {
      values.advanceExact((int) (o >>> 32));
      docids[(int) o] = values.binaryValue().utf8ToString();
    }
    return docids;
  }

  @Override
  public void close() throws IOException {
    reader.close();
    directory.close();
  }
}
