package oracle;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.lucene.util.Version;

/** The command line of the oracle: one verb, then its arguments. */
public final class Main {
  private static final String USAGE =
      """
      usage: oracle VERB ARGUMENTS
        version                                  the version of Lucene
        tokens  < strings.jsonl                  a JSON string a line -> its raw tokens
        analyze < strings.jsonl                  a JSON string a line -> its English terms
        stem    < words.txt                      a word a line -> its stem
        index   CORPUS INDEX                     corpus.jsonl or .jsonl.gz -> a new index folder
        search  INDEX QUERIES DEPTH K1,B ...     every hit: k1 b qid docid rank bits
        summary INDEX QUERIES DEPTH K1,B ...     one line a query, see README.md
      """;

  private Main() {}

  public static void main(String[] args) throws IOException {
    if (args.length == 0) {
      System.err.print(USAGE);
      System.exit(2);
    }
    try (PrintWriter out = stdout()) {
      run(args, out);
    }
  }

  private static void run(String[] args, PrintWriter out) throws IOException {
    switch (args[0]) {
      case "version" -> out.println(Version.LATEST);
      case "tokens" -> Analysis.tokens(stdin(), out, Analysis.rawTokens());
      case "analyze" -> Analysis.tokens(stdin(), out, Analysis.english());
      case "stem" -> Analysis.stems(stdin(), out);
      case "index" -> Indexing.index(Path.of(args[1]), Path.of(args[2]));
      case "search" -> searching(args).hits(out);
      case "summary" -> searching(args).summary(out);
      default -> {
        System.err.print(USAGE);
        System.exit(2);
      }
    }
  }

  private static Searching searching(String[] args) throws IOException {
    return new Searching(
        Path.of(args[1]),
        Path.of(args[2]),
        Integer.parseInt(args[3]),
        Arrays.asList(args).subList(4, args.length));
  }

  private static BufferedReader stdin() {
    return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  }

  private static PrintWriter stdout() {
    FileOutputStream stream = new FileOutputStream(FileDescriptor.out);
    return new PrintWriter(
        new BufferedWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8), 1 << 16)) {
      @Override
      public void println() {
        write('\n');
      }
    };
  }
}
