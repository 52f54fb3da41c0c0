"""IPsec's SAs in a replay: from a file into the programmed NIC, and what they did, for records, JSON and page."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.acl import Actions, Masked, Rule, RuleSet
from models.config import IPSEC_SIDES, PORTS, ConfigError, IpsecConfig, NicConfig, sas_of_side
from models.frames import Edge
from models.ipsec_file import SaFileError, read_sas
from models.ipsec_sa import Mode, Sa
from models.meta import FIRST_DROP
from models.nic_played import Played
from tb.replay.checks import UsageError
from tb.replay.piece import printable
from tb.replay.statistics import code_name
from tb.replay.window import Judged, Secured
from tb.targets.program import sa_sets

__all__ = ["SaFigures", "SaFile", "sa_text", "secured", "secured_by"]


@dataclass(frozen=True)
class SaFile:
    """SAs that a person named; what they are called, by direction, in the order of their numbers. told: what was made
    of them that a person should know, "": nothing."""

    name: str
    names: dict[str, list[str]]
    told: str = ""


def secured(
    nic: NicConfig, path: str | Path, directions: Sequence[str], port: int | None = None, *, ruled: bool = False
) -> tuple[NicConfig, SaFile]:
    """The NIC with the SAs of a file in the slots of these directions ("rx", "tx"), in place of what is there.

    Which frames are encrypted say the ACL's rules. Where tx has none (``ruled``: they came from --acl) and one SA, one
    is made that protects what goes to the SA's destination, or in tunnel mode every IP packet.

    UsageError: the file can't be used, or leaves open what is to be encrypted.
    """
    if not 0 <= (port or 0) < PORTS:
        raise UsageError(f"--esp-sa: there is no port {port} that SAs go to: accepted: 0 to {PORTS - 1}")
    name = printable(str(path))
    try:
        found = read_sas(path)
    except SaFileError as error:
        raise UsageError(printable(str(error))) from error
    sas = {way: sas_of_side(found, way) for way in directions}
    if not any(sas.values()):
        wanted = " or ".join(directions)
        hint = ": an esp_sa table is for rx alone, for tx write the SAs in TOML" if "tx" in directions else ""
        raise UsageError(f"{name}: none of its {len(found)} SAs is for {wanted}{hint}")
    old = nic.ports[port or 0]
    try:
        ipsec = replace(old.ipsec or IpsecConfig(), **{way: some for way, some in sas.items() if some})
    except ConfigError as error:
        raise UsageError(f"{name}: {error.problem}; accepted: {error.accepted}") from error
    nic, told = nic.with_port(port or 0, ipsec=ipsec), ""
    names = {way: [printable(one.name) for one in found if getattr(one, way)] for way in directions}
    if sas.get("tx") and not ruled and old.acl_tx is None:
        rules, told = _protecting(sas["tx"], name, names["tx"][0])
        nic = nic.with_port(port or 0, acl_tx=rules)
    return nic, SaFile(name, names, told)


def _protecting(sas: tuple[Sa, ...], name: str, called: str) -> tuple[RuleSet, str]:
    """Rules that protect with the only SA, and in words what they do."""
    if len(sas) > 1:
        raise UsageError(
            f"{name}: {len(sas)} SAs are for tx, and nothing says which frames are whose: "
            "give rules with the action protect by --acl"
        )
    sa, actions = sas[0], Actions(protect=0)
    if sa.mode is Mode.TUNNEL:
        rules = tuple(Rule(name=f"protect IPv{version}", ip=version, actions=actions) for version in (4, 6))
        return RuleSet(rules), f"no --acl: {sa_text(sa, 0, called)} protects every IP packet"
    width = 128 if sa.ipv6 else 32
    one = Masked(sa.dst, (1 << width) - 1)
    rule = Rule(name="protect", ip=6 if sa.ipv6 else 4, dst=one, actions=actions)
    return RuleSet((rule,)), f"no --acl: {sa_text(sa, 0, called)} protects what goes to {_address(sa)}"


def _address(sa: Sa) -> str:
    return str(ipaddress.IPv6Address(sa.dst) if sa.ipv6 else ipaddress.IPv4Address(sa.dst))


def sa_text(sa: Sa, number: int, name: str = "") -> str:
    """An SA as a person knows it."""
    called = f"{name}, " if name else ""
    return f"SA {number} ({called}SPI {sa.spi:#x} to {_address(sa)})"


def secured_by(played: Played) -> Secured | None:
    """What IPsec makes of the frames of a play; None: it is left out."""
    found = Secured.none(len(played.batch))
    courses = [course for course in played.courses.values() if course.ipsec is not None]
    for course in courses:
        assert course.ipsec is not None
        found.sa[course.index] = course.ipsec.number
        found.sequence[course.index] = course.ipsec.sequence
    return found if courses else None


class SaFigures:
    """A listener that counts what became of the frames of each SA of a NIC's port. file: where they came from."""

    def __init__(self, config: NicConfig, port: int = 0, file: str = "", slots: Iterable[str] = ()) -> None:
        self._sets = dict(sa_sets(config, port)) if port < PORTS else {}
        self._file, self._slots = file, tuple(slots)
        self._ends: dict[tuple[str, int], Counter[int]] = {}
        self._last: dict[tuple[str, int], int] = {}

    def take(self, judged: Judged) -> None:
        if judged.secured is None:
            return
        found, edge, code = judged.secured, judged.window.batch.edge, judged.outcome.code
        for side, at_edge in zip(IPSEC_SIDES, (Edge.WIRE, Edge.HOST), strict=True):
            slot = f"ipsec_{side}"
            here = (edge == at_edge) & (found.sa >= 0)
            for number in np.unique(found.sa[here]).tolist():
                own = here & (found.sa == number)
                ends = self._ends.setdefault((slot, number), Counter())
                ends.update(code[own].tolist())
                self._last[slot, number] = max(self._last.get((slot, number), 0), int(found.sequence[own].max()))

    def close(self) -> None:
        """Nothing is open."""

    def figures(self) -> dict[str, Any]:
        """``ipsec``: a table for each slot that has SAs (docs/report.md); nothing where none has."""
        slots = [self._slot(slot, sas) for slot, sas in self._sets.items() if sas]
        return {"ipsec": slots} if slots else {}

    def _slot(self, slot: str, sas: Sequence[Sa]) -> dict[str, Any]:
        rows = []
        for number, sa in enumerate(sas):
            ends = self._ends.get((slot, number), Counter())
            rows.append(
                {
                    "sa": number,
                    "spi": sa.spi,
                    "dst": _address(sa),
                    "frames": ends.total(),
                    "last_sequence": self._last.get((slot, number), 0) or None,
                    "dropped": {code_name(c): n for c, n in sorted(ends.items()) if c >= FIRST_DROP},
                }
            )
        used = [row for row in rows if row["frames"]]
        file = self._file if slot in self._slots else ""
        return {
            "slot": slot,
            "direction": slot.removeprefix("ipsec_"),
            "file": file or None,
            "sas": len(rows),
            "used": used,
            "unused": [row["sa"] for row in rows if not row["frames"]],
        }
