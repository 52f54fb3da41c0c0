"""Bench of ``nic_port`` with MACs: cocotbext-eth at XGMII, the host's agents, three clocks that drift."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import cocotb
from cocotb.simtime import get_sim_time
from cocotb.triggers import RisingEdge

from models.mac import good_events, padded
from models.mac_xgmii import IDLE_WORD, REMOTE_FAULT_WORD, START, characters
from models.meta import Code, unpack
from models.port_map import PORT
from tb.lib import cover
from tb.lib.clock import high_within, wait_cycles
from tb.mac.cases import MAX, payload, wrong
from tb.mac.wire import C, Wire
from tb.nic.redirect import CONFIG, Act, frame
from tb.nic.wire import CORE_PS, XGMII_PS, WirePort
from tb.targets.base import UnmappedAddress
from tb.targets.program import writes

__all__: list[str] = []

test = cocotb.test(timeout_time=4, timeout_unit="ms")
FAST, SLOW = XGMII_PS - 1, XGMII_PS + 1
"""Periods of XGMII's clocks that are 100 ppm off."""
FAST_10G, SLOW_10G = 24_958, 24_962
"""Where XGMII has 156.25 MHz, 80 ppm off."""
INCREMENT_10G = round(6.4 * 2**32)
"""Its cycle in ns, 8.32."""
TIME_BOUND = 8 << 32
"""How far a timestamp may be from the port's time, 64.32 ns (docs/mac.md, In the port)."""
TIME_SETTLES = 64
"""Cycles of the core behind a reset or a jump of its time, until timestamps are within that."""
IDLE_FALLS = 4
"""Cycles of the core until the port knows of a start on XGMII."""
LENGTHS = [*range(1, 20), *range(58, 70), *range(122, 137), *range(250, 262), 600, 601, 602, *range(1508, 1520)]
injected = cover.point("wire.injected", ["bad_fcs", "error", "idle", "start", "runt", "fragment", "tiny", "oversize",
                                         "jabber", "sfd", "lane1"])  # fmt: skip
drift = cover.point("wire.drift", ["rx_fast_tx_slow", "rx_slow_tx_fast"])


def events(frames: Sequence[bytes]) -> dict[str, int]:
    """What a MAC counts for good frames."""
    return dict(sum((good_events(padded(data)) for data in frames), Counter()))


def marked(data: bytes, index: int) -> bytes:
    """To a group, to all, or a pause frame: three, two and one of a long row, so that no two counts are the same."""
    if index in (3, 40, 90):
        return b"\3" + data[1:]
    if index in (5, 60):
        return b"\xff" * 6 + data[6:]
    return b"\1\x80\xc2\0\0\1" + data[6:12] + b"\x88\x08" + data[14:] if index == 7 else data


async def both_ways(dut: Any, rx_ps: int, tx_ps: int) -> WirePort:
    """Frames of every length of `LENGTHS` in both directions at once, as close as the wire allows."""
    port = await WirePort(dut, rx_ps, tx_ps).start()
    ways = []
    for way in ("rx", "tx"):
        lengths = LENGTHS * 2
        port.rng.shuffle(lengths)
        ways.append([marked(payload(length, f"{way}{index}"), index) for index, length in enumerate(lengths)])
    rx, tx = ways
    for counts in map(events, ways):
        assert len(set(counts.values())) == len(counts) == 13, f"a counter could be another one: {counts}"
    port.receive(rx)
    port.transmit(tx)
    await port.ended(len(rx), len(tx))
    port.check_received(rx)
    port.check_transmitted(tx)
    for way in ("rx", "tx"):
        assert set(port.codes(way)) == {Code.DELIVERED}
    assert [sent.seq for sent in port.sent] == list(range(len(tx))) and {sent.direction for sent in port.sent} == {1}
    assert await port.counters("mac_rx") == events(rx)
    assert await port.counters("mac_tx") == events(tx)
    await port.check_accounts()
    return port


@test
async def frames_of_each_length_pass_both_ways_with_a_fast_receive_clock(dut: Any) -> None:
    await both_ways(dut, FAST, SLOW)
    drift("rx_fast_tx_slow")


