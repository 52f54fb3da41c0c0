"""Bench of what broke other people's MACs and PCSs and no other bench shows: docs/mac.md, Field bugs."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cocotb.triggers import RisingEdge

from models.mac import MacRxModel, MacTxModel, good_events
from models.mac_scramble import Scrambler
from models.mac_xgmii import IDLE_WORD, LOCAL_FAULT_WORD, REMOTE_FAULT_WORD
from models.meta import Code
from tb.lib.suite import seeded, test
from tb.mac.bench_loop import looped
from tb.mac.bench_rx import play, single
from tb.mac.cases import payload
from tb.mac.env import ROUTE_PCS, Bench, Sent, word_bits
from tb.mac.pcs_env import IDLE_BLOCK, locked, open_pcs, scrambled
from tb.mac.pcs_env import play as play_blocks
from tb.mac.wire import Wire

__all__: list[str] = []

LOCK_LOST = 128
"""Headers within which 16 invalid ones of 64 are found: the window under way and the next one."""


@test
async def the_first_frames_behind_a_reset_are_received_whole(dut: Any) -> None:
    """Two different ones back to back, the first in the first cycle; around 920 bytes and the longest; both lanes."""
    for lane in (0, 4):
        for lengths in ((60, 1514), (1514, 60), (919, 1), (920, 921), (921, 919)):
            b = await Bench(dut, keep_words=False).start()
            wire = Wire().idle(lane)
            for length in lengths:
                wire.frame(payload(length)).idle(9 + -(len(wire.chars) + length + 13 + 9) % 4)
            await play(b, wire, what=f"lengths {lengths}, lane {lane}")
            b.stop()


@test
async def lanes_beyond_tkeep_may_be_unknown(dut: Any) -> None:
    """X there (noise where the simulator has none): neither on the wire nor in the FCS; the next frame is whole."""
    b = await Bench(dut).start()
    b.send(*(Sent(payload(length)) for length in (*range(1, 10), *range(57, 69))))
    await b.drain()
    b.check_transmitted()


@test
async def padding_is_handed_on_as_it_came(dut: Any) -> None:
    """A packet of 28 bytes, padded by its sender with something else than zeros: 60 bytes come out."""
    b = await Bench(dut, keep_words=False).start()
    for filler in (0x00, 0xAA, 0xFF):
        data = payload(14 + 28).ljust(60, bytes([filler]))
        model = await play(b, single(data, 4))
        assert [(frame.data, frame.code) for frame in model.frames] == [(data, 0)]


@test
async def a_pause_frame_is_counted_only_where_it_is_a_good_one(dut: Any) -> None:
    """Counted beside what it is else, and handed on; with a wrong FCS, too short or behind a tag it is none."""
    b = await Bench(dut, keep_words=False).start()
    group, station, source = b"\1\x80\xc2\0\0\1", payload(6), payload(12)[6:]
    pause, pfc = b"\x88\x08\0\1\xff\xff", b"\x88\x08\1\1\0\xff"
    wrong = b"\1\2\3\4"
    good = {"frames_ok": 1, "bytes_ok": 64, "size_64": 1}
    for to, kind in ((group, "multicast"), (station, "unicast"), (b"\xff" * 6, "broadcast")):
        for body in (pause, pfc):
            frame = (to + source + body).ljust(60, b"\0")
            await _counted(b, frame, None, 0, {**good, kind: 1, "pause": 1})
            await _counted(b, frame, wrong, Code.BAD_FCS, {"fcs_errors": 1})
            await _counted(b, frame[:59], None, Code.RUNT, {"undersize": 1})
            await _counted(b, frame[:59], wrong, Code.RUNT, {"fragments": 1})
            tagged = (to + source + b"\x81\0\0\1" + body).ljust(60, b"\0")
            await _counted(b, tagged, None, 0, {**good, kind: 1})
    swapped = (group + source + b"\x08\x88" + pause[2:]).ljust(60, b"\0")
    await _counted(b, swapped, None, 0, {**good, "multicast": 1})
    for frame in [(group + source + pause).ljust(60, b"\0")] * 100:
        b.feed(single(frame, 0).words())
    await b.drain()
    assert b.rx_stats["pause"] == b.rx_stats["frames_ok"] == len(b.received) == 100


async def _counted(b: Bench, data: bytes, check: bytes | None, code: int, events: dict[str, int]) -> None:
    what = f"{data.hex()}, FCS {check.hex() if check else 'right'}"
    model = await play(b, single(data, 0, check=check), what=what)
    assert [(frame.data, frame.code) for frame in model.frames] == [(data, code)], what
    assert model.events == events, f"{what}: counted {dict(model.events)}"


@test
async def a_corrupted_frame_at_line_rate_is_never_good(dut: Any) -> None:
    """One frame in three has a wrong byte: all of those are bad and no other, at the mean gap of 12."""
    b = await Bench(dut, keep_words=False).start()
    model = MacTxModel()
    sent = [payload(b.rng.choice((60, 61, 63, 64, 67, 100, 130)), seed) for seed in range(300)]
    for data in sent:
        model.add(data, 0)
    words = model.words(0, model.frames[-1].terminate // 8 + 1)
    corrupted = {index for index in range(len(sent)) if b.rng.randrange(3) == 0}
    for index in corrupted:
        frame = model.frames[index]
        at = b.rng.randrange(frame.start + 8, frame.terminate)
        d, c = words[at // 8]
        words[at // 8] = d ^ b.rng.randrange(1, 256) << 8 * (at % 8), c
    b.feed(words)
    await b.drain()
    assert [frame.user & 1 for frame in b.received] == [int(index in corrupted) for index in range(len(sent))]
    whole = [frame.data for frame in b.received if not frame.user & 1]
    assert whole == [data for index, data in enumerate(sent) if index not in corrupted]
    assert b.rx_stats["fcs_errors"] == len(corrupted) and b.rx_stats["frames_ok"] == len(sent) - len(corrupted)


@test
async def a_wrong_bit_on_the_line_never_makes_a_good_frame(dut: Any) -> None:
    """Single wrong bits between the PCSs, which the descrambler makes three of, under frames at the mean gap of 12."""
    b = await looped(dut, ROUTE_PCS)
    sent = [payload(b.rng.choice((60, 61, 63, 64, 67, 100, 130)), seed) for seed in range(400)]
    b.send(*(Sent(data) for data in sent))
    edge, flips = RisingEdge(dut.clk), 0
    while b.sending:
        await b.run(b.rng.randint(20, 80))
        dut.flip.value = 1 << b.rng.randrange(66)
        await edge
        dut.flip.value = 0
        flips += 1
    await b.drain()
    good = [frame.data for frame in b.received if not frame.user & 1]
    rest = iter(sent)
    assert all(data in rest for data in good), "a good frame that was never sent, or not in this order"
    assert len(sent) - 2 * flips <= len(good) < len(sent), "a wrong bit costs two frames at most"
    assert b.rx_stats["frames_ok"] == len(good)


@test
async def a_length_beyond_its_counter_does_not_wrap(dut: Any) -> None:
    """More than 16 and 17 bits of bytes, so that what is left of the length would be that of a good frame."""
    b = await Bench(dut, keep_words=False).start()
    for size in (1 << 16, 1 << 17):
        data = payload(size + 64 - 4)
        for check, event in ((None, "oversize"), (b"\1\2\3\4", "jabbers")):
            b.feed(Wire().frame(data, check=check).idle(15).frame(payload(60)).words())
            await b.drain()
            assert [(frame.data, frame.user >> 1) for frame in b.received] == [
                (data[:1514], Code.OVERSIZE),
                (payload(60), 0),
            ]
            assert b.rx_stats == Counter({event: 1}) + good_events(payload(60))
            b.clear()
    b.stop()
    b = await Bench(dut).start()
    data = payload((1 << 16) + 60)
    b.send(Sent(data), Sent(payload(60)))
    await b.drain()
    received = MacRxModel(max_frame=1 << 17).run([(word & (1 << 64) - 1, word >> 64) for word in b.words])
    assert [(frame.data, frame.code) for frame in received.frames] == [(data, 0), (payload(60), 0)]
    due = Counter({"frames_ok": 1, "bytes_ok": 0xFFFF, "unicast": 1, "size_1519_max": 1}) + good_events(payload(60))
    assert b.tx_stats == due, f"counted {dict(b.tx_stats)}"


@test
async def a_dead_line_takes_the_link_down(dut: Any) -> None:
    """Zeros, ones or noise behind an unplugged cable, though the SerDes says nothing: no lock, local fault in, remote
    fault out; and frames again when it is back."""
    rng = seeded("dead line")
    lines = {
        "zeros": [0] * 400,
        "ones": [(1 << 66) - 1] * 400,
        "noise": [rng.getrandbits(66) for _ in range(400)],
    }
    for name, line in lines.items():
        await open_pcs(dut, route=ROUTE_PCS, couple=1)
        scrambler = Scrambler()
        await locked(dut, scrambler)
        assert int(dut.tx_word.value) == word_bits(IDLE_WORD)
        record = await play_blocks(dut, blocks=line, more=0)
        assert not any(record.lock[LOCK_LOST:]) and not any(record.status[LOCK_LOST:]), f"{name}: the link is still up"
        assert set(record.words[LOCK_LOST + 3 :]) == {LOCAL_FAULT_WORD}, name
        assert int(dut.tx_word.value) == word_bits(REMOTE_FAULT_WORD), f"{name}: no remote fault is sent"
        record = await play_blocks(dut, blocks=scrambled([IDLE_BLOCK] * 400, scrambler), more=0)
        assert record.status[-1] and record.words[-1] == IDLE_WORD, f"{name}: the link doesn't come back"
        assert int(dut.tx_word.value) == word_bits(IDLE_WORD), name


@test
async def frames_at_every_gap_pass_the_pcs(dut: Any) -> None:
    """Terminate and start in words next to each other, in each lane that they may have, gaps of 5 to 16."""
    b = await Bench(dut, keep_words=False).start(route=ROUTE_PCS, pcs_port=1)
    await b.run(200)
    b.clear()
    wire, sent = Wire().idle(8), []
    for start in (0, 4):
        for size in range(64, 72):
            for gap in range(5, 17):
                if (size + gap) % 4 == 0:
                    wire.idle((start - len(wire.chars)) % 8 + 16)
                    for length in (size - 4, 61):
                        wire.frame(payload(length, gap)).idle(gap - 1)
                        sent.append(payload(length, gap))
    wire.idle(16)
    edge = RisingEdge(dut.clk)
    for d, c in wire.words():
        dut.pcs_d.value, dut.pcs_c.value = d, c
        await edge
    await b.run(40)
    assert [(frame.data, frame.user) for frame in b.received] == [(data, 0) for data in sent]
    assert b.rx_stats["frames_ok"] == len(sent) and not b.rx_stats["bad_preamble"]
