"""Bench of ``parser``: every bit that comes out, and the cycle in which it comes, against ``ParserModel``.

The launcher, tests/parser/test_parser.py, makes the frames: ``$NICLOOP_FRAMES`` names a JSON file with lists of frames
in hex, by what they are for. ``$NICLOOP_PARSE_BYTES`` and ``$NICLOOP_TUNNEL`` (0 or 1) are the design's parameters.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.frames import bad_mark
from models.meta import FIELDS, META_W, Code, unpack
from models.parser import Parsed, ParserModel, first_out, first_out_of_arrivals, last_out
from models.port_map import PORT
from tb.lib import cover
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.protocol import ProtocolChecker
from tb.lib.suite import check_no_combinational_path, four_state, seeded

__all__: list[str] = []

PARSE_BYTES = int(os.environ["NICLOOP_PARSE_BYTES"])
TUNNEL = os.environ["NICLOOP_TUNNEL"] == "1"
FRAMES: dict[str, list[bytes]] = {
    name: [bytes.fromhex(frame) for frame in frames]
    for name, frames in json.loads(Path(os.environ["NICLOOP_FRAMES"]).read_text()).items()
}
BASE = PORT["parser_rx.drop"].address & ~0x3FFF
DROP = PORT["parser_rx.drop"].address - BASE
ID = PORT["parser_rx.id"].address - BASE
COUNTERS = {code: PORT[f"parser_rx.{code.name.lower()}"].address - BASE for code in Code if 32 <= code <= 46}
FRAMES_OUT = PORT["parser_rx.frames"].address - BASE
CODES = [code for code in COUNTERS if TUNNEL or code not in (Code.TUNNEL_TRUNCATED, Code.BAD_TUNNEL)]
"""What the frames of this run may end with."""
CARRIED = {field.name for field in FIELDS if field.writer in ("nic_ingress", "ipsec")}
"""Fields that pass; what blocks behind the parser write is 0."""
OTHERS = [field.name for field in FIELDS if field.writer != "parser"]

_layers = cover.point(
    "parser.layer",
    [
        "untagged",
        "one_tag",
        "two_tags",
        "service_tag",
        "mac_control",
        "ipv4",
        "ipv4_options",
        "ipv6",
        "hop_by_hop",
        "routing",
        "fragment_header",
        "destination",
        "ah",
        "piece",
        "tcp",
        "udp",
        "icmp",
        "icmpv6",
        "esp",
        "bth",
        "natt_esp",
        "ike",
        "keepalive",
        "other_type",
        "other_protocol",
        "padding",
    ],
)
_tunnels = cover.point(
    "parser.tunnel",
    [
        "vxlan",
        "geneve",
        "geneve_options",
        "without_ethernet",
        "other_protocol",
        "over_ipv6",
        "in_a_piece",
        "one_tag",
        "two_tags",
        "service_tag",
        "mac_control",
        "ipv4",
        "ipv4_options",
        "ipv6",
        "extension_header",
        "piece",
        "tcp",
        "udp",
        "icmp",
        "icmpv6",
        "esp",
        "good_header_checksum",
        "bad_header_checksum",
        "padding",
    ],
)
_inner_codes = cover.point(
    "parser.tunnel_code",
    [
        "NONE",
        "L2_TRUNCATED",
        "L3_TRUNCATED",
        "BAD_IP_VERSION",
        "BAD_IHL",
        "BAD_L3_LENGTH",
        "TOO_DEEP",
        "EXT_TRUNCATED",
        "L4_TRUNCATED",
        "BAD_TCP_OFFSET",
        "BAD_UDP_LENGTH",
        "L3_BEYOND_FRAME",
    ],
)
_codes = cover.point("parser.code", ["NONE", *(code.name for code in COUNTERS)])
_depth = cover.point("parser.depth", [1, 2, 3, 4, 5, 6, 7, 8])
_tunnel_depth = cover.point("parser.tunnel_depth", list(range(4, 15)))  # 14: and more
_verdicts = cover.point("parser.checksum", ["none", "good", "bad", "unknown"])
_headers = cover.point("parser.header_checksum", ["none", "good", "bad"])
_pauses = cover.cross("parser.pauses", list(PAUSES), list(PAUSES))
_resets = cover.point("parser.reset", ["idle", "input_open", "output_open"])
_last_lanes = cover.point("parser.last_lanes", list(range(1, 17)))
_drops = cover.cross("parser.drop", [code.name for code in COUNTERS], ["kept", "dropped"])


@dataclass
class Expected:
    """A frame that was sent, and what the model says of it."""

    sent: AxisFrame
    parsed: Parsed


class Bench:
    """Agents, the register port, and the comparison with the model."""

    def __init__(self, dut: Any, *, protocol: bool = False) -> None:
        self.dut = dut
        self.clk: Any = dut.clk
        self.rst: Any = dut.rst
        self.rng = seeded("parser")
        self.model = ParserModel(PARSE_BYTES, tunnel=TUNNEL)
        start_clock(dut.clk)
        dut.rst.value = 1
        for signal in ("reg_req", "reg_write", "reg_addr", "reg_wdata", "reg_wstrb", "now"):
            getattr(dut, signal).value = 0
        self.source = AxisSource(dut, "s_axis", dut.clk, rng=seeded("noise"), undefined=four_state())
        self.sink = AxisSink(dut, "m_axis", dut.clk)
        self.s_width = 16
        self.previous = -1
        self.checkers = []
        if protocol or four_state():
            self.checkers = [ProtocolChecker(dut, stream, dut.clk, dut.rst) for stream in ("s_axis", "m_axis")]

    async def start(self) -> Bench:
        """Reset the parser."""
        await reset(self.rst, self.clk)
        return self

    def pause(self, source: str, sink: str) -> None:
        """Choose back-pressure by name."""
        self.source.pause = None if source == "none" else PAUSES[source](seeded(source, "source"))
        self.sink.pause = None if sink == "none" else PAUSES[sink](seeded(sink, "sink"))

    def frame(self, length: int) -> AxisFrame:
        """Random bytes with random metadata."""
        return AxisFrame(self.rng.randbytes(length), 0, self.rng.getrandbits(META_W))

    # Registers

    async def _access(self, address: int, value: int | None) -> tuple[int, bool]:
        dut, edge = self.dut, RisingEdge(self.clk)
        dut.reg_addr.value = address
        dut.reg_write.value = int(value is not None)
        dut.reg_wdata.value = value or 0
        dut.reg_wstrb.value = 15
        dut.reg_req.value = 1
        await edge
        while not int(dut.reg_ack.value):
            await edge
        got, error = int(dut.reg_rdata.value), bool(int(dut.reg_error.value))
        dut.reg_req.value = 0
        await edge
        return got, error

    async def read(self, address: int, words: int = 1) -> int:
        """A register of one or two words."""
        value = 0
        for word in range(words):
            got, error = await self._access(address + 4 * word, None)
            assert not error, f"no register at {address + 4 * word:#x}"
            value |= got << 32 * word
        return value

    async def set_drop(self, mask: int) -> None:
        """Register ``drop``, and the model's."""
        _, error = await self._access(DROP, mask)
        assert not error
        self.model.drop = mask

    async def counters(self) -> dict[str, int]:
        """``frames`` and the counter of each code."""
        found = {"FRAMES": await self.read(FRAMES_OUT, 2)}
        for code, address in COUNTERS.items():
            found[code.name] = await self.read(address, 2)
        return found

    # Frames

    def expect(self, frame: bytes, bad: int = 0) -> Expected:
        """A frame to send: metadata, and the checksum bits that come in, are noise."""
        sent = AxisFrame(frame, self.rng.getrandbits(2) << 8 | bad, self.rng.getrandbits(META_W))
        return Expected(sent, self.model.parse(frame, bad))

    def check(self, want: Expected, got: AxisFrame, what: str) -> None:
        """Bytes, metadata and the last beat's ``tuser``."""
        sent, parsed = want.sent, want.parsed
        given, came = unpack(sent.meta), unpack(got.meta)
        fields = {name: given[name] if name in CARRIED else 0 for name in OTHERS} | parsed.meta_fields()
        wrong = [f"{n}: model {v:#x}, parser {came[n]:#x}" for n, v in fields.items() if came[n] != v]
        if got.user != parsed.user:
            wrong.append(f"tuser: model {parsed.user:#x}, parser {got.user:#x}")
        if got.data != sent.data:
            wrong.append(f"bytes: {len(sent.data)} sent, {len(got.data)} came, {got.data[:64].hex()}")
        assert not wrong, f"{what}: {'; '.join(wrong)}\nframe {sent.data[:256].hex()} ({len(sent.data)} bytes)"
        self._cover(want)

    def check_cycles(self, want: Expected, got: AxisFrame, what: str) -> None:
        """The cycles of the first and the last beat, of frames that came without gaps and left without waiting."""
        sent, beats = want.sent, want.sent.beats()
        assert sent.last_cycle - sent.first_cycle == beats - 1, f"{what}: the parser held up a beat in mid-frame"
        first = first_out(sent.first_cycle, self.previous, want.parsed.latency_cycles)
        last = last_out(first, beats, sent.last_cycle)
        assert (got.valid_cycle, got.last_cycle) == (first, last), (
            f"{what}: first and last beat left in cycles {got.valid_cycle}, {got.last_cycle}, must be {first}, {last} "
            f"(came {sent.first_cycle}..{sent.last_cycle}, latency {want.parsed.latency_cycles}, layers "
            f"{want.parsed.layers}, frame before left {self.previous})\nframe {sent.data[:256].hex()}"
        )
        self.previous = got.last_cycle

    async def play(
        self, frames: Iterable[bytes], what: str, *, bads: Sequence[int] = (), cycles: bool = True, alone: bool = False
    ) -> list[tuple[Expected, AxisFrame]]:
        """Send frames back to back, or each ``alone`` in the parser, and check all that comes out."""
        expected = [self.expect(frame, bads[number % len(bads)] if bads else 0) for number, frame in enumerate(frames)]
        if not alone:
            for want in expected:
                self.source.append(want.sent)
        pairs = []
        for number, want in enumerate(expected):
            if alone:
                self.source.append(want.sent)
            got = await self.sink.recv()
            self.check(want, got, f"{what}, frame {number}")
            if cycles:
                self.check_cycles(want, got, f"{what}, frame {number}")
            pairs.append((want, got))
            if alone:
                await wait_cycles(self.clk, 2)
        return pairs

    async def quiet(self, cycles: int = 20) -> None:
        """Nothing more comes out, and the parser says that it is idle."""
        await self.source.drained()
        await wait_cycles(self.clk, cycles)
        assert not self.sink.frames and not self.sink.partial, "a frame came that nobody sent"
        assert int(self.dut.idle.value) == 1, "not idle with nothing in it"
        assert int(self.dut.ready.value) == 1 and int(self.dut.disp_valid.value) == 0
        assert int(self.dut.next_deadline.value) == (1 << 64) - 1

    async def restart(self, cycles: int) -> None:
        """Reset in the middle of whatever goes on; forget it all."""
        self.source.clear()
        self.sink.clear()
        await reset(self.rst, self.clk, cycles)
        self.source.clear()
        self.sink.clear()
        self.previous = -1
        self.model.drop = 0

    def _cover(self, want: Expected) -> None:
        p, length = want.parsed, len(want.sent.data)
        _codes(Code(p.code).name)
        if p.tunnel_kind:
            self._cover_tunnel(p, want.sent.data)
        else:
            _depth(len(p.layers))
        _verdicts(("none", "good", "bad", "unknown")[p.user >> 8])
        _headers(("none", "good", "bad")[p.ip_checksum])
        _last_lanes((length - 1) % 16 + 1)
        whole = p.parse_code == 0
        seen = {
            "untagged": p.vlan_count == 0,
            "one_tag": p.vlan_count == 1,
            "two_tags": p.vlan_count == 2,
            "service_tag": p.vlan0_ad or p.vlan1_ad,
            "mac_control": p.mac_control,
            "ipv4": p.l3_kind == 1,
            "ipv4_options": p.ip_options,
            "ipv6": p.l3_kind == 2,
            "piece": p.fragment,
            "tcp": p.l4_kind == 1,
            "udp": p.l4_kind == 2,
            "icmp": p.l4_kind == 3,
            "icmpv6": p.l4_kind == 4,
            "esp": p.l4_kind == 5,
            "bth": p.roce,
            "natt_esp": p.natt == 1,
            "ike": p.natt == 2,
            "keepalive": p.natt == 3,
            "other_type": whole and not p.l3_kind and not p.mac_control,
            "other_protocol": whole and p.l3_kind and not p.l4_kind and not p.frag_offset,
            "padding": p.l3_kind and p.l3_end < length,
        }
        for bit, name in enumerate(("hop_by_hop", "routing", "fragment_header", "destination", "ah")):
            seen[name] = p.ext_mask >> bit & 1
        for name, there in seen.items():
            if there:
                _layers(name)

    def _cover_tunnel(self, p: Parsed, frame: bytes) -> None:
        _inner_codes(Code(p.code).name)
        _tunnel_depth(min(len(p.layers), 14))
        header = p.l4_offset + 8
        ethernet = p.tunnel_kind == 1 or frame[header + 2 : header + 4] == b"\x65\x58"
        udp_end = min(p.l4_offset + p.udp_length, p.l3_end)
        seen = {
            "vxlan": p.tunnel_kind == 1,
            "geneve": p.tunnel_kind == 2,
            "geneve_options": p.tunnel_kind == 2 and frame[header] & 63,
            "without_ethernet": not ethernet and p.inner_l3_kind,
            "other_protocol": not ethernet and p.inner_ethertype not in (0x0800, 0x86DD),
            "over_ipv6": p.l3_kind == 2,
            "in_a_piece": p.fragment,
            "one_tag": p.inner_vlan_count == 1,
            "two_tags": p.inner_vlan_count == 2,
            "service_tag": p.inner_vlan0_ad or p.inner_vlan1_ad,
            "mac_control": ethernet and p.inner_ethertype == 0x8808,
            "ipv4": p.inner_l3_kind == 1,
            "ipv4_options": p.inner_ip_options,
            "ipv6": p.inner_l3_kind == 2,
            "extension_header": p.inner_ext_mask,
            "piece": p.inner_fragment,
            "good_header_checksum": p.inner_ip_checksum == 1,
            "bad_header_checksum": p.inner_ip_checksum == 2,
            "padding": p.inner_l3_kind and p.inner_l3_offset + p.inner_l3_length < udp_end,
        }
        for kind, name in enumerate(("tcp", "udp", "icmp", "icmpv6", "esp"), 1):
            seen[name] = p.inner_l4_kind == kind
        for name, there in seen.items():
            if there:
                _tunnels(name)


