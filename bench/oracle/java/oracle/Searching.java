package oracle;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.MultiDocValues;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;

/** Runs a query file at several settings, as Anserini's bag-of-words search does. */
final class Searching {
  /** Hits that a summary line shows. */
  private static final int SHOWN = 3;

  /** Bytes of the digest that a summary line shows. */
  private static final int DIGEST = 8;

  private final Path index;
  private final Path queries;
  private final int depth;
  private final List<String> settings;

  /** Settings are k1 and b with a comma between them, written as they will be printed. */
  Searching(Path index, Path queries, int depth, List<String> settings) {
    this.index = index;
    this.queries = queries;
    this.depth = depth;
    this.settings = settings;
  }

  private record Topic(String id, String text) {}

  private record Hit(String docid, int bits) {
    String line(int rank) {
      return docid + "\t" + rank + "\t" + HexFormat.of().toHexDigits(bits) + "\n";
    }
  }

  private interface Visitor {
    void ranking(String setting, String queryId, List<Hit> hits) throws IOException;
  }

  /** Prints k1, b, query, docid, rank and the bits of the score, for every hit. */
  void hits(PrintWriter out) throws IOException {
    each(
        reader -> {},
        (setting, queryId, hits) -> {
          String start = setting.replace(',', '\t') + "\t" + queryId + "\t";
          for (int i = 0; i < hits.size(); i++) {
            out.print(start + hits.get(i).line(i + 1));
          }
        });
  }

  /** Prints a header of collection statistics, then a line for every setting and query. */
  void summary(PrintWriter out) throws IOException {
    each(
        reader -> out.println(statistics(reader)),
        (setting, queryId, hits) -> {
          MessageDigest digest = sha256();
          for (int i = 0; i < hits.size(); i++) {
            digest.update(hits.get(i).line(i + 1).getBytes(StandardCharsets.UTF_8));
          }
          String hash = HexFormat.of().formatHex(digest.digest(), 0, DIGEST);
          StringBuilder line = new StringBuilder(setting.replace(',', '\t'));
          line.append('\t').append(queryId).append('\t').append(hits.size()).append('\t').append(hash);
          for (Hit hit : hits.subList(0, Math.min(SHOWN, hits.size()))) {
            line.append('\t').append(hit.docid);
            line.append('\t').append(HexFormat.of().toHexDigits(hit.bits));
          }
          out.println(line);
        });
  }

  private interface ReaderVisitor {
    void reader(DirectoryReader reader) throws IOException;
  }

  private void each(ReaderVisitor start, Visitor visitor) throws IOException {
    IndexSearcher.setMaxClauseCount(Integer.MAX_VALUE);
    List<Topic> topics = topics();
    try (FSDirectory directory = FSDirectory.open(index);
        DirectoryReader reader = DirectoryReader.open(directory);
        Analyzer analyzer = Analysis.english()) {
      start.reader(reader);
      IndexSearcher searcher = new IndexSearcher(reader);
      for (String setting : settings) {
        String[] k1b = setting.split(",");
        searcher.setSimilarity(
            new BM25Similarity(Float.parseFloat(k1b[0]), Float.parseFloat(k1b[1])));
        for (Topic topic : topics) {
          visitor.ranking(setting, topic.id, search(searcher, query(analyzer, topic.text)));
        }
      }
    }
  }

  private List<Topic> topics() throws IOException {
    List<Topic> topics = new ArrayList<>();
    try (BufferedReader in = Indexing.open(queries)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        int tab = line.indexOf('\t');
        if (tab > 0) {
          topics.add(new Topic(line.substring(0, tab), line.substring(tab + 1)));
        }
      }
    }
    return topics;
  }

  /** One optional clause for every distinct term, boosted by how often the query has it. */
  private static Query query(Analyzer analyzer, String text) throws IOException {
    Map<String, Integer> counts = new LinkedHashMap<>();
    try (TokenStream stream = analyzer.tokenStream(Indexing.CONTENTS, text)) {
      CharTermAttribute term = stream.addAttribute(CharTermAttribute.class);
      stream.reset();
      while (stream.incrementToken()) {
        counts.merge(term.toString(), 1, Integer::sum);
      }
      stream.end();
    }
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    for (Map.Entry<String, Integer> entry : counts.entrySet()) {
      Query term = new TermQuery(new Term(Indexing.CONTENTS, entry.getKey()));
      query.add(new BoostQuery(term, entry.getValue()), BooleanClause.Occur.SHOULD);
    }
    return query.build();
  }

  private List<Hit> search(IndexSearcher searcher, Query query) throws IOException {
    Sort order =
        new Sort(SortField.FIELD_SCORE, new SortField(Indexing.ID, SortField.Type.STRING_VAL));
    int k = Math.min(depth, searcher.getIndexReader().maxDoc());
    List<Hit> hits = new ArrayList<>();
    for (ScoreDoc hit : searcher.search(query, k, order, true).scoreDocs) {
      hits.add(new Hit(docid(searcher, hit.doc), Float.floatToRawIntBits(hit.score)));
    }
    return hits;
  }

  private static String docid(IndexSearcher searcher, int ordinal) throws IOException {
    BinaryDocValues ids = MultiDocValues.getBinaryValues(searcher.getIndexReader(), Indexing.ID);
    if (!ids.advanceExact(ordinal)) {
      throw new IllegalStateException("document " + ordinal + " has no id");
    }
    return ids.binaryValue().utf8ToString();
  }

  private static String statistics(DirectoryReader reader) throws IOException {
    Terms terms = MultiTerms.getTerms(reader, Indexing.CONTENTS);
    return "#\tdocuments\t" + terms.getDocCount()
        + "\ttokens\t" + terms.getSumTotalTermFreq()
        + "\tpostings\t" + terms.getSumDocFreq();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
