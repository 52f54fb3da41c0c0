"""The designs of block ``acl``: the matcher alone and the slot, with the sets of parameters that are built."""

from __future__ import annotations

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["PORT_ID", "match_design", "slot_design"]

PORT_ID = 3
"""Of a slot that stands alone."""
_RTL = ROOT / "rtl"


def match_design(rules: int = 1024, ipv6: bool = True) -> Design:
    """``acl_match`` with room for so many rules in a set; ipv6: addresses of 128 bits, else of 32."""
    names = ("acl_first", "acl_range", "acl_plane", "acl_match_write", "acl_match")
    sources = tuple(_RTL / "acl" / f"{name}.v" for name in names)
    return Design("acl/acl_match", "acl_match", sources, {"RULES": rules, "IPV6": int(ipv6)})


def slot_design(
    rules: int = 1024, meters: int = 256, *, ipv6: bool = True, tunnel: bool = False, port_id: int = PORT_ID
) -> Design:
    """``acl``, the slot; tunnel: frames with a tunnel are looked up twice."""
    own = sorted((_RTL / "acl").glob("*.v"), key=lambda path: (path.stem == "acl", path.stem))
    shared = (_RTL / "lib" / "axis_fifo.v", _RTL / "nic" / "nic_beat_bytes.v")
    parameters = {
        "RULES": rules,
        "METERS": meters,
        "IPV6": int(ipv6),
        "TUNNEL_EN": int(tunnel),
        "PORT_ID": port_id,
    }
    return Design("acl/acl", "acl", (*shared, *own), parameters)