def parser_test(ms: int = 4) -> Any:
    """A cocotb test that fails when it hangs, after ``ms`` of simulated time (250 000 cycles a ms)."""
    return cocotb.test(timeout_time=ms, timeout_unit="ms")


# Every outcome


@parser_test()
async def parser_says_of_every_shape_what_the_model_says_and_in_its_cycle(dut: Any) -> None:
    bench = await Bench(dut).start()
    await bench.play(FRAMES["shapes"], "shape", alone=True)
    await bench.quiet()


@parser_test()
async def parser_keeps_its_cycles_under_back_to_back_load_of_all_kinds(dut: Any) -> None:
    bench = await Bench(dut).start()
    frames = FRAMES["shapes"] * (1 if four_state() else 3)
    bench.rng.shuffle(frames)
    await bench.play(frames, "shape in a row")
    await bench.quiet()


@parser_test()
async def parser_names_the_cut_of_a_frame_at_every_byte(dut: Any) -> None:
    bench = await Bench(dut).start()
    await bench.play(FRAMES["truncations"], "cut frame")
    await bench.quiet()


@parser_test()
async def parser_names_length_fields_that_lie(dut: Any) -> None:
    bench = await Bench(dut).start()
    await bench.play(FRAMES["wrong_lengths"], "wrong length")
    await bench.quiet()


