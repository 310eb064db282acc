"""A run of hostile requests against an installation, and the table of the results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.hostile.digests import digests
from tests.hostile.drawing import Drawing
from tests.hostile.exchange import Line
from tests.hostile.judging import faults, lines
from tests.hostile.world import ASKERS, OPERATORS, THEIRS, World
from zoe_api.main import bare_app

STRAIGHT = tuple((asker, owner) for asker in ("user", "other") for owner in ("foreign", "neighbour"))
_RENEW_EVERY = 500


@dataclass
class Found:
    """Results of a run: answers by caller and status, reached routes, logged lines, and faults."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    routes: Counter[tuple[str, str]] = field(default_factory=Counter)
    logged: int = 0
    wrong: list[str] = field(default_factory=list)

    def table(self) -> str:
        """Return the answers of each asker by status, as text."""
        statuses = sorted({status for _, status in self.answers})
        head = f"{'asker':<14}" + "".join(f"{status:>7}" for status in statuses)
        rows = [
            f"{asker:<14}" + "".join(f"{self.answers[asker, status]:>7}" for status in statuses) for asker in ASKERS
        ]
        sums = f"{self.answers.total()} requests, {len(self.routes)} routes, {self.logged} lines logged"
        return "\n".join([head, *rows, sums, f"{len(self.wrong)} faults", *self.wrong[:50]])


def run(world: World, url: str, requests: int, seed: int) -> Found:
    """Send so many requests of a seed. url: of the database."""
    found, document = Found(), bare_app().openapi()
    drawing = Drawing(seed, document, ASKERS, world.owners, world.known(), STRAIGHT)
    at = urlsplit(world.api.url)
    host, before = (at.hostname or "", at.port or 0), digests(url, THEIRS, "neil")
    planted, known = (world.eve, world.neil), {asker: set[str]() for asker in ASKERS}
    connections = {asker: Line(*host) for asker in ASKERS}
    with lines() as noted:
        for number in range(requests):
            if number % _RENEW_EVERY == _RENEW_EVERY - 1:
                world.renew()
            one = drawing.request()
            sent = one.sent(f"{host[0]}:{host[1]}".encode(), world.headers[one.asker])
            answer = connections[one.asker].ask(one.method, sent)
            found.answers[one.asker, answer.status] += 1
            found.routes[one.route.method, one.route.path] += 1
            logged = len(noted.wrong)
            known[one.asker].update(*(marks.among(sent) for marks in planted))
            found.wrong += faults(one, sent, answer, planted, known[one.asker], one.asker in OPERATORS)
            found.wrong += [f"{line} after {sent[:300]!r}" for line in noted.wrong[logged:]]
    found.logged = noted.number
    after = digests(url, THEIRS, "neil")
    found.wrong += [f"changed: {name}: {was} -> {after[name]}" for name, was in before.items() if after[name] != was]
    for one_line in connections.values():
        one_line.close()
    return found