@test
async def frames_of_each_length_pass_both_ways_with_a_slow_receive_clock(dut: Any) -> None:
    await both_ways(dut, SLOW, FAST)
    drift("rx_slow_tx_fast")


async def at_line_rate(dut: Any, rx_ps: int, tx_ps: int) -> None:
    port = await WirePort(dut, rx_ps, tx_ps).start()
    port.keep_words = True
    for size, cycles, count in ((64, Fraction(21, 2), 250), (1518, Fraction(769, 4), 16)):
        frames = [payload(size - 4, seed) for seed in range(count + 1)]
        port.forget()
        port.receive(frames)
        port.transmit(frames)
        await port.ended(len(frames), len(frames))
        host = port.check_received(frames)
        port.check_transmitted(frames)
        places = [
            8 * index + lane
            for index, word in enumerate(port.words)
            for lane, char in enumerate(characters(*word))
            if char == START
        ]
        assert Fraction(places[-1] - places[0], 8 * count) == cycles, f"{size} B: {places[:8]}"
        # At the host the frames' own cycles are those of the receive clock, but for the crossing's one or two.
        took = (host[-1].first_cycle - host[0].first_cycle) * CORE_PS
        assert abs(took - cycles * count * rx_ps) <= 3 * CORE_PS, f"{size} B: {took} ps at the host"
    counters = await port.counters("mac_rx")
    assert "overflow_cut" not in counters and "overflow_lost" not in counters
    assert "underrun" not in await port.counters("mac_tx")


@test
async def both_directions_hold_line_rate_with_a_fast_receive_clock(dut: Any) -> None:
    """10.5 cycles of XGMII a 64 B frame and 192.25 a 1518 B frame, in and out at the same time, none lost."""
    await at_line_rate(dut, FAST, SLOW)


@test
async def both_directions_hold_line_rate_with_a_slow_receive_clock(dut: Any) -> None:
    await at_line_rate(dut, SLOW, FAST)


LIMIT = 300
"""max_frame of mac_rx while errors are injected."""


def cases() -> list[tuple[str, Wire, int | None, list[str]]]:
    """Name, what comes, the code with which a frame ends (None: none comes), the counters that move."""
    data = payload(100)
    big = payload(LIMIT + 1)
    return [
        ("bad_fcs", Wire().frame(data, check=wrong(data)), Code.BAD_FCS, ["fcs_errors"]),
        ("error", Wire().raw([*data[:50], C | 0xFE, *data[50:], C | 0xFD]), Code.RX_ERROR, ["symbol_errors"]),
        ("idle", Wire().raw([*data]), Code.RX_ERROR, ["symbol_errors"]),
        ("start", Wire().raw([*data]).frame(data), Code.RX_ERROR, ["symbol_errors", "bad_preamble"]),
        ("runt", Wire().frame(data[:59]), Code.RUNT, ["undersize"]),
        ("fragment", Wire().frame(data[:20], check=wrong(data[:20])), Code.RUNT, ["fragments"]),
        ("tiny", Wire().frame(b"", check=b"\1\2\3\4"), None, ["fragments"]),
        ("oversize", Wire().frame(big), Code.OVERSIZE, ["oversize"]),
        ("jabber", Wire().frame(big * 3, check=b"\1\2\3\4"), Code.OVERSIZE, ["jabbers"]),
        ("sfd", Wire().raw([*data, C | 0xFD], sfd=0x55), None, ["bad_preamble"]),
        ("lane1", Wire().idle(1).frame(data), None, ["bad_preamble"]),
    ]