@parser_test()
async def parser_reads_chains_up_to_its_depth_and_names_deeper_ones(dut: Any) -> None:
    bench = await Bench(dut).start()
    pairs = await bench.play(FRAMES["deep_chains"], "deep chain")
    longest = max(want.parsed.latency_cycles for want, _ in pairs)
    assert longest == PARSE_BYTES // 16 + 4, f"the longest latency was {longest} cycles"
    await bench.quiet()


@parser_test(40)
async def parser_survives_mutated_frames(dut: Any) -> None:
    bench = await Bench(dut).start()
    frames = FRAMES["mutated"]
    for at in range(0, len(frames), 1000):
        await bench.play(frames[at : at + 1000], f"mutated frame, from {at} on")
    await bench.quiet()


@parser_test(8)
async def parser_says_of_every_capture_what_the_model_says(dut: Any) -> None:
    bench = await Bench(dut).start()
    await bench.play(FRAMES["captures"], "captured frame")
    await bench.quiet()


# Time


@parser_test()
async def parser_takes_a_frame_each_max_of_its_beats_and_four_cycles(dut: Any) -> None:
    """At each length, frames of mixed kinds of that length; then lengths mixed too; then the longest walks, each with a
    short frame behind it."""
    bench = await Bench(dut).start()
    by_length: dict[int, list[bytes]] = {}
    for frame in FRAMES["line_rate"]:
        by_length.setdefault(len(frame), []).append(frame)
    for length, frames in by_length.items():
        pairs = await bench.play(frames * 2, f"length {length}")
        _check_rate(pairs)
        await bench.quiet(8)
    mixed = list(FRAMES["line_rate"])
    bench.rng.shuffle(mixed)
    _check_rate(await bench.play(mixed, "mixed lengths"))
    await bench.quiet()
    _check_rate(await bench.play(FRAMES["longest_walks"], "longest walks"))
    await bench.quiet()


