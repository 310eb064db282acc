"""The network of the interface that leads to a host."""

from __future__ import annotations

from zoe_job.steps.networks import subnet_to


def test_the_network_of_the_loopback_interface() -> None:
    assert subnet_to("127.0.0.1") == "127.0.0.0/8"


def test_what_leads_nowhere_has_none() -> None:
    assert subnet_to("no such host.invalid") is None