@test
async def what_is_wrong_on_the_wire_ends_with_its_code_and_no_other_frame_does(dut: Any) -> None:
    """Each kind between two good frames, in both start lanes, and runts of each length, while frames go out; the
    account balances."""
    port = await WirePort(dut, FAST, SLOW).start()
    await port.axil.write(PORT["mac_rx.control"].address, LIMIT << 16 | 1)
    await wait_cycles(dut.clk, 40)
    good, counted, codes = [], Counter(), []
    sent = [payload(60 + seed % 50, seed) for seed in range(120)]
    port.transmit(sent)
    for index, (name, wire, code, moved) in enumerate(cases()):
        for lane in (0, 4):
            before, behind = payload(64, f"{name}{lane}"), payload(77, f"{name}{lane}")
            line = Wire().frame(before).idle(12)
            again = index + 1 if lane else 1  # so that no two counters end alike
            for _ in range(again):
                line.idle((lane - len(line.chars)) % 8 + 8).raw(wire.chars, start=False).idle(12)
            line.idle(-len(line.chars) % 4).frame(behind).idle(16)
            await port.words_in(line.words())
            good += [before, behind]
            codes += [Code.DELIVERED, *([] if code is None else [code] * again), Code.DELIVERED]
            counted.update(moved * again)
            injected(name)
    for length in range(1, 60):
        await port.words_in(Wire().idle(length % 2 * 4 + 8).frame(payload(length)).idle(16).words())
        codes.append(Code.RUNT)
        counted["undersize"] += 1
    await port.ended(len(codes), len(sent))
    assert port.codes("rx") == codes
    port.check_received(good)
    port.check_transmitted(sent)
    assert len(set(counted.values())) == len(counted)
    assert await port.counters("mac_rx") == {**events(good), **counted}
    await port.check_accounts()


@test
async def a_frame_at_the_longest_passes_and_one_byte_more_is_oversize(dut: Any) -> None:
    """9596 bytes at both edges, the reset value of both limits."""
    port = await WirePort(dut).start()
    longest, more = payload(MAX), payload(MAX + 1)
    port.receive([longest, more, payload(60)])
    port.transmit([longest, more, payload(60)])
    await port.ended(3, 3)
    wanted = [Code.DELIVERED, Code.OVERSIZE, Code.DELIVERED]
    for way in ("rx", "tx"):
        assert port.codes(way) == wanted
    port.check_received([longest, payload(60)])
    port.check_transmitted([longest, payload(60)])
    await port.check_accounts()


@test
async def a_fault_on_the_wire_is_answered_and_frames_end_as_link_fault(dut: Any) -> None:
    """46.3.4: local fault in, remote fault out; remote fault in, idle out. Frames offered meanwhile end as link_fault,
    and behind it the link is as before."""
    port = await WirePort(dut, FAST, SLOW).start()
    dropped = 0
    for kind, value, answer in (("local", 1, REMOTE_FAULT_WORD), ("remote", 2, IDLE_WORD)):
        port.source.set_seq_os(value)
        await wait_cycles(dut.rx_clk, 200)
        status = await port.status("mac_rx")
        assert (status["local_fault"], status["remote_fault"]) == (int(value == 1), int(value == 2))
        port.forget()
        port.keep_words = True
        port.transmit([payload(60, seed) for seed in range(5)])
        await port.ended(0, 5)
        dropped += 5
        assert port.codes("tx") == [Code.LINK_FAULT] * 5
        assert set(port.words) == {answer}
        port.source.set_seq_os(None)
        await wait_cycles(dut.rx_clk, 300)
        status = await port.status("mac_rx")
        assert not status["local_fault"] and not status["remote_fault"] and status[f"{kind}_fault_seen"]
        frames = [payload(70 + seed, seed) for seed in range(3)]
        port.keep_words = False
        port.sink.clear()
        port.transmit(frames)
        port.receive(frames)
        await port.ended(3, 8)
        port.check_transmitted(frames)
        port.check_received(frames)
    assert (await port.counters("mac_tx"))["fault_dropped"] == dropped
    counters = await port.counters("mac_rx")
    assert counters["local_faults"] == counters["remote_faults"] == 1


