package peers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.anserini.search.ScoredDoc;
import io.anserini.search.SimpleSearcher;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The work of the paper's search server for one call of its search tool, without its sockets: a ranking by
 * Anserini, for every hit another look-up by docid and the JSON of its stored document (the server reads it
 * for a reranking that is switched off), and excerpts of the first fifty hits around the first word of the
 * query. See README.md for the protocol.
 */
public final class Server {
  private static final int EXCERPTS = 50;
  private static final int LENGTH = 220;
  private static final ObjectMapper JSON = new ObjectMapper();

  private Server() {}

  public static void main(String[] args) throws Exception {
    Map<String, List<String>> sets = new HashMap<>();
    for (int i = 4; i < args.length; i++) {
      int equals = args[i].indexOf('=');
      sets.put(args[i].substring(0, equals), Files.readAllLines(Path.of(args[i].substring(equals + 1))));
    }
    try (SimpleSearcher searcher = new SimpleSearcher(args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      searcher.set_bm25(Float.parseFloat(args[2]), Float.parseFloat(args[3]));
      say("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] command = line.split(" ");
        try {
          say(command[0].equals("tool") ? times(searcher, sets.get(command[1]), Integer.parseInt(command[2])) : "error unknown command");
        } catch (Exception e) {
          say("error " + e);
        }
      }
    }
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private static String times(SimpleSearcher searcher, List<String> queries, int k) throws Exception {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    StringBuilder out = new StringBuilder("times");
    for (String line : queries) {
      String query = line.substring(line.indexOf('\t') + 1);
      long thread = threads.getCurrentThreadCpuTime();
      long start = System.nanoTime();
      call(searcher, query, k);
      long wall = System.nanoTime() - start;
      out.append(' ').append(wall).append(':').append(threads.getCurrentThreadCpuTime() - thread);
    }
    return out.toString();
  }

  private static int call(SimpleSearcher searcher, String query, int k) throws Exception {
    ScoredDoc[] hits = searcher.search(query, k);
    int characters = 0;
    for (ScoredDoc hit : hits) {
      characters += JSON.readTree(searcher.doc_raw(hit.docid)).size();
    }
    for (int i = 0; i < Math.min(EXCERPTS, hits.length); i++) {
      JsonNode document = JSON.readTree(searcher.doc_raw(hits[i].docid));
      characters += excerpt(document.path("contents").asText(), query).length();
    }
    return characters;
  }

  private static String excerpt(String text, String query) {
    String lower = text.toLowerCase(Locale.ROOT);
    int first = -1;
    for (String word : query.toLowerCase(Locale.ROOT).split("[^a-z0-9]+")) {
      int at = word.length() < 2 ? -1 : lower.indexOf(word);
      if (at >= 0 && (first < 0 || at < first)) {
        first = at;
      }
    }
    int start = Math.max(0, first - LENGTH / 4);
    return text.substring(start, Math.min(text.length(), start + LENGTH)).strip();
  }
}
