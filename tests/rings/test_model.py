"""Frames through rings: a driver, the model, the model of dma and a host whose memory takes writes as late as it may.

Sweep:    queues, sizes of buffers and pieces, physical and regions, host and BAR, with RO, polling and interrupts
Stimulus: frames at random; requests, completions, writes that land and the driver's steps in an order by chance
Checks:   the driver's frames are those that came in, at the moment their completion is seen; what leaves is what was
          posted; counters add up; nothing is held at the end (``finish`` of both models)
Timing:   none
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from models.meta import Code
from models.rings import Config, Door, Request
from models.rings_layout import Completion, RxDescriptor, Status, TxDescriptor, owner
from tests.rings.host import (
    BAR_KEY,
    BASE,
    HOST_KEY,
    MSI,
    PHYSICAL,
    READ_ONLY_KEY,
    Host,
    queue_config,
)

BROADCAST = b"\xff" * 6
PLACES = (PHYSICAL, BASE[HOST_KEY], BASE[BAR_KEY], BASE[READ_ONLY_KEY])


def frame_of(rng: random.Random, length: int) -> bytes:
    """Broadcast, of a local experimental type: no header behind it."""
    return BROADCAST + b"\2" + rng.randbytes(5) + b"\x88\xb5" + rng.randbytes(length - 14)


def tagged(rng: random.Random, length: int) -> bytes:
    return BROADCAST + b"\2" + rng.randbytes(5) + b"\x81\x00\xb0\x07\x88\xb5" + rng.randbytes(length - 18)


def opened(seed: int = 1, polling: bool = False, config: Config | None = None, **fields: object) -> Host:
    return Host(config or Config(), {0: queue_config(0, **fields)}, seed, polling)


def buffers(rng: random.Random, count: int, length: int, keys: tuple[int, ...] = (0,)) -> list[tuple[int, int, int]]:
    """Of any alignment, none over another."""
    return [
        (key, PLACES[key] + 8192 * n + rng.randrange(64), length) for n in range(count) for key in [rng.choice(keys)]
    ]


# ------------------------------------------------------------------------------------------------------- everything


@pytest.mark.parametrize("polling", [True, False])
@pytest.mark.parametrize("ro", [False, True])
@pytest.mark.parametrize("n", range(3))
def test_frames_come_and_go_through_rings_that_wrap_many_times(n, ro, polling, seed):
    """Two queues; buffers in host memory and a BAR; the driver sees no completion before its data, nor an interrupt
    before its completion, and none gets lost."""
    rng = random.Random(f"{seed}{n}{ro}{polling}")
    queues = {
        number: queue_config(number, tx_size=3, rx_size=3, cq_size=4, ro=ro, packets=rng.choice([0, 3]), usecs=n)
        for number in (0, 3)
    }
    host = Host(Config(), queues, rng.randrange(1 << 30), polling)
    host.lazy_bar = n == 2
    came: list[tuple[int, bytes]] = []
    posted: dict[int, list[bytes]] = {0: [], 3: []}

    def receives() -> None:
        frame = frame_of(rng, rng.choice([60, 61, 64, 200, 700]))
        came.append((rng.choice([0, 3]), frame))
        host.receive(frame, queue=came[-1][0], acl_queued=1)

    def posts_rx() -> None:
        for number, queue in host.driver.items():
            room = 8 - (queue.rx_tail - queue.rx_next)
            for _ in range(min(room, rng.randrange(4))):
                key = rng.choice([0, 1, 2])
                address = PLACES[key] + 1024 * (queue.rx_tail % 16 + 16 * number)
                host.post_rx(number, (key, address, rng.choice([64, 300])))

    def posts_tx() -> None:
        number = rng.choice([0, 3])
        queue = host.driver[number]
        pieces = [rng.randrange(1, 90) for _ in range(rng.randrange(1, 4))]
        pieces[0] += 14
        if len(pieces) > 8 - (queue.tx_tail - queue.tx_free) % 65536:
            return
        data = rng.randbytes(sum(pieces))
        chain, at = [], queue.tx_tail
        for length in pieces:
            key = rng.choice([0, 1, 2, 3])
            address = PLACES[key] + 100_000 + 512 * (at % 8 + 8 * number) + rng.randrange(64)
            chain.append(TxDescriptor(address=address, length=length, key=key, eop=False, report=True))
            at += 1
        chain[-1] = replace(chain[-1], eop=True)
        host.post_tx(number, *chain, data=data)
        posted[number].append(data)

    for _ in range(60):
        host.actions += [rng.choice([receives, posts_rx, posts_tx, receives, posts_rx])]
    host.run()
    assert len(host.codes_seen) == len(came)
    taken = [one for one, code in zip(came, host.codes_seen, strict=True) if code == 0]
    assert set(host.codes_seen) <= {0, Code.RINGS_NO_DESCRIPTOR, Code.RINGS_NO_COMPLETION}
    for number, queue in host.driver.items():
        assert queue.frames == [frame for where, frame in taken if where == number]
        assert [data for where, data in host.sent if where == number] == posted[number]
        assert all(entry.status == Status.OK for entry in queue.entries)
        assert sum(entry.tx for entry in queue.entries) == len(posted[number])
    assert host.rings.counters["rx_delivered"] == len(taken) > 3
    assert host.rings.counters["tx_sent"] == len(host.sent)


def test_indices_go_on_beyond_65535_and_the_owner_bit_with_them(seed):
    """A CQ whose index wraps from 65535 to 0 goes from one pass to the next."""
    rng = random.Random(seed)
    host = opened(seed, cq_size=3, rx_size=3)
    queue, side = host.rings.queues[0], host.rings.queues[0].rx
    start = 65536 - 5
    queue.head = queue.written = host.driver[0].cq_head = start
    side.tail = side.asked = side.fetched = side.used = host.driver[0].rx_tail = host.driver[0].rx_next = start
    base = host.driver[0].config.cq_base
    for n in range(8):
        host.put(base + 16 * n + 12, (1 << 31 if n < start % 8 else 0).to_bytes(4, "little"))
    for n in range(8):
        mine = owner((start - 1 - n) % 65536, 3)
        place = (start - 1 - n) % 8
        host.put(base + 16 * place + 12, (mine << 31).to_bytes(4, "little"))
    frames = [frame_of(rng, 60 + n) for n in range(24)]
    for n, frame in enumerate(frames):
        host.post_rx(0, (0, PHYSICAL + 4096 * (n % 8), 2048))
        host.receive(frame)
        host.run()
    assert host.driver[0].frames == frames
    assert host.driver[0].cq_head == (start + 24) % 65536


def test_the_owner_bit_turns_with_each_pass():
    assert [owner(index, 3) for index in range(24)] == [1] * 8 + [0] * 8 + [1] * 8
    assert (owner(65535, 3), owner(0, 3)) == (0, 1)
    assert (owner(65535, 15), owner(0, 15)) == (0, 1)


# -------------------------------------------------------------------------------------------------------------- order


def test_a_bar_is_flushed_before_the_completion_and_host_memory_is_not(seed):
    """Of the frame in the BAR a read of no bytes is answered before the completion is asked."""
    for key, flushes in ((1, 0), (2, 2)):
        host = opened(seed)
        host.post_rx(0, (key, PLACES[key], 64), (key, PLACES[key] + 4096, 64))
        host.receive(frame_of(random.Random(seed), 100))
        host.run()
        assert host.model.counters["flush_tlps"] == flushes
        assert len(host.driver[0].frames) == 1


def test_a_bar_that_takes_writes_late_shows_what_a_flush_is_for(seed):
    """The host of these tests does find it: with the key's flush left out the completion is seen before the data."""
    frame = frame_of(random.Random(seed), 100)
    for key_flush, right in ((4, True), (0, False)):
        host = opened(seed, key_flush=key_flush)
        host.lazy_bar = True
        host.post_rx(0, (2, PLACES[2], 2048))
        host.receive(frame)
        host.run()
        assert (host.driver[0].frames == [frame]) == right


