"""The language of rules: several targets, several lines, numbers, and the place of a mistake."""

from __future__ import annotations

import pytest

from storage_controller.rules.dsl import RuleError, parse_rule, parse_rules, show_rule
from storage_filters.rules.rules import number_of


def shown(text: str) -> list[str]:
    return [show_rule(rule) for rule in parse_rules(text)]


def test_each_target_gets_a_rule() -> None:
    text = "FOR CONTAINER:t/a, CONTAINER:t/b,\n    TENANT u\n  WHEN GETS_SEC == 5.5e3 DO SET NOOP\nFOR G:1,G:1 SET NOOP"
    assert shown(text) == [
        "FOR CONTAINER:t/a WHEN GETS_SEC=5.5e3 DO SET NOOP",
        "FOR CONTAINER:t/b WHEN GETS_SEC=5.5e3 DO SET NOOP",
        "FOR TENANT:u WHEN GETS_SEC=5.5e3 DO SET NOOP",
        "FOR G:1 DO SET NOOP",
    ]
    with pytest.raises(RuleError, match="several targets"):
        parse_rule("FOR TENANT a, TENANT b DO SET NOOP")


def test_a_comma_within_a_name_stays_in_it() -> None:
    [rule] = parse_rules("FOR CONTAINER:t/a,b DO SET NOOP")
    assert (rule.target.container, show_rule(rule)) == ("a,b", 'FOR CONTAINER:"t/a,b" DO SET NOOP')
    assert parse_rule(show_rule(rule)) == rule
    assert shown('FOR CONTAINER:"t/a,TENANT:b" DO SET NOOP') == ['FOR CONTAINER:"t/a,TENANT:b" DO SET NOOP']


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("FOR TENANT:a\n  DO SOT NOOP", "line 2: character 6: 'SOT'"),
        ("FOR TENANT:a DO SET NOOP\r\ngarbage", "line 2: character 1: 'garbage'"),
        ("FOR TENANT:a\n\nDO SET NOOP", "line 1: character 13: the end"),
        ("\ngarbage", "line 2: character 1: 'garbage' where the rule needs FOR"),
        ("FOR TENANT:a, DO SET NOOP", "line 1: character 13: ','"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, said: str) -> None:
    with pytest.raises(RuleError) as refused:
        shown(text)
    assert str(refused.value).startswith(said)


def test_numbers_of_comparisons() -> None:
    read = {text: number_of(text) for text in ("5.5e3", "-5", "+5", "1e-2", "10M", "64KiB", "5e", "--5", "1e400", "e3")}
    assert read == {
        **{"5.5e3": 5500.0, "-5": -5.0, "+5": 5.0, "1e-2": 0.01, "10M": 1e7, "64KiB": 65536.0},
        **dict.fromkeys(("5e", "--5", "1e400", "e3")),
    }
