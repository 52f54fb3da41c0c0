"""The parser's golden model against tshark's dissection of the same frames.

Sweep:    every Ethernet capture of tests/captures and of folders 02, 04, 05, 08, 09 and 10 of the material
Stimulus: published captures, recordings between real peers, malformed frames; mutated frames of any shape
Checks:   every field that tshark has a name for, in every layer, offsets and checksum verdicts too; which layers there
          are; where the chains end at different headers, one of tests/parser/tshark.py's rules, each of them counted.
          Captures of other link types are refused by name
Timing:   none
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest

from models.frames import Batch
from models.meta import Code
from models.parser import PARSER_FIELDS, Parsed, ParserModel
from tb.replay.capture import Capture, CaptureError, read_capture
from tb.toolchain import ROOT
from tests.parser.mutations import build, mutated, shapes
from tests.parser.tshark import RULES, Comparison, Dissection, compare, dissect

CAPTURES = sorted(path for path in (ROOT / "tests" / "captures").iterdir() if ".pcap" in path.name)
FOLDERS = ("02_esp", "04_roce", "05_l2_flowctl", "08_general", "09_ip_edge", "10_peers")
OTHER_LINK_TYPES = {
    "wireshark__http-ooo.pcap": "link type 228 (raw IPv4)",
    "wireshark__ipoipoip.pcap": "link type 228 (raw IPv4)",
    "suricata-verify__bug-6887-defrag-ipv4-tcp-syn__frag-ip-tcp-syn.pcap": "link type 228 (raw IPv4)",
    "suricata-verify__bug-6887-defrag-ppp-ipv4-tcp-syn__frag-ppp-ip-tcp-syn.pcap": "link type 9 (PPP)",
    "nDPI__fuzz-2021-10-13.pcap": "link type 0 (BSD loopback)",
}
"""Captures of the material's folders that aren't Ethernet, and what their refusal says."""
MOST = {
    "third tag": (1, 2),
    "fifth extension header": (2, 2),
    "beyond PARSE_BYTES": (2, 0),
    "no turn left": (0, 0),
    "beyond the IP packet": (2, 6),
    "beyond the frame": (10, 3),
    "no byte left": (4, 4),
    "bad UDP length": (2, 25),
    "both stop": (107, 43),
    "ICMP of the other version": (0, 0),
    "keepalive": (0, 0),
    "lower port": (0, 0),
    "segments left": (3, 2),
    "sum beyond the frame": (0, 4),
}
"""By rule: most frames of tests/captures (of 3900) and of the material (of 17310) to which it may be applied."""
NOT_SHOWN = {"vlan1_ad"}
"""Fields that tshark shows so seldom that no number is asked of them."""


@dataclass
class Judged:
    """All frames of some captures, with what the two said."""

    names: list[str]
    frames: list[bytes]
    parsed: list[Parsed]
    found: list[Dissection]
    results: list[Comparison]

    @property
    def compared(self) -> Counter[str]:
        return sum((result.compared for result in self.results), Counter())

    @property
    def rules(self) -> Counter[str]:
        return Counter(rule for result in self.results for rule in result.rules)

    def unexplained(self) -> list[str]:
        """The frames in which something differs, first difference first."""
        rows = zip(self.names, self.frames, self.results, strict=True)
        return [
            f"{name}: {'; '.join(result.differences)} (rules {result.rules}) frame {frame[:128].hex()}"
            for name, frame, result in rows
            if result.differences
        ]


def judge(captures: Sequence[tuple[str, Capture]]) -> Judged:
    """Model and tshark on the frames of all captures, in one tshark."""
    batch = Batch.concat([capture.batch for _, capture in captures])
    original = np.concatenate([capture.original_length for _, capture in captures])
    names = [f"{name} frame {i}" for name, capture in captures for i in range(len(capture.batch))]
    model = ParserModel()
    frames = list(batch)
    parsed = [model.parse(frame) for frame in frames]
    found = dissect(batch, original)
    results = [compare(*row) for row in zip(frames, parsed, found, strict=True)]
    return Judged(names, frames, parsed, found, results)


def read_material(material: Path) -> list[tuple[str, Capture]]:
    """Every Ethernet capture of the folders. AssertionError: another one is refused, or one that should be isn't."""
    captures, refused = [], {}
    for folder in FOLDERS:
        for path in sorted((material / folder).rglob("*")):
            if path.name.endswith((".pcap", ".pcapng", ".pcap.gz", ".pcapng.gz")):
                try:
                    captures.append((path.name, read_capture(path)))
                except CaptureError as error:
                    refused[path.name] = error.problem
    assert refused == {name: f"{kind}; only Ethernet (1) can be played" for name, kind in OTHER_LINK_TYPES.items()}, (
        refused
    )
    return captures


