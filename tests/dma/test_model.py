"""The machine of block dma: requests of several requesters to data and codes, against a host that answers as it may.

Sweep:    MPS, MRRS, RCB, tags, buffer, completion credits; 1 to 4 requesters; reads, writes, flushes, fences, no bytes
Stimulus: random requests; TLPs in any order that is free; completions split at any boundary, in any order of tags;
          each lie of a completion alone; credits from none on
Checks:   data against memory byte by byte; each request answered once with its code; counters; at rest nothing is held
Timing:   timeouts and resting tags in ns
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.dma import (
    TIMEOUT_SLACK_NS,
    Came,
    Code,
    Config,
    Credits,
    DmaModel,
    Gave,
    Request,
    Sent,
    check,
    judge,
)
from models.dma_region import Right, Target
from models.dma_split import split
from models.dma_tlp import Attr, Completion, Status
from tests.dma.host import KEY, Run, bus, lied, mapped, run

BASES = [0x1_0000_0000 + n * 0x100_0000 + n for n in range(8)]
"""Requester i reads from region i and writes to region 4 + i."""
CONFIGS = [
    Config(),
    Config(mps=128, mrrs=128, rcb=128, tags=32, buffer=1024),
    Config(mps=1024, mrrs=4096, rcb=64, tags=768, requester_id=0x0500, ido_enable=True, ro_enable=False),
    Config(mps=512, mrrs=2048, rcb=128, tags=32, cplh=40, cpld=160, no_snoop=frozenset({Target.BAR})),
    Config(mps=256, mrrs=1024, rcb=64, tags=256, cplh=17, cpld=68, buffer=2048, requesters=1),
]


def some_requests(rng: random.Random, config: Config, count: int) -> list[Request]:
    """Right requests of any kind; ids say the order of each requester."""
    made = []
    given = Counter()
    for _ in range(count):
        requester = rng.randrange(config.requesters)
        write = rng.random() < 0.5
        size = rng.choice([0, 1, 3, 4, 63, 64, 65, rng.randrange(300), rng.randrange(6000)])
        region = requester + 4 * write
        made.append(
            Request(
                requester=requester,
                write=write,
                key=KEY + region,
                addr=BASES[region] + rng.randrange(8 * 4096 - size + 1),
                len=size,
                id=given[requester],
                remote=rng.random() < 0.5,
                fence=rng.random() < 0.2,
                flush=write and rng.random() < 0.3,
                ro=rng.random() < 0.5,
                data=rng.randbytes(size) if write else b"",
            )
        )
        given[requester] += 1
    return made


def assert_done(done: Run, requests: list[Request], codes: dict[tuple[int, int], int] | None = None) -> None:
    """Every request has its code, once, in the order of its kind; data are memory's, and memory has the data."""
    codes = codes or {}
    written: dict[int, int] = {}
    for requester in range(done.config.requesters):
        mine = [request for request in requests if request.requester == requester]
        told = done.codes.get(requester, [])
        for write in (False, True):
            order = [request.id for request in mine if request.write == write]
            assert [(n, code) for n, code in told if n in order] == [(n, codes.get((requester, n), 0)) for n in order]
        assert len(told) == len(mine)
        reads = [request for request in mine if not request.write and request.len]
        frames, bad = done.frames.get(requester, []), done.bad.get(requester, [])
        assert len(frames) == len(reads)
        for request, frame, broken in zip(reads, frames, bad, strict=True):
            assert broken == bool(codes.get((requester, request.id)))
            if codes.get((requester, request.id)) in (1, 2, 3, 4):
                assert frame == b""
                continue
            size = len(frame) if broken else request.len
            addresses = [bus(done.regions, request.key, request.addr + n) for n in range(size)]
            assert frame == bytes(done.memory.read(at, 1)[0] for at in addresses)
        for request in mine:
            if request.write and codes.get((requester, request.id)) in (None, 5):
                for n, byte in enumerate(request.data[: request.len]):
                    written[bus(done.regions, request.key, request.addr + n)] = byte
    assert {at: done.memory.read(at, 1)[0] for at in written} == written
    assert_at_rest(done)


def assert_at_rest(done: Run) -> None:
    model = done.model
    counters = model.counters
    ended = sum(value for name, value in counters.items() if name.startswith("done_"))
    assert counters["requests"] == ended
    assert not model.open and model.finish() == []
    assert [model.lines_held(requester) for requester in range(done.config.requesters)] == [0] * done.config.requesters
    model.advance(done.ns + 2 * done.config.timeout_ns)
    assert list(model.free_tags()) == list(done.config.tag_range)
    assert check(done.config, done.regions, done.events) == []


