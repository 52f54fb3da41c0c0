"""Directed bench of the ACL's slot, ``acl``: verdicts, cycles and registers against ``AclModel`` and docs/acl.md, Time.

Rules tell frames by the last byte of their IPv4 destination, outside or in a tunnel. ``$NICLOOP_RULES`` and
``$NICLOOP_TUNNEL`` (0 or 1) are the design's parameters; its PORT_ID is 5.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.acl import AclModel, Actions, Judgement, Masked, Rule, RuleSet, Verdict, mark_dscp
from models.acl_meter import MeterRates
from models.frames import bad_mark
from models.meta import Code, pack, unpack
from models.parser import ParserModel
from models.port_map import PORT
from tb.acl.key import fields as key_fields
from tb.lib import cover
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.protocol import ProtocolChecker
from tb.lib.suite import four_state, seeded

__all__: list[str] = []

RULES = int(os.environ["NICLOOP_RULES"])
TUNNEL = os.environ["NICLOOP_TUNNEL"] == "1"
PORT_ID = 5
BASE = PORT["acl_rx.id"].address
KEY = {item.name: item for item in key_fields(True)}
DEFAULT = 65535
WRITE, REMOVE, CLEAR, DEFAULT_ACTION, SWAP, READ, READ_CLEAR, METER = range(1, 9)
CODES = {Verdict.ACL_DENIED: Code.ACL_DENIED, Verdict.ACL_POLICED: Code.ACL_POLICED}
PARSER = ParserModel(256, tunnel=True)

_verdicts = cover.point(
    "acl_slot.verdict", ["passed", "denied", "policed", "no_port", "bad", "default_permit", "default_deny"]
)
_actions = cover.point(
    "acl_slot.action", ["queue", "mirror", "redirect", "priority", "mark_ipv4", "mark_ipv6", "yellow_mark", "protect"]
)


# Frames


def checksum(header: bytes) -> int:
    """RFC 1071, of an even number of bytes."""
    total: int = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def ipv4(last: int, payload: bytes, *, tos: int = 0, protocol: int = 17) -> bytes:
    """A packet to 10.0.0.``last``."""
    start = struct.pack(
        ">BBHHHBBH4s4s", 0x45, tos, 20 + len(payload), 7, 0, 64, protocol, 0, b"\x0a\1\1\1", bytes([10, 0, 0, last])
    )
    return start[:10] + struct.pack(">H", checksum(start)) + start[12:] + payload


def ethernet(packet: bytes, tags: int = 0, ethertype: int = 0x0800) -> bytes:
    """A frame with so many tags."""
    return bytes(range(12)) + b"\x81\x00\x20\x07" * tags + struct.pack(">H", ethertype) + packet


def udp(payload: bytes, port: int = 7) -> bytes:
    return struct.pack(">HHHH", 1111, port, 8 + len(payload), 0) + payload


def frame_of(rng: Random, last: int, size: int = 64, *, tags: int = 0, inner: int | None = None) -> bytes:
    """A frame of ``size`` bytes to 10.0.0.``last``; inner: with VXLAN around one to 10.0.0.``inner``."""
    tos = rng.getrandbits(8)
    if inner is not None:
        room = max(size, 110) - 14 - 4 * tags - 28 - 8
        inside = ethernet(ipv4(inner, udp(rng.randbytes(room - 14 - 28))))
        return ethernet(ipv4(last, udp(b"\x08\0\0\0\0\0\x11\0" + inside, 4789), tos=tos), tags)
    room = size - 14 - 4 * tags - 28
    return ethernet(ipv4(last, udp(rng.randbytes(room)), tos=tos), tags)


def frame_ipv6(rng: Random, size: int = 80) -> bytes:
    """A frame with IPv6 to a fixed address, some traffic class and flow label."""
    first = 6 << 28 | rng.getrandbits(28)
    room = size - 14 - 40
    head = struct.pack(">IHBB16s16s", first, room, 59, 64, bytes(16), bytes(15) + b"\1")
    return ethernet(head + rng.randbytes(room), ethertype=0x86DD)


def to(last: int, *, inner: bool = False, **actions: Any) -> Rule:
    """A rule for frames to 10.0.0.``last``."""
    return Rule(inner=inner, ip=4, dst=Masked(0x0A000000 | last, 0xFFFFFFFF), actions=Actions(**actions))


@dataclass
class Sent:
    """A frame on its way in, and the model's word on it."""

    axis: AxisFrame
    meta: dict[str, int]
    bad: int
    judged: Judgement
    metered: bool
    code: int
    lookups: int


