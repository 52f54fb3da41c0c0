"""``python -m tb.registers``: write everything that is generated. ``--check``: only say which committed file is stale.

Exit codes: 0 done, or all current; 1 a stale file; 2 a source that is wrong; 3 a package is missing.
"""

from __future__ import annotations

import argparse
import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tb.registers", description="register files, map, header, manual")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 and name the files that are stale")
    check = parser.parse_args(arguments).check
    try:
        from tb.registers import generate
        from tb.registers.source import RdlError
    except ModuleNotFoundError as error:
        print(f"nicloop: the package {error.name} is missing: make .venv", file=sys.stderr)
        return 3
    try:
        if check:
            files = [os.path.relpath(path) for path in generate.stale()]
            for name in files:
                print(f"{name}: stale: make generate")
            return 1 if files else 0
        for path, text in generate.committed().items():
            if not path.exists() or path.read_text() != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                print(os.path.relpath(path))
        generate.make_local()
    except RdlError as error:
        print(error, file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"nicloop: the package {error.name} is missing: make .venv", file=sys.stderr)
        return 3
    print(f"manual: {os.path.relpath(generate.LOCAL / 'html' / 'index.html')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
