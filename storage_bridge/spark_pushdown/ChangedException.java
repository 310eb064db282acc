package zoe.pushdown;

/** An object was replaced after the query had listed it. */
final class ChangedException extends Exception {
    private static final long serialVersionUID = 1;

    ChangedException(String message) {
        super(message);
    }
}