@test
async def faults_that_come_and_go_cut_no_frame_and_leave_no_end_out(dut: Any) -> None:
    """Frames go out back to back while the link's state changes at random: what is on the wire is whole and in order,
    and is what was reported as delivered."""
    port = await WirePort(dut, SLOW, FAST).start()
    sent = [payload(port.rng.choice((1, 60, 64, 100, 300)), seed) for seed in range(150)]
    port.transmit(sent)
    while len(port.ends["tx"]) < len(sent):
        port.source.set_seq_os(port.rng.choice((1, 2)))
        await wait_cycles(dut.rx_clk, port.rng.randint(2, 40))
        port.source.set_seq_os(None)
        await wait_cycles(dut.rx_clk, port.rng.randint(60, 400))
    await port.ended(0, len(sent))
    codes = port.codes("tx")
    assert set(codes) == {Code.DELIVERED, Code.LINK_FAULT}
    port.check_transmitted([data for data, code in zip(sent, codes, strict=True) if code == Code.DELIVERED])
    assert (await port.counters("mac_tx"))["fault_dropped"] == codes.count(Code.LINK_FAULT)
    await port.check_accounts()


@test
async def redirected_frames_end_in_the_account_of_the_edge_where_they_came_in(dut: Any) -> None:
    """From the wire to the wire by what mac_tx says of them, a link fault too; from the host to the host."""
    port = await WirePort(dut, FAST, SLOW).start()
    for address, value in writes(CONFIG):
        await port.axil.write(address, value)
    for fault in (0, 2):
        port.forget()
        port.source.set_seq_os(fault or None)
        await wait_cycles(dut.rx_clk, 300)
        base = dict(port.entered)
        acts = {way: [port.rng.choice((Act.REDIRECT, Act.NONE, Act.MIRROR)) for _ in range(60)] for way in ("rx", "tx")}
        frames = {way: [frame(act, 60 + n % 40, n) for n, act in enumerate(acts[way])] for way in acts}
        port.receive(frames["rx"])
        port.transmit(frames["tx"])
        await port.ended(60, 60)
        for way in ("rx", "tx"):
            out = [(act == Act.REDIRECT) == (way == "rx") for act in acts[way]]  # to the wire
            lost = Code.LINK_FAULT if fault else Code.DELIVERED
            assert port.codes(way) == [lost if to_wire else Code.DELIVERED for to_wire in out], way
        wire = [bytes(each.get_payload()) for each in port.at_wire()]
        for sent, data in zip(port.sent, wire, strict=True):
            way = "tx" if sent.direction else "rx"
            assert data == frames[way][sent.seq - base.get(way, 0)], f"{way} {sent.seq}"
        to_wire = acts["rx"].count(Act.REDIRECT) + 60 - acts["tx"].count(Act.REDIRECT)
        assert len(wire) == (0 if fault else to_wire)
        copies = acts["rx"].count(Act.MIRROR) + acts["tx"].count(Act.MIRROR)
        assert len(port.at_host()) == 120 - to_wire + copies
    await port.check_accounts()


@test
async def a_mac_that_is_disabled_takes_nothing_and_goes_on(dut: Any) -> None:
    """mac_rx: frames that start meanwhile are no frames. mac_tx: frames wait. Both end what is under way."""
    port = await WirePort(dut).start()
    frames = [payload(100, seed) for seed in range(20)]
    for way, rest in (("rx", 0), ("tx", 0xC02)):
        control = PORT[f"mac_{way}.control"].address
        on = MAX << 16 | 1 if way == "rx" else rest | 1
        for delay in (30, 77):
            port.forget()
            (port.receive if way == "rx" else port.transmit)(frames)
            await wait_cycles(dut.clk, delay)
            await port.axil.write(control, on & ~1)
            await wait_cycles(dut.clk, 600)
            ended = len(port.ends[way])
            assert 0 < ended < len(frames)
            await port.axil.write(control, on)
            await wait_cycles(dut.clk, 40)
            if way == "rx":
                port.receive(frames[-1:])
                await port.ended(ended + 1, 0)
                port.check_received([*frames[:ended], frames[-1]])
            else:
                await port.ended(0, len(frames))
                port.check_transmitted(frames)
    await port.check_accounts()