def test_completions_and_messages_never_carry_ro_and_data_where_the_queue_says(seed):
    for ro in (False, True):
        host = opened(seed, ro=ro)
        host.post_rx(0, (0, PHYSICAL, 2048))
        host.post_tx(0, TxDescriptor(address=PHYSICAL + 4096, length=60, report=True), data=bytes(60))
        host.receive(frame_of(random.Random(seed), 100))
        host.run()
        asked = [event.request for event in host.events if hasattr(event, "request")]
        data = [one for one in asked if PHYSICAL <= one.addr < PHYSICAL + 8192]
        assert len(data) == 2
        assert {one.ro for one in data} == {ro}
        rest = [one for one in asked if one not in data]
        assert {one.ro for one in rest} == {False}
        assert any(one.addr >= MSI for one in rest)


# ------------------------------------------------------------------------------------------------------------ receive


def code_of(host: Host, frame: bytes, user: int | None = None, **meta: int) -> int:
    host.receive(frame, user, **meta)
    host.run()
    return host.codes_seen[-1]


def test_a_frame_without_buffers_is_dropped_and_takes_none(seed):
    rng = random.Random(seed)
    host = opened(seed)
    assert code_of(host, frame_of(rng, 100)) == Code.RINGS_NO_DESCRIPTOR
    host.post_rx(0, (0, PHYSICAL, 60), (0, PHYSICAL + 4096, 39))
    assert code_of(host, frame_of(rng, 100)) == Code.RINGS_NO_DESCRIPTOR
    assert host.rings.queues[0].rx.used == 0
    frame = frame_of(rng, 99)
    assert code_of(host, frame) == 0
    assert host.driver[0].frames == [frame]
    assert host.driver[0].entries[0].index == 1
    assert host.rings.counters[f"code_{int(Code.RINGS_NO_DESCRIPTOR)}"] == 2


