"""Settings of every test. Fixtures stand in the folders that use them, so that a change reaches few tests."""

import gc
import inspect
import logging
import os
import signal
import ssl
from functools import cache
from typing import Any

import httpx
import structlog
from hypothesis import HealthCheck, settings

from tests.support import delays

# The same examples every time, however slow the machine is just then; `make test-all` looks for others.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", deadline=None, print_blob=True)
settings.load_profile("search" if "ZOE_PROPERTY_CHECKS" in os.environ else "same")

# A master logs several lines for each execution, and a replay runs thousands: writing them takes a quarter of the time.
# ZOE_TEST_LOG=info shows the lines of a test that fails.
_LOG_LEVEL = logging.getLevelNamesMapping()[os.environ.get("ZOE_TEST_LOG", "warning").upper()]
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(_LOG_LEVEL))

# Git tells its hooks which repository and index it means, and every git that tests of a hook begin would take these: a
# test that makes a repository of its own would write its commits into that of the developer.
_OF_A_REPOSITORY = """
GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE
GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_QUARANTINE_PATH GIT_SHALLOW_FILE GIT_WORK_TREE
"""
for _name in _OF_A_REPOSITORY.split():
    os.environ.pop(_name, None)

# Commands of tests leave no helper behind, except those of tests/cli/test_helper.py.
os.environ["ZOE_HELPER"] = "0"

# A shell ignores Ctrl-C for what it starts in the background, and so would all that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Applications of tests live for seconds: the optimising compiler would take longer than what it speeds up, and a fifth
# of their CPU time would go into verifying Spark's published classes.
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_JAVA_OPTIONS += " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
os.environ.setdefault("JDK_JAVA_OPTIONS", _JAVA_OPTIONS)


def _kept(make: Any) -> Any:
    """Read authorities once: 25 ms of CPU, and more for those of a machine, for each of thousands of clients, most of
    them of plain HTTP."""

    @cache
    def known(trust_env: bool, _named: tuple[str | None, ...]) -> ssl.SSLContext:
        made: ssl.SSLContext = make(True, None, trust_env)
        return made

    def context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if verify is not True or cert is not None:
            return make(verify, cert, trust_env)  # type: ignore[no-any-return]
        return known(trust_env, tuple(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")))

    return context


httpx._transports.default.create_ssl_context = _kept(httpx.create_ssl_context)  # type: ignore[attr-defined]

# Clients of tests wait as long as a busy machine takes, and not the five seconds of httpx.
_CALLS = (httpx.request, inspect.unwrap(httpx.stream), httpx.get, httpx.head, httpx.post, httpx.put, httpx.delete)
for _function in (httpx.Client.__init__, httpx.AsyncClient.__init__, *_CALLS):
    _function.__kwdefaults__["timeout"] = httpx.Timeout(60.0)

# Late ticks and transactions, as on a busy machine (tests/support/delays.py).
if _seed := delays.seed():
    delays.install(_seed)

gc.disable()  # until all is imported, which makes hardly a cycle either


def pytest_collection_finish() -> None:
    """Set the garbage collector as `zoe-sim` does: a replay makes millions of values that stay, and hardly a cycle."""
    gc.collect()
    gc.freeze()  # modules and test cases stay, too
    gc.set_threshold(50_000, 50, 50)
    gc.enable()