@test
async def the_port_is_not_idle_while_a_frame_is_in_a_mac(dut: Any) -> None:
    """From a few cycles behind its start on XGMII, which the clocks need, to its end; and up to terminate."""
    port = await WirePort(dut, SLOW, FAST).start()
    edge = RisingEdge(dut.clk)
    for length in (60, 61, 100, 1514):
        for way in ("rx", "tx"):
            port.forget()
            await wait_cycles(dut.clk, 50)
            assert str(dut.idle.value) == "1"
            (port.receive if way == "rx" else port.transmit)([payload(length)])
            idle: list[bool] = []
            begun = -1
            while not (port.at_wire() if way == "tx" else port.ends["rx"]):
                await edge
                idle.append(str(dut.idle.value) == "1")
                if begun < 0 and (port.starts if way == "rx" else not idle[-1]):
                    begun = len(idle)
                assert len(idle) < 3000
            assert not any(idle[begun + IDLE_FALLS : -1]), f"{way}, {length} bytes: idle {idle[begun:]}"
            await port.ended(*((1, 0) if way == "rx" else (0, 1)))


async def check_stamps(port: WirePort) -> None:
    """In both directions, behind a reset, behind a jump of the port's time, and when clocks that are 100 ppm off have
    run for 120 us without a frame, in which they would drift by 12 ns; never back."""
    dut = port.dut
    await wait_cycles(dut.clk, TIME_SETTLES)
    last = {"rx": 0, "tx": 0}
    for jump, wait in ((0, 0), (1000, 0), (10**12, 0), (0, 30_000)):
        await wait_cycles(dut.clk, wait)
        if jump:
            dut.time_target.value, dut.time_advance.value = (port.now() >> 32) + jump, 1
            await RisingEdge(dut.clk)
            dut.time_advance.value = 0
            await wait_cycles(dut.clk, TIME_SETTLES)
        port.forget()
        frames = [payload(port.rng.choice((60, 61, 64, 67, 200)), seed) for seed in range(80)]
        port.receive(frames)
        port.transmit(frames)
        await port.ended(len(frames), len(frames))
        for got, (now, lane) in zip(port.check_received(frames), port.starts, strict=True):
            time = unpack(got.meta)["timestamp"] << 32
            assert abs(time - now) <= TIME_BOUND, f"rx, lane {lane}: {(time - now) / 2**32} ns off"
            assert time >= last["rx"]
            last["rx"] = time
        port.check_transmitted(frames)
        for sent in port.sent:
            assert abs(sent.time - sent.now) <= TIME_BOUND, f"tx, lane {sent.lane}: {(sent.time - sent.now) / 2**32} ns"
            assert sent.time > last["tx"]
            last["tx"] = sent.time


@test
async def timestamps_are_those_of_the_starts_within_eight_ns(dut: Any) -> None:
    await check_stamps(await WirePort(dut, FAST, SLOW).start())


@test
async def a_port_at_10g_passes_each_length_both_ways_and_keeps_its_timestamps(dut: Any) -> None:
    port = await both_ways(dut, FAST_10G, SLOW_10G)
    for block in ("mac_rx", "mac_tx"):
        address = PORT[f"{block}.time_increment"].address
        for word in range(2):
            await port.axil.write(address + 4 * word, INCREMENT_10G >> 32 * word & 0xFFFFFFFF)
    await check_stamps(port)


