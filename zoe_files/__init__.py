"""The file program: it serves one user's files over HTTP, runs as that user, and opens nothing outside its roots.

It imports only the standard library: one process runs for each user who browses files, so it must be small and start at
once.
"""

from __future__ import annotations

from pathlib import Path

HOME = Path(__file__).parent.parent
"""Directory that the interpreter needs on its path to run this program."""
