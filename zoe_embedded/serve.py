"""`make serve`: the whole stack on loopback until Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time

from rich.console import Console

from zoe_embedded.home import Home, HomeError
from zoe_embedded.postgres import EmbeddedPostgresError
from zoe_embedded.runtime import CLONE, RuntimeBuildError
from zoe_embedded.stack import Stack, StackError

_LOOK_INTERVAL_S = 0.5


def main() -> int:
    """Serve until SIGINT or SIGTERM; 1 when something does not come up or ends by itself."""
    console = Console()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _interrupt)
    try:
        with Stack(Home.find(CLONE)) as stack:
            _tell(console, stack)
            while (died := stack.died()) is None:
                time.sleep(_LOOK_INTERVAL_S)
            console.print(f"[red]{died}[/red]")
            return 1
    except (StackError, HomeError, RuntimeBuildError, EmbeddedPostgresError) as error:
        console.print(f"[red]{error}[/red]")
        return 1
    except KeyboardInterrupt:
        console.print("Stopped. What was queued or running goes on with the next `make serve`.")
        return 0


def _tell(console: Console, stack: Stack) -> None:
    console.print(f"[bold]Zoe is up[/bold] at {stack.url}   (API reference: {stack.url}/api/docs)")
    console.print(f"Data: {stack.home.path}")
    console.print("Log in, in another terminal:")
    console.print(f"  export ZOE_URL={stack.url} ZOE_TOKEN_FILE={stack.token_file}", soft_wrap=True)
    console.print("  .venv/bin/zoe status")
    console.print("Ctrl-C stops everything that was started here.")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
