package oracle;

import java.util.HashMap;
import java.util.Map;

/** As much JSON as the oracle's inputs have: strings, and flat objects. */
final class Json {
  private final String text;
  private int pos;

  private Json(String text) {
    this.text = text;
  }

  /** Decodes a line that is one string. */
  static String string(String line) {
    Json json = new Json(line);
    json.skipSpace();
    return json.readString();
  }

  /** Decodes a line that is one object; values other than strings become their JSON text. */
  static Map<String, String> object(String line) {
    Json json = new Json(line);
    Map<String, String> fields = new HashMap<>();
    json.expect('{');
    json.skipSpace();
    while (json.text.charAt(json.pos) != '}') {
      String key = json.readString();
      json.expect(':');
      json.skipSpace();
      fields.put(key, json.readValue());
      json.skipSpace();
      if (json.text.charAt(json.pos) == ',') {
        json.pos++;
        json.skipSpace();
      }
    }
    return fields;
  }

  static void quote(StringBuilder out, CharSequence value) {
    out.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  private String readValue() {
    if (text.charAt(pos) == '"') {
      return readString();
    }
    int start = pos;
    int depth = 0;
    while (depth > 0 || ",}".indexOf(text.charAt(pos)) < 0) {
      char c = text.charAt(pos);
      if (c == '"') {
        readString();
        continue;
      }
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      pos++;
    }
    return text.substring(start, pos).strip();
  }

  private String readString() {
    expect('"');
    StringBuilder value = new StringBuilder();
    for (char c = text.charAt(pos++); c != '"'; c = text.charAt(pos++)) {
      value.append(c == '\\' ? readEscape() : c);
    }
    return value.toString();
  }

  private char readEscape() {
    char c = text.charAt(pos++);
    switch (c) {
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u':
        pos += 4;
        return (char) Integer.parseInt(text.substring(pos - 4, pos), 16);
      default:
        return c;
    }
  }

  private void expect(char c) {
    skipSpace();
    if (text.charAt(pos) != c) {
      throw new IllegalArgumentException(
          "expected " + c + " at " + pos + " of " + text.substring(0, Math.min(80, text.length())));
    }
    pos++;
  }

  private void skipSpace() {
    while (pos < text.length() && text.charAt(pos) <= ' ') {
      pos++;
    }
  }
}