def words_of(actions: Actions) -> list[int]:
    """The register ``action``."""
    words = [int(not actions.permit), 0]
    for word, bit, value in (
        (0, 1, actions.queue),
        (0, 10, actions.mirror),
        (0, 19, actions.redirect),
        (0, 28, actions.priority),
        (1, 0, actions.mark_dscp),
        (1, 7, actions.meter),
        (1, 16, actions.protect),
    ):
        if value is not None:
            words[word] |= (1 | value << 1) << bit
    return words


@dataclass
class Cycles:
    """docs/acl.md, Time: when a frame's first beat must be valid at the output."""

    key: int = -1000
    lookups: int = 1
    turn: int = -1000
    metered: bool = False
    last_out: int = -1000
    out: list[int] = field(default_factory=list)

    def first_out(self, sent: Sent) -> int:
        axis = sent.axis
        key = max(axis.first_cycle + 1, self.key + 4 * self.lookups)
        step = (4 if sent.metered else 7) if self.metered else 1
        turn = max(key + 4 * (sent.lookups - 1) + 11, self.turn + step)
        if sent.metered:
            turn = max(turn, axis.last_cycle + 1)
        self.key, self.lookups, self.turn, self.metered = key, sent.lookups, turn, sent.metered
        return max(turn + (8 if sent.metered else 1), self.last_out + 1)