def test_a_frame_fills_each_buffer_whole_and_the_next_begins_with_a_new_one(seed):
    rng = random.Random(seed)
    host = opened(seed)
    host.post_rx(0, *[(0, PHYSICAL + 4096 * n, 32) for n in range(8)])
    frames = [frame_of(rng, 64), frame_of(rng, 65), frame_of(rng, 60)]
    assert [code_of(host, frame) for frame in frames] == [0, 0, 0]
    assert host.driver[0].frames == frames
    assert [entry.index for entry in host.driver[0].entries] == [1, 4, 6]
    assert [entry.length for entry in host.driver[0].entries] == [64, 65, 60]


def test_a_frame_of_more_than_32_buffers_is_dropped(seed):
    rng = random.Random(seed)
    host = opened(seed, rx_size=6)
    host.post_rx(0, *[(0, PHYSICAL + 4096 * n, 2) for n in range(60)])
    assert code_of(host, frame_of(rng, 65)) == Code.RINGS_TOO_LONG
    assert code_of(host, frame_of(rng, 64)) == 0


def test_what_is_posted_and_not_here_yet_is_waited_for(seed):
    host = opened(seed)
    host.post_rx(0, (0, PHYSICAL, 2048))
    host.receive(frame_of(random.Random(seed), 100))
    assert host.rings.may_judge() is None
    assert host.rings.judged(Code.RINGS_NO_DESCRIPTOR, 0) == [
        "the descriptors that the frame needs are posted and haven't come"
    ]
    host.run()
    assert host.codes_seen == [0]


def test_a_full_cq_is_never_written_over(seed):
    """8 entries; the driver takes none. The ninth frame is dropped, and a frame to be sent waits."""
    rng = random.Random(seed)
    host = opened(seed, cq_size=3, rx_size=4, vector=63)
    host.post_rx(0, *[(0, PHYSICAL + 4096 * n, 2048) for n in range(10)])
    assert [code_of(host, frame_of(rng, 60)) for _ in range(9)] == [0] * 8 + [Code.RINGS_NO_COMPLETION]
    host.post_tx(0, TxDescriptor(address=PHYSICAL, length=60, report=True))
    host.run()
    assert host.sent == []
    assert host.reap(0) == 8
    host.run()
    assert len(host.sent) == 1
    assert host.reap(0) == 1


