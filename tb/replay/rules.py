"""The ACL's rules in a replay: from a file into the programmed NIC, and what they did, for table, JSON and page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models.acl import ACTION_WIDTHS, DEFAULT_RULE, Actions, RuleSet, name_of
from models.acl_check import ENGINE, misfits
from models.acl_file import AclFileError, rules_of, text_of
from models.acl_meter import Colour
from models.config import PORTS, NicConfig
from models.frames import Edge
from models.nic_acl import COUNTERS
from models.nic_played import Played
from tb.replay.capture import CaptureError, CaptureReader
from tb.replay.checks import UsageError
from tb.replay.piece import printable
from tb.replay.window import Judged, Ruled
from tb.targets.engine import DIRECTIONS
from tb.targets.program import RulesError, rule_sets

__all__ = ["RuleFigures", "RuleFile", "action_text", "blamed", "directions_of", "programmed", "ruled_by"]


@dataclass(frozen=True)
class RuleFile:
    """Rules that a person named. lines: of each rule the line on which it begins, from 1."""

    name: str
    rule_set: RuleSet
    lines: tuple[int, ...]

    @classmethod
    def read(cls, path: str | Path) -> RuleFile:
        """UsageError: the file can't be read, or is wrong; the message is `nicloop acl check`'s."""
        try:
            text = text_of(path)
            rule_set = rules_of(text, str(path))
        except AclFileError as error:
            raise UsageError(printable(str(error))) from error
        lines = _lines(text, str(path))
        return cls(printable(str(path)), rule_set, lines if len(lines) == len(rule_set.rules) else ())

    @property
    def deaf(self) -> str:
        """Which rules a port that reads no tunnels never matches; "": none."""
        inside = [index for index, rule in enumerate(self.rule_set.rules) if rule.inner]
        if not inside:
            return ""
        many = "1 rule asks" if len(inside) == 1 else f"{len(inside)} rules ask"
        first = name_of(self.rule_set.rules, inside[0])
        return f"{self.name}: {many} for headers in a tunnel, which this port doesn't read, so nothing matches: {first}"


def _lines(text: str, name: str) -> tuple[int, ...]:
    """Where rules begin: each line of a ClassBench file that isn't empty or a comment, each head of a table in TOML."""
    if name.lower().endswith(".toml"):
        numbered = enumerate(text.split("\n"), 1)
        return tuple(n for n, line in numbered if "".join(line.split()).startswith("[[rule]]"))
    stripped = ((n, line.strip()) for n, line in enumerate(text.splitlines(), 1))
    return tuple(n for n, line in stripped if line and not line.startswith("#"))


def programmed(
    config: str | Path | None, acl: str | Path | None, directions: Iterable[str], port: int | None = None
) -> tuple[NicConfig, RuleFile | None]:
    """The NIC as the options --config and --acl say, and the file of rules: these go into the slots of the directions
    ("rx", "tx") of the port, in place of what is there.

    ConfigError, UsageError: a file can't be used; rules are more than the engine has room for, by default.
    """
    nic = NicConfig.load(config) if config is not None else NicConfig()
    if acl is None:
        return nic, None
    if not 0 <= (port or 0) < PORTS:
        raise UsageError(f"--acl: there is no port {port} that rules go to: accepted: 0 to {PORTS - 1}")
    file = RuleFile.read(acl)
    reasons = misfits(file.rule_set.rules, len(file.rule_set.meters), ENGINE)
    if reasons:
        raise UsageError(f"{file.name}: doesn't fit: {'; '.join(reasons)}")
    return nic.with_port(port or 0, **{f"acl_{way}": file.rule_set for way in directions}), file


def blamed(
    error: RulesError,
    acl: str | Path | None,
    slots: Iterable[str],
    config: str | Path | None,
    esp_sa: str | Path | None = None,
) -> str:
    """Where the rules or SAs of the slot come from that don't fit: --acl gave the rules of these slots,
    --esp-sa the SAs if it is there, --config the others."""
    if esp_sa and error.slot.startswith("ipsec_"):
        return printable(str(esp_sa))
    return printable(str(acl)) if acl and error.slot in slots else printable(str(config or "--config"))