@test
async def a_reset_of_one_clock_ends_its_frames_and_leaves_the_other_direction_alone(dut: Any) -> None:
    """rx: the frame under way ends as bad_frame. tx: what the MAC and the crossing hold ends as mac_reset. Then it goes
    on."""
    port = await WirePort(dut, SLOW, FAST).start()
    for clock, code in (("rx", Code.BAD_FRAME), ("tx", Code.MAC_RESET)):
        edge, rst = RisingEdge(getattr(dut, f"{clock}_clk")), getattr(dut, f"{clock}_rst")
        for begun, delay, cycles in ((1, 0, 1), (2, 5, 8), (4, 11, 100)):
            port.forget()
            frames = [payload(200, f"{clock}{delay}{seed}") for seed in range(12)]
            port.receive(frames)
            port.transmit(frames)
            before = port.entered["rx"]
            while (port.entered["rx"] - before if clock == "rx" else len(port.sent)) < begun:
                await edge
            for _ in range(delay):
                await edge
            rst.value = 1
            for _ in range(cycles):
                await edge
            rst.value = 0
            await wait_cycles(dut.clk, 1200)
            for way in ("rx", "tx"):
                codes = Counter(port.codes(way))
                if way != clock:
                    assert codes == {Code.DELIVERED: 12}, f"reset of {clock}: {way} ended as {codes}"
                elif way == "rx":
                    assert codes == {code: 1, Code.DELIVERED: port.entered["rx"] - before - 1}, f"rx ended as {codes}"
                else:
                    assert codes[code] >= 1 and codes[code] + codes[Code.DELIVERED] == 12, f"tx ended as {codes}"
            got = [frame.data for frame in port.at_host()]
            whole = [bytes(frame.get_payload()) for frame in port.at_wire() if frame.ctrl is None and frame.check_fcs()]
            for mine, way in ((got, "rx"), (whole, "tx")):
                rest = iter(frames)
                assert all(data in rest for data in mine), f"{way}: a frame is wrong or not in its order"
                assert mine[-1] == frames[-1]
                # At the wire a frame may be whole whose end the reset took away.
                delivered = Counter(port.codes(way))[Code.DELIVERED]
                assert len(mine) == delivered if way == "rx" else len(mine) in (delivered, delivered + 1)
            await port.ended(len(port.ends["rx"]), len(port.ends["tx"]))


@test
async def a_mac_whose_clock_stands_answers_with_an_error(dut: Any) -> None:
    """Reads of its counters, in 512 cycles and a few; its other registers and the other MAC answer as ever."""
    port = await WirePort(dut).start()
    for stopped, other in (("mac_rx", "mac_tx"), ("mac_tx", "mac_rx")):
        clock = port.clocks[f"{stopped[-2:]}_clk"]
        assert (await port.status(stopped))["clock"] == 1
        clock.stop()
        await wait_cycles(dut.clk, 100)
        for name in ("frames_ok", "bytes_ok"):
            before = get_sim_time("ps")
            try:
                await port.axil.read(PORT[f"{stopped}.{name}"].address)
            except UnmappedAddress:
                took = (get_sim_time("ps") - before) // CORE_PS
                assert 512 <= took < 540, f"{stopped}.{name}: answered in {took} cycles"
            else:
                raise AssertionError(f"{stopped}.{name} has an answer, though its clock stands")
        assert (await port.status(stopped))["clock"] == 0
        assert await port.axil.read(PORT[f"{stopped}.id"].address) == 0x30101
        await port.read64(f"{other}.frames_ok")
        clock.start()
        await wait_cycles(dut.clk, 100)
        assert (await port.status(stopped))["clock"] == 1
        frames = [payload(64, seed) for seed in range(4)]
        port.forget()
        port.receive(frames)
        port.transmit(frames)
        await port.ended(4, 4)
        port.check_received(frames)
        port.check_transmitted(frames)
        assert (await port.counters(stopped))["frames_ok"] >= 4


@test
async def a_core_that_stands_cuts_frames_and_no_end_is_missing(dut: Any) -> None:
    """Frames come while the core's clock stands: one is cut as mac_overflow, those behind it are lost and counted, and
    whole ones follow."""
    port = await WirePort(dut, FAST, SLOW).start()
    all_cut = all_lost = 0
    for stop in (300, 500, 900):
        # Longer than the crossing holds
        frames = [payload(port.rng.randint(600, 2000), seed) for seed in range(12)]
        port.forget()
        cut, lost = await port.read64("mac_rx.overflow_cut"), await port.read64("mac_rx.overflow_lost")
        port.receive(frames)
        await wait_cycles(dut.rx_clk, 120)
        port.clocks["clk"].stop()
        await wait_cycles(dut.rx_clk, stop)
        port.clocks["clk"].start()
        await port.source.wait()
        await wait_cycles(dut.clk, 800)
        codes = Counter(port.codes("rx"))
        cut, lost = await port.read64("mac_rx.overflow_cut") - cut, await port.read64("mac_rx.overflow_lost") - lost
        assert codes[Code.MAC_OVERFLOW] == cut, f"{cut} frames were cut, {codes[Code.MAC_OVERFLOW]} ended so"
        assert set(codes) <= {Code.MAC_OVERFLOW, Code.DELIVERED} and codes.total() + lost == len(frames)
        got, rest = [frame.data for frame in port.at_host()], iter(frames)
        assert all(data in rest for data in got), "a frame is wrong or not in its order"
        assert len(got) == codes[Code.DELIVERED] and got[-1] == frames[-1]
        await port.ended(len(port.ends["rx"]), 0)
        all_cut, all_lost = all_cut + cut, all_lost + lost
    assert all_cut and all_lost


