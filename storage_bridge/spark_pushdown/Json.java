package zoe.pushdown;

/** Text of JSON, in ASCII, as headers need it. */
final class Json {
    private Json() {}

    static String text(String value) {
        StringBuilder made = new StringBuilder("\"");
        for (int at = 0; at < value.length(); at++) {
            char sign = value.charAt(at);
            if (sign == '"' || sign == '\\') {
                made.append('\\').append(sign);
            } else if (sign < 0x20 || sign > 0x7e) {
                made.append(String.format("\\u%04x", (int) sign));
            } else {
                made.append(sign);
            }
        }
        return made.append('"').toString();
    }
}