class Bench:
    """Agents, the register port, the model, and the comparison."""

    def __init__(self, dut: Any, name: str) -> None:
        self.dut = dut
        self.clk: Any = dut.clk
        self.rng = seeded("acl_slot", name, RULES, TUNNEL)
        self.model = AclModel(RuleSet())
        self.cycles = Cycles()
        self.statistics: dict[str, int] = {}
        self.copies: list[AxisFrame] = []
        self.now = 1000
        start_clock(dut.clk)
        dut.rst.value = 1
        for signal in ("reg_req", "reg_write", "reg_addr", "reg_wdata", "reg_wstrb", "now", "mirror_dropped"):
            getattr(dut, signal).value = 0
        self.source = AxisSource(dut, "s_axis", dut.clk, rng=seeded("noise"), undefined=four_state())
        self.sink = AxisSink(dut, "m_axis", dut.clk)
        self.checkers = [ProtocolChecker(dut, stream, dut.clk, dut.rst) for stream in ("s_axis", "m_axis")]
        cocotb.start_soon(self._watch_copies())

    async def start(self) -> Bench:
        await reset(self.dut.rst, self.clk)
        while str(self.dut.ready.value) != "1":
            await RisingEdge(self.clk)
        return self

    async def _watch_copies(self) -> None:
        """Copies come a beat a cycle or with gaps; nothing holds them back."""
        dut, edge, data, meta = self.dut, RisingEdge(self.clk), b"", 0
        while True:
            await edge
            if str(dut.rst.value) == "1":
                data = b""
            elif str(dut.m_axis_mirror_tvalid.value) == "1":
                if not data:
                    meta = int(dut.m_axis_mirror_meta.value)
                last = int(dut.m_axis_mirror_tlast.value)
                size = int(dut.m_axis_mirror_tkeep.value).bit_length() if last else 16
                word = str(dut.m_axis_mirror_tdata.value)[128 - 8 * size :]
                data += int(word, 2).to_bytes(size, "little")
                if last:
                    self.copies.append(AxisFrame(data, int(dut.m_axis_mirror_tuser.value), meta))
                    data = b""

    # Registers

    async def access(self, address: int, value: int | None = None) -> int:
        dut, edge = self.dut, RisingEdge(self.clk)
        dut.reg_addr.value = address
        dut.reg_write.value = int(value is not None)
        dut.reg_wdata.value = value or 0
        dut.reg_wstrb.value = 15
        dut.reg_req.value = 1
        await edge
        while str(dut.reg_ack.value) != "1":
            await edge
        assert str(dut.reg_error.value) == "0", f"no register at {address:#x}"
        dut.reg_req.value = 0
        return int(dut.reg_rdata.value) if value is None else 0

    async def read(self, name: str) -> int:
        register = PORT[f"acl_rx.{name}"]
        value = 0
        for word in range(register.words):
            value |= await self.access(register.address - BASE + 4 * word) << 32 * word
        return value

    async def write(self, name: str, value: int) -> None:
        register = PORT[f"acl_rx.{name}"]
        for word in range(register.words):
            await self.access(register.address - BASE + 4 * word, value >> 32 * word & 0xFFFFFFFF)

    async def command(self, op: int, number: int = 0, of: int = 0) -> int:
        """Returns the cycles from the request to the answer."""
        begin = cycle(self.clk)
        await self.write("command", number << 16 | of << 8 | op)
        return cycle(self.clk) - begin - 1

    async def write_rule(self, number: int, rule: Rule) -> int:
        parts = {"inner": (int(rule.inner), 1)}
        if rule.ip is not None:
            parts["l3"] = (1 if rule.ip == 4 else 3, 3)
        if rule.dst is not None:
            parts["dst"] = (rule.dst.value, rule.dst.mask)
        value = sum(one << KEY[name].low for name, (one, _) in parts.items())
        mask = sum(one << KEY[name].low for name, (_, one) in parts.items())
        for word in range(12):
            await self.write(f"value[{word}]", value >> 32 * word & 0xFFFFFFFF)
            await self.write(f"mask[{word}]", mask >> 32 * word & 0xFFFFFFFF)
        for word, one in enumerate(words_of(rule.actions)):
            await self.write(f"action[{word}]", one)
        return await self.command(WRITE, number)

    async def write_meter(self, number: int, rates: MeterRates) -> int:
        for name in ("cir", "pir", "cbs", "pbs"):
            await self.write(name, getattr(rates, name))
        await self.write("yellow", 0 if rates.yellow_dscp is None else 0x40 | rates.yellow_dscp)
        return await self.command(METER, number)

    async def load(self, rule_set: RuleSet) -> None:
        """The set that is asked becomes this one, in the model too."""
        for number, rates in enumerate(rule_set.meters):
            await self.write_meter(number, rates)
        await self.command(CLEAR)
        for number, rule in enumerate(rule_set.rules):
            await self.write_rule(number, rule)
        await self.write("action[0]", int(not rule_set.default_permit))
        await self.command(DEFAULT_ACTION)
        await self.command(SWAP)
        self.model.load(rule_set)

    async def counter(self, number: int, op: int = READ, of: int | None = None) -> tuple[int, int]:
        """Frames and bytes; of the set that is asked unless ``of`` says which."""
        which = await self.read("status") & 1 if of is None else of
        await self.command(op, number, which)
        return await self.read("counter_frames"), await self.read("counter_bytes")

    # Frames

    def judge(self, data: bytes, bad: int = 0, **claims: int) -> Sent:
        """What the model says of a frame. Of a bad one it says only how it would go on, green. claims: metadata in
        place of what the parser says."""
        self.now += self.rng.randint(1, 200)
        given = PARSER.parse(data, bad).meta_fields()
        meta = given | {"timestamp": self.now, "tclass": self.rng.getrandbits(3), "queue": self.rng.getrandbits(8)}
        meta |= {"seq": self.rng.getrandbits(16), "port": 9} | claims
        asked = dict(meta) if TUNNEL else meta | {"tunnel_kind": 0}
        index = next((n for n, rule in enumerate(self.model.rules) if _matches(rule, asked)), None)
        actions = Actions(permit=self.model.default_permit) if index is None else self.model.rules[index].actions
        metered = actions.permit and actions.meter is not None
        if bad:
            verdict = Verdict.PASSED if actions.permit else Verdict.ACL_DENIED
            kept = actions if actions.permit else Actions(permit=False, mirror=actions.mirror)
            judged = Judgement(
                index,
                verdict,
                None,
                kept.queue,
                kept.mirror,
                kept.redirect,
                kept.priority,
                kept.mark_dscp,
                kept.protect,
            )
        else:
            judged = self.model.judge(asked, len(data), self.now)
        code = int(CODES.get(judged.verdict, Code.NONE))
        if judged.redirect not in (None, PORT_ID):
            code = int(Code.ACL_NO_PORT)
            judged = Judgement(index, judged.verdict, judged.colour, mirror=judged.mirror)
        user = self.rng.getrandbits(2) << 8 | bad
        lookups = 2 if TUNNEL and meta["tunnel_kind"] else 1
        axis = AxisFrame(data, user, pack(meta))
        self._note(judged, code, bad, index, meta)
        return Sent(axis, meta, bad, judged, metered, code, lookups)

    def _count(self, *names: str) -> None:
        for name in names:
            self.statistics[name] = self.statistics.get(name, 0) + 1

    def _note(self, judged: Judgement, code: int, bad: int, index: int | None, meta: dict[str, int]) -> None:
        if bad:
            self._count("unjudged")
            _verdicts("bad")
            return
        named = {Code.ACL_DENIED: "denied", Code.ACL_POLICED: "policed", Code.ACL_NO_PORT: "no_port"}
        verdict = named.get(Code(code), "passed")
        self._count("judged", *([verdict] if code else []))
        _verdicts(verdict if index is not None else "default_deny" if code else "default_permit")
        if judged.colour is not None:
            self._count(f"metered_{judged.colour.name.lower()}")
        for name, there in (("mirrored", judged.mirror), ("redirected", judged.redirect)):
            if there is not None:
                self._count(name)
        for name in ("queue", "mirror", "redirect", "priority", "protect"):
            if getattr(judged, name) is not None:
                _actions(name)
        if judged.mark_dscp is not None and meta["l3_kind"]:
            _actions("mark_ipv4" if meta["l3_kind"] == 1 else "mark_ipv6")
        if judged.colour is not None and judged.colour.name == "YELLOW" and judged.mark_dscp is not None:
            _actions("yellow_mark")

    def check(self, sent: Sent, got: AxisFrame, *, exact: bool, what: str) -> None:
        """Bytes, metadata, ``tuser``, and the cycle in which the first beat was valid."""
        judged, meta = sent.judged, sent.meta
        redirected = judged.redirect == PORT_ID
        fields = dict(meta) | {
            "acl_rule": DEFAULT if judged.rule is None else judged.rule,
            "acl_redirect": int(redirected),
            "acl_priority": meta["tclass"] if judged.priority is None else judged.priority,
            "acl_protect": int(judged.protect is not None),
            "acl_sa": judged.protect or 0,
        }
        if judged.queue is not None:
            fields["queue"] = judged.queue
        data = sent.axis.data if judged.mark_dscp is None else mark_dscp(sent.axis.data, meta, judged.mark_dscp)
        user = sent.axis.user
        if sent.code and not sent.bad:
            user = user & 0x300 | sent.code << 1 | 1
        want = AxisFrame(data, user, pack(fields))
        came = unpack(got.meta)
        wrong = [f"{n}: want {v:#x}, came {came[n]:#x}" for n, v in unpack(want.meta).items() if came[n] != v]
        assert got == want, (
            f"{what}: {wrong}\nwant {want.data.hex()} {want.user:#x}\ncame {got.data.hex()} {got.user:#x}"
        )
        first = self.cycles.first_out(sent)
        if exact:
            axis = sent.axis
            assert got.valid_cycle == first, f"{what}: out in {got.valid_cycle}, must be {first}: {axis}, {judged}"
            last = max(first + axis.beats() - 1, axis.last_cycle + 3)
            assert got.last_cycle == last, f"{what}: last out in {got.last_cycle}, must be {last}"
        self.cycles.last_out = got.last_cycle

    def check_copies(self, sent: Iterable[Sent]) -> None:
        """A copy for each frame that was to have one, in order; those of bad frames are bad."""
        for one in sent:
            if one.judged.mirror is None:
                continue
            got = self.copies.pop(0)
            fields = one.meta | {
                "queue": one.judged.mirror,
                "acl_copy": 1,
                "acl_rule": DEFAULT if one.judged.rule is None else one.judged.rule,
                "acl_priority": one.meta["tclass"],
            }
            want = AxisFrame(one.axis.data, one.axis.user, pack(fields))
            assert got == want, f"copy: want {want} {unpack(want.meta)}\ncame {got} {unpack(got.meta)}"
        assert not self.copies, f"a copy that nobody asked for: {self.copies[0]}"

    async def play(
        self, frames: Iterable[tuple[bytes, int]], what: str, *, exact: bool = True, alone: bool = False
    ) -> list[Sent]:
        """Send frames, back to back or each ``alone``; check all that comes out."""
        sent = []
        for data, bad in frames:
            one = self.judge(data, bad)
            sent.append(one)
            self.source.append(one.axis)
            if alone:
                self.check(one, await self.sink.recv(), exact=exact, what=f"{what} {len(sent)}")
                await wait_cycles(self.clk, 3)
        if not alone:
            for number, one in enumerate(sent):
                self.check(one, await self.sink.recv(), exact=exact, what=f"{what} {number}")
        await self.quiet()
        self.check_copies(sent)
        return sent

    async def quiet(self) -> None:
        """Nothing more comes out, and all is counted."""
        await self.source.drained()
        await wait_cycles(self.clk, 40)
        assert not self.sink.frames and not self.sink.partial, "a frame came that nobody sent"
        assert str(self.dut.idle.value) == "1", "not idle with nothing in it"

    async def quiet_after_swaps(self) -> None:
        """All is counted, of both sets; frames aren't looked at."""
        await self.source.drained()
        await wait_cycles(self.clk, 40)
        self.sink.clear()
        assert str(self.dut.idle.value) == "1", "not idle with nothing in it"
        assert await self.read("status") & 2, "not settled with nothing in it"

    async def check_counters(self) -> None:
        """Every counter of the model and the slot."""
        for number, counter in self.model.counted():
            got = await self.counter(DEFAULT if number is None else number)
            assert got == (counter.frames, counter.bytes), f"counter {number}: {got}, must be {counter}"
        for name in (
            "judged", "unjudged", "denied", "policed", "no_port", "mirrored", "redirected", "metered_green",
            "metered_yellow", "metered_red",
        ):  # fmt: skip
            got_count = await self.read(name)
            assert got_count == self.statistics.get(name, 0), (
                f"{name}: {got_count}, must be {self.statistics.get(name)}"
            )


