"""Reading of SystemRDL: compile and elaborate a file, and say where in it something is wrong."""

from __future__ import annotations

import os
from pathlib import Path

from systemrdl.compiler import RDLCompiler
from systemrdl.messages import MessagePrinter, RDLCompileError, Severity
from systemrdl.node import AddrmapNode, Node
from systemrdl.source_ref import DetailedFileSourceRef, FileSourceRef, SourceRefBase

__all__ = ["RdlError", "elaborate", "where"]


class RdlError(Exception):
    """Something in an ``.rdl`` file is wrong or not supported; the text begins with ``file:line:``."""


class _Collector(MessagePrinter):
    """Keeps the compiler's messages in the form of every other error here, in place of coloured text on stderr."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def print_message(self, severity: Severity, text: str, src_ref: SourceRefBase | None) -> None:
        if severity >= Severity.WARNING and "aborted due to previous" not in text:
            place = position(src_ref)
            self.lines.append(f"{place}: {text}" if place else text)


def position(reference: SourceRefBase | None) -> str:
    """``file:line`` of a reference, relative to the working folder where that is shorter; "" where it is not known."""
    if not isinstance(reference, FileSourceRef):
        return ""
    path = str(reference.path)
    relative = os.path.relpath(path)
    place = relative if len(relative) < len(path) else path
    return f"{place}:{reference.line}" if isinstance(reference, DetailedFileSourceRef) else place


def where(node: Node, name: str | None = None) -> str:
    """``file:line`` of a component, or of its property ``name`` where that was written down."""
    if name is not None and name in node.property_src_ref:
        return position(node.property_src_ref[name])
    return position(node.inst_src_ref) or position(node.def_src_ref)


def elaborate(path: Path, top: str | None = None) -> AddrmapNode:
    """The elaborated addrmap ``top`` (the file's stem when None) of ``path``. RdlError: an error or a warning."""
    collector = _Collector()
    compiler = RDLCompiler(message_printer=collector)
    try:
        compiler.compile_file(str(path))
        root = compiler.elaborate(top or path.stem)
    except RDLCompileError as error:
        raise RdlError("\n".join(collector.lines) or f"{path}: {error}") from None
    except ValueError as error:
        raise RdlError(f"{path}:1: {error}") from None
    if collector.lines:
        raise RdlError("\n".join(collector.lines))
    return root.top