def directions_of(direction: str | None, captures: Sequence[str]) -> list[str]:
    """In which directions the frames of captures go: in the one that is asked for, else where the captures say. That of
    standard input isn't known before it is played: both."""
    if direction is not None:
        return [direction]
    found = {"rx"}
    for name in captures:
        if name == "-":
            return ["rx", "tx"]
        found |= _directions_in(name)
    return sorted(found)


def _directions_in(name: str) -> set[str]:
    """Those that the beginning of a capture names."""
    try:
        piece = next(iter(CaptureReader(name)), None)
    except CaptureError:
        return set()
    return set() if piece is None else {DIRECTIONS[Edge(edge)] for edge in set(piece.batch.edge.tolist())}


def ruled_by(play: Played) -> Ruled:
    """What the ACL made of the frames of a play."""
    found = Ruled.none(len(play.batch))
    for course in play.courses.values():
        acl, index = course.acl, course.index
        found.rule[index] = np.where(acl.good & (acl.rule != DEFAULT_RULE), acl.rule.astype(np.int32), -1)
        if acl.mark is not None:
            found.mark[index] = acl.mark
        if acl.meter is None:
            continue
        for colour in Colour:
            found.colour[index[acl.counts[f"{acl.name}.metered_{colour.name.lower()}"]]] = colour
    return found


def action_text(actions: Actions) -> str:
    """What a rule does, in words: "deny, mirror 3"; a rule that only counts: "permit"."""
    words = [] if actions.permit else ["deny"]
    words += [f"{name} {number}" for name in ACTION_WIDTHS if (number := getattr(actions, name)) is not None]
    return ", ".join(words) or "permit"


class RuleFigures:
    """A listener that keeps what the rules of a NIC's port have counted until now, as the device says.

    file, lines: of `RuleFile`, where the rules of these slots come from one.
    """

    def __init__(
        self,
        config: NicConfig,
        port: int = 0,
        file: str = "",
        lines: Sequence[int] = (),
        slots: Sequence[str] = (),
    ) -> None:
        self._sets = dict(rule_sets(config, port)) if port < PORTS else {}
        self._file, self._lines, self._slots = file, lines, slots
        self._counters: Mapping[str, int] = {}

    def take(self, judged: Judged) -> None:
        self._counters = judged.outcome.counters or self._counters

    def close(self) -> None:
        """Nothing is open."""

    def figures(self) -> dict[str, Any]:
        """``acl``: a table for each slot that has rules (docs/report.md); nothing where none has."""
        slots = [self._slot(slot, rule_set) for slot, rule_set in self._sets.items()]
        return {"acl": slots} if slots else {}

    def _slot(self, slot: str, rule_set: RuleSet) -> dict[str, Any]:
        counted = self._counters
        # Rules of a slot that isn't among these came with the configuration.
        file, lines = (self._file, self._lines) if slot in self._slots else ("", ())
        rows = []
        for number, rule in enumerate(rule_set.rules):
            of = f"{slot}.rule[{number}]"
            rows.append(
                {
                    "rule": number,
                    "name": rule.name or None,
                    "line": lines[number] if lines else None,
                    "action": action_text(rule.actions),
                    "frames": counted.get(f"{of}.frames", 0),
                    "bytes": counted.get(f"{of}.bytes", 0),
                }
            )
        hit = [row for row in rows if row["frames"]]
        return {
            "slot": slot,
            "direction": slot.removeprefix("acl_"),
            "file": file or None,
            "rules": len(rows),
            "meters": len(rule_set.meters),
            "hits": sorted(hit, key=lambda row: (-row["frames"], row["rule"])),
            "without_hits": [row["rule"] for row in rows if not row["frames"]],
            "default": {
                "action": "permit" if rule_set.default_permit else "deny",
                "frames": counted.get(f"{slot}.default.frames", 0),
                "bytes": counted.get(f"{slot}.default.bytes", 0),
            },
            **{name: counted.get(f"{slot}.{name}", 0) for name in COUNTERS},
        }
