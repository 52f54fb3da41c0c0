"""Bench of the ACL's slot: each action, meters, tunnels, time, back-pressure and resets, against ``models/acl.py``.

The launcher, tests/acl/test_slot.py, makes the frames: ``$NICLOOP_FRAMES`` names a JSON file with frames in hex. Rules
here ask for the port at which a frame came in, so that each frame finds the rule that it is meant for.
"""

from __future__ import annotations

import json
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.acl import DEFAULT_RULE, Actions, Judgement, Masked, Rule, RuleSet, Verdict
from models.acl_meter import MeterRates
from models.frames import bad_mark
from models.meta import Code
from models.port_map import PORT
from tb.acl.driver import Op
from tb.acl.slot import IPV6, PORT_ID, RULES, SLOT, TUNNEL, Flight, SlotBench, acl_test
from tb.acl.traffic import tell_apart
from tb.lib import cover
from tb.lib.clock import cycle, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.suite import check_no_combinational_path, four_state
from tb.registers.map import read_fields, read_register, read_value

__all__: list[str] = []

JOB: dict[str, Any] = json.loads(Path(os.environ["NICLOOP_FRAMES"]).read_text())
SHAPES = [bytes.fromhex(frame) for frame in JOB["shapes"]]
MARKS = [(bytes.fromhex(frame), dscp, bytes.fromhex(marked)) for frame, dscp, marked in JOB["marks"]]
FEW = four_state()
"""A simulator that does some hundred cycles a second: a part of each sweep."""

_resets = cover.point("acl.reset", ["idle", "input_open", "waiting", "output_open", "command"])
_lookups = cover.cross("acl.lookups", ["one", "two"], ["plain", "metered"])
_winner = cover.point("acl.tunnel_winner", ["outer", "inner", "none"])

METERS = (
    MeterRates(10**12, 10**12, (1 << 32) - 1, (1 << 32) - 1),
    MeterRates(1, 10**12, 1, (1 << 32) - 1),
    MeterRates(1, 1, 1, 1),
    MeterRates(1, 10**12, 1, (1 << 32) - 1, 10),
    MeterRates(10**9, 4 * 10**9, 3000, 9000, 63),
)
"""Always green, yellow, red, yellow with a mark, and one of each colour."""
SINGLE = (
    Actions(permit=False),
    Actions(queue=0xA5),
    Actions(mirror=0x5A),
    Actions(redirect=PORT_ID),
    Actions(redirect=PORT_ID ^ 0x80),
    Actions(priority=5),
    Actions(mark_dscp=46),
    Actions(protect=0xC35),
    *(Actions(meter=number) for number in range(len(METERS))),
)


def both(first: Actions, second: Actions) -> Actions:
    """The actions of both; where they differ in one, the second's."""
    values = {name: getattr(second, name) for name in Actions.__slots__}
    values = {name: getattr(first, name) if value is None else value for name, value in values.items()}
    return Actions(**(values | {"permit": first.permit and second.permit}))


def by_port(actions: list[Actions], meters: tuple[MeterRates, ...] = METERS, permit: bool = True) -> RuleSet:
    """A rule for each, of frames that came in at the port of its number."""
    return RuleSet(tuple(tell_apart([Rule(actions=one) for one in actions])), permit, meters)


def some(b: SlotBench, count: int) -> list[bytes]:
    """Frames of known kinds."""
    return [b.rng.choice(SHAPES) for _ in range(count)]


def sized(b: SlotBench, length: int, **fields: int) -> Flight:
    """A frame of that length with IPv4 in it, or of random bytes where that has no room."""
    data = (MARKS[0][0] + b.rng.randbytes(length))[:length]
    return b.parsed(data, **fields)


# Actions


@acl_test()
async def slot_does_each_action_alone_and_combined(dut: Any) -> None:
    """Each action, each pair, and any of them; frames of all kinds."""
    b = await SlotBench(dut, "actions").start()
    pairs = [both(*pair) for pair in combinations(SINGLE, 2)]
    b.rng.shuffle(pairs)
    for actions in (list(SINGLE), pairs[: 6 if FEW else 100]):
        while len(actions) > len(SINGLE) and len(actions) < (0 if FEW else 250):
            actions.append(both(both(*b.rng.sample(SINGLE, 2)), b.rng.choice(SINGLE)))
        await b.load(by_port(actions))
        # One port more than there are rules: the default action.
        flights = [b.parsed(frame, port=port) for port in range(len(actions) + 1) for frame in some(b, 2)]
        b.rng.shuffle(flights)
        flights = _in_time(b, flights)
        await b.play(flights, "actions")
        await b.quiet()
    await b.check_counters()


