"""The refusal of a request by the master."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818 - it is an answer, not a failure
    """A handler's refusal: a stable code and a sentence for the client."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