def _check_rate(pairs: Sequence[tuple[Expected, AxisFrame]]) -> None:
    """Frames entered each max(B, 4) cycles, whatever their kinds."""
    for (want, _), (following, _) in pairwise(pairs):
        took = following.sent.first_cycle - want.sent.first_cycle
        need = max(want.sent.beats(), 4)
        assert took == need, f"a frame of {len(want.sent.data)} bytes took {took} cycles, {need} are its due"


@parser_test()
async def parser_keeps_its_cycles_where_a_frame_comes_with_gaps(dut: Any) -> None:
    """The first beat leaves by the arrival of the beats that decided; each other beat by its own."""
    bench = await Bench(dut).start()
    arrivals: list[int] = []

    async def watch() -> None:
        edge = RisingEdge(bench.clk)
        while True:
            await edge
            if str(dut.s_axis_tvalid.value) == "1" and str(dut.s_axis_tready.value) == "1":
                arrivals.append(cycle(bench.clk))

    cocotb.start_soon(watch())
    for name in PAUSES:
        bench.pause(name, "none")
        arrivals.clear()
        picked = bench.rng.sample(FRAMES["shapes"], 12 if four_state() else 60)
        at = 0
        for want, got in await bench.play(picked, f"gaps by {name}", cycles=False):
            beats = want.sent.beats()
            came = arrivals[at : at + beats]
            at += beats
            first = out = first_out_of_arrivals(want.parsed.layers, came, bench.previous)
            for beat in came[1:]:
                out = max(out + 1, beat + 2)
            assert (got.valid_cycle, got.last_cycle) == (first, out), (
                f"left in cycles {got.valid_cycle}..{got.last_cycle}, must be {first}..{out}; came {came}, layers "
                f"{want.parsed.layers}: {want.sent.data.hex()}"
            )
            bench.previous = got.last_cycle
        await bench.quiet(8)