def _in_time(b: SlotBench, flights: list[Flight]) -> list[Flight]:
    """The same frames with times in the order in which they stand now."""
    return [b.flight(f.sent.data, f.fields, f.sent.user & 0xFF if f.came_bad else 0) for f in flights]


@acl_test()
async def slot_asks_no_number_of_an_action_that_is_off(dut: Any) -> None:
    """Numbers of all actions in the register, none of which is on; the same beside deny, and as a default action."""
    b = await SlotBench(dut, "off").start()
    rule_set = RuleSet((Rule(port=0), Rule(port=1, actions=Actions(False))))
    await b.load(rule_set)
    numbers = 0xFF << 2 | 0xFF << 11 | 0xFF << 20 | 7 << 29, 0x3F << 1 | 0xFF << 8 | 0xFFF << 17
    actions, command = (PORT[f"{SLOT}.{name}"].address for name in ("action[0]", "command"))
    for word, value in enumerate(numbers):
        await b.bus.write(actions + 4 * word, value)
    # The other set gets the same rules with these numbers: the key that stands in the registers is the last one's.
    for op, number in ((Op.CLEAR, 0), (Op.DEFAULT, 0), (Op.WRITE, 1)):
        await b.bus.write(actions, numbers[0] | int(op == Op.WRITE))
        await b.bus.write(command, op | number << 16)
    await b.bus.write(actions, numbers[0])
    await b.bus.write(PORT[f"{SLOT}.value[2]"].address, 0)
    await b.bus.write(command, Op.WRITE)
    await b.bus.write(command, Op.SWAP)
    await b.play([b.parsed(frame, port=port) for frame in some(b, 4) for port in (0, 1, 2)], "off")
    await b.quiet()


@acl_test()
async def slot_takes_the_default_action_where_no_rule_matches(dut: Any) -> None:
    """No rules after reset: all pass, from the first cycle on. Then denied by default, with rules and without."""
    b = await SlotBench(dut, "default").start()
    for wait in (True, False):
        await b.restart(wait=wait)
        assert wait or int(dut.ready.value) == 0
        await b.play([b.parsed(frame) for frame in some(b, 10)], "no rules")
        await b.until_ready()
        await b.quiet()
        await b.check_counters()
    for rules in ((), (Rule(port=7, actions=Actions(queue=9)),)):
        for permit in (False, True):
            await b.load(RuleSet(rules, permit))
            await b.play([b.parsed(frame, port=b.rng.choice((7, 8))) for frame in some(b, 12)], "default")
            await b.quiet()
            await b.check_counters()
    await b.driver.set_default(False)
    b.model.default_permit = False
    await b.play([b.parsed(frame, port=8) for frame in some(b, 4)], "default alone")
    await b.quiet()
    await b.check_counters()


@acl_test()
async def slot_judges_no_frame_that_comes_in_bad(dut: Any) -> None:
    """Marked frames under rules that would do anything: no count, no token, no copy, and the mark stays."""
    b = await SlotBench(dut, "bad").start()
    actions = [both(Actions(mirror=1), one) for one in SINGLE]
    await b.load(by_port(actions, permit=False))
    marks = [0, bad_mark(), bad_mark(Code.OVERSIZE), 0, bad_mark(Code.BAD_IHL), bad_mark(127)]
    count = 4 if FEW else 30
    frames = [
        (port, b.rng.choice(SHAPES), b.rng.choice(marks)) for port in range(len(actions) + 1) for _ in range(count)
    ]
    b.rng.shuffle(frames)
    flights = [b.parsed(frame, bad, port=port) for port, frame, bad in frames]
    await b.play(flights, "marked")
    await b.quiet()
    await b.check_counters()
    assert b.counted["unjudged"] and b.counted["judged"]


@acl_test()
async def slot_copies_frames_of_every_length_as_they_came(dut: Any) -> None:
    """A frame and its copy, of 1 byte to 5 beats and long ones: passed, marked, denied, policed."""
    b = await SlotBench(dut, "mirror").start()
    kinds = (
        Actions(mirror=7),
        Actions(mirror=8, mark_dscp=1, queue=3),
        Actions(False, mirror=9),
        Actions(mirror=255, meter=2),
        Actions(),
        Actions(mirror=0, redirect=PORT_ID, priority=7, protect=9),
        Actions(mirror=4, redirect=PORT_ID + 1),
    )
    await b.load(by_port(list(kinds)))
    lengths = [*(range(1, 82, 9) if FEW else range(1, 82)), *([] if FEW else [1500, 9600, 60])]
    await b.play([sized(b, length, port=b.rng.randrange(len(kinds))) for length in lengths], "copied")
    await b.quiet(700)
    await b.check_counters()