@pytest.mark.parametrize("n", range(len(CONFIGS)))
def test_any_requests_are_answered_with_their_data_whatever_the_order(n, seed):
    for again in range(2):
        rng = random.Random(seed * 100 + 10 * n + again)
        requests = some_requests(rng, CONFIGS[n], 40)
        assert_done(run(CONFIGS[n], mapped(BASES), rng.random(), requests), requests)


@pytest.mark.regress
@pytest.mark.parametrize("n", range(len(CONFIGS)))
def test_many_requests_are_answered_with_their_data_whatever_the_order(n, seed):
    for again in range(60):
        rng = random.Random(seed * 1000 + 100 * n + again)
        requests = some_requests(rng, CONFIGS[n], 60)
        assert_done(run(CONFIGS[n], mapped(BASES), rng.random(), requests), requests)


@given(st.integers(0, 4095), st.integers(0, 4200), st.sampled_from([64, 128]), st.sampled_from([128, 512, 4096]))
def test_every_legal_split_of_completions_brings_the_data(offset, length, rcb, mrrs):
    config = Config(requesters=1, rcb=rcb, mrrs=mrrs, mps=128)
    for whole in (False, True):
        requests = [read(BASES[0] // 4096 * 4096 + 4096 + offset, length)]
        assert_done(run(config, mapped(BASES), offset * length, requests, whole=whole), requests)


def read(addr: int = BASES[0], length: int = 512, **fields: object) -> Request:
    return Request(**({"requester": 0, "write": False, "key": KEY, "addr": addr, "len": length} | fields))


def write(addr: int = BASES[4], data: bytes = bytes(100), **fields: object) -> Request:
    values = {"requester": 0, "write": True, "key": KEY + 4, "addr": addr, "len": len(data), "data": data} | fields
    return Request(**values)


# -------------------------------------------------------------------------------------------------------------- lies


LIES = {
    "unsupported": (Code.UNSUPPORTED, lambda c: lied(c, status=Status.UR, length=0, has_data=False, data=b"")),
    "unsupported_with_data": (Code.UNSUPPORTED, lambda c: lied(c, status=Status.UR)),
    "reserved_status_3": (Code.UNSUPPORTED, lambda c: lied(c, status=3, length=0, has_data=False, data=b"")),
    "reserved_status_7": (Code.UNSUPPORTED, lambda c: lied(c, status=7, length=0, has_data=False, data=b"")),
    "aborted": (Code.ABORTED, lambda c: lied(c, status=Status.CA, length=0, has_data=False, data=b"")),
    "retry": (Code.ABORTED, lambda c: lied(c, status=Status.CRS, length=0, has_data=False, data=b"")),
    "poisoned": (Code.POISONED, lambda c: lied(c, ep=True)),
    "lost": (Code.TIMEOUT, lambda c: []),
    "byte_count_less": (Code.BAD_COUNT, lambda c: lied(c, byte_count=(c.byte_count - 2) % 4096 + 1)),
    "byte_count_more": (Code.BAD_COUNT, lambda c: lied(c, byte_count=c.byte_count % 4096 + 1)),
    "byte_count_of_a_dw_more": (Code.BAD_COUNT, lambda c: lied(c, byte_count=(c.byte_count + 3) % 4096 + 1)),
    "length_less": (Code.BAD_COUNT, lambda c: lied(c, length=c.length - 1 or 1024)),
    "length_more": (Code.BAD_COUNT, lambda c: lied(c, length=c.length + 1)),
    "length_0": (Code.BAD_COUNT, lambda c: lied(c, length=1024)),
    "data_less": (Code.BAD_COUNT, lambda c: lied(c, data=c.data[:-4])),
    "data_more": (Code.BAD_COUNT, lambda c: lied(c, data=c.data + bytes(4))),
    "no_data": (Code.BAD_COUNT, lambda c: lied(c, length=0, has_data=False, data=b"")),
    "longer_than_what_is_left": (Code.BAD_COUNT, lambda c: lied(c, length=200, data=bytes(800))),
    "lower_address_next_byte": (Code.BAD_ADDRESS, lambda c: lied(c, lower_address=c.lower_address ^ 1)),
    "lower_address_next_dw": (Code.BAD_ADDRESS, lambda c: lied(c, lower_address=c.lower_address ^ 4)),
    "lower_address_bit_6": (Code.BAD_ADDRESS, lambda c: lied(c, lower_address=c.lower_address ^ 64)),
    "off_the_boundary": (Code.SHORT, lambda c: lied(c, length=c.length - 1, data=c.data[:-4])),
    "one_dw_of_many": (Code.SHORT, lambda c: lied(c, length=1, data=c.data[:4])),
}


class LieOnce:
    """Tells a lie about one completion of the request that reads at ``address``, the first that has several DWs."""

    def __init__(self, lie, first: int, last: int) -> None:
        self.lie, self.first, self.last, self.told = lie, first, last, False
        self.run: Run | None = None

    def __call__(self, completion: Completion) -> list[Completion]:
        assert self.run is not None
        victim = self.run.model.open.get(completion.tag)
        if self.told or victim is None or not self.first <= victim.address <= self.last or completion.length < 2:
            return [completion]
        self.told = True
        self.run.answers.pop(completion.tag, None)
        return self.lie(completion)


def lie_in(config: Config, requests: list[Request], lie, seed: int, victim: Request) -> Run:
    made = Run(config, mapped(BASES), random.Random(seed))
    first = bus(made.regions, victim.key, victim.addr)
    made.lie = LieOnce(lie, first, first + victim.len - 1)
    made.lie.run = made
    made.play(requests)
    assert made.lie.told
    return made


@pytest.mark.parametrize("name", LIES)
@pytest.mark.parametrize("rcb", [64, 128])
def test_each_lie_alone_gives_its_code_and_harms_no_other_request(name, rcb, seed):
    code, lie = LIES[name]
    config = Config(rcb=rcb, mrrs=256, timeout_ns=1_000_000, requesters=2, tags=32)
    base = BASES[0] // 4096 * 4096 + 4096
    victim = read(base + 0x3A, 700, id=1)
    requests = [
        read(base + 0x807, 300, id=0),
        victim,
        read(base + 0xA00, 500, id=2),
        write(data=bytes(range(200)), id=3, flush=True),
        read(BASES[1] + 5, 600, key=KEY + 1, requester=1, id=0),
    ]
    done = lie_in(config, requests, lie, seed, victim)
    assert_done(done, requests, {(0, 1): code})
    counted = {n: v for n, v in done.model.counters.items() if n.startswith("done_") and v}
    assert counted == {"done_ok": 4, f"done_{code.name.lower()}": 1}
    assert done.model.counters["unexpected"] == 0
    done.play([read(base + 0x3A, 700, id=9)])
    assert done.codes[0][-1] == (9, Code.OK) and not done.bad[0][-1]
    assert_at_rest(done)


def reads_under_way(config: Config, count: int, length: int = 128) -> tuple[DmaModel, list[Completion]]:
    """A read whose TLPs have left with tags from 0 on, and a right completion of each."""
    model = DmaModel(config, mapped(BASES))
    model.credits["nph"].infinite = True
    if count:
        model.submit(read(BASES[0] // 4096 * 4096 + 4096, count * length))
    answers = []
    for tag in range(count):
        ((_, tlp),) = model.may_send(tag)
        assert model.send(0, tlp, 0) == []
        size = 4 * tlp.length
        answers.append(
            Completion(status=0, byte_count=size, lower_address=0, length=tlp.length, tag=tag, data=bytes(size))
        )
    return model, answers


def test_a_poisoned_completion_is_followed_by_the_rest_and_its_tag_is_free_with_the_last():
    model, (whole,) = reads_under_way(Config(requesters=1, mrrs=128), 1)
    half = replace(whole, length=16, data=bytes(64))
    assert model.complete(replace(half, ep=True), 1) == []
    assert 0 in model.open and list(model.may_end()) == []
    assert model.next_beat(0) == Gave(1, 0, b"\0", True, True)
    assert model.give(0, b"\0", True, True, 2) == [] and list(model.may_end()) == []
    assert model.complete(replace(half, byte_count=64, lower_address=64), 3) == []
    assert model.open == model.resting == {} and list(model.may_end()) == [(0, 0, Code.POISONED)]
    assert model.counters["unexpected"] == 0 and model.counters["read_bytes"] == 64


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_the_first_fault_of_a_request_is_its_code(order):
    model, answers = reads_under_way(Config(requesters=1, mrrs=128), 3)
    lies = [replace(answers[0], ep=True), replace(answers[1], status=1), replace(answers[2], byte_count=1)]
    for n in order:
        assert list(model.may_end()) == [] and model.complete(lies[n], 1) == []
    model.give(0, b"\0", True, True, 2)
    first = (Code.POISONED, Code.UNSUPPORTED, Code.BAD_COUNT)[order[0]]
    assert list(model.may_end()) == [(0, 0, first)] and list(model.resting) == [2]


def test_a_resting_tag_keeps_room_for_what_it_could_still_bring():
    config = Config(requesters=1, mrrs=128, cplh=4, timeout_ns=1000)
    model, answers = reads_under_way(config, 1)
    assert model.complete(replace(answers[0], byte_count=1), 10) == []
    model.give(0, b"\0", True, True, 11)
    model.end(0, 0, Code.BAD_COUNT, 12)
    model.submit(read(BASES[0] // 4096 * 4096 + 4096, 256))
    ((_, tlp),) = model.may_send(1)
    assert model.send(0, tlp, 13) == [] and list(model.may_send(2)) == [], "2 of it, 2 of the tag that rests"
    model.advance(1009)
    assert list(model.may_send(2)) == []
    model.advance(1010)
    assert len(list(model.may_send(2))) == 1


@pytest.mark.parametrize(
    "twist",
    [
        lambda made, c: replace(c, tag=next(made.model.free_tags())),
        lambda made, c: replace(c, tag=c.tag + 32),
        lambda made, c: replace(c, tag=c.tag + 256),
        lambda made, c: replace(c, requester_id=c.requester_id ^ 1),
        lambda made, c: replace(c, requester_id=c.requester_id ^ 0x8000),
    ],
    ids=["free_tag", "tag_bit_5", "tag_bit_8", "function", "bus"],
)
def test_a_completion_for_no_read_is_counted_and_thrown_away(twist, seed):
    made = Run(Config(requesters=1, tags=32), mapped(BASES), random.Random(seed))
    made.lie = lambda completion: [twist(made, completion), completion]
    requests = [read(length=500), read(length=100, id=1)]
    made.play(requests)
    assert_done(made, requests)
    assert made.model.counters["unexpected"] * 2 == made.model.counters["completions"] > 2


def test_the_last_completion_again_is_unexpected(seed):
    made = Run(Config(requesters=1), mapped(BASES), random.Random(seed), whole=True)
    made.lie = lambda completion: [completion, completion]
    made.play([read(length=256)])
    assert_done(made, [read(length=256)])
    assert made.model.counters["unexpected"] == 1


def test_completions_of_a_resting_tag_are_unexpected_and_the_tag_is_not_taken_again_before_its_time():
    config = Config(requesters=1, timeout_ns=100_000, tags=32)
    model = DmaModel(config, mapped(BASES))
    model.credits["nph"].infinite = True
    model.submit(read(length=64, addr=BASES[0] + 4096))
    (sent,) = [tlp for _, tlp in model.may_send(7)]
    assert model.send(0, sent, 1000) == []
    model.advance(101_000 + TIMEOUT_SLACK_NS)
    assert 7 in model.resting and 7 not in model.open
    late = Completion(status=0, byte_count=64, lower_address=sent.address & 0x7F, length=16, tag=7, data=bytes(64))
    assert model.complete(late, 110_000) == [] and model.counters["unexpected"] == 1
    assert model.give(0, b"\0", True, True, 111_000) == [] and model.end(0, 0, Code.TIMEOUT, 112_000) == []
    model.submit(read(length=64, addr=BASES[0] + 4096))
    (again,) = [tlp for _, tlp in model.may_send(7)]
    assert model.send(0, again, 200_999) == ["tag 7 rests until 201000 ns"]
    model.advance(201_000)
    assert 7 not in model.resting or model.resting[7][0] <= 201_000


def test_a_timeout_is_seen_at_its_time_and_not_before():
    model = DmaModel(Config(requesters=1, timeout_ns=5000), mapped(BASES))
    model.credits["nph"].infinite = True
    model.submit(read(length=4))
    (sent,) = [tlp for _, tlp in model.may_send()]
    model.send(0, sent, 100)
    model.advance(5099)
    assert model.next_beat(0) is None and model.open
    model.advance(5100)
    assert model.next_beat(0) == Gave(5100, 0, b"\0", True, True)
    assert not model.open


def test_without_a_timeout_a_broken_tag_rests_for_good():
    model = DmaModel(Config(requesters=1, timeout_ns=0), mapped(BASES))
    model.credits["nph"].infinite = True
    model.submit(read(length=4))
    (sent,) = [tlp for _, tlp in model.may_send()]
    model.send(0, sent, 0)
    model.advance(10**15)
    assert model.open
    model.complete(Completion(status=0, byte_count=9, lower_address=0, length=1, tag=0, data=bytes(4)), 10**15)
    model.advance(10**18)
    assert 0 not in list(model.free_tags())


def test_a_completion_so_near_to_a_timeout_that_either_may_be_seen_first_is_said():
    model = DmaModel(Config(requesters=1, timeout_ns=5000), mapped(BASES))
    model.credits["nph"].infinite = True
    model.submit(read(length=4))
    (sent,) = [tlp for _, tlp in model.may_send()]
    model.send(0, sent, 0)
    late = Completion(status=0, byte_count=4, lower_address=sent.address & 0x7F, length=1, tag=0, data=bytes(4))
    assert "so near to a timeout" in model.complete(late, 5001)[0]
    assert model.complete(late, 5000 + TIMEOUT_SLACK_NS) == []


# ------------------------------------------------------------------------------------- requests that end of themselves


@pytest.mark.parametrize("write_it", [False, True])
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"key": 1}, Code.NO_REGION),
        ({"key": KEY ^ 1 << 31}, Code.NO_REGION),
        ({"addr": BASES[0] - 1}, Code.BOUNDS),
        ({"addr": (1 << 64) - 8}, Code.BOUNDS),
        ({"remote": True}, Code.RIGHTS),
        ({"addr": BASES[0] + 3 * 4096}, Code.NO_PAGE),
    ],
)
def test_a_refused_request_sends_nothing_and_ends_at_its_turn(fields, code, write_it, seed):
    regions = mapped(BASES, rights=Right.LOCAL_READ | Right.LOCAL_WRITE)
    del regions.pages[3], regions.pages[4]
    make = {"requester": 0, "write": write_it, "key": KEY, "addr": BASES[0], "len": 64}
    make |= {"data": bytes(64)} if write_it else {}
    requests = [Request(**make, id=0), Request(**(make | fields), id=1), Request(**make, id=2)]
    done = run(Config(requesters=1), regions, seed, requests)
    assert done.codes[0] == [(0, 0), (1, code), (2, 0)]
    tlps = [event for event in done.events if isinstance(event, Sent)]
    assert len(tlps) == 2 and done.bad.get(0, []) == ([] if write_it else [False, True, False])
    assert_at_rest(done)


def test_a_physical_requester_asks_for_bus_addresses_and_needs_key_0(seed):
    config = Config(requesters=2, physical=frozenset({1}))
    requests = [
        read(0x5000, 100, key=0, requester=1),
        read(0x5000, 100, key=0, id=1),
        read(0x5000, 100, key=5, requester=1, id=2),
        read((1 << 64) - 3, 4, key=0, requester=1, id=3),
        read(0x5000, 100, key=0, requester=1, id=4, remote=True),
    ]
    done = run(config, mapped(BASES), seed, requests)
    assert done.frames[1][0] == done.memory.read(0x5000, 100)
    assert done.codes == {
        1: [(0, 0), (2, Code.NO_REGION), (3, Code.BOUNDS), (4, Code.NO_REGION)],
        0: [(1, Code.NO_REGION)],
    }


@pytest.mark.parametrize("came", [1, 3, 4, 99, 127, 128, 129, 300])
def test_a_write_whose_data_end_early_or_late_writes_what_it_may_and_is_bad_length(came, seed):
    data = random.Random(came).randbytes(came)
    for flush in (False, True):
        requests = [write(data=data, len=200, id=0, flush=flush), write(BASES[4] + 5000, bytes(10), id=1)]
        config = Config(requesters=1, mps=128)
        done = run(config, mapped(BASES), seed, requests)
        expected = split(bus(done.regions, KEY + 4, BASES[4]), min(came, 200), 128)
        sent = [event.tlp for event in done.events if isinstance(event, Sent) and event.tlp.write]
        assert len(sent) == len(expected) + 1
        assert done.model.counters["flush_tlps"] == flush
        assert_done(done, requests, {(0, 0): Code.BAD_LENGTH})
        at = bus(done.regions, KEY + 4, BASES[4] + min(came, 200))
        assert done.memory.read(at, 1) == bytes([random.Random(at // 4096).randbytes(4096)[at % 4096]])


@pytest.mark.parametrize("write_it", [False, True])
def test_a_request_of_no_bytes_sends_nothing_asks_for_no_region_and_waits_for_its_turn(write_it):
    model = DmaModel(Config(requesters=1), mapped(BASES))
    for each in model.credits.values():
        each.infinite = True
    first = write(id=0) if write_it else read(id=0)
    model.submit(first)
    model.submit(Request(requester=0, write=write_it, addr=5, len=0, key=99, id=1))
    assert [one[1] for one in model.may_end()] == []
    assert model.end(0, 1, 0, 0) == ["no request 1 of requester 0 is the next to be done"]
    for requester, tlp in list(model.may_send()):
        model.send(requester, tlp, 0)
    if write_it:
        assert [one[1] for one in model.may_end()] == [0]
        model.end(0, 0, 0, 0)
        assert [one[1:] for one in model.may_end()] == [(1, Code.OK)]


# -------------------------------------------------------------------------------------- flushes, fences and attributes


def test_a_flush_follows_its_write_and_the_write_is_done_with_its_answer(seed):
    """verilog-pcie#64: the status of a write was told before its data could be seen."""
    config = Config(requesters=1, mps=128, ro_enable=True)
    model = DmaModel(config, mapped(BASES))
    for each in model.credits.values():
        each.infinite = True
    model.submit(write(data=bytes(300), flush=True, ro=True))
    writes = []
    while not any(not tlp.write for _, tlp in model.may_send()):
        writes += [tlp for _, tlp in model.may_send()]
        assert model.send(0, writes[-1], 0) == []
    (flush,) = [tlp for _, tlp in model.may_send(9)]
    last = bus(mapped(BASES), KEY + 4, BASES[4] + 299)
    assert (flush.address, flush.length, flush.first_be, flush.last_be) == (last & ~3, 1, 0, 0)
    assert all(tlp.attr & Attr.RO for tlp in writes) and not flush.attr & Attr.RO
    assert list(model.may_end()) == []
    assert "its flush hasn't left" in model.end(0, 0, 0, 0)[0]
    model = DmaModel(config, mapped(BASES))
    for each in model.credits.values():
        each.infinite = True
    model.submit(write(data=bytes(300), flush=True))
    for tlp in writes:
        model.send(0, replace(tlp, attr=Attr(0)), 0)
    assert model.send(0, flush, 0) == [] and list(model.may_end()) == []
    answer = Completion(
        status=0, byte_count=1, lower_address=flush.address & 0x7C, length=1, tag=9, data=bytes(4), requester_id=0
    )
    assert model.complete(answer, 10) == [] and list(model.may_end()) == [(0, 0, Code.OK)]


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"status": 1}, 8), ({"status": 4}, 9), ({"ep": True}, 10), ({"byte_count": 4}, 12), ({"lower_address": 1}, 13)],
)
def test_a_flush_that_fails_fails_its_write(fields, code, seed):
    made = Run(Config(requesters=1), mapped(BASES), random.Random(seed))
    made.lie = lambda completion: lied(completion, **fields)
    made.play([write(flush=True, addr=BASES[4] + 4096 - BASES[4] % 4096)])
    assert made.codes == {0: [(0, code)]}
    assert_at_rest(made)


def test_a_fence_waits_for_all_earlier_requests_and_holds_back_the_later_ones(seed):
    for again in range(20):
        requests = [read(length=300, id=0), write(id=1), read(id=2, fence=True), write(id=3), read(id=4)]
        done = run(Config(requesters=1), mapped(BASES), seed * 50 + again, requests)
        assert_done(done, requests)
        kinds = [(type(event).__name__, getattr(event, "last", None)) for event in done.events]
        first_data_end = kinds.index(("Gave", True))
        tlps = [n for n, event in enumerate(done.events) if isinstance(event, Sent)]
        assert len(tlps) == 5 and sum(n < first_data_end for n in tlps) == 2


def test_attributes_are_what_request_target_and_control_say(seed):
    for ro in (False, True):
        for config in CONFIGS:
            config = replace(config, requesters=2)
            requests = [read(ro=ro), read(BASES[1], key=KEY + 1, requester=1, ro=ro)]
            done = run(config, mapped(BASES), seed, requests)
            for event in done.events:
                if isinstance(event, Sent):
                    target = Target.BAR if event.requester else Target.HOST
                    assert bool(event.tlp.attr & Attr.RO) == (ro and config.ro_enable)
                    assert bool(event.tlp.attr & Attr.IDO) == config.ido_enable
                    assert bool(event.tlp.attr & Attr.NS) == (target in config.no_snoop)
                    assert (event.tlp.tc, event.tlp.td, event.tlp.ep, event.tlp.at) == (0, False, False, 0)


@pytest.mark.parametrize(("tags", "first", "last"), [(32, 0, 31), (256, 0, 255), (768, 256, 1023)])
def test_reads_take_the_tags_that_are_configured_and_of_ten_bits_the_upper_two_are_never_0(tags, first, last):
    model, _ = reads_under_way(Config(requesters=1, tags=tags), 0)
    model.submit(read(length=4))
    assert (min(model.free_tags()), max(model.free_tags()), len(list(model.free_tags()))) == (first, last, tags)
    ((_, tlp),) = model.may_send(last)
    for wrong in (first - 1, last + 1):
        other = DmaModel(model.config, model.regions)
        other.credits["nph"].infinite = True
        other.submit(read(length=4))
        assert other.send(0, replace(tlp, tag=wrong), 0) == [f"tag {wrong}, of {tags} tags"]
    assert model.send(0, tlp, 0) == []


# ----------------------------------------------------------------------------------------------------------- credits


@given(st.integers(0, 4095), st.integers(0, 2047), st.integers(1, 65), st.sampled_from([8, 12]))
def test_the_credit_gate_is_the_number_of_credits_left_wherever_the_counters_are(consumed, left, amount, width):
    credits = Credits(width)
    left %= credits.modulus // 2 + 1
    credits.consumed = consumed % credits.modulus
    credits.limit = (consumed + left) % credits.modulus
    assert credits.fit(amount) == (amount <= left)


@pytest.mark.parametrize("width", [8, 12])
def test_the_credit_gate_is_open_up_to_half_of_the_field(width):
    """The comparison of 2.6.1.2 itself: less or equal."""
    credits = Credits(width)
    half = credits.modulus // 2
    for consumed in (0, 1, half, credits.modulus - 1):
        credits.consumed = consumed
        credits.limit = (consumed + 1 + half) % credits.modulus
        assert credits.fit(1)
        credits.limit = (credits.limit + 1) % credits.modulus
        assert not credits.fit(1)


@pytest.mark.parametrize("width", [8, 12])
def test_credits_are_never_overdrawn_over_many_turns_of_the_counters(width, seed):
    rng, credits, limit, consumed = random.Random(seed), Credits(width), 0, 0
    for _ in range(20_000):
        limit = min(limit + rng.randrange(4), consumed + credits.modulus // 2)
        credits.limit = limit % credits.modulus
        amount = rng.randrange(1, 4)
        if credits.fit(amount):
            credits.consume(amount)
            consumed += amount
        assert consumed <= limit
    assert consumed > 3 * credits.modulus


def test_writes_without_credits_hold_up_no_reads_and_the_reverse():
    for held, free in (("ph", "nph"), ("pd", "nph"), ("nph", "ph")):
        model = DmaModel(Config(requesters=1), mapped(BASES))
        for name, each in model.credits.items():
            each.infinite = name != held
        model.submit(write(id=0))
        model.submit(read(id=1))
        assert [tlp.write for _, tlp in model.may_send()] == [free == "ph"]


def test_a_write_takes_a_credit_for_each_four_dws_of_its_payload():
    model = DmaModel(Config(requesters=1, mps=128), mapped(BASES))
    model.credits["ph"].infinite = True
    base = BASES[4] // 4096 * 4096 + 4096
    model.submit(write(base + 3, bytes(62)))
    model.credits["pd"].limit = 4
    assert list(model.may_send()) == []
    model.credits["pd"].limit = 5
    ((_, tlp),) = model.may_send()
    assert tlp.length == 17 and model.send(0, tlp, 0) == [] and model.credits["pd"].consumed == 5


# ------------------------------------------------------------------------------------------------------ published bugs


def test_split_completions_from_3c_have_the_lower_address_of_their_first_byte():
    """pcileech-fpga#203: 0 in later completions is right only where they begin at a multiple of 128."""
    address, left, seen = 0x1003C, 256, []
    while left:
        step = min(left, 64 - address % 64)
        size = (address % 4 + step + 3) // 4
        told = Completion(
            status=0, byte_count=left, lower_address=address & 0x7F, length=size, tag=0, data=bytes(4 * size)
        )
        assert judge(told, address, left, 64) == (Code.OK, step)
        assert judge(replace(told, lower_address=0), address, left, 64)[0] == (
            Code.OK if address % 128 == 0 else Code.BAD_ADDRESS
        )
        seen.append((told.lower_address, told.byte_count))
        address, left = address + step, left - step
    assert seen == [(0x3C, 256), (0x40, 252), (0, 188), (0x40, 124), (0, 60)]


@pytest.mark.parametrize("length", [0x3F, 0x40, 0x41, 0x80, 0x1000])
def test_reads_of_64_bytes_and_more_end_under_split_completions(length, seed):
    """verilog-pcie#24: no status came for 64 bytes or more. verilog-pcie#46: the first 62 bytes were 0."""
    for offset in (0, 2, 61, 62, 63):
        requests = [read(BASES[0] // 4096 * 4096 + 4096 + offset, length)]
        assert_done(run(Config(requesters=1, mrrs=4096), mapped(BASES), seed, requests), requests)


@pytest.mark.parametrize("status", [Status.UR, Status.CA])
def test_failed_reads_leak_no_tag(status, seed):
    """litepcie#166: a UR or CA completion kept its tag for ever."""
    made = Run(Config(requesters=1, tags=32), mapped(BASES), random.Random(seed))
    made.lie = lambda completion: lied(completion, status=status, has_data=False, length=0, data=b"")
    made.whole = True
    made.play([read(id=n) for n in range(100)])
    assert {code for _, code in made.codes[0]} == {8 if status == Status.UR else 9} and len(made.codes[0]) == 100
    assert made.model.resting == {}
    assert_at_rest(made)


def test_a_read_is_done_with_its_last_completion_and_not_when_it_was_sent(seed):
    """litepcie#179 and #185: retired at issue, before any completion. The completion comes 10 us later."""
    model = DmaModel(Config(requesters=1), mapped(BASES))
    model.credits["nph"].infinite = True
    model.submit(read(BASES[0] + 4096 - BASES[0] % 4096, 16))
    ((_, tlp),) = model.may_send()
    model.send(0, tlp, 0)
    assert list(model.may_end()) == [] and model.next_beat(0) is None
    told = Completion(status=0, byte_count=16, lower_address=0, length=4, tag=tlp.tag, data=bytes(range(16)))
    assert model.complete(told, 10_000) == [] and list(model.may_end()) == []
    assert model.next_beat(0) == Gave(10_000, 0, bytes(range(16)), True, False)
    model.give(0, bytes(range(16)), True, False, 10_004)
    assert list(model.may_end()) == [(0, 0, Code.OK)]


def test_an_early_last_byte_count_retires_nothing_and_a_huge_one_wedges_nothing(seed):
    """litepcie#178: a read was retired by the completer's Byte Count; its tag then took another read's data."""
    address = 0x1000
    half = Completion(status=0, byte_count=64, lower_address=0, length=16, tag=0, data=bytes(64))
    assert judge(half, address, 128, 64) == (Code.BAD_COUNT, 0)
    assert judge(replace(half, byte_count=4096), address, 128, 64) == (Code.BAD_COUNT, 0)
    assert judge(replace(half, byte_count=128), address, 128, 64) == (Code.OK, 64)
    assert judge(replace(half, byte_count=128, bcm=True), address, 128, 64) == (Code.OK, 64)


def test_a_tag_that_is_free_does_not_free_the_lines_of_data_that_were_not_given(seed):
    """litepcie#173: tags came back while the reorder buffer still held their data."""
    config = Config(requesters=1, buffer=1024, mrrs=512, tags=32)
    model = DmaModel(config, mapped(BASES))
    model.credits["nph"].infinite = True
    base = BASES[0] // 4096 * 4096 + 4096
    model.submit(read(base, 4096))
    for n in range(2):
        ((_, tlp),) = model.may_send()
        model.send(0, tlp, 0)
        data = bytes([n]) * 512
        told = Completion(status=0, byte_count=512, lower_address=0, length=128, tag=tlp.tag, data=data)
        assert model.complete(told, 0) == []
    assert model.open == {} and list(model.may_send()) == [] and model.lines_held(0) == 16
    for _ in range(31):
        beat = model.next_beat(0)
        assert model.give(0, beat.data, beat.last, beat.bad, 0) == []
    assert model.lines_held(0) == 16 and list(model.may_send()) == []
    beat = model.next_beat(0)
    model.give(0, beat.data, beat.last, beat.bad, 0)
    assert model.lines_held(0) == 8 and len(list(model.may_send())) == 1


@pytest.mark.parametrize(("cplh", "cpld"), [(9, 0), (0, 36), (9, 36), (20, 80)])
def test_reads_bring_back_no_more_completions_than_there_is_room_for(cplh, cpld, seed):
    """corundum#242: completion header credits were exceeded."""
    config = Config(requesters=2, mrrs=512, cplh=cplh, cpld=cpld, tags=32)
    rng = random.Random(seed)
    requests = [replace(one, flush=False) for one in some_requests(rng, config, 60) if not one.write]
    done = run(config, mapped(BASES), seed, requests)
    assert_done(done, requests)
    under_way: dict[int, list[int]] = {}
    most = Counter()
    for event in done.events:
        if isinstance(event, Sent):
            first = event.tlp.address + event.tlp.enabled().index(1)
            under_way[event.tlp.tag] = [first, first + sum(event.tlp.enabled())]
        if isinstance(event, Came):
            span = under_way[event.completion.tag]
            span[0] += event.completion.length * 4 - span[0] % 4
            if span[0] >= span[1]:
                del under_way[event.completion.tag]
        headers = sum((high + 63) // 64 - low // 64 for low, high in under_way.values())
        most["h"] = max(most["h"], headers)
        data = sum(
            -(-((min(high, 64 * n + 64) + 3) // 4 - max(low, 64 * n) // 4) // 4)
            for low, high in under_way.values()
            for n in range(low // 64, (high + 63) // 64)
        )
        most["d"] = max(most["d"], data)
    assert not cplh or most["h"] <= cplh
    assert not cpld or most["d"] <= cpld
    assert most["h"] > 8, "the limit was reached"
