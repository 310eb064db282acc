"""The network of the interface that leads to a host."""

from __future__ import annotations

from zoe_job.steps.networks import subnet_to


def test_the_network_of_the_loopback_interface() -> None:
    assert subnet_to("127.0.0.1") == "127.0.0.0/8"


def test_unknown_host_has_no_subnet() -> None:
    assert subnet_to("no such host.invalid") is None
