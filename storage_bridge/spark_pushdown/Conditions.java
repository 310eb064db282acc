package zoe.pushdown;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/**
 * Translates Catalyst's filters into a condition of the store that holds for at least the rows that they keep.
 *
 * <p>What has no translation stays with Spark, which applies all filters again above the scan. The store reads a text
 * that is compared as a number in every way that a cast may, and keeps each row of which it is not certain. Under ANSI
 * mode a cast of a row that is left out could fail in Spark, so that no cast is translated.
 */
final class Conditions {
    private static final int TERMS_MAX = 150;
    private static final int LENGTH_MAX = 3000;

    private final Map<ExprId, Integer> positions = new HashMap<>();
    private final StructType schema;
    /** Whether casts of texts to numbers are translated. */
    private final boolean casts;
    private final Map<Integer, String> types = new HashMap<>();
    private final Map<Integer, Boolean> untyped = new HashMap<>();
    private int terms;

    Conditions(StructType schema, Seq<AttributeReference> output, boolean casts) {
        this.schema = schema;
        this.casts = casts;
        Map<String, Integer> byName = new HashMap<>();
        for (int position = 0; position < schema.length(); position++) {
            byName.put(schema.fields()[position].name(), position);
        }
        for (AttributeReference attribute : JavaConverters.seqAsJavaList(output)) {
            Integer position = byName.get(attribute.name());
            if (position != null && schema.fields()[position].dataType().equals(attribute.dataType())) {
                positions.put(attribute.exprId(), position);
            }
        }
    }

    /** Returns the condition for the conjunction of these filters. */
    Where where(List<Expression> filters) {
        StringBuilder made = new StringBuilder();
        Set<ExprId> compared = new HashSet<>();
        for (Expression filter : filters) {
            compared.addAll(comparedByAll(filter));
        }
        terms = 0;
        for (Expression filter : filters) {
            boolean implied = filter instanceof IsNotNull && filter.children().apply(0) instanceof AttributeReference
                && compared.contains(((AttributeReference) filter.children().apply(0)).exprId());
            String text = filter.deterministic() && !implied ? wider(filter) : null;
            if (text != null && terms <= TERMS_MAX && made.length() + text.length() < LENGTH_MAX) {
                made.append(made.length() > 0 ? " and " : "").append(text);
            }
        }
        Map<String, String> named = new HashMap<>();
        types.forEach((position, type) -> {
            if (!untyped.containsKey(position)) {
                named.put("c" + position, type);
            }
        });
        return made.length() == 0 ? Where.NONE : new Where(made.toString(), named);
    }

    /** Returns the column that a pushed filter compares, which is not null where it holds; Catalyst names it again. */
    private Set<ExprId> comparedByAll(Expression filter) {
        if (!(filter instanceof BinaryComparison) || filter.references().size() != 1 || wider(filter) == null) {
            return Set.of();
        }
        return Set.of(filter.references().toSeq().apply(0).exprId());
    }

    /** Returns a condition that holds whenever the expression does; null if there is none. */
    private String wider(Expression expression) {
        if (expression instanceof And) {
            String left = wider(((And) expression).left());
            String right = wider(((And) expression).right());
            return left == null ? right : right == null ? left : "(" + left + " and " + right + ")";
        }
        if (expression instanceof Or) {
            String left = wider(((Or) expression).left());
            String right = left == null ? null : wider(((Or) expression).right());
            return right == null ? null : "(" + left + " or " + right + ")";
        }
        return same(expression);
    }

    /** Returns a condition that is true, false or null with the expression; null if there is none. */
    private String same(Expression expression) {
        if (expression instanceof And || expression instanceof Or) {
            String left = same(expression.children().apply(0));
            String right = left == null ? null : same(expression.children().apply(1));
            String word = expression instanceof And ? " and " : " or ";
            return right == null ? null : "(" + left + word + right + ")";
        }
        if (expression instanceof Not) {
            String inner = same(((Not) expression).child());
            return inner == null ? null : "not (" + inner + ")";
        }
        if (expression instanceof BinaryComparison) {
            return comparison((BinaryComparison) expression);
        }
        if (expression instanceof In) {
            return membership(((In) expression).value(), JavaConverters.seqAsJavaList(((In) expression).list()));
        }
        if (expression instanceof InSet) {
            List<Expression> values = new ArrayList<>();
            DataType type = ((InSet) expression).child().dataType();
            JavaConverters.setAsJavaSet(((InSet) expression).hset()).forEach(value -> values.add(new Literal(value, type)));
            return membership(((InSet) expression).child(), values);
        }
        if (expression instanceof IsNull || expression instanceof IsNotNull) {
            Integer position = positionOf(expression.children().apply(0));
            if (position == null || !typed(position)) {
                return null;
            }
            terms++;
            return "c" + position + (expression instanceof IsNull ? " is null" : " is not null");
        }
        if (expression instanceof Attribute && expression.dataType() instanceof BooleanType) {
            Integer position = positionOf(expression);
            return position == null || !typed(position) ? null : term(position, "=", "'true'");
        }
        return null;
    }

