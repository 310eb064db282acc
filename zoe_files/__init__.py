"""The program that gives one user their files over HTTP: it runs as that user, and opens nothing outside its roots.

Only the standard library, since one runs for each user who looks at files: it has to start at once, and to be small.
"""

from __future__ import annotations

from pathlib import Path

HOME = Path(__file__).parent.parent
"""What has to be on the path of the interpreter that runs it."""