def test_queues_that_do_not_run_and_frames_that_come_bad_have_their_codes(seed):
    rng = random.Random(seed)
    host = opened(seed)
    host.post_rx(0, *[(0, PHYSICAL + 4096 * n, 2048) for n in range(10)])
    frame = frame_of(rng, 60)
    assert code_of(host, frame, acl_queued=1, queue=5) == Code.RINGS_NO_QUEUE
    assert code_of(host, frame, acl_queued=1, queue=200) == Code.RINGS_NO_QUEUE
    assert code_of(host, frame, user=1) == Code.BAD_FRAME
    assert code_of(host, frame, user=1 | Code.ACL_DENIED << 1) == Code.ACL_DENIED
    assert code_of(host, b"\2" + frame[1:]) == Code.RINGS_FILTERED
    assert code_of(host, b"\2" + frame[1:], acl_copy=1) == 0
    host.rings.disable(0)
    assert code_of(host, frame) == Code.RINGS_NO_QUEUE


def test_a_tag_is_stripped_into_the_completion_and_the_rest_is_told(seed):
    rng = random.Random(seed)
    frame = tagged(rng, 100)
    for strip in (False, True):
        host = opened(seed, strip=strip)
        host.post_rx(0, (0, PHYSICAL, 96), (0, PHYSICAL + 4096, 96))
        host.receive(frame, 2 << 8, timestamp=0x1_2345_6789, ip_checksum=1)
        host.run()
        entry = host.driver[0].entries[0]
        assert host.driver[0].frames == [frame[:12] + frame[16:] if strip else frame]
        assert (entry.length, entry.index) == ((96, 0) if strip else (100, 1))
        assert (entry.vlan, entry.tci, entry.vlan_ad) == ((True, 0xB007, False) if strip else (False, 0, False))
        assert (entry.timestamp, entry.l4_checksum, entry.ip_checksum) == (0x2345_6789, 2, 1)
    twice = frame[:12] + b"\x88\xa8\x30\x05" + frame[12:]
    host = opened(seed, strip=True)
    host.post_rx(0, (0, PHYSICAL, 2048))
    assert code_of(host, twice) == 0
    entry = host.driver[0].entries[0]
    assert (host.driver[0].frames, entry.tci, entry.vlan_ad) == ([frame], 0x3005, True)


# ----------------------------------------------------------------------------------------------------------- transmit


def test_without_report_there_is_no_completion_and_a_later_one_frees_all(seed):
    rng = random.Random(seed)
    host = opened(seed)
    frames = [rng.randbytes(60 + n) for n in range(6)]
    for n, data in enumerate(frames):
        host.post_tx(0, TxDescriptor(address=PHYSICAL + 4096 * n + n, length=len(data), report=n == 4), data=data)
    host.run()
    assert [data for _, data in host.sent] == frames
    assert [(entry.tx, entry.index, entry.length) for entry in host.driver[0].entries] == [(True, 4, 64)]
    assert host.rings.queues[0].reserved == 0


def test_lengths_that_are_not_allowed_are_reported_unasked_and_the_ring_goes_on(seed):
    host = opened(seed, config=Config(max_frame=1000))
    cases = [(13, False, 1), (14, False, 0), (1000, False, 0), (1001, False, 1), (996, True, 0), (997, True, 1)]
    for n, (length, vlan, _) in enumerate(cases):
        one = TxDescriptor(address=PHYSICAL + 4096 * n, length=length, vlan=vlan, report=True)
        host.post_tx(0, one, data=bytes(length))
    host.run()
    assert [entry.status for entry in host.driver[0].entries] == [status for _, _, status in cases]
    assert [entry.index for entry in host.driver[0].entries] == list(range(6))
    assert [len(data) for _, data in host.sent] == [14, 1000, 1000]
    assert host.rings.counters["read_tlps"] == 0


def test_checksums_of_what_is_no_packet_are_reported_and_the_ring_goes_on(seed):
    rng = random.Random(seed)
    host = opened(seed)
    good = rng.randbytes(60)
    for n, one in enumerate([TxDescriptor(address=PHYSICAL, length=60, l4=1, l3=7, l4_offset=5)] * 2):
        host.post_tx(0, replace(one, address=PHYSICAL + 4096 * n), data=b"\0" * 60)
    host.post_tx(0, TxDescriptor(address=PHYSICAL + 8192, length=60, report=True), data=good)
    host.run()
    assert [entry.status for entry in host.driver[0].entries] == [Status.OFFLOAD, Status.OFFLOAD, Status.OK]
    assert host.sent == [(0, good)]