    private String comparison(BinaryComparison comparison) {
        String operator = operatorOf(comparison);
        Expression left = comparison.left();
        Expression right = comparison.right();
        if (left instanceof Literal) {
            left = comparison.right();
            right = comparison.left();
            operator = operator == null ? null : mirrored(operator);
        }
        if (operator == null || !(right instanceof Literal)) {
            return null;
        }
        return compared(left, operator, (Literal) right);
    }

    private String membership(Expression value, List<Expression> list) {
        List<String> tests = new ArrayList<>();
        for (Expression entry : list) {
            String test = entry instanceof Literal ? compared(value, "=", (Literal) entry) : null;
            if (test == null || tests.size() > TERMS_MAX) {
                return null;
            }
            tests.add(test);
        }
        return tests.isEmpty() ? null : "(" + String.join(" or ", tests) + ")";
    }

    private String compared(Expression value, String operator, Literal literal) {
        Expression inner = value instanceof Cast ? ((Cast) value).child() : value;
        Integer position = positionOf(inner);
        if (position == null || literal.value() == null) {
            return null;
        }
        DataType own = schema.fields()[position].dataType();
        DataType meant = value.dataType();
        String text = Literals.text(literal);
        if (text == null) {
            return null;
        }
        if (own instanceof StringType && meant instanceof StringType) {
            return typed(position) ? term(position, operator, text) : null;
        }
        boolean numeric = meant instanceof IntegralType || meant instanceof DoubleType;
        if (own instanceof StringType) {
            if (!casts || !numeric) {
                return null;
            }
            untyped.put(position, true);
            return term(position, operator, text);
        }
        return comparedAlike(own, meant) && typed(position) ? term(position, operator, text) : null;
    }

    /** Returns whether a cast between the types changes no value. */
    private static boolean comparedAlike(DataType own, DataType meant) {
        if (own instanceof BooleanType) {
            return false;
        }
        if (own.equals(meant)) {
            return !(own instanceof FloatType);
        }
        if (own instanceof IntegralType) {
            boolean small = own.defaultSize() <= 4;
            return meant instanceof IntegralType ? own.defaultSize() <= meant.defaultSize() : small && meant instanceof DoubleType;
        }
        if (own instanceof DecimalType && meant instanceof DecimalType) {
            DecimalType from = (DecimalType) own;
            DecimalType to = (DecimalType) meant;
            return to.scale() >= from.scale() && to.precision() - to.scale() >= from.precision() - from.scale();
        }
        return false;
    }

    private Integer positionOf(Expression expression) {
        return expression instanceof AttributeReference ? positions.get(((AttributeReference) expression).exprId()) : null;
    }

    /** Notes the column's type for the store; returns whether the store knows it. */
    private boolean typed(int position) {
        DataType type = schema.fields()[position].dataType();
        boolean known = type instanceof StringType || type instanceof IntegralType || type instanceof DoubleType
            || type instanceof DecimalType || type instanceof BooleanType || type instanceof DateType;
        if (known) {
            types.put(position, type.catalogString());
        }
        return known;
    }

    private String term(int position, String operator, String literal) {
        terms++;
        return "c" + position + " " + operator + " " + literal;
    }

    private static String operatorOf(BinaryComparison comparison) {
        if (comparison instanceof EqualTo) {
            return "=";
        }
        if (comparison instanceof GreaterThan) {
            return ">";
        }
        if (comparison instanceof GreaterThanOrEqual) {
            return ">=";
        }
        if (comparison instanceof LessThan) {
            return "<";
        }
        return comparison instanceof LessThanOrEqual ? "<=" : null;
    }

    private static String mirrored(String operator) {
        return operator.startsWith("<") ? ">" + operator.substring(1)
            : operator.startsWith(">") ? "<" + operator.substring(1) : operator;
    }
}