def _matches(rule: Rule, meta: dict[str, int]) -> bool:
    prefix = "inner_" if rule.inner else ""
    if rule.inner and not meta["tunnel_kind"]:
        return False
    if rule.ip is not None and meta[f"{prefix}l3_kind"] != {4: 1, 6: 2}[rule.ip]:
        return False
    return rule.dst is None or rule.dst.holds(meta[f"{prefix}ip_dst"])


def slot_test(ms: int = 4) -> Any:
    """A cocotb test that fails when it hangs, after ``ms`` of simulated time (250 000 cycles a ms)."""
    return cocotb.test(timeout_time=ms, timeout_unit="ms")


RATES = (
    MeterRates(cir=10**9, pir=3 * 10**9, cbs=600, pbs=1200, yellow_dscp=21),
    MeterRates(cir=10**6, pir=10**7, cbs=200, pbs=400),
)


def all_actions() -> RuleSet:
    """A rule for each action, for some together, and for one that a frame in a tunnel meets inside."""
    rules = (
        to(1, permit=False),
        to(2, queue=200),
        to(3, mirror=77),
        to(4, redirect=PORT_ID),
        to(5, redirect=PORT_ID ^ 1, mirror=3),
        to(6, priority=6),
        to(7, mark_dscp=44),
        to(8, meter=0),
        to(9, meter=1, mark_dscp=9, mirror=250),
        to(10, protect=0xABC),
        to(11, permit=False, mirror=1),
        to(12, queue=1, mirror=2, redirect=PORT_ID, priority=3, mark_dscp=63, meter=0, protect=4095),
        to(20, inner=True, queue=20),
        to(21, queue=21),
        Rule(ip=6, actions=Actions(mark_dscp=37)),
    )
    return RuleSet(rules, True, RATES)