def test_a_frame_of_32_pieces_goes_and_one_of_33_stops_the_ring(seed):
    rng = random.Random(seed)
    data = rng.randbytes(66)
    for pieces, sent in ((32, 1), (33, 0)):
        host = opened(seed, tx_size=6)
        first = TxDescriptor(address=PHYSICAL, length=2, eop=False, report=True)
        rest = replace(first, reserved=5, l4=3)
        chain = [replace(rest if n else first, address=PHYSICAL + 64 * n) for n in range(pieces)]
        chain[-1] = replace(chain[-1], eop=True)
        host.post_tx(0, *chain, data=data[: 2 * pieces])
        host.run()
        assert [frame for _, frame in host.sent] == [data[: 2 * pieces]] * sent
        entry = host.driver[0].entries[0]
        assert (entry.status, entry.index) == ((Status.OK, 31) if sent else (Status.DESCRIPTOR, 31))


# ------------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("fields", [{"reserved": 1}, {"reserved": 1 << 20}, {"length": 0}])
def test_a_faulty_rx_descriptor_stops_the_side_when_a_frame_reaches_it(fields, seed):
    rng = random.Random(seed)
    host = opened(seed)
    host.post_rx(0, (0, PHYSICAL, 60), (0, PHYSICAL + 4096, 60), (0, PHYSICAL + 8192, 60))
    bad = replace(RxDescriptor(address=PHYSICAL, length=60), **fields)
    host.put(host.driver[0].config.rx_base + 16, bad.pack())
    host.post_tx(0, TxDescriptor(address=PHYSICAL + 12288, length=60, report=True))
    assert code_of(host, frame_of(rng, 60)) == 0
    assert code_of(host, frame_of(rng, 61)) == Code.RINGS_BAD_DESCRIPTOR
    assert code_of(host, frame_of(rng, 60)) == Code.RINGS_NO_QUEUE
    told = [(entry.tx, entry.status, entry.index, entry.length) for entry in host.driver[0].entries if not entry.tx]
    assert told == [(False, Status.OK, 0, 60), (False, Status.DESCRIPTOR, 1, 0)]
    assert len(host.sent) == 1
    assert host.rings.event == 1


@pytest.mark.parametrize("fields", [{"reserved": 1}, {"l4": 3}, {"length": 0}])
def test_a_faulty_tx_descriptor_stops_the_side_behind_the_frames_before_it(fields, seed):
    host = opened(seed)
    one = TxDescriptor(address=PHYSICAL, length=60, report=True)
    host.post_tx(0, one, one, replace(one, **fields), one)
    host.run()
    assert [(entry.status, entry.index) for entry in host.driver[0].entries] == [(0, 0), (0, 1), (Status.DESCRIPTOR, 2)]
    assert len(host.sent) == 2
    assert host.rings.event == 1 << 16


def test_a_write_that_fails_is_told_in_place_of_its_frame(seed):
    """The region may only be read. Frames behind it that had begun come as they would."""
    host = opened(seed)
    host.post_rx(0, (3, PLACES[3], 2048), (0, PHYSICAL, 2048))
    assert code_of(host, frame_of(random.Random(seed), 100)) == 0
    entry = host.driver[0].entries[0]
    assert (entry.status, entry.index, entry.length, entry.tx) == (Status.DATA, 0, 0, False)
    assert code_of(host, frame_of(random.Random(seed), 100)) == Code.RINGS_NO_QUEUE
    assert host.rings.counters[f"code_{int(Code.RINGS_DATA)}"] == 1


def test_a_read_that_fails_stops_the_ring_and_sends_nothing_of_its_frame(seed):
    host = opened(seed)
    good = TxDescriptor(address=PHYSICAL, length=60, report=True)
    beyond = TxDescriptor(address=BASE[HOST_KEY] - 1, length=30, key=1, report=True)
    host.post_tx(0, good, replace(good, eop=False), beyond)
    host.run()
    assert len(host.sent) == 1
    assert [(entry.status, entry.index) for entry in host.driver[0].entries] == [(0, 0), (Status.DATA, 2)]
    host.post_tx(0, good)
    host.run()
    assert len(host.sent) == 1


