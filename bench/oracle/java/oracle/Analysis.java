package oracle;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.StopFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.en.EnglishPossessiveFilter;
import org.apache.lucene.analysis.en.PorterStemFilter;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;

/** Lucene's tokenizer, Anserini's default chain, and what they make of lines of text. */
final class Analysis {
  private Analysis() {}

  /** The chain that Anserini uses for English. */
  static Analyzer english() {
    return new Analyzer() {
      @Override
      protected TokenStreamComponents createComponents(String field) {
        Tokenizer source = new StandardTokenizer();
        TokenStream stream = new LowerCaseFilter(new EnglishPossessiveFilter(source));
        stream = new StopFilter(stream, EnglishAnalyzer.ENGLISH_STOP_WORDS_SET);
        return new TokenStreamComponents(source, new PorterStemFilter(stream));
      }
    };
  }

  /** The tokenizer alone. */
  static Analyzer rawTokens() {
    return new Analyzer() {
      @Override
      protected TokenStreamComponents createComponents(String field) {
        return new TokenStreamComponents(new StandardTokenizer());
      }
    };
  }

  /** For every JSON string read: an array of term, start, end, offsets in UTF-16 units. */
  static void tokens(BufferedReader in, PrintWriter out, Analyzer analyzer) throws IOException {
    StringBuilder line = new StringBuilder();
    for (String input = in.readLine(); input != null; input = in.readLine()) {
      line.setLength(0);
      line.append('[');
      try (TokenStream stream = analyzer.tokenStream("contents", Json.string(input))) {
        CharTermAttribute term = stream.addAttribute(CharTermAttribute.class);
        OffsetAttribute offset = stream.addAttribute(OffsetAttribute.class);
        stream.reset();
        while (stream.incrementToken()) {
          line.append(line.length() > 1 ? "," : "");
          Json.quote(line, term);
          line.append(',').append(offset.startOffset()).append(',').append(offset.endOffset());
        }
        stream.end();
      }
      out.println(line.append(']'));
    }
  }

  /** For every line read: what the stem filter makes of it as one token. */
  static void stems(BufferedReader in, PrintWriter out) throws IOException {
    OneToken source = new OneToken();
    try (PorterStemFilter filter = new PorterStemFilter(source)) {
      for (String word = in.readLine(); word != null; word = in.readLine()) {
        source.set(word);
        filter.incrementToken();
        out.println(filter.getAttribute(CharTermAttribute.class));
      }
    }
  }

  /** A stream of the one token it was last given. */
  private static final class OneToken extends TokenStream {
    private final CharTermAttribute term = addAttribute(CharTermAttribute.class);
    private String next;

    void set(String word) {
      next = word;
    }

    @Override
    public boolean incrementToken() {
      clearAttributes();
      term.append(next);
      return true;
    }
  }
}