def some_frames(rng: Random, count: int, longest: int = 200) -> list[tuple[bytes, int]]:
    """Frames for any of these rules or none, now and then bad, with IPv6, or with a tunnel."""
    frames = []
    for _ in range(count):
        size = rng.choice((60, 64, rng.randint(60, longest)))
        if rng.random() < 0.1:
            data = frame_ipv6(rng, size)
        elif rng.random() < 0.2:
            data = frame_of(rng, rng.randint(1, 22), size, tags=rng.randint(0, 2), inner=rng.randint(19, 22))
        else:
            data = frame_of(rng, rng.randint(1, 14), size, tags=rng.randint(0, 2))
        frames.append((data, bad_mark(Code.OVERSIZE) if rng.random() < 0.1 else 0))
    return frames


@slot_test()
async def frames_pass_a_slot_without_rules_in_their_cycle(dut: Any) -> None:
    bench = await Bench(dut, "none").start()
    assert await bench.read("id") == 0x30103
    assert await bench.read("size") == RULES | 4 << 16 | 1 << 28 | TUNNEL << 29
    await bench.play([(frame_of(bench.rng, n, 60 + n), 0) for n in range(20)], "alone", alone=True)
    await bench.play([(frame_of(bench.rng, n, 60 + n), 0) for n in range(20)], "row")
    await bench.check_counters()


@slot_test()
async def each_action_does_what_it_says(dut: Any) -> None:
    bench = await Bench(dut, "actions").start()
    await bench.load(all_actions())
    for last in range(1, 15):
        for tags in range(3):
            sizes = (bench.rng.randint(60, 150), bench.rng.randint(200, 400))
            await bench.play([(frame_of(bench.rng, last, n, tags=tags), 0) for n in sizes], f"to {last}", alone=True)
    await bench.play([(frame_ipv6(bench.rng), 0) for _ in range(3)], "IPv6", alone=True)
    await bench.play([(frame_of(bench.rng, 21, inner=20), 0), (frame_of(bench.rng, 30, inner=20), 0)], "in a tunnel")
    await bench.check_counters()
    bench.dut.mirror_dropped.value = 1
    await wait_cycles(bench.clk, 3)
    bench.dut.mirror_dropped.value = 0
    assert await bench.read("mirror_dropped") == 3


@slot_test()
async def a_wrong_checksum_stays_wrong_by_as_much(dut: Any) -> None:
    """Values around which the sum of RFC 1624 equation 3 carries, once or twice."""
    bench = await Bench(dut, "checksum").start()
    await bench.load(all_actions())
    frames = []
    for tags in range(3):
        for _ in range(20):
            data, at = bytearray(frame_of(bench.rng, 7, 64, tags=tags)), 14 + 4 * tags
            more = 4 * 44 - (data[at + 1] & 0xFC)
            wrong = bench.rng.choice((0, 0xFFFF, 0xFF00, more - 2, more - 1, more, more + 1)) & 0xFFFF
            data[at + 10 : at + 12] = struct.pack(">H", wrong)
            frames.append((bytes(data), 0))
    await bench.play(frames, "checksum")