@acl_test()
async def slot_ends_a_metered_frame_that_it_cannot_hold(dut: Any) -> None:
    """One of 1024 beats is held and metered; a beat more ends as oversize, its rule counts it, its meter doesn't."""
    b = await SlotBench(dut, "oversize").start()
    rates = MeterRates(1, 1, 16384, 16384)
    await b.load(by_port([Actions(meter=0, mirror=6, queue=2, mark_dscp=1), Actions(queue=1)], (rates,)))
    await b.play([sized(b, 16384, port=0)], "held")
    await b.quiet(1100)
    assert b.counted["metered_green"] == 1
    for length in (16385, 20000):
        flight = sized(b, length, port=0)
        want = b.expect_judged(flight, Judgement(0, Verdict.ACL_DENIED, mirror=6))
        want.frame.user = flight.sent.user & 0x300 | Code.OVERSIZE << 1 | 1
        want.counts.remove("denied")
        b.model.counters[0].add(length)
        b.source.append(flight.sent)
        got = await b.sink.recv()
        b.check(flight, want, got, f"{length} bytes")
        await b.quiet(1100)
        b.before = None
        await b.play([sized(b, length, port=1), sized(b, 60, port=1)], "not metered")
        await b.quiet(1100)
    await b.check_counters()


# DSCP


@acl_test()
async def slot_marks_dscp_and_the_checksum_follows(dut: Any) -> None:
    """Frames with what Scapy makes of them, or with a checksum that stays wrong by as much; not one bit more."""
    b = await SlotBench(dut, "dscp").start()
    marks = b.rng.sample(MARKS, min(len(MARKS), 120 if FEW else 1000))
    used = sorted({dscp for _, dscp, _ in marks})
    await b.load(by_port([Actions(mark_dscp=dscp) for dscp in used]))
    flights = [b.parsed(frame, port=used.index(dscp)) for frame, dscp, _ in marks]
    for (_, dscp, marked), (flight, _, got) in zip(marks, await b.play(flights, "marked"), strict=True):
        assert got.data == marked, (
            f"DSCP {dscp}: {marked.hex()} must come of {flight.sent.data.hex()}, {got.data.hex()}"
        )
    await b.quiet()


# Meters


@acl_test()
async def slot_polices_by_meters_that_rules_share(dut: Any) -> None:
    """Random rates and bursts, bursts of one frame, times from none to days apart, and at the carries of a time."""
    b = await SlotBench(dut, "meters").start()
    rng = b.rng
    for _ in range(1 if FEW else 3):
        meters = []
        for number in range(16):
            cir = rng.choice((1, 64_000, 10**9, 10**12, rng.randint(1, 10**10)))
            pir = rng.choice((cir, min(10**12, cir * rng.randint(1, 9))))
            cbs, pbs = (rng.choice((1, 60, 64, 1500, 65536, (1 << 32) - 1)) for _ in range(2))
            meters.append(MeterRates(cir, pir, cbs, pbs, rng.randrange(64) if number % 2 else None))
        actions = [Actions(meter=rng.randrange(16), mark_dscp=rng.choice((None, 3))) for _ in range(24)]
        await b.load(by_port(actions, tuple(meters)))
        flights = []
        for _ in range(100 if FEW else 500):
            few = rng.randrange(rng.choice((2, 100, 10**4, 10**6)))
            ns = rng.choice((0, few, few, few, 10 ** rng.randrange(14), (1 << rng.choice((31, 32, 33, 47))) + few))
            if rng.random() < 0.1:
                # To right before or behind a carry into the upper half of the time.
                ns = max(0, -b.now_ns % (1 << 32) + rng.randrange(-50, 50))
            data = (rng.choice(SHAPES) + rng.randbytes(rng.choice((0, 0, 40, 1400))))[:1500]
            flights.append(b.parsed(data, ns=ns, port=rng.randrange(26)))
        await b.play(flights, "metered")
        await b.quiet()
        await b.check_counters()