def test_a_fetch_that_fails_is_told_with_its_first_index(seed):
    host = opened(seed, rx_base=(1 << 64) - 256)
    host.rings.queues[0].rx.base = (1 << 64) - 64
    host.rings.queues[0].rx.tail = 8
    request = next(one for one in host.rings.may_ask() if one.addr == (1 << 64) - 64 and one.len == 64)
    assert host.rings.asked(request, 0) == []
    assert host.rings.data(b"\0", True, 0) == []
    assert host.rings.done(request.id, 2, 0) == []
    host.rings.queues[0].rx.tail = 0
    host.run()
    entry = host.driver[0].entries[0]
    assert (entry.status, entry.index, entry.tx) == (Status.FETCH, 0, False)


def test_doorbells_out_of_bounds_stop_their_side(seed):
    """Rings of 16: a tail may be 16 beyond what was used, and never goes back."""
    for door, value, sides in (
        (Door.TX_TAIL, 17, 1 << 16),
        (Door.RX_TAIL, 17, 1),
        (Door.RX_TAIL, 65535, 1),
        (Door.CQ_HEAD, 1, 1 | 1 << 16),
        (Door.TX_TAIL, 16, 0),
        (Door.RX_TAIL, 16, 0),
    ):
        host = opened(seed, polling=True)
        if sides == 0:
            for n in range(16):
                host.put(host.driver[0].config.tx_base + 16 * n, TxDescriptor(address=PHYSICAL, length=60).pack())
        host.rings.doorbell(0, door, value, 0)
        host.run()
        assert host.rings.event == sides
        told = [(entry.status, entry.index, entry.tx) for entry in host.driver[0].entries]
        sent = [(Status.DOORBELL, value, tx) for tx in (False, True) if sides >> 16 * tx & 1]
        assert sorted(told) == sorted(sent)


def test_a_cq_that_cannot_be_written_ends_both_sides_and_tells_by_the_event_alone(seed):
    host = Host(Config(event_vector=9), {0: queue_config(0)}, seed)
    host.rings.msix.vectors[9].masked = False
    host.rings.msix.vectors[9].address = PHYSICAL + 65536
    host.post_rx(0, (0, PHYSICAL, 2048), (0, PHYSICAL + 4096, 2048))
    host.receive(frame_of(random.Random(seed), 60))
    while not host.rings.queues[0].ready:
        host.rng.choice(host.choices())()
        host.ns += 4
    entry = next(one for one in host.rings.may_ask() if one.addr == host.driver[0].config.cq_base)
    assert host.rings.asked(entry, host.ns) == []
    assert host.rings.done(entry.id, 2, host.ns) == []
    assert host.rings.event == 1 | 1 << 16
    assert code_of(host, frame_of(random.Random(seed), 60)) == Code.RINGS_NO_QUEUE
    assert host.memory.read(PHYSICAL + 65536, 4) == b"\0\0\0\0"
    assert host.driver[0].entries == []


def test_a_queue_starts_anew_when_nothing_refers_to_its_memory(seed):
    rng = random.Random(seed)
    host = opened(seed)
    host.post_rx(0, (0, PHYSICAL, 2048), (0, PHYSICAL + 4096, 2048))
    assert code_of(host, frame_of(rng, 60)) == 0
    host.receive(frame_of(rng, 60))
    host.judges()
    host.rings.disable(0)
    assert host.rings.busy(0)
    with pytest.raises(ValueError, match="queue 0 is busy"):
        host.open_queue(0, queue_config(0))
    host.run()
    assert len(host.driver[0].frames) == 2
    assert not host.rings.busy(0)
    host.open_queue(0, queue_config(0))
    host.post_rx(0, (0, PHYSICAL, 2048))
    assert code_of(host, frame_of(rng, 60)) == 0
    assert [(entry.index, entry.owner) for entry in host.driver[0].entries] == [(0, 1)]


# -------------------------------------------------------------------------------------------------------------- judge