@pytest.fixture(scope="module")
def own(tshark: str) -> Judged:
    del tshark
    return judge([(path.name, read_capture(path)) for path in CAPTURES])


@pytest.fixture(scope="module")
def published(tshark: str, material: Path) -> Judged:
    del tshark
    return judge(read_material(material))


def test_tshark_agrees_on_every_frame_of_the_captures_of_the_repository(own: Judged) -> None:
    assert own.unexplained() == []
    compared = own.compared
    assert len(own.frames) == 3900 and sum(compared.values()) >= 134_108
    assert {name for name in PARSER_FIELDS if not compared[name]} == set()


def test_tshark_agrees_on_every_frame_of_the_material(published: Judged) -> None:
    assert published.unexplained() == []
    compared = published.compared
    assert len(published.frames) == 17_310 and sum(compared.values()) >= 560_188
    assert {name for name in PARSER_FIELDS if not compared[name]} <= NOT_SHOWN


def test_no_rule_of_the_comparison_excuses_more_frames_of_the_repository_than_are_known(own: Judged) -> None:
    assert all(own.rules[rule] <= most for rule, (most, _) in MOST.items()), own.rules
    assert set(MOST) == set(RULES)
    assert set(own.rules) == {rule for rule, (most, _) in MOST.items() if most}


def test_no_rule_of_the_comparison_excuses_more_frames_of_the_material_than_are_known(published: Judged) -> None:
    assert all(published.rules[rule] <= most for rule, (_, most) in MOST.items()), published.rules
    assert set(published.rules) == {rule for rule, (_, most) in MOST.items() if most}


def test_captures_of_other_link_types_are_refused_by_name(material: Path) -> None:
    for name, kind in OTHER_LINK_TYPES.items():
        (path,) = [p for folder in FOLDERS for p in (material / folder).rglob(name)]
        with pytest.raises(CaptureError) as refused:
            read_capture(path)
        assert kind in str(refused.value) and str(path) in str(refused.value)


def test_snapped_frames_are_parsed_as_captured_and_named_where_their_ip_packet_is_cut(published: Judged) -> None:
    rows = zip(published.names, published.frames, published.found, published.parsed, strict=True)
    snapped = [(name, frame, parsed) for name, frame, found, parsed in rows if found.snapped]
    whole = [name for name, _, parsed in snapped if parsed.l3_kind and not parsed.code]
    assert len(snapped) == 14
    # One was cut behind its IP packet, which isn't all that the frame had.
    assert whole == ["zeek__tunnels_geneve-truncated.pcapng frame 0"]
    assert all(parsed.l3_end <= len(frame) for name, frame, parsed in snapped if name in whole)
    assert any(parsed.code == Code.L3_BEYOND_FRAME for _, _, parsed in snapped)


def test_tshark_agrees_on_mutated_frames_wherever_it_reads_on(tshark: str, seed: int) -> None:
    """Deep chains, odd values and lengths that lie. Options of random bytes end tshark's dissection: such frames, and
    all others that it calls malformed, are left out."""
    del tshark
    frames = [*mutated(random.Random(f"tshark {seed}"), 3000), *(build(shape).frame for shape in shapes())]
    model = ParserModel()
    found = dissect(Batch.of(frames))
    rows = [(frame, model.parse(frame), one) for frame, one in zip(frames, found, strict=True) if not one.ended]
    results = [compare(*row) for row in rows]
    wrong = [f"{r.differences} {row[0].hex()}" for row, r in zip(rows, results, strict=True) if r.differences]
    assert wrong == []
    assert len(rows) > 1200 and sum(sum(result.compared.values()) for result in results) > 25_000


def test_difference_in_any_field_is_seen(own: Judged) -> None:
    """Each field that is compared is changed by one bit, in a frame in which tshark shows it."""
    missing = set(own.compared) - {"checksum", "l3_beyond_frame"}
    judged = list(zip(own.frames, own.parsed, own.found, own.results, strict=True))
    for name in sorted(missing):
        frame, parsed, found, _ = next(row for row in judged if row[3].compared[name] and not row[3].rules)
        changed = replace(parsed, **{name: getattr(parsed, name) ^ 1})
        assert any(text.startswith(f"{name}:") for text in compare(frame, changed, found).differences), name
    for verdict in (0, 1, 2, 3):
        frame, parsed, found, _ = next(
            row for row in judged if row[3].compared["checksum"] and row[1].user >> 8 == verdict
        )
        changed = replace(parsed, user=parsed.user ^ 0x100)
        assert any(text.startswith("checksum:") for text in compare(frame, changed, found).differences), verdict
    frame, parsed, found, _ = next(row for row in judged if row[1].code == Code.L3_BEYOND_FRAME)
    assert compare(frame, replace(parsed, code=0), found).differences
    assert {f.name for f in fields(Parsed)} >= missing
