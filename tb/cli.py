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
from tb.acl.commands import acl
from tb.build import BuildError
from tb.parser.commands import parse
from tb.replay.commands import sim
from tb.replay.replay_command import replay
from tb.replay.rerun import rerun
from tb.replay.trace_command import follow
from tb.targets.commands import run
from tb.toolchain import ToolError

__all__ = ["app", "main"]

HELP = """Verification environment of a dual-port 25G RDMA NIC datapath.

Exit codes: 0 all matched; 1 a mismatch or a failed check; 2 bad usage or input; 3 a tool is missing or a build failed.
"""

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=HELP)


@app.command()
def doctor() -> None:
    """Say which tools are there, in which version, and how to get the missing ones."""
    found = toolchain.findings()
    table = Table("tool", "for", "version")
    for item in found:
        missing = "[red]missing[/red]" if item.needed else "[yellow]missing (optional)[/yellow]"
        table.add_row(item.tool, item.purpose, item.version or missing)
    console = Console()
    console.print(table)
    for item in found:
        if item.version is None:
            console.print(f"{item.tool}: {item.remedy}", soft_wrap=True)
    if not all(item.ok for item in found):
        raise typer.Exit(3)


app.command()(parse)
app.command()(run)
app.command()(replay)
app.command()(rerun)
app.command()(sim)
app.command("trace")(follow)
app.add_typer(acl, name="acl")


def main() -> None:
    """Entry point: turns the errors that a user can mend into one clear message and an exit code."""
    try:
        app()
    except ToolError as error:
        print(f"nicloop: {error}", file=sys.stderr)
        sys.exit(3)
    except OSError as error:
        print(f"nicloop: {error.filename or 'input or output'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(3)
    except BuildError as error:
        print(f"nicloop: the build failed\n{error}", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
