package peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/** Builds an index of one segment over terms that are already analysed. */
final class Indexing {
  static final String ID = "id";
  static final String CONTENTS = "contents";

  private Indexing() {}

  static void index(Path tokens, Path folder) throws IOException {
    FieldType contents = new FieldType();
    contents.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
    contents.setTokenized(true);
    contents.freeze();
    IndexWriterConfig config = new IndexWriterConfig(new WhitespaceAnalyzer());
    config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
    config.setRAMBufferSizeMB(1024);
    try (FSDirectory directory = FSDirectory.open(folder);
        IndexWriter writer = new IndexWriter(directory, config);
        BufferedReader in = Files.newBufferedReader(tokens)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        int tab = line.indexOf('\t');
        Document document = new Document();
        document.add(new BinaryDocValuesField(ID, new BytesRef(line.substring(0, tab))));
        document.add(new Field(CONTENTS, line.substring(tab + 1), contents));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
  }
}
