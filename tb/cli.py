"""The ``nicloop`` command.

Exit codes: 0 all matched; 1 a mismatch or a failed check; 2 bad usage or input; 3 the environment (a tool is missing, a
build failed).
"""

from __future__ import annotations

import sys

import typer
from rich.console import Console
from rich.table import Table

from tb import toolchain
from tb.build import BuildError
from tb.parser.commands import parse
from tb.replay.commands import sim
from tb.targets.commands import run
from tb.toolchain import ToolError

__all__ = ["app", "main"]

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)


@app.callback()
def _top() -> None:
    """Verification environment of a dual-port 25G RDMA NIC datapath."""


@app.command()
def doctor() -> None:
    """Say which tools are there, in which version, and how to get the missing ones."""
    table = Table("tool", "for", "version", "how to get it")
    found = toolchain.findings()
    for item in found:
        missing = "[red]missing[/red]" if item.needed else "[yellow]missing (optional)[/yellow]"
        table.add_row(item.tool, item.purpose, item.version or missing, "" if item.version else item.remedy)
    Console().print(table)
    if not all(item.ok for item in found):
        raise typer.Exit(3)


app.command()(parse)
app.command()(run)
app.command()(sim)


def main() -> None:
    """Entry point: turns the errors that a user can mend into one clear message and an exit code."""
    try:
        app()
    except ToolError as error:
        print(f"nicloop: {error}", file=sys.stderr)
        sys.exit(3)
    except BuildError as error:
        print(f"nicloop: the build failed\n{error}", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