@acl_test()
async def slot_keeps_a_meter_over_a_swap_and_fills_it_when_it_is_written(dut: Any) -> None:
    """Tokens that were taken stay taken under the other set; new rates come with full buckets."""
    b = await SlotBench(dut, "swap_meter").start()
    rates = MeterRates(1, 1, 1000, 2000)
    number = 255
    await b.load(RuleSet((Rule(actions=Actions(meter=number)),), True, (rates,) * (number + 1)))
    frame = MARKS[0][0]
    data = (frame + bytes(600))[:600]

    async def four() -> None:
        await b.play([b.parsed(data, ns=0) for _ in range(4)], "burst")
        await b.quiet()

    await four()
    assert b.counted["metered_green"] == 1 and b.counted["metered_yellow"] == 2 and b.counted["metered_red"] == 1
    await b.driver.insert(0, Rule(port=300 & 0xFF, dscp=63))
    b.model.insert(0, Rule(port=300 & 0xFF, dscp=63))
    await b.play([b.parsed(data, ns=0, port=1) for _ in range(2)], "after a swap")
    await b.quiet()
    assert b.counted["metered_red"] == 3, "buckets filled by a swap"
    await b.driver.set_meter(number, rates)
    b.model.meters[number] = type(b.model.meters[0])(rates)
    await b.play([b.parsed(data, ns=0, port=1) for _ in range(4)], "after new rates")
    await b.quiet()
    assert b.counted["metered_green"] == 2
    await b.check_counters()


# Tunnels


@acl_test()
async def slot_judges_a_tunnel_by_the_lowest_number_of_both_headers(dut: Any) -> None:
    """Rules about the outside and the inside of real frames, mixed in any order; rules that both fit."""
    b = await SlotBench(dut, "tunnels").start()
    tunnels = [bytes.fromhex(frame) for frame in JOB["tunnels"]]
    for _ in range(1 if FEW else 4):
        rules: list[Rule] = []
        chosen = b.rng.sample(tunnels, min(len(tunnels), 4 if FEW else 60))
        for frame in chosen:
            fields = b.parsed(frame).fields
            for inner in (False, True):
                prefix = "inner_" if inner else ""
                kind = fields.get(f"{prefix}l3_kind", 0)
                conditions: dict[str, Any] = {"inner": inner, "ethertype": fields.get(f"{prefix}ethertype", 0)}
                if kind and (kind == 1 or IPV6):
                    mask = 0xFFFFFFFF if kind == 1 else (1 << 128) - 1
                    conditions = {
                        "inner": inner,
                        "ip": (4, 6)[kind - 1],
                        "src": Masked(fields[f"{prefix}ip_src"], mask),
                    }
                if b.rng.random() < 0.7:
                    rules.append(Rule(actions=Actions(queue=len(rules) & 0xFF), **conditions))
        b.rng.shuffle(rules)
        await b.load(RuleSet(tuple(rules[: RULES - 1])))
        frames = chosen + some(b, len(chosen))
        b.rng.shuffle(frames)
        for flight, want, _ in await b.play([b.parsed(frame) for frame in frames], "tunnel"):
            assert want.judgement is not None
            rule = want.judgement.rule
            if flight.lookups == 2 or not TUNNEL:
                _winner("none" if rule is None else "inner" if b.model.rules[rule].inner else "outer")
        await b.quiet()
        await b.check_rule_counters()


# Time


def busy(b: SlotBench, count: int, longest: int = 200) -> list[Flight]:
    """Frames of all lengths from a beat on, with and without tunnels and meters, in bunches that are alike."""
    flights: list[Flight] = []
    tunnels = [bytes.fromhex(frame) for frame in JOB["tunnels"]]
    while len(flights) < count:
        bunch = b.rng.choice((1, 1, 2, 5, 20))
        port = b.rng.choice((0, 1, 2, 3, 9))
        kind = b.rng.randrange(4)
        length = b.rng.choice((1, 16, 17, 60, 64, b.rng.randint(1, longest), b.rng.randint(1, longest)))
        for _ in range(min(bunch, count - len(flights))):
            bad = bad_mark() if b.rng.random() < 0.05 else 0
            if kind == 0:
                flight = b.parsed(b.rng.choice(tunnels), bad, port=port)
            elif kind == 1:
                flight = b.parsed(b.rng.choice(SHAPES), bad, port=port)
            else:
                flight = b.parsed(b.rng.randbytes(length), bad, port=port)
            # A tunnel in a frame of few beats is what takes the longest; metadata decides, not the bytes.
            if kind == 3 and b.rng.random() < 0.5:
                flight = b.flight(flight.sent.data, flight.fields | {"tunnel_kind": 1, "l3_kind": 0}, bad)
            flights.append(flight)
    return flights


