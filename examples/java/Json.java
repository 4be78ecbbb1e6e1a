import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes JSON, which Java's own library does not. Numbers are BigDecimal, so that money is never a double.
 * With a library such as Jackson, switch on USE_BIG_DECIMAL_FOR_FLOATS and delete this.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** A Map, List, String, BigDecimal, Boolean or null. IllegalArgumentException for what is not JSON. */
    static Object read(String text) {
        Json json = new Json(text);
        try {
            Object value = json.value(0);
            json.blanks();
            if (json.at == text.length()) {
                return value;
            }
        } catch (IndexOutOfBoundsException | NumberFormatException error) {
            throw new IllegalArgumentException("no JSON", error);
        }
        throw json.wrong();
    }

    /** Maps and texts, which is all that a request has. */
    static String write(Object value) {
        if (value instanceof Map<?, ?> map) {
            List<String> members = new ArrayList<>();
            map.forEach((name, member) -> members.add(write(name) + ":" + write(member)));
            return "{" + String.join(",", members) + "}";
        }
        StringBuilder written = new StringBuilder("\"");
        for (char c : value.toString().toCharArray()) {
            written.append(c < ' ' || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : c);
        }
        return written.append('"').toString();
    }

    private Object value(int depth) {
        blanks();
        char c = text.charAt(at);
        if (depth > 64) {
            throw wrong();
        }
        return switch (c) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", Boolean.TRUE);
            case 'f' -> word("false", Boolean.FALSE);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        blanks();
        if (taken('}')) {
            return members;
        }
        do {
            blanks();
            String name = string();
            blanks();
            need(':');
            members.put(name, value(depth + 1));
            blanks();
        } while (taken(','));
        need('}');
        return members;
    }

    private List<Object> array(int depth) {
        List<Object> items = new ArrayList<>();
        at++;
        blanks();
        if (taken(']')) {
            return items;
        }
        do {
            items.add(value(depth + 1));
            blanks();
        } while (taken(','));
        need(']');
        return items;
    }

    private String string() {
        StringBuilder read = new StringBuilder();
        need('"');
        while (!taken('"')) {
            char c = text.charAt(at++);
            if (c != '\\') {
                read.append(c);
                continue;
            }
            char escape = text.charAt(at++);
            if (escape == 'u') {
                read.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                at += 4;
            } else {
                int place = "\"\\/bfnrt".indexOf(escape);
                read.append("\"\\/\b\f\n\r\t".charAt(place));
            }
        }
        return read.toString();
    }

    private BigDecimal number() {
        int start = at;
        while (at < text.length() && "+-0123456789.eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return new BigDecimal(text.substring(start, at));
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong();
        }
        at += word.length();
        return value;
    }

    private void blanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean taken(char c) {
        boolean isThere = at < text.length() && text.charAt(at) == c;
        at += isThere ? 1 : 0;
        return isThere;
    }

    private void need(char c) {
        if (!taken(c)) {
            throw wrong();
        }
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at);
    }
}
