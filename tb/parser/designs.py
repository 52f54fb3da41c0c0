"""The designs of block ``parser``: the parser alone, with the sets of parameters that are built."""

from __future__ import annotations

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["PARSE_BYTES", "parser_design"]

PARSE_BYTES = 128
"""What the parser of a port sees of a frame."""


def parser_design(parse_bytes: int = PARSE_BYTES, tunnel: bool = False) -> Design:
    """``parser`` that sees 64, 128 or 256 bytes of a frame; tunnel: it reads VXLAN and GENEVE too, which needs 256."""
    sources = sorted((ROOT / "rtl" / "parser").glob("*.v"), key=lambda path: (path.stem == "parser", path.stem))
    parameters = {"PARSE_BYTES": parse_bytes, "TUNNEL_EN": int(tunnel)}
    return Design("parser/parser", "parser", tuple(sources), parameters)
