"""Bench of the MAC with itself: ``mac_tx`` into ``mac_rx``, at XGMII and through the PCS, both at once at line rate."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from models.mac import LOOP_LATENCY, MacRxModel, padded
from models.mac_pcs import PCS_LATENCY
from models.mac_xgmii import IDLE_WORD, LOCAL_FAULT_WORD, REMOTE_FAULT_WORD
from tb.lib import cover
from tb.lib.clock import wait_cycles
from tb.lib.suite import test
from tb.mac.cases import MAX, payload
from tb.mac.env import ROUTE_PCS, ROUTE_PORT, ROUTE_XGMII, Bench, Sent, word_bits

__all__ = ["exchange", "looped"]

BOUNDARIES = [*range(1, 140), *range(252, 258), *range(1020, 1026), *range(1510, 1520), *range(MAX - 8, MAX + 1)]
REMOTE, IDLE = word_bits(REMOTE_FAULT_WORD), word_bits(IDLE_WORD)
routes = cover.point("mac.route", ["xgmii", "pcs"])


async def looped(dut: Any, route: int, **inputs: int) -> Bench:
    """A bench whose receiver gets what its transmitter sends; through the PCS once that has locked."""
    b = await Bench(dut, keep_words=False).start(route=route, cfg_max_frame=MAX, **inputs)
    if route == ROUTE_PCS:
        await wait_cycles(dut.clk, 300)
        b.clear()
    routes("pcs" if route == ROUTE_PCS else "xgmii")
    return b


async def exchange(b: Bench, route: int, frames: list[Sent], max_frame: int = MAX) -> None:
    """Everything comes out, in the cycle of the models, and the counters of both ends agree with them."""
    delay = PCS_LATENCY if route == ROUTE_PCS else 0
    b.send(*frames)
    await b.drain(60)
    model = b.placed()
    expected = MacRxModel(max_frame)
    first = model.frames[0].start_cycle
    expected.cycle = first
    expected.run(model.words(first, model.frames[-1].terminate // 8 + 3 - first))
    b.check_frames(expected.frames, delay)
    events = sum((frame.events for frame in model.frames), Counter())
    assert b.tx_stats == events and b.rx_stats == expected.events
    alone = [frame for frame in frames if frame.before > 12]
    for sent, got in zip(frames, b.received, strict=True):
        if sent in alone:
            assert got.first_cycle - sent.taken == LOOP_LATENCY + delay
    b.clear()


@test
async def loop_takes_seven_cycles_for_each_length(dut: Any) -> None:
    """Each length alone: first beat in to first beat out is 2 and 5 cycles."""
    b = await looped(dut, ROUTE_XGMII)
    await exchange(b, ROUTE_XGMII, [Sent(payload(length), before=20) for length in BOUNDARIES])
    assert LOOP_LATENCY == 7


@test
async def loop_through_the_pcs_takes_twelve_cycles_for_each_length(dut: Any) -> None:
    b = await looped(dut, ROUTE_PCS)
    await exchange(b, ROUTE_PCS, [Sent(payload(length), before=20) for length in BOUNDARIES])
    assert LOOP_LATENCY + PCS_LATENCY == 12


async def at_line_rate(dut: Any, route: int) -> None:
    for size, cycles, count in ((64, Fraction(21, 2), 200), (1518, Fraction(769, 4), 20), (65, Fraction(85, 8), 200)):
        b = await looped(dut, route)
        frames = [Sent(payload(size - 4, seed)) for seed in range(count + 1)]
        b.send(*frames)
        await b.drain(60)
        assert [(frame.data, frame.user) for frame in b.received] == [(frame.data, 0) for frame in frames]
        took = b.received[count].first_cycle - b.received[0].first_cycle
        assert took == cycles * count, f"{count} frames of {size} B took {took} cycles, not {cycles * count}"
        b.stop()


@test
async def both_directions_at_line_rate(dut: Any) -> None:
    """100.0 %: 10.5 cycles a 64 B frame, 192.25 a 1518 B frame, sent and received at the same time."""
    await at_line_rate(dut, ROUTE_XGMII)


@test
async def both_directions_at_line_rate_through_the_pcs(dut: Any) -> None:
    await at_line_rate(dut, ROUTE_PCS)


@test
async def mixed_lengths_back_to_back_through_both_routes(dut: Any) -> None:
    """v-eth#87: no good frame becomes bad, no bad one good, at the full rate."""
    for route in (ROUTE_XGMII, ROUTE_PCS):
        b = await looped(dut, route)
        lengths = [b.rng.choice((b.rng.randint(1, 130), b.rng.randint(60, 68))) for _ in range(300)]
        await exchange(b, route, [Sent(payload(length, seed)) for seed, length in enumerate(lengths)])
        b.stop()


@test
async def bad_frames_come_out_bad(dut: Any) -> None:
    """Nothing but them: the good frame behind is whole, through the PCS too. There a bad one loses up to 11 octets: its
    block with errors has no data, and the last four octets before it are no data either."""
    for route in (ROUTE_XGMII, ROUTE_PCS):
        b = await looped(dut, route)
        frames = [Sent(payload(60 + index % 17, index), bad=index % 3 == 1) for index in range(120)]
        b.send(*frames)
        await b.drain(60)
        good = [frame.data for frame in b.received if not frame.user & 1]
        assert good == [frame.data for frame in frames if not frame.bad], "a good frame is lost, or a bad one is good"
        cut = [frame.data for frame in b.received if frame.user & 1]
        for sent, got in zip((frame.data for frame in frames if frame.bad), cut, strict=True):
            assert padded(sent).startswith(got) and len(padded(sent)) - len(got) <= 11
        assert b.tx_stats["errored"] == b.rx_stats["symbol_errors"] == 40
        assert b.tx_stats["frames_ok"] == b.rx_stats["frames_ok"] == 80
        b.stop()


@test
async def a_local_fault_is_answered_with_remote_faults(dut: Any) -> None:
    """46.3.4, both ends: local fault in, remote fault out; remote fault in, idle out; nothing left when it is over."""
    b = await Bench(dut).start(route=ROUTE_PORT, couple=1)
    for word, answer in ((LOCAL_FAULT_WORD, REMOTE), (REMOTE_FAULT_WORD, IDLE)):
        b.feed([word] * 60)
        await b.run(30)
        assert set(b.words[-20:]) == {answer}
        b.send(Sent(payload(70)))
        await b.drain(10)
        assert b.tx_stats == {"fault_dropped": 1} and set(b.words[-20:]) <= {answer}
        await b.run(80)
        assert set(b.words[-10:]) == {IDLE}
        b.clear()
        b.send(Sent(payload(70)))
        await b.drain()
        assert b.good() == [payload(70)]
        b.clear()