BUSY = by_port([Actions(queue=1), Actions(meter=0), Actions(meter=4, mirror=2), Actions(False)], METERS)


@acl_test()
async def slot_gives_a_lone_frame_its_latency(dut: Any) -> None:
    """13 cycles, 17 with a tunnel that is looked up, or held until it is whole."""
    b = await SlotBench(dut, "alone").start()
    await b.load(BUSY)
    for length in (1, 16, 17, 64, 65, 200, 1500) if not FEW else (17, 200):
        for port in (0, 1):
            for tunnel in (0, 1):
                flight = sized(b, length, port=port)
                flight = b.flight(flight.sent.data, flight.fields | {"tunnel_kind": tunnel})
                ((flight, _, got),) = await b.play([flight], "alone")
                sent = flight.sent
                looked_up = 17 if tunnel and TUNNEL else 13
                came = got.valid_cycle - sent.first_cycle
                if port == 0:
                    assert came == looked_up, f"{length} bytes: latency {came}, must be {looked_up}"
                else:
                    assert came == max(looked_up + 7, sent.beats() - 1 + 1 + 7 + 1), f"metered, {length} bytes: {came}"
                _lookups("two" if flight.lookups == 2 else "one", "metered" if port else "plain")
                await b.quiet(4)


@acl_test()
async def slot_keeps_its_cycles_under_back_to_back_load(dut: Any) -> None:
    """Frames of a beat, which keep keys waiting; metered ones among others; long ones in front of short ones."""
    b = await SlotBench(dut, "load").start()
    await b.load(BUSY)
    await b.play(busy(b, 80 if FEW else 1500), "mixed load")
    await b.quiet(60)
    if not FEW:
        for port in (0, 1, 2):
            await b.play([sized(b, 5, port=port) for _ in range(300)], "tiny frames")
            await b.quiet(60)
            lengths = [9600, *([60] * 40), 9000, 1, 1, 9600, 16, 1500, 33]
            await b.play([sized(b, n, port=port if n > 100 else b.rng.choice((0, port))) for n in lengths], "jumbo")
            await b.quiet(60)
        tiny = [b.flight(b.rng.randbytes(33), {"tunnel_kind": 1, "port": 9}) for _ in range(300)]
        await b.play(tiny, "tunnels of three beats")
        await b.quiet(60)
    await b.check_counters()


@acl_test()
async def slot_keeps_its_cycles_where_a_frame_comes_with_gaps(dut: Any) -> None:
    b = await SlotBench(dut, "gaps").start()
    await b.load(BUSY)
    for name in ("gap", "random") if FEW else [name for name in PAUSES if name != "none"]:
        b.pause(name, "none")
        await b.play(busy(b, 20 if FEW else 120), f"gaps {name}")
        await b.quiet(60)


@acl_test()
async def slot_changes_nothing_under_any_back_pressure(dut: Any) -> None:
    """Every generator at the source with every one at the sink; then a sink that stands still until all is full."""
    b = await SlotBench(dut, "pressure", protocol=True).start()
    await b.load(BUSY)
    for number, (source, sink) in enumerate((source, sink) for source in PAUSES for sink in PAUSES):
        if not FEW or number % 9 == 1:
            b.pause(source, sink)
            await b.play(busy(b, 6), f"{source}, {sink}", cycles=False)
    b.pause("none", "none")
    await b.quiet(60)
    if not FEW:
        for length in (5, 100, 1500):
            b.sink.pause = iter([False] * 3000 + [True] * 10**6)
            await b.play([sized(b, length, port=b.rng.choice((0, 1, 2))) for _ in range(330)], "stalled", cycles=False)
            b.sink.pause = None
            await b.quiet(60)
    await b.check_counters()


@acl_test()
async def slot_has_no_path_from_side_to_side(dut: Any) -> None:
    await check_no_combinational_path(await SlotBench(dut, "paths").start())  # type: ignore[arg-type]


