"""What local services get from the runtime that was built for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoe_embedded.runtime import describe


@pytest.mark.parametrize("options", ["-Xss4m", None])
def test_services_get_the_java_options_of_the_caller(
    options: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    if options is not None:
        monkeypatch.setenv("JDK_JAVA_OPTIONS", options)
    assert describe(tmp_path).environment.get("JDK_JAVA_OPTIONS") == options
