package oracle;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/** Writes a Lucene index with the two fields of an Anserini index that decide a ranking. */
final class Indexing {
  static final String ID = "id";
  static final String CONTENTS = "contents";

  private Indexing() {}

  static void index(Path corpus, Path folder) throws IOException {
    FieldType contentsType = new FieldType();
    contentsType.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
    contentsType.setTokenized(true);
    contentsType.freeze();

    IndexWriterConfig config = new IndexWriterConfig(Analysis.english());
    config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
    config.setRAMBufferSizeMB(512);
    try (FSDirectory directory = FSDirectory.open(folder);
        IndexWriter writer = new IndexWriter(directory, config);
        BufferedReader in = open(corpus)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.isBlank()) {
          continue;
        }
        Map<String, String> fields = Json.object(line);
        String contents = contents(fields);
        if (contents.trim().isEmpty()) {
          continue; // Anserini does not index blank documents
        }
        Document document = new Document();
        document.add(new BinaryDocValuesField(ID, new BytesRef(fields.get("id"))));
        document.add(new Field(CONTENTS, contents, contentsType));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
  }

  private static String contents(Map<String, String> fields) {
    String contents = fields.get("contents");
    if (contents != null) {
      return contents;
    }
    String title = fields.getOrDefault("title", "");
    String text = fields.getOrDefault("text", "");
    return title.isEmpty() ? text : title + "\n" + text;
  }

  static BufferedReader open(Path path) throws IOException {
    InputStream in = Files.newInputStream(path);
    if (path.toString().endsWith(".gz")) {
      in = new GZIPInputStream(in, 1 << 16);
    }
    return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
  }
}
