"""The parser's golden model against tshark's dissection of the same frames.

Sweep:    every Ethernet capture of tests/captures and of folders 02, 04, 05, 08, 09 and 10 of the material; a parser of
          128 bytes that reads no tunnels, one of 256 that does
Stimulus: published captures, recordings between real peers, malformed frames; mutated frames of any shape
Checks:   every field that tshark has a name for, in every layer, in tunnels too, offsets and checksum verdicts; which
          layers there are; where the chains end at different headers, one of the rules of tests/parser/comparison.py,
          each of them counted. Reading tunnels changes nothing of other frames. Other link types are refused by name
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
from tests.parser.comparison import RULES, Comparison, compare
from tests.parser.mutations import build, mutated, random_tunnel, shapes, tunnel_shapes
from tests.parser.tshark import Dissection, dissect

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
    "third tag": (1, 2, 2, 2),
    "fifth extension header": (2, 2, 3, 2),
    "beyond PARSE_BYTES": (2, 0, 2, 0),
    "no turn left": (0, 0, 0, 0),
    "beyond the IP packet": (2, 6, 9, 6),
    "beyond the frame": (10, 3, 28, 3),
    "no byte left": (4, 4, 12, 5),
    "bad UDP length": (2, 25, 4, 25),
    "both stop": (107, 43, 222, 43),
    "ICMP of the other version": (0, 0, 0, 0),
    "keepalive": (0, 0, 0, 0),
    "lower port": (0, 0, 0, 0),
    "segments left": (3, 2, 4, 2),
    "sum beyond the frame": (0, 4, 0, 4),
    "no tunnel header": (0, 0, 2, 0),
    "tunnel by its source port": (0, 0, 1, 0),
    "packet beyond its tunnel": (0, 0, 7, 0),
}
"""By rule: most frames of tests/captures (of 4116) and of the material (of 17310) to which it may be applied; the same
where tunnels are read."""
TUNNEL_PORTS = (4789, 6081)
OF_TUNNELS = frozenset(n for n in PARSER_FIELDS if n.startswith(("inner_", "tunnel_"))) | {"vni"}
NOT_SHOWN = {"vlan1_ad"}
"""Fields that tshark shows so seldom that no number is asked of them."""
NOT_PUBLISHED = {"inner_vlan0", "inner_vlan0_ad", "inner_vlan1", "inner_vlan1_ad"}
"""Fields that no capture of the material has in a tunnel."""


@dataclass
class Dissected:
    """All frames of some captures, with what tshark says of each."""

    names: list[str]
    frames: list[bytes]
    found: list[Dissection]


@dataclass
class Judged:
    """Frames, and what the two said of them."""

    names: list[str]
    frames: list[bytes]
    found: list[Dissection]
    parsed: list[Parsed]
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
            f"{name}: {'; '.join(result.differences)} (rules {result.rules}) frame {frame[:256].hex()}"
            for name, frame, result in rows
            if result.differences
        ]


def dissected(captures: Sequence[tuple[str, Capture]]) -> Dissected:
    """The frames of all captures, in one tshark."""
    batch = Batch.concat([capture.batch for _, capture in captures])
    original = np.concatenate([capture.original_length for _, capture in captures])
    names = [f"{name} frame {i}" for name, capture in captures for i in range(len(capture.batch))]
    return Dissected(names, list(batch), dissect(batch, original))


def judge(shown: Dissected, tunnel: bool) -> Judged:
    """What the model of a parser says of them: of 128 bytes, or of 256 if it reads tunnels."""
    parse_bytes = 256 if tunnel else 128
    model = ParserModel(parse_bytes, tunnel=tunnel)
    parsed = [model.parse(frame) for frame in shown.frames]
    rows = zip(shown.frames, parsed, shown.found, strict=True)
    results = [compare(*row, parse_bytes, tunnel) for row in rows]
    return Judged(shown.names, shown.frames, shown.found, parsed, results)


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
def own_frames(tshark: str) -> Dissected:
    del tshark
    return dissected([(path.name, read_capture(path)) for path in CAPTURES])


@pytest.fixture(scope="module")
def published_frames(tshark: str, material: Path) -> Dissected:
    del tshark
    return dissected(read_material(material))


@pytest.fixture(scope="module")
def own(own_frames: Dissected) -> Judged:
    return judge(own_frames, tunnel=False)


@pytest.fixture(scope="module")
def own_tunnels(own_frames: Dissected) -> Judged:
    return judge(own_frames, tunnel=True)


@pytest.fixture(scope="module")
def published(published_frames: Dissected) -> Judged:
    return judge(published_frames, tunnel=False)


@pytest.fixture(scope="module")
def published_tunnels(published_frames: Dissected) -> Judged:
    return judge(published_frames, tunnel=True)


def check_rules(judged: Judged, column: int) -> None:
    """Each rule is applied to some frames, where any are known, and to no more than these."""
    most = {rule: numbers[column] for rule, numbers in MOST.items()}
    assert set(most) == set(RULES)
    assert all(judged.rules[rule] <= number for rule, number in most.items()), judged.rules
    assert set(judged.rules) == {rule for rule, number in most.items() if number}


def test_tshark_agrees_on_every_frame_of_the_captures_of_the_repository(own: Judged) -> None:
    assert own.unexplained() == []
    compared = own.compared
    assert len(own.frames) == 4116 and sum(compared.values()) >= 165_626
    assert {name for name in PARSER_FIELDS if not compared[name]} <= OF_TUNNELS


def test_tshark_agrees_on_every_frame_of_the_material(published: Judged) -> None:
    assert published.unexplained() == []
    compared = published.compared
    assert len(published.frames) == 17_310 and sum(compared.values()) >= 664_048
    assert {name for name in PARSER_FIELDS if not compared[name]} <= NOT_SHOWN | OF_TUNNELS


def test_tshark_agrees_on_what_is_in_tunnels_of_the_captures_of_the_repository(own_tunnels: Judged) -> None:
    assert own_tunnels.unexplained() == []
    compared = own_tunnels.compared
    assert sum(compared.values()) >= 168_123 and sum(parsed.tunnel_kind > 0 for parsed in own_tunnels.parsed) == 214
    assert {name for name in PARSER_FIELDS if not compared[name]} == set()


def test_tshark_agrees_on_what_is_in_tunnels_of_the_material(published_tunnels: Judged) -> None:
    assert published_tunnels.unexplained() == []
    compared = published_tunnels.compared
    assert (
        sum(compared.values()) >= 665_576 and sum(parsed.tunnel_kind > 0 for parsed in published_tunnels.parsed) == 74
    )
    assert {name for name in PARSER_FIELDS if not compared[name]} == NOT_PUBLISHED


def check_others(frames: Sequence[bytes]) -> int:
    """Reading tunnels changes nothing of other frames, and nothing outside of a tunnel. Returns how many frames go to a
    tunnel's port."""
    plain, reading = ParserModel(256), ParserModel(256, tunnel=True)
    changed = OF_TUNNELS | {"parse_code", "payload_offset", "tcp_flags", "icmp_type", "icmp_code", "spi", "esp_seq"}
    tunnels = 0
    for frame in frames:
        one, other = plain.parse(frame), reading.parse(frame)
        if one.l4_kind == 2 and one.dst_port in TUNNEL_PORTS:
            tunnels += 1
            fields = one.meta_fields()
            assert fields | {name: 0 for name in OF_TUNNELS} == fields, frame.hex()
            same = {name: value for name, value in other.meta_fields().items() if name not in changed}
            assert fields | same == fields, frame.hex()
        else:
            assert one == other, frame.hex()
    return tunnels