@slot_test()
async def a_bad_frame_keeps_its_reason_and_counts_nowhere(dut: Any) -> None:
    bench = await Bench(dut, "bad").start()
    await bench.load(all_actions())
    bad = bad_mark(Code.PORT_DISABLED)
    for size in (90, 300):
        await bench.play([(frame_of(bench.rng, last, size), bad) for last in range(1, 15)], "bad", alone=True)
    await bench.play([(frame_of(bench.rng, 1 + n // 2, 90), bad * (n % 2)) for n in range(28)], "row")
    # Bad frames empty no meter: the good one behind them is green.
    await bench.load(all_actions())
    await bench.play([(frame_of(bench.rng, 9, 150), bad * (n < 8)) for n in range(9)], "before a good one")
    assert bench.statistics["metered_green"]
    await bench.check_counters()


@slot_test()
async def the_default_action_denies_and_counts(dut: Any) -> None:
    bench = await Bench(dut, "default").start()
    for last, permit in ((2, False), (3, True), (4, True), (5, False)):
        await bench.load(RuleSet((to(last, queue=5),), permit))
        await bench.play([(frame_of(bench.rng, n), 0) for n in range(7)], f"default {permit}")
        await bench.check_counters()


@slot_test()
async def frames_in_a_row_keep_their_cycles(dut: Any) -> None:
    bench = await Bench(dut, "row").start()
    await bench.load(all_actions())
    await bench.play(some_frames(bench.rng, 300), "mixed")
    await bench.play([(frame_of(bench.rng, 8 if n % 2 else 2), 0) for n in range(60)], "metered and not")
    await bench.play([(frame_of(bench.rng, bench.rng.choice((2, 8, 9))), 0) for n in range(100)], "often metered")
    assert all(bench.statistics[f"metered_{colour}"] > 10 for colour in ("green", "yellow", "red"))
    if TUNNEL:
        await bench.play([(frame_of(bench.rng, 8, inner=20), 0) for _ in range(60)], "tunnels")
        await bench.play([(frame_of(bench.rng, 30, inner=19 + n % 3), 0) for n in range(60)], "tunnels")
    for source in ("gap", "random", "one_in"):
        bench.source.pause = PAUSES[source](seeded(source))
        await bench.play(some_frames(bench.rng, 60), source)
    bench.source.pause = None
    await bench.check_counters()


@slot_test()
async def frames_wait_for_whoever_takes_them(dut: Any) -> None:
    bench = await Bench(dut, "waits").start()
    await bench.load(all_actions())
    for sink in PAUSES:
        for source in ("none", "bursty", "storm"):
            bench.source.pause = PAUSES[source](seeded(source)) if source != "none" else None
            bench.sink.pause = PAUSES[sink](seeded(sink)) if sink != "none" else None
            await bench.play(some_frames(bench.rng, 30), f"{source} {sink}", exact=False)
    bench.source.pause = None
    # Until no beat fits, and until no frame does.
    for frames, least in (
        (some_frames(bench.rng, 400, 70), 1024 // 8),
        ([(bench.rng.randbytes(bench.rng.randint(1, 16)), 0) for _ in range(400)], 256),
    ):
        bench.sink.pause = (False for _ in range(4000))
        sent = [bench.judge(*one) for one in frames]
        for one in sent:
            bench.source.append(one.axis)
        await wait_cycles(bench.clk, 3000)
        taken = len(sent) - bench.source.pending
        assert least <= taken <= 258, f"{taken} frames were taken that nobody takes further"
        bench.sink.pause = None
        for number, one in enumerate(sent):
            bench.check(one, await bench.sink.recv(), exact=False, what=f"after a long wait {number}")
        await bench.quiet()
        bench.check_copies(sent)
    await bench.check_counters()


@slot_test()
async def a_metered_frame_that_never_fits_ends_as_oversize(dut: Any) -> None:
    bench = await Bench(dut, "oversize").start()
    await bench.load(RuleSet((to(8, meter=0),), True, (MeterRates(10**12, 10**12, 10**6, 10**6),)))
    for size, code in ((16384, 0), (16385, Code.OVERSIZE)):
        one = bench.judge(frame_of(bench.rng, 8, size))
        bench.source.append(one.axis)
        got = await bench.sink.recv()
        assert got.data == one.axis.data and got.user & 0xFF == (code << 1 | 1 if code else 0), got.user
        await bench.quiet()
    assert await bench.counter(0) == (2, 16384 + 16385)
    assert await bench.read("metered_green") == 1 and await bench.read("judged") == 2


@slot_test()
async def counters_are_read_and_cleared_under_load_and_lose_nothing(dut: Any) -> None:
    bench = await Bench(dut, "counters").start()
    await bench.load(RuleSet((to(2), to(8, meter=0)), True, RATES))
    bad = bad_mark(Code.BAD_FRAME)
    sent = [bench.judge(frame_of(bench.rng, bench.rng.choice((2, 3, 8))), bad * (n % 5 == 0)) for n in range(400)]
    for one in sent:
        bench.source.append(one.axis)
    found = {number: [0, 0] for number in (0, 1, DEFAULT)}
    while bench.source.pending:
        number = bench.rng.choice(list(found))
        for half, value in enumerate(await bench.counter(number, READ_CLEAR)):
            found[number][half] += value
    for number, one in enumerate(sent):
        bench.check(one, await bench.sink.recv(), exact=True, what=f"beside reads {number}")
    await bench.quiet()
    for number in found:
        for half, value in enumerate(await bench.counter(number, READ_CLEAR)):
            found[number][half] += value
        assert await bench.counter(number) == (0, 0)
    for index, counter in bench.model.counted():
        got = found[DEFAULT if index is None else index]
        assert got == [counter.frames, counter.bytes], f"{index}: {got}, must be {counter}"


@slot_test()
async def a_swap_changes_rules_actions_and_counters_at_once(dut: Any) -> None:
    bench = await Bench(dut, "swap").start()
    a, b = (to(2, queue=1), to(3, queue=2)), (to(3, queue=3), to(2, queue=4))
    for rules in (a, b):
        for number, rule in enumerate(rules):
            await bench.write_rule(number, rule)
        await bench.command(SWAP)
    sent = [frame_of(bench.rng, 2 + n % 2, 64, inner=2 + n % 2 if TUNNEL else None) for n in range(600)]
    axes = []
    for data in sent:
        one = bench.judge(data)
        axes.append(one)
        bench.source.append(one.axis)
    took = []
    while bench.source.pending:
        took.append(await bench.command(SWAP))
        status = await bench.read("status")
        assert status & 1 == len(took) % 2, "the active set"
        await wait_cycles(bench.clk, bench.rng.randrange(30))
    assert max(took) <= 67, max(took)
    # The first rules were written to set 1, the second to set 0.
    queues = {0: [0, 0], 1: [0, 0]}
    for one in axes:
        meta = unpack((await bench.sink.recv()).meta)
        which = {2: (1, 4), 3: (2, 3)}[one.meta["ip_dst"] & 0xFF].index(meta["queue"])
        rules = (a, b)[which]
        assert rules[meta["acl_rule"]].actions.queue == meta["queue"], "a number of one set, an action of the other"
        queues[which][meta["acl_rule"]] += 1
    assert all(sum(of) for of in queues.values()), "one set judged all"
    await bench.quiet()
    assert await bench.read("status") & 2, "not settled with nothing in it"
    for of, counted in queues.items():
        for number, frames in enumerate(counted):
            assert (await bench.counter(number, of=1 - of))[0] == frames


@slot_test()
async def a_rule_written_right_behind_a_swap_changes_no_frame_of_the_old_set(dut: Any) -> None:
    """Each set has one rule for all, whose queue is a number higher each time."""
    bench = await Bench(dut, "behind").start()
    for number in range(2):
        await bench.write_rule(0, Rule(actions=Actions(queue=number)))
        await bench.command(SWAP)
    await bench.command(SWAP)
    data, number = frame_of(bench.rng, 1), 2
    for _ in range(500):
        bench.source.append(bench.judge(data).axis)
    while bench.source.pending and number < 100:
        await bench.write("action[0]", words_of(Actions(queue=number))[0])
        await bench.command(SWAP)
        await bench.command(WRITE, 0)
        number += 1
    bench.source.clear()
    await wait_cycles(bench.clk, 40)
    queues = [unpack(frame.meta)["queue"] for frame in bench.sink.frames]
    assert queues and queues == sorted(queues), f"a frame has the action of a rule that was written after it: {queues}"
    assert set(queues) == set(range(max(queues) + 1)), f"a set judged no frame: {queues}"


@slot_test()
async def a_default_written_right_behind_a_swap_changes_no_frame_of_the_old_set(dut: Any) -> None:
    """The set that is asked permits at all times."""
    bench = await Bench(dut, "default behind").start()
    for _ in range(500):
        bench.source.append(bench.judge(frame_of(bench.rng, 1)).axis)
    while bench.source.pending:
        await bench.write("action[0]", 1)
        await bench.command(SWAP)
        await bench.command(DEFAULT_ACTION)
        await wait_cycles(bench.clk, 30 + bench.rng.randrange(4))
        await bench.write("action[0]", 0)
        await bench.command(DEFAULT_ACTION)
    await bench.quiet_after_swaps()
    assert await bench.read("denied") == 0


@slot_test()
async def a_set_is_settled_when_its_last_frame_is_counted(dut: Any) -> None:
    bench = await Bench(dut, "settled").start()
    assert await bench.read("status") == 0b10
    one = bench.judge(frame_of(bench.rng, 1, 8000))
    bench.source.append(one.axis)
    await wait_cycles(bench.clk, 30)
    await bench.command(SWAP)
    while bench.source.pending:
        settled = await bench.read("status")
        assert settled == 0b01 or not bench.source.pending, f"status {settled} while a frame of the old set comes in"
    await wait_cycles(bench.clk, 10)
    assert await bench.read("status") == 0b11
    assert await bench.counter(DEFAULT, of=0) == (1, 8000) and await bench.counter(DEFAULT, of=1) == (0, 0)
    # One swap in a row of frames, between sets that have rules: each frame is counted as it was judged.
    for _ in range(2):
        await bench.write_rule(0, to(1))
        await bench.command(SWAP)
    for _ in range(5):
        for _ in range(60):
            bench.source.append(bench.judge(frame_of(bench.rng, 1)).axis)
        await wait_cycles(bench.clk, 80)
        await bench.command(SWAP)
        await bench.quiet_after_swaps()
    assert (await bench.counter(0, of=0))[0] + (await bench.counter(0, of=1))[0] == 300


@slot_test()
async def frames_wait_in_front_of_a_slot_whose_keys_have_no_room(dut: Any) -> None:
    """Short frames that claim to be tunnels: two lookups in the time of one."""
    bench = await Bench(dut, "keys").start()
    await bench.load(all_actions())
    sent = []
    for _ in range(250):
        kind = bench.rng.choice((0, 1, 1, 1))
        claims = {"tunnel_kind": kind, "inner_l3_kind": 1, "inner_ip_dst": 0x0A000000 | bench.rng.randint(19, 22)}
        sent.append(bench.judge(frame_of(bench.rng, bench.rng.randint(1, 21)), **claims))
    for one in sent:
        bench.source.append(one.axis)
    for number, one in enumerate(sent):
        bench.check(one, await bench.sink.recv(), exact=True, what=f"crowd {number}")
    waited = sent[-1].axis.first_cycle - sent[0].axis.first_cycle > 4 * (len(sent) - 1)
    assert waited == TUNNEL, f"the source waited: {waited}"
    await bench.quiet()
    bench.check_copies(sent)
    await bench.check_counters()


@slot_test()
async def commands_take_the_time_that_they_say(dut: Any) -> None:
    bench = await Bench(dut, "commands").start()
    assert await bench.command(CLEAR) <= RULES + 8
    assert await bench.write_rule(RULES - 1, to(2, queue=9)) <= 67
    assert await bench.command(SWAP) <= 67
    await bench.play([(frame_of(bench.rng, 3), 0)], "other")
    bench.source.append(bench.judge(frame_of(bench.rng, 2)).axis)
    assert unpack((await bench.sink.recv()).meta)["acl_rule"] == RULES - 1
    assert await bench.counter(RULES - 1) == (1, 64)
    for op in (READ, READ_CLEAR, REMOVE, DEFAULT_ACTION, 0, 9, 15):
        assert await bench.command(op, RULES - 1) <= 16
    assert await bench.write_meter(3, RATES[0]) <= 67
    # Numbers that there aren't
    for op in (WRITE, REMOVE, READ, READ_CLEAR, METER):
        assert await bench.command(op, 40000) <= 16
    assert await bench.read("command") == 40000 << 16 | METER


@slot_test()
async def a_reset_in_mid_frame_forgets_everything(dut: Any) -> None:
    bench = await Bench(dut, "reset").start()
    for delay in range(0, 60, 3):
        await bench.load(all_actions())
        sent = [bench.judge(*one) for one in some_frames(bench.rng, 12)]
        for one in sent:
            bench.source.append(one.axis)
        await wait_cycles(bench.clk, delay)
        bench.source.clear()
        bench.sink.clear()
        await reset(bench.dut.rst, bench.clk, 1 + delay % 3)
        bench.source.clear()
        bench.sink.clear()
        bench.copies.clear()
        bench.model = AclModel(RuleSet())
        bench.cycles = Cycles()
        bench.statistics = {}
        assert await bench.read("status") == 0b10
        await bench.play(some_frames(bench.rng, 8), "after a reset")
        await bench.check_counters()
        for of in range(2):
            for number in (0, RULES - 1):
                assert await bench.counter(number, of=of) == (0, 0)
    await bench.load(all_actions())
    await bench.play(some_frames(bench.rng, 20), "with rules after a reset")