@acl_test()
async def slot_is_idle_only_when_no_frame_is_in_it(dut: Any) -> None:
    """From a frame's first beat to its last at the output, a metered one that is held included."""
    b = await SlotBench(dut, "idle").start()
    await b.load(BUSY)
    busy_cycles: list[int] = []

    async def watch() -> None:
        edge = RisingEdge(b.clk)
        while True:
            await edge
            if int(dut.idle.value) == 0:
                busy_cycles.append(cycle(b.clk))

    task = cocotb.start_soon(watch())
    for port, length in ((0, 60), (1, 500), (3, 1), (2, 64)):
        busy_cycles.clear()
        ((flight, _, got),) = await b.play([sized(b, length, port=port)], "idle")
        await b.quiet(20)
        must = set(range(flight.sent.first_cycle + 1, got.last_cycle + 1))
        assert must <= set(busy_cycles), f"idle in cycles {sorted(must - set(busy_cycles))[:5]} with a frame in it"
    task.cancel()


# Reset and registers


@acl_test()
async def slot_starts_over_at_a_reset_in_mid_frame(dut: Any) -> None:
    """A reset in each cycle of traffic and of a command: nothing of the old frames shows, rules and counts are gone."""
    b = await SlotBench(dut, "reset").start()
    rule_set = by_port([Actions(False), Actions(meter=0, mirror=1), Actions(queue=1)])
    for delay in range(0, 60, 25 if FEW else 1):
        await b.load(rule_set)
        b.pause("none", ("none", "one_in")[delay % 2])
        for port in (0, 1, 2, 1, 0):
            b.source.append(sized(b, b.rng.choice((30, 100, 150)), port=port).sent)
        command = delay % 3 == 0
        if command:
            dut.reg_addr.value, dut.reg_write.value, dut.reg_wstrb.value = 0x0C, 1, 15
            dut.reg_wdata.value = PORT[f"{SLOT}.command"].encode({"op": b.rng.choice((Op.WRITE, Op.CLEAR, Op.SWAP))}, 0)
            dut.reg_req.value = 1
        await wait_cycles(b.clk, delay)
        sent = b.source.pending
        _resets("command" if command else "output_open" if b.sink.partial else "input_open" if sent else "waiting")
        dut.reg_req.value = 0
        await b.restart(1 + delay % 3)
        b.pause("none", "none")
        await b.play(
            [b.parsed(frame, port=port) for port, frame in enumerate(some(b, 3))], f"reset after {delay} cycles"
        )
        await b.quiet(20)
        await b.check_counters()
        for of in (0, 1):
            await b.bus.write(PORT[f"{SLOT}.command"].address, Op.READ | of << 8 | 1 << 16)
            assert await read_register(b.bus, f"{SLOT}.counter_frames") == 0, "a rule's count survives a reset"
    await b.restart(2)
    _resets("idle")
    await b.play([b.parsed(frame) for frame in some(b, 3)], "after a reset when idle")
    await b.quiet()


@acl_test()
async def slot_tells_its_parameters_and_answers_its_commands_in_time(dut: Any) -> None:
    b = await SlotBench(dut, "registers").start()
    assert await read_fields(b.bus, f"{SLOT}.id") == {"block": 3, "version": 1, "state": 3}
    size = await read_fields(b.bus, f"{SLOT}.size")
    assert size == {"rules": RULES, "meters": 256, "ipv6": int(IPV6), "tunnel": int(TUNNEL)}
    for register in PORT.instance(SLOT):
        for one in register.elements():
            # Under a simulator that knows X: none comes.
            value = await read_value(b.bus, one)
            assert value & one.stable_mask == one.reset & one.stable_mask, f"{one.name} is {value:#x} after a reset"
    for address in (0x3000, 0x3FFC, 0x158, 0x0F0):
        for write in (None, 0):
            _, error = await b.bus.access(PORT[f"{SLOT}.id"].address + address, write)
            assert error, f"a register at {address:#x}"
    assert await read_fields(b.bus, f"{SLOT}.status") == {"active": 0, "settled": 1}
    command = PORT[f"{SLOT}.command"].address
    for op in (*Op, Op.SWAP, Op.WRITE, Op.SWAP, Op.CLEAR, Op.SWAP):
        await b.bus.write(command, op | (DEFAULT_RULE if op == Op.READ else 0) << 16)
        took = b.bus.answered - b.bus.asked
        # The register file's own cycle comes on top.
        most = (RULES + 8 if op == Op.CLEAR else 67) + 2
        assert took <= most, f"{op.name} took {took} cycles"
        active = await read_fields(b.bus, f"{SLOT}.status")
        assert active["settled"] == 1
    assert active["active"] == 0, "four swaps"
    for pulse in (1, 0, 1, 1, 0):
        dut.mirror_dropped.value = pulse
        await wait_cycles(b.clk, 1)
    assert await read_register(b.bus, f"{SLOT}.mirror_dropped") == 3
