"""The designs of block ``acl``: the matcher, the meters and the slot, with the sets of parameters that are built."""

from __future__ import annotations

from pathlib import Path

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["PORT_ID", "match_design", "meter_design", "slot_design"]

PORT_ID = 3
"""Of a slot that stands alone."""


def _sources(*names: str) -> tuple[Path, ...]:
    return tuple(ROOT / "rtl" / "acl" / f"{name}.v" for name in names)


def match_design(rules: int = 1024, ipv6: bool = True) -> Design:
    """``acl_match`` with room for so many rules in a set; ipv6: addresses of 128 bits, else of 32."""
    sources = _sources("acl_first", "acl_range", "acl_plane", "acl_match_write", "acl_match")
    return Design("acl/acl_match", "acl_match", sources, {"RULES": rules, "IPV6": int(ipv6)})


def meter_design(meters: int = 256) -> Design:
    """``acl_meter`` with so many meters."""
    sources = _sources("acl_meter_product", "acl_meter_bucket", "acl_meter_time", "acl_meter_write", "acl_meter")
    return Design("acl/acl_meter", "acl_meter", sources, {"METERS": meters})


def slot_design(
    rules: int = 1024, meters: int = 256, *, ipv6: bool = True, tunnel: bool = False, port_id: int = PORT_ID
) -> Design:
    """``acl``, the slot; tunnel: frames with a tunnel are looked up twice."""
    own = sorted((ROOT / "rtl" / "acl").glob("*.v"), key=lambda path: (path.stem == "acl", path.stem))
    lib = (ROOT / "rtl" / "lib" / f"{name}.v" for name in ("axis_fifo", "word_queue"))
    shared = (*lib, ROOT / "rtl" / "nic" / "nic_beat_bytes.v")
    parameters = {
        "RULES": rules,
        "METERS": meters,
        "IPV6": int(ipv6),
        "TUNNEL_EN": int(tunnel),
        "PORT_ID": port_id,
    }
    return Design("acl/acl", "acl", (*shared, *own), parameters)
