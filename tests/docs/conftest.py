"""One stack for all documents whose commands are run."""

from tests.support.stack import stack

__all__ = ["stack"]
