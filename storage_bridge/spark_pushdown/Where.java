package zoe.pushdown;

import java.io.Serializable;
import java.util.Map;
import java.util.TreeMap;

/** A condition in the language of the store, which holds for at least the rows that the query keeps. */
final class Where implements Serializable {
    private static final long serialVersionUID = 1;
    static final Where NONE = new Where("", new TreeMap<>());

    final String text;
    private final TreeMap<String, String> types;

    Where(String text, Map<String, String> types) {
        this.text = text;
        this.types = new TreeMap<>(types);
    }

    boolean isEmpty() {
        return text.isEmpty();
    }

    String types() {
        StringBuilder made = new StringBuilder("{");
        types.forEach((column, type) -> {
            made.append(made.length() > 1 ? "," : "").append(Json.text(column)).append(':').append(Json.text(type));
        });
        return made.append('}').toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Where && ((Where) other).text.equals(text) && ((Where) other).types.equals(types);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }
}
