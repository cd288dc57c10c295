package peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lucene behind the protocol that all engines of the comparison speak; see README.md. */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws Exception {
    switch (args.length == 0 ? "" : args[0]) {
      case "index" -> Indexing.index(Path.of(args[1]), Path.of(args[2]));
      case "first" -> first(args);
      case "serve" -> serve(args);
      default -> {
        System.err.println(
            """
            usage: index TOKENS INDEX
                   first INDEX K1 B TERMS          one ranking of ten, to time the start of a process
                   serve INDEX K1 B SET=QUERIES ...""");
        System.exit(2);
      }
    }
  }

  private static void first(String[] args) throws IOException {
    try (Engine engine = open(args)) {
      System.out.println(String.join(" ", engine.docids(engine.search(args[4].split(" "), 10))));
    }
  }

  private static Engine open(String[] args) throws IOException {
    return new Engine(Path.of(args[1]), Float.parseFloat(args[2]), Float.parseFloat(args[3]));
  }

  /** A query of a set: its id and its terms. */
  record Query(String id, String[] terms) {}

  private static void serve(String[] args) throws Exception {
    Map<String, List<Query>> sets = new HashMap<>();
    for (int i = 4; i < args.length; i++) {
      int equals = args[i].indexOf('=');
      sets.put(args[i].substring(0, equals), queries(Path.of(args[i].substring(equals + 1))));
    }
    try (Engine engine = open(args);
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      PrintStream out = System.out;
      out.println("ready");
      out.flush();
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String answer;
        try {
          answer = answer(engine, sets, line.split(" "));
        } catch (Exception e) {
          answer = "error " + e;
        }
        out.println(answer);
        out.flush();
      }
    }
  }

  private static List<Query> queries(Path path) throws IOException {
    List<Query> queries = new ArrayList<>();
    for (String line : Files.readAllLines(path)) {
      int tab = line.indexOf('\t');
      queries.add(new Query(line.substring(0, tab), line.substring(tab + 1).split(" ")));
    }
    return queries;
  }

  private static String answer(Engine engine, Map<String, List<Query>> sets, String[] command)
      throws Exception {
    List<Query> queries = sets.get(command[1]);
    int k = Integer.parseInt(command[2]);
    return switch (command[0]) {
      case "run" -> Timing.times(engine, queries, k, true);
      case "rank" -> Timing.times(engine, queries, k, false);
      case "load" -> Timing.load(engine, queries, k, Integer.parseInt(command[3]), Double.parseDouble(command[4]));
      case "hits" -> {
        StringBuilder lines = new StringBuilder();
        for (Query query : queries) {
          lines.append(query.id).append('\t');
          lines.append(String.join(" ", engine.docids(engine.search(query.terms, k)))).append('\n');
        }
        Files.writeString(Path.of(command[3]), lines);
        yield "ok";
      }
      default -> "error command " + command[0] + " is unknown";
    };
  }
}
