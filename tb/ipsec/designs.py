"""The designs of block ``ipsec``: either slot, with the sets of parameters that are built."""

from __future__ import annotations

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["slot_design"]

_INCLUDES = (ROOT / "rtl" / "lib", ROOT / "rtl" / "gcm")
_OTHER = {"ipsec_rx": "ipsec_tx", "ipsec_tx": "ipsec_rx"}


def slot_design(slot: str, **parameters: int) -> Design:
    """``ipsec_rx`` or ``ipsec_tx`` as the top. parameters: of the module."""
    own = [path for path in sorted((ROOT / "rtl" / "ipsec").glob("*.v")) if path.stem != _OTHER[slot]]
    own.sort(key=lambda path: path.stem == slot)
    shared = (*sorted((ROOT / "rtl" / "gcm").glob("*.v")), *sorted((ROOT / "rtl" / "lib").glob("*.v")))
    return Design(f"ipsec/{slot}", slot, (*shared, *own), parameters, includes=_INCLUDES)