@parser_test()
async def parser_changes_nothing_under_any_back_pressure(dut: Any) -> None:
    bench = await Bench(dut, protocol=True).start()
    for source in PAUSES:
        for sink in PAUSES:
            bench.pause(source, sink)
            _pauses(source, sink)
            picked = bench.rng.sample(FRAMES["shapes"], 8)
            await bench.play(picked, f"{source}, {sink}", cycles=False)
    bench.pause("none", "none")
    await bench.quiet()
    assert all(checker.stalls for checker in bench.checkers), "no beat ever waited"


@parser_test()
async def parser_has_no_path_from_side_to_side(dut: Any) -> None:
    await check_no_combinational_path(await Bench(dut).start())  # type: ignore[arg-type]


# State


@parser_test()
async def parser_starts_over_at_a_reset_in_mid_frame(dut: Any) -> None:
    bench = await Bench(dut, protocol=True).start()
    shapes = FRAMES["shapes"]
    for delay in range(20):
        for sink in ("none", "one_in"):
            bench.pause("none", sink)
            for frame in bench.rng.sample(shapes, 4):
                bench.source.append(AxisFrame(frame, 0, bench.rng.getrandbits(META_W)))
            await wait_cycles(bench.clk, delay)
            _resets("output_open" if bench.sink.partial else "input_open" if bench.source.pending else "idle")
            await bench.restart(1 + delay % 3)
            bench.pause("none", "none")
            await bench.play(bench.rng.sample(shapes, 3), f"after a reset {delay} cycles in")
            await bench.quiet(8)
    await bench.restart(2)
    _resets("idle")
    await bench.play(shapes[:3], "after a reset of an idle parser")
    await bench.quiet()