@test
async def resets_of_the_wire_at_any_time_leave_the_account_closed(dut: Any) -> None:
    """Resets of rx_clk and tx_clk, of a cycle and longer, together and apart, under traffic in both directions."""
    port = await WirePort(dut, SLOW, FAST).start()
    tx = [payload(port.rng.choice((60, 64, 100, 300, 1514)), seed) for seed in range(250)]
    port.transmit(tx)
    for _ in range(25):
        port.receive(payload(port.rng.choice((60, 64, 100, 300, 1514)), seed) for seed in range(4))
        await wait_cycles(dut.clk, port.rng.randint(1, 300))
        which = port.rng.choice((("rx",), ("tx",), ("rx", "tx")))
        for clock in which:
            getattr(dut, f"{clock}_rst").value = 1
        for clock in which:
            await wait_cycles(getattr(dut, f"{clock}_clk"), port.rng.choice((1, 1, 2, 5, 40)))
            getattr(dut, f"{clock}_rst").value = 0
    await port.source.wait()
    await wait_cycles(dut.clk, 1000)
    while len(port.ends["tx"]) < len(tx):
        before = len(port.ends["tx"])
        await wait_cycles(dut.clk, 1000)
        assert len(port.ends["tx"]) > before, f"{len(port.ends['tx'])} of {len(tx)} frames have ended, and no more do"
    assert set(port.codes("rx")) <= {Code.DELIVERED, Code.BAD_FRAME}
    assert set(port.codes("tx")) == {Code.DELIVERED, Code.MAC_RESET}
    await port.check_accounts()
    port.forget()
    frames = [payload(length) for length in (60, 200, 1514)]
    port.receive(frames)
    port.transmit(frames)
    await port.ended(3, 3)
    port.check_received(frames)
    port.check_transmitted(frames)


@test
async def a_reset_of_the_core_under_traffic_leaves_nothing_behind(dut: Any) -> None:
    """Of the core alone: the port begins anew, what comes behind it is whole, and nothing of before is reported."""
    port = await WirePort(dut, FAST, SLOW).start()
    for delay, cycles in ((100, 1), (237, 4), (313, 50)):
        frames = [payload(300, seed) for seed in range(30)]
        port.receive(frames)
        port.transmit(frames)
        await wait_cycles(dut.clk, delay)
        dut.rst.value = 1
        port.host_in.clear()
        await wait_cycles(dut.clk, cycles)
        dut.rst.value = 0
        port.host_sink.clear()
        await port.source.wait()
        assert await high_within(dut.clk, dut.ready, 2000), "the port doesn't get ready"
        await wait_cycles(dut.clk, 400)
        for way in ("rx", "tx"):
            assert len(port.ends[way]) >= port.entered[way] - 30
        assert str(dut.idle.value) == "1"
        port.forget()
        port.entered.clear()
        base = {way: await port.read64(f"nic.{way}_frames_in") for way in ("rx", "tx")}
        fresh = [payload(length, delay) for length in (60, 64, 1514)]
        port.receive(fresh)
        port.transmit(fresh)
        await port.ended(3, 3)
        port.check_received(fresh)
        port.check_transmitted(fresh)
        for way in ("rx", "tx"):
            assert set(port.codes(way)) == {Code.DELIVERED}
            assert await port.read64(f"nic.{way}_frames_in") == base[way] + 3
