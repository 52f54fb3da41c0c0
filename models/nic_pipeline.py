"""What stands between the edges of a port: the stages of each direction, the buffer, and the ways behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models.acl import RuleSet
from models.config import IpsecConfig
from models.frames import Edge, Int64
from models.meta import Code
from models.nic_acl import AclStage
from models.nic_ipsec import IpsecStage
from models.nic_stages import Bool, ParserStage, Registers, Stage
from models.port_map import PORT

__all__ = [
    "COUNTERS",
    "CYCLE_NS",
    "INGRESS_CYCLES",
    "IPSEC_COUNTERS",
    "RX",
    "STAGE_COUNTERS",
    "TX",
    "Pipeline",
    "direction_of",
]

CYCLE_NS = 4
"""Length of a cycle of the core clock, in ns."""

INGRESS_CYCLES = 4
"""Fewest cycles that `nic_ingress` spends on a frame."""


@dataclass(frozen=True)
class Pipeline:
    """One direction: the stages between ingress and the buffer (a register lies in front of ingress, and ingress is
    one), the registers behind the buffer on the way to the edge opposite, those on the way of a redirected frame to the
    other direction, and cycles from a frame's last beat into a buffer to its first beat out."""

    edge: Edge
    stages: tuple[Stage, ...]
    after: int
    turned: int
    buffer: int = 2

    @property
    def name(self) -> str:
        return "rx" if self.edge == Edge.WIRE else "tx"

    @property
    def to_stages(self) -> int:
        """Cycles from a frame's first beat in to its first beat at the first of the stages, where ingress is free."""
        return 2

    @property
    def elastic(self) -> int:
        """Most beats that stand behind the buffer when the output stalls: two a register, and the buffer's own two."""
        return 2 * self.after + self.buffer

    def behind(self, beats: Int64, turned: Bool | None) -> Int64 | int:
        """Cycles from a frame's last beat into the buffer to its first beat out. ``turned``: it leaves by the other
        direction. A received frame then passes the other buffer whole and what stands behind that."""
        straight = self.buffer + self.after
        if turned is None:
            return straight
        aside: Int64 | int = self.buffer + self.turned
        if self.edge == Edge.WIRE:
            aside = aside + beats - 1 + self.buffer + TX.after
        return np.where(turned, aside, straight)


def direction_of(
    edge: int,
    parse_bytes: int = 128,
    tunnel: bool = False,
    rules: RuleSet | None = None,
    port: int = 0,
    ipsec: IpsecConfig | None = None,
) -> Pipeline:
    """The pipeline of frames that enter at this edge, with the parameters of parsers and ACL, the ACL's rules, and what
    the slots of IPsec are programmed with; None: they are left out."""
    rules = rules or RuleSet()
    if edge == Edge.WIRE:
        between: tuple[Stage, ...] = (Registers(4),)
        if ipsec is not None:
            inner = ParserStage("parser_inner", parse_bytes, tunnel)
            between = (Registers(1), IpsecStage("ipsec_rx", ipsec), inner, Registers(1))
        parser = ParserStage("parser_rx", parse_bytes, tunnel)
        stages: tuple[Stage, ...] = (parser, *between, AclStage("acl_rx", rules, port, tunnel))
        # demux, tls_rx, roce_rx, join, egress; demux, join of tx.
        return Pipeline(Edge.WIRE, stages, after=5, turned=2)
    behind: tuple[Stage, ...] = (Registers(3),)
    if ipsec is not None:
        behind = (Registers(1), IpsecStage("ipsec_tx", ipsec), Registers(1))
    stages = (ParserStage("parser_tx", parse_bytes, tunnel), AclStage("acl_tx", rules, port, tunnel), *behind)
    # demux, egress, mac_tx; demux, join of rx, egress.
    return Pipeline(Edge.HOST, stages, after=3, turned=3)


TX = direction_of(Edge.HOST)
RX = direction_of(Edge.WIRE)


_PLAIN = ("frames_in", "bytes_in", "frames_out", "bytes_out")

STAGE_COUNTERS = tuple(name for way in (RX, TX) for stage in way.stages for name in stage.counters)
"""What the stages count that every port has."""

_WITH_IPSEC = tuple(
    name for edge in Edge for stage in direction_of(edge, ipsec=IpsecConfig()).stages for name in stage.counters
)
IPSEC_COUNTERS: Mapping[str, str] = {name: name for name in _WITH_IPSEC if name not in STAGE_COUNTERS}
"""What is counted besides where IPsec isn't left out, and the registers: both slots, and the parser behind ESP."""


def _counter_registers() -> dict[str, str]:
    found = {f"{way.name}_{name}": f"nic.{way.name}_{name}" for way in (RX, TX) for name in _PLAIN}
    found |= {
        f"{way.name}_disposition.{code.name}": f"nic.{way.name}_disposition[{code.value}]"
        for way in (RX, TX)
        for code in Code
        if code != Code.NONE
    }
    return found | {name: name for name in STAGE_COUNTERS if name in PORT}


COUNTERS: Mapping[str, str] = _counter_registers()
"""The port's counters: their names in an ``Outcome``, and the 64-bit registers that hold them. Those of the ACL's rules
(``acl_rx.rule[17].frames``, ``acl_rx.default.bytes``) are no registers: a driver asks for them."""