def test_each_wrong_field_of_a_request_is_named(seed):
    host = opened(seed)
    host.post_rx(0, (2, PLACES[2], 2048))
    host.receive(frame_of(random.Random(seed), 100))
    while host.rings.may_judge() is None or host.rings.judged(0, host.ns):
        host.rng.choice(host.choices())()
    right = next(one for one in host.rings.may_ask() if one.write)
    for fields in (
        {"addr": right.addr + 1},
        {"key": HOST_KEY},
        {"flush": False},
        {"ro": True},
        {"id": right.id ^ 1},
        {"data": b"\0" * 100},
        {"len": 99},
    ):
        assert host.rings.asked(replace(right, **fields), host.ns)[0].startswith(f"{next(iter(fields))} ")
    assert host.rings.asked(right, host.ns) == []
    assert "nothing is to be asked" in host.rings.asked(right, host.ns)[0]
    assert host.rings.done(right.id ^ 1, 0, host.ns) == [f"id {right.id ^ 1}, not {right.id}"]


def test_what_comes_without_being_asked_is_named(seed):
    host = opened(seed)
    assert host.rings.judged(0, 0) == ["no frame waits"]
    assert host.rings.frame_out(0, b"", 0) == ["no frame is ready to leave"]
    assert host.rings.data(b"", False, 0) == ["data of no read"]
    assert host.rings.done(0, 0, 0) == ["id 0 is done before its data have come"]
    assert host.rings.done(0x80, 0, 0) == ["id 128 is done, and no write is under way"]
    host.post_tx(0, TxDescriptor(address=PHYSICAL, length=60), data=bytes(60))
    fetch = next(iter(host.rings.may_ask()))
    assert host.rings.asked(fetch, 0) == []
    assert host.rings.data(bytes(15), False, 0) == ["15 bytes of a read of 16"]
    assert host.rings.done(fetch.id, 3, 0) == ["code 3 of data that ended well"]


def test_a_wrong_frame_queue_or_code_is_named(seed):
    host = opened(seed)
    host.post_tx(0, TxDescriptor(address=PHYSICAL, length=60), data=bytes(60))
    while host.rings.may_leave() is None:
        host.rng.choice(host.choices())()
        host.ns += 4
    assert host.rings.frame_out(1, bytes(59) + b"\1", host.ns) == [
        "queue 1, not 0",
        "60 bytes, 60 expected, first difference at 59",
    ]
    host.receive(frame_of(random.Random(seed), 60))
    assert host.rings.judged(0, host.ns) == [f"code 0, not {int(Code.RINGS_NO_DESCRIPTOR)}"]


def test_a_descriptor_is_fetched_once_in_order_and_never_beyond_tail_boundary_or_room(seed):
    """A ring of 64 from 0x40 off a 128-byte boundary on: 4, then 8, and 32 are inside at most."""
    host = opened(seed, rx_size=6)
    side = host.rings.queues[0].rx
    side.base += 64
    side.tail = 40
    taken = []
    while offers := [one.len // 16 for one in host.rings.may_ask()]:
        assert offers == list(range(1, len(offers) + 1))
        request = list(host.rings.may_ask())[-1]
        taken.append(((request.addr - side.base) // 16, len(offers)))
        assert host.rings.asked(request, 0) == []
    assert taken == [(0, 4), (4, 8), (12, 8), (20, 8), (28, 4)]


def test_completions_are_gathered_to_four_within_64_bytes(seed):
    host = opened(seed, vector=63)
    queue = host.rings.queues[0]
    for n in range(6):
        queue.ready.append(Completion(queue=0, tx=False, index=n, owner=0))
    queue.reserved = 6
    sizes = []
    while offers := [one for one in host.rings.may_ask()]:
        sizes.append([one.len // 16 for one in offers])
        assert host.rings.asked(offers[0], 0) == []
    assert sizes == [[1, 2, 3, 4], [1, 2, 3], [1, 2], [1], [1, 2], [1]]


def test_no_more_than_128_of_a_kind_are_under_way(seed):
    host = opened(seed, rx_size=9, vector=63)
    for n in range(130):
        host.rings._writes.append((Request(write=True, addr=n, len=4, id=0x80 | n % 128), host.rings))  # type: ignore[arg-type]
    host.rings.queues[0].ready.append(Completion(queue=0, tx=False, index=0, owner=0))
    assert list(host.rings.may_ask()) == []
    host.rings._writes.clear()
    assert len(list(host.rings.may_ask())) == 1
