"""Address templates: found, filled, refused."""

import pytest

from zoe_lib.domain.applications.templates import (
    Template,
    TemplateError,
    TemplateKind,
    escape,
    fill,
    references,
    rename,
)


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("{host:self}", Template(TemplateKind.HOST)),
        ("{host:master}", Template(TemplateKind.HOST, "master")),
        ("{hosts:spark-worker}", Template(TemplateKind.HOSTS, "spark-worker")),
        ("{addresses:spark-worker.ui}", Template(TemplateKind.ADDRESSES, "spark-worker", "ui")),
        ("{port:rpc}", Template(TemplateKind.PORT, None, "rpc")),
        ("{port:master.rpc}", Template(TemplateKind.PORT, "master", "rpc")),
        ("{scratch}", Template(TemplateKind.SCRATCH)),
        ("{workspace}", Template(TemplateKind.WORKSPACE)),
        ("{index}", Template(TemplateKind.INDEX)),
        ("{execution}", Template(TemplateKind.EXECUTION)),
        ("{user}", Template(TemplateKind.USER)),
        ("{secret_file}", Template(TemplateKind.SECRET_FILE)),
        ("{input:meters}", Template(TemplateKind.INPUT, data="meters")),
        ("{columns:meters}", Template(TemplateKind.COLUMNS, data="meters")),
        ("{output:report-1}", Template(TemplateKind.OUTPUT, data="report-1")),
    ],
)
def test_each_template_is_found_and_written_back(text: str, template: Template) -> None:
    assert references(text) == [template]
    assert str(template) == text


def test_own_port_may_name_self() -> None:
    assert references("{port:self.rpc}") == [Template(TemplateKind.PORT, None, "rpc")]


def test_fill_replaces_and_keeps_the_rest() -> None:
    text = "spark://{host:master}:{port:master.rpc} --dir {scratch}/x"
    assert fill(text, lambda t: f"<{t.kind}>") == "spark://<host>:<port> --dir <scratch>/x"


def test_filled_text_is_not_filled_again() -> None:
    assert fill("{scratch}", lambda _: "{{workspace}") == "{{workspace}"


def test_doubled_braces_are_literal() -> None:
    assert fill('{{"a": "{index}"}}', lambda _: "3") == '{"a": "3"}'
    assert fill("{{{scratch}}}", lambda _: "s") == "{s}"


@pytest.mark.parametrize("text", ["", "plain", "{", "}{", "${HOME}", "{host:self}", "{{}}"])
def test_escape_is_undone_by_fill(text: str) -> None:
    assert fill(escape(text), lambda _: "?") == text


@pytest.mark.parametrize(
    "text",
    [
        "{", "}", "a{b", "{}", "{HOME}", "{host}", "{host:}", "{host:Master}", "{host: self}", "{port:a.b.c}",
        "{hosts:-x}", "{host:self", "{scratch:x}", "{port:}", "{port:.a}", "{port:a.}", "{0}", "{host:self!r}",
        "{addresses:a}", "{addresses:a.b.c}", "{input}", "{input:}", "{input:a.b}", "{columns:A}", "{outputs:a}",
    ],
)  # fmt: skip
def test_unknown_templates_and_single_braces_are_refused(text: str) -> None:
    with pytest.raises(TemplateError):
        references(text)
    with pytest.raises(TemplateError):
        fill(text, lambda _: "")


def test_the_error_says_where() -> None:
    with pytest.raises(TemplateError, match=r"'\{nope\}'") as caught:
        references("ab{nope}")
    assert caught.value.offset == 2


def test_rename_changes_components_only() -> None:
    text = "{{x}} {host:master} {port:master.rpc} {port:rpc} {host:self} {scratch}"
    assert rename(text, "spark-{}".format) == (
        "{{x}} {host:spark-master} {port:spark-master.rpc} {port:rpc} {host:self} {scratch}"
    )