def test_reading_tunnels_changes_nothing_of_other_frames_of_the_repository(own: Judged) -> None:
    assert check_others(own.frames) == 244


def test_reading_tunnels_changes_nothing_of_other_frames_of_the_material(published: Judged) -> None:
    assert check_others(published.frames) == 74


def test_no_rule_of_the_comparison_excuses_more_frames_of_the_repository_than_are_known(
    own: Judged, own_tunnels: Judged
) -> None:
    check_rules(own, 0)
    check_rules(own_tunnels, 2)


def test_no_rule_of_the_comparison_excuses_more_frames_of_the_material_than_are_known(
    published: Judged, published_tunnels: Judged
) -> None:
    check_rules(published, 1)
    check_rules(published_tunnels, 3)


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


def test_tshark_agrees_on_mutated_tunnels_wherever_it_reads_on(tshark: str, seed: int) -> None:
    """As above, with tunnels of any shape with anything in them, and GENEVE options up to the most."""
    del tshark
    rng = random.Random(f"tshark tunnels {seed}")
    whole = [build(random_tunnel(rng)).frame for _ in range(1000)]
    frames = [*whole, *(build(shape).frame for shape in tunnel_shapes())]
    frames += mutated(rng, 2000, frames, 256)
    model = ParserModel(256, tunnel=True)
    found = dissect(Batch.of(frames))
    rows = [(frame, model.parse(frame), one) for frame, one in zip(frames, found, strict=True) if not one.ended]
    results = [compare(*row, 256, True) for row in rows]
    wrong = [f"{r.differences} {row[0].hex()}" for row, r in zip(rows, results, strict=True) if r.differences]
    assert wrong == []
    assert sum(row[1].tunnel_kind > 0 for row in rows) > 1000
    assert sum(sum(result.compared.values()) for result in results) > 60_000


def test_difference_in_any_field_is_seen(own_tunnels: Judged) -> None:
    """Each field that is compared is changed by one bit, in a frame in which tshark shows it."""
    missing = set(own_tunnels.compared) - {"checksum", "l3_beyond_frame"}
    judged = list(zip(*(getattr(own_tunnels, name) for name in ("frames", "parsed", "found", "results")), strict=True))

    def seen(frame: bytes, parsed: Parsed, found: Dissection) -> list[str]:
        return compare(frame, parsed, found, 256, True).differences

    for name in sorted(missing):
        frame, parsed, found, _ = next(row for row in judged if row[3].compared[name] and not row[3].rules)
        changed = replace(parsed, **{name: getattr(parsed, name) ^ 1})
        assert any(text.startswith(f"{name}:") for text in seen(frame, changed, found)), name
    for verdict in (0, 1, 2, 3):
        frame, parsed, found, _ = next(
            row for row in judged if row[3].compared["checksum"] and row[1].user >> 8 == verdict
        )
        changed = replace(parsed, user=parsed.user ^ 0x100)
        assert any(text.startswith("checksum:") for text in seen(frame, changed, found)), verdict
    frame, parsed, found, _ = next(row for row in judged if row[1].code == Code.L3_BEYOND_FRAME)
    assert seen(frame, replace(parsed, code=0), found)
    assert {f.name for f in fields(Parsed)} >= missing
