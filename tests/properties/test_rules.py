"""Rules of the object store: a written rule reads the same, and chains follow the documented rule."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage_controller.rules.dsl import RuleError, parse_rule, show_rule
from storage_filters.rules.chains import Chain, Outcome, chain_of
from storage_filters.rules.documents import RuleBook, book_document, read_book
from storage_filters.rules.rules import Action, AllOf, AnyOf, Comparison, Condition, Operator, Rule, Target, TargetKind
from storage_filters.wsgi.object_requests import ObjectRequest

PRINTED = [
    "FOR TENANT T1 WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION WITH TYPE=LZ4, SET ENCRYPTION",
    "FOR CONTAINER C1 WHEN GETS_SEC > 5 AND OBJECT_SIZE<10M DO SET CACHING ON PROXY TRANSIENT",
    "FOR TENANT T2 DO SET BANDWIDTH WITH MIN_BW=30MBps",
    "FOR TENANT T1 WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION ON PROXY, SET ENCRYPTION",
    "FOR CONTAINER C1 WHEN GETS_SEC > 5 SET CACHING",
    "FOR TENANT T1 SET BANDWIDTH WITH PARAM1=30MBps",
]
NAMES = st.text("abcXYZ019_-.é", min_size=1, max_size=6)
PLACES = st.text("ab/ c.,:=(", min_size=1, max_size=8).filter(lambda text: text.strip() and '"' not in text)
VALUES = st.text("abAB09 ,()=.%", max_size=6)
SIZES = st.builds(lambda number, unit: f"{number}{unit}", st.integers(0, 9999), st.sampled_from(["", "K", "M", "GiB"]))
WORDS = st.sampled_from(["compression", "ENCRYPTION", "Noop", "on-the-fly", "x1"])
EQUALITIES = st.builds(
    Comparison,
    st.sampled_from(["OBJECT_TYPE", "object_tag"]),
    st.sampled_from([Operator.EQUAL, Operator.UNEQUAL]),
    VALUES,
)
COMPARED = st.builds(Comparison, st.just("OBJECT_SIZE"), st.sampled_from(Operator), SIZES)
METRICS = st.builds(Comparison, st.sampled_from(["GETS_SEC", "own.metric"]), st.sampled_from(Operator), SIZES)


def _of(made: type[AllOf] | type[AnyOf], parts: list[Condition]) -> Condition:
    """As the parser makes it: what joins by the same word is one."""
    return made(
        tuple(comparison for part in parts for comparison in (part.parts if isinstance(part, made) else (part,)))
    )


CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    EQUALITIES | COMPARED | METRICS,
    lambda inner: st.builds(_of, st.sampled_from([AllOf, AnyOf]), st.lists(inner, min_size=2, max_size=3)),
    max_leaves=6,
)
ACTIONS = st.builds(
    Action,
    st.sampled_from(["SET", "DELETE"]),
    WORDS,
    st.dictionaries(st.sampled_from(["type", "Level", "k_1"]), VALUES, max_size=3).map(lambda d: tuple(d.items())),
    st.sampled_from([None, "PROXY", "OBJECT"]),
    st.sampled_from([None, "TRANSIENT", "PERSISTENT"]),
    st.booleans(),
    st.lists(EQUALITIES | COMPARED, max_size=2).map(tuple),
)
TARGETS = st.one_of(
    st.builds(lambda name: Target(TargetKind.TENANT, name), NAMES),
    st.builds(lambda name: Target(TargetKind.GROUP, name), NAMES),
    st.builds(lambda t, c: Target(TargetKind.CONTAINER, t, c), NAMES, NAMES),
    st.builds(lambda t, c, o: Target(TargetKind.OBJECT, t, c, o), NAMES, NAMES, PLACES),
)
RULES = st.builds(
    Rule,
    TARGETS,
    st.none() | CONDITIONS,
    st.lists(ACTIONS, min_size=1, max_size=3).map(tuple),
    st.sampled_from([None, False, True]),
    st.booleans(),
)


@given(RULES)
def test_a_rule_that_is_written_reads_the_same(rule: Rule) -> None:
    assert parse_rule(show_rule(rule)) == rule


@given(st.lists(RULES, max_size=4))
def test_a_book_that_is_sent_reads_the_same(rules: list[Rule]) -> None:
    book = RuleBook(tuple(rules), {"g": frozenset({"a", "b/c"})}, {"DOCS": frozenset({"txt"})}, {3: {"GETS_SEC": 1.5}})
    assert read_book(json.loads(json.dumps(book_document(book)))) == book


@pytest.mark.parametrize("text", PRINTED)
def test_each_printed_rule_is_accepted_as_it_stands(text: str) -> None:
    rule = parse_rule(text, "T9")
    assert parse_rule(show_rule(rule)) == rule
    assert rule.target.tenant == ("T9" if "C1" in text else text.split()[2])


@given(st.text(max_size=60) | st.text('FOR TENANT:a WHENDOSET()<>=,"x1', max_size=60))
def test_any_text_is_a_rule_or_an_error_with_a_sentence(text: str) -> None:
    try:
        rule = parse_rule(text)
    except RuleError as error:
        rule = None
        sentence = str(error)
    assert sentence if rule is None else parse_rule(show_rule(rule)) == rule


# Chains

SMALL_TARGETS = st.sampled_from(
    [
        Target(TargetKind.TENANT, "t"),
        Target(TargetKind.TENANT, "other"),
        Target(TargetKind.CONTAINER, "t", "c"),
        Target(TargetKind.CONTAINER, "t", "d"),
        Target(TargetKind.OBJECT, "t", "c", "o.txt"),
        Target(TargetKind.GROUP, "tenants"),
        Target(TargetKind.GROUP, "containers"),
        Target(TargetKind.GROUP, "none"),
    ]
)
SMALL_CONDITIONS = st.sampled_from(
    [
        None,
        Comparison("OBJECT_TYPE", Operator.EQUAL, "DOCS"),
        Comparison("OBJECT_TYPE", Operator.UNEQUAL, "DOCS"),
        Comparison("OBJECT_SIZE", Operator.LESS, "1K"),
        Comparison("OBJECT_SIZE", Operator.AT_LEAST, "1K"),
        Comparison("GETS_SEC", Operator.GREATER, "5"),
        AllOf((Comparison("OBJECT_SIZE", Operator.LESS, "1K"), Comparison("OBJECT_TAG", Operator.EQUAL, "x"))),
        AnyOf((Comparison("OBJECT_SIZE", Operator.LESS, "1K"), Comparison("OBJECT_TAG", Operator.EQUAL, "x"))),
    ]
)
SMALL_ACTIONS = st.builds(
    Action,
    st.sampled_from(["SET", "SET", "DELETE"]),
    st.sampled_from(["COMPRESSION", "compression", "ENCRYPTION", "BANDWIDTH"]),
    server=st.sampled_from([None, "PROXY", "OBJECT"]),
)
SMALL_RULES = st.builds(
    Rule,
    SMALL_TARGETS,
    SMALL_CONDITIONS,
    st.lists(SMALL_ACTIONS, min_size=1, max_size=3).map(tuple),
    st.sampled_from([None, False, True]),
    st.booleans(),
)
GROUPS = {"tenants": frozenset({"t", "x"}), "containers": frozenset({"t/c", "y"})}
HOLDS = {  # by how the condition is written: size, whether it has the tag, gets
    "None": lambda size, tag, gets: True,
    "OBJECT_TYPE=DOCS": lambda size, tag, gets: True,
    "OBJECT_TYPE!=DOCS": lambda size, tag, gets: False,
    "OBJECT_SIZE<1K": lambda size, tag, gets: size is not None and size < 1000,
    "OBJECT_SIZE>=1K": lambda size, tag, gets: size is not None and size >= 1000,
    "GETS_SEC>5": lambda size, tag, gets: gets > 5,
    "AND": lambda size, tag, gets: size is not None and size < 1000 and tag,
    "OR": lambda size, tag, gets: (size is not None and size < 1000) or tag,
}


def _key(condition: Condition | None) -> str:
    if isinstance(condition, Comparison):
        return f"{condition.name}{condition.operator}{condition.value}"
    return "None" if condition is None else "AND" if isinstance(condition, AllOf) else "OR"


def _by_the_words(rules: list[Rule], size: int | None, tag: bool, gets: float) -> list[tuple[int, int]]:
    """The rule as it is stated, for t/c/o.txt: level by level from the object on, kind by kind; (rule, action)."""
    levels: dict[int, list[tuple[int, int, Rule, Action]]] = {3: [], 2: [], 1: []}
    level_of = {"OBJECT:t/c/o.txt": 3, "CONTAINER:t/c": 2, "TENANT:t": 1, "G:tenants": 1, "G:containers": 2}
    for number, rule in enumerate(rules):
        level = level_of.get(str(rule.target))
        if level is not None and HOLDS[_key(rule.condition)](size, tag, gets):
            levels[level] += [(number, place, rule, action) for place, action in enumerate(rule.actions)]
    everything = [item for level in levels.values() for item in level]
    forced = {action.kind for _, _, rule, action in everything if rule.mandatory}
    taken: set[str] = set()
    closed = False
    ran: list[tuple[int, int]] = []
    for level in (3, 2, 1):
        set_here: dict[str, list[tuple[int, int]]] = {}
        for number, place, rule, action in levels[level]:
            kind, here = action.kind, set_here.setdefault(action.kind, [])
            if rule.mandatory or kind == "BANDWIDTH":
                if action.verb == "SET":
                    ran.append((number, place))
            elif closed or kind in taken or kind in forced:
                continue
            elif action.verb == "DELETE":
                here.clear()
            else:
                here.append((number, place))
        ran += [item for kept in set_here.values() for item in kept]
        taken |= {action.kind for _, _, _, action in levels[level]}
        closed = closed or any(rule.replaces_all for _, _, rule, _ in levels[level])
    return ran


def _ran(chain: Chain, rules: list[Rule]) -> list[tuple[int, int]]:
    return [
        (rules.index(verdict.rule), next(i for i, a in enumerate(verdict.rule.actions) if a is verdict.action))
        for verdict in chain.verdicts
        if verdict.outcome is Outcome.APPLIES
    ]


@settings(max_examples=1000)
@given(
    st.lists(SMALL_RULES, max_size=6),
    st.sampled_from([None, 10, 5000]),
    st.booleans(),
    st.sampled_from([0.0, 9.0]),
    st.sampled_from([("c", "o.txt"), ("c+segments", "o.txt/upload/1")]),
)
def test_chains_follow_the_stated_rule(
    rules: list[Rule], size: int | None, tag: bool, gets: float, place: tuple[str, str]
) -> None:
    """Also for a part of an object that was uploaded in parts."""
    made = [
        Rule(
            r.target,
            r.condition,
            tuple(Action(**{f: getattr(a, f) for f in ("verb", "filter", "server")}) for a in r.actions),
            r.replaces_all,
            r.mandatory,
            number,
        )
        for number, r in enumerate(rules)
    ]
    book = RuleBook(tuple(made), GROUPS, {"DOCS": frozenset({"txt"})}, {r.id: {"GETS_SEC": gets} for r in made})
    request = ObjectRequest("t", *place, size, frozenset({"x"} if tag else ()))
    chain = chain_of(book, request)
    assert sorted(_ran(chain, made)) == sorted(_by_the_words(made, size, tag, gets))
    assert all(verdict.sentence for verdict in chain.verdicts)
    servers = [verdict.action.server == "OBJECT" for verdict in chain.verdicts if verdict.outcome is Outcome.APPLIES]
    assert servers == sorted(servers)


def test_a_rule_of_a_container_leaves_the_rest_of_its_tenant() -> None:
    """Caching of a container switches neither encryption nor the bandwidth of its tenant off, unless it says so."""
    tenant = "FOR TENANT t DO SET ENCRYPTION, SET COMPRESSION WITH TYPE=lz4, SET BANDWIDTH WITH MIN_BW=3MBps"
    container = "FOR CONTAINER t/c DO SET CACHING, SET COMPRESSION WITH TYPE=zstd"
    for ending, kinds in (
        ("", ["CACHING", "COMPRESSION", "ENCRYPTION", "BANDWIDTH"]),
        (" REPLACES ALL", ["CACHING", "COMPRESSION", "BANDWIDTH"]),
    ):
        chain = chain_of(RuleBook((parse_rule(tenant), parse_rule(container + ending))), ObjectRequest("t", "c", "o"))
        applying = [verdict for verdict in chain.verdicts if verdict.outcome is Outcome.APPLIES]
        assert [verdict.action.kind for verdict in applying] == kinds
        assert applying[1].action.parameter("type") == "zstd"


def test_a_mandatory_rule_is_not_replaced() -> None:
    rules = ["FOR TENANT t DO SET ENCRYPTION MANDATORY", "FOR OBJECT t/c/o DO SET NOOP, DELETE ENCRYPTION REPLACES ALL"]
    chain = chain_of(RuleBook(tuple(map(parse_rule, rules))), ObjectRequest("t", "c", "o"))
    assert [step.action.kind for step in chain.steps] == ["NOOP", "ENCRYPTION"]


def test_a_quote_within_a_quoted_name_stands_twice() -> None:
    text = 'FOR CONTAINER:"acme/my ""old"" files" WHEN OBJECT_TAG="a ""b""" DO SET NOOP'
    rule = parse_rule(text)
    assert (rule.target.container, show_rule(rule)) == ('my "old" files', text)
