"""The ``nicloop`` command.

Exit codes: 0 all matched; 1 a mismatch or a failed check; 2 bad usage or input; 3 the environment (a tool is missing, a
build failed); 130 Ctrl-C, and all before it matched.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from tb import toolchain
from tb.acl.commands import acl
from tb.build import BuildError
from tb.gcm.commands import vectors
from tb.parser.commands import parse
from tb.replay.commands import sim
from tb.replay.replay_command import replay
from tb.replay.rerun import rerun
from tb.replay.trace_command import follow
from tb.stdout import StdoutError, guard
from tb.targets.commands import run
from tb.toolchain import SIM_BUILD, ToolError

__all__ = ["app", "main"]

HELP = """Verification environment of a dual-port 25G RDMA NIC datapath.

Exit codes: 0 all matched; 1 a mismatch or a failed check; 2 bad usage or input; 3 a tool is missing or a build failed;
130 Ctrl-C, and all before it matched.
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
app.command()(vectors)
app.add_typer(acl, name="acl")


def main() -> None:
    """Entry point: turns the errors that a user can mend into one clear message and an exit code."""
    guard()
    try:
        _run()
    except ToolError as error:
        print(f"nicloop: {error}", file=sys.stderr)
        sys.exit(3)
    except StdoutError as error:
        print(f"nicloop: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"nicloop: {_words(error)}", file=sys.stderr)
        sys.exit(3)
    except BuildError as error:
        print(f"nicloop: the build failed\n{error}", file=sys.stderr)
        sys.exit(3)


def _run() -> None:
    """The command, and what standard output still holds at its end. StdoutError: it can't be written; a mismatch that
    was found counts for more."""
    code: int | str | None = 0
    try:
        app()
    except SystemExit as ended:
        code = ended.code
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except StdoutError as error:
        if code != 1:
            raise
        print(f"nicloop: {error}", file=sys.stderr)
    sys.exit(code)


def _words(error: OSError) -> str:
    """What is wrong with a file, and what to do about a folder of builds that can't be written."""
    text = f"{error.filename or 'input or output'}: {error.strerror or error}"
    made = os.path.abspath(SIM_BUILD)
    place = os.path.abspath(os.fsdecode(error.filename)) if isinstance(error.filename, (str, bytes, Path)) else ""
    inside = f"{place}{os.sep}".startswith(f"{made}{os.sep}")
    if inside and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        text += f": {SIM_BUILD} must be writable (NICLOOP_SIM_BUILD=FOLDER names another one)"
    return text


if __name__ == "__main__":
    main()