@parser_test()
async def parser_leaves_the_mark_of_a_bad_frame_alone_and_judges_no_checksum_of_it(dut: Any) -> None:
    bench = await Bench(dut).start()
    await bench.set_drop(0x7FFF)
    marks = [0, bad_mark(), bad_mark(Code.BAD_FRAME), 0, bad_mark(Code.OVERSIZE), bad_mark(127)]
    frames = bench.rng.sample(FRAMES["shapes"], 40) + FRAMES["one_of_each_code"]
    pairs = await bench.play(frames * 2, "marked frame", bads=marks)
    assert any(got.user & 0xFF == bad_mark(127) for _, got in pairs)
    await bench.quiet()


@parser_test()
async def parser_drops_by_policy_code_by_code(dut: Any) -> None:
    """Each code alone, all, and none: a frame of each code in each; the mark is the code's in both cases."""
    bench = await Bench(dut).start()
    for mask in (*(1 << code - 32 for code in COUNTERS), 0xFFFF, 0):
        await bench.set_drop(mask)
        for want, got in await bench.play(FRAMES["one_of_each_code"], f"drop {mask:#x}", alone=four_state()):
            code = want.parsed.code
            assert code, want.sent.data.hex()
            dropped = mask >> (code - 32) & 1
            assert got.user & 0xFF == code << 1 | dropped
            _drops(Code(code).name, "dropped" if dropped else "kept")
    assert await bench.read(DROP) == 0
    await bench.quiet()


@parser_test()
async def parser_counts_each_code_and_every_frame(dut: Any) -> None:
    bench = await Bench(dut).start()
    assert await bench.read(ID) == 0x30102, "id"
    _, error = await bench._access(0x3000, None)
    assert error, "a register where there is none"
    marks = [0, 0, 0, bad_mark(), 0, bad_mark(Code.OVERSIZE)]
    counted: Counter[str] = Counter()
    for round_number in range(3):
        frames = bench.rng.sample(FRAMES["truncations"], 60) + FRAMES["one_of_each_code"] * (round_number + 1)
        bench.rng.shuffle(frames)
        for want, _ in await bench.play(frames, "counted frame", bads=marks):
            counted["FRAMES"] += 1
            if want.parsed.code and not want.sent.user & 1:
                counted[Code(want.parsed.code).name] += 1
        await bench.quiet(4)
        found = await bench.counters()
        assert found == {name: counted[name] for name in found}, f"counters {found}, frames {counted}"
    assert all(counted.values()) and set(counted) == {"FRAMES", *(code.name for code in CODES)}
