"""The host of the benches, with the golden model as the device.

Sweep:    every lie, of the only, the first and the last completion; both boundaries; all platforms
Stimulus: reads and writes that the model says may leave; completions from tb/dma/completer.py
Checks:   codes against the page's table; memory byte for byte; a read behind a write sees it, at the GPU too; windows;
          credits come back when they should; the same seed gives the same answers
Timing:   latency and bandwidth of a target, in ns
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from models.dma import Came, Code, Config, DmaModel, Ended, Event, Limits, Request, Sent, Submitted, play
from models.dma_platform import PROFILES
from models.dma_region import Regions
from models.dma_tlp import MemoryRequest, Status
from tb.dma.completer import BAR, CODES, HOST, Credit, Host, Lie, Rule, host_target
from tb.dma.layout import DEVICE, SINK, SOURCE, base_of, key_of, layout, pieces

CONFIG = Config(requesters=1, timeout_ns=20_000, requester_id=0x77)

NONE = {(Lie.EARLY_COUNT, "only"), (Lie.EARLY_COUNT, "last"), (Lie.ZERO_ADDRESS, "last")}
"""Where they are no lies."""
LIES = [(lie, place) for lie in Lie for place in ("only", "first", "last") if (lie, place) not in NONE]


def play_out(host: Host, regions: Regions, requests: list[Request], steps: int = 40_000) -> list[Event]:
    """The model does what it may, first things first, until all is done."""
    model = DmaModel(host.config, regions)
    events: list[Event] = []

    def happens(event: Event) -> None:
        assert list(play(model, event)) == [], event
        events.append(event)

    waiting, limits = list(requests), {}
    for step in range(steps):
        ns = 4 * step
        if host.limits(ns) != limits:
            limits = host.limits(ns)
            happens(Limits(ns, limits))
        if waiting:
            happens(Submitted(ns, waiting.pop(0)))
        if told := host.next(ns):
            happens(Came(ns, told[0]))
        model.advance(ns)
        for owner, tlp in list(model.may_send(next(model.free_tags(), None)))[:1]:
            happens(Sent(ns, owner, tlp))
            host.take(tlp.pack(), ns)
        beat = model.next_beat(0)
        if beat is not None:
            happens(beat._replace(ns=ns))
        for owner, request_id, code in list(model.may_end()):
            happens(Ended(ns, owner, request_id, code))
        if not waiting and not model.finish() and host.quiet:
            return events
    raise AssertionError(model.finish())


def request(write: bool, kind: int, offset: int, length: int, **fields: object) -> Request:
    made = Request(requester=0, write=write, key=key_of(0, kind), addr=base_of(0, kind) + offset, len=length)
    return replace(made, **fields)  # type: ignore[arg-type]


def codes(events: list[Event]) -> list[int]:
    return [event.code for event in events if isinstance(event, Ended)]


@pytest.mark.parametrize("rcb", [64, 128])
@pytest.mark.parametrize(("lie", "place"), LIES)
def test_each_lie_has_the_code_of_the_page(lie: Lie, place: str, rcb: int) -> None:
    """An earlier completion than the last that is lost or doubled makes the next one's count wrong."""
    for seed in range(20):
        host = Host(replace(CONFIG, rcb=rcb), Random(f"{lie} {seed}"), whole=place == "only")
        host.rules = [Rule(lie, 1, -1 if place == "last" else 0)]
        events = play_out(host, layout(1), [request(False, SOURCE, 0x44, 400, id=n) for n in range(3)])
        if host.rules[0].told:
            break
    else:
        raise AssertionError("it was never told")
    seen = codes(events)
    broken = place == "first" and lie in (Lie.LOST, Lie.LATE, Lie.WRONG_REQUESTER, Lie.DUPLICATE)
    assert seen[0] == seen[2] == Code.OK
    assert seen[1] in (CODES[lie], Code.BAD_COUNT if broken else CODES[lie])


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_reads_and_writes_of_any_size_on_each_platform(name: str) -> None:
    profile = PROFILES[name]
    config = replace(profile.config(), requesters=1, timeout_ns=50_000)
    rng = Random(name)
    host = Host(config, rng, (host_target(profile), BAR))
    regions = layout(1, profile.region_page)
    requests = []
    for n in range(40):
        kind, size = (SOURCE, SINK, DEVICE)[n % 3], rng.randint(0, 1500)
        data = rng.randbytes(size) if kind != SOURCE else b""
        offset = rng.randint(0, 4000) if kind == SOURCE else 2000 * (n // 3)
        requests.append(request(bool(data), kind, offset, len(data) if data else size, id=n, data=data))
    untouched = Host(config, rng).memory
    assert set(codes(play_out(host, regions, requests))) == {Code.OK}
    for one in requests:
        for address, at in pieces(regions, one, len(one.data)):
            untouched.write(address, one.data[at : at + 4096 - (one.addr + at) % 4096])
    assert list(host.memory.differences(untouched)) == []


def test_a_write_to_the_gpu_is_seen_later_than_one_to_the_host_and_a_read_waits_for_it() -> None:
    host = Host(CONFIG, Random(1), gap_ns=0)

    def tlp(write: bool, address: int, tag: int = 0) -> bytes:
        data = b"\x5a" * 4 if write else b""
        return MemoryRequest(write=write, address=address, length=1, first_be=15, last_be=0, tag=tag, data=data).pack()

    before = host.memory.read(BAR.base, 4)
    host.take(tlp(True, BAR.base), 0)
    host.take(tlp(True, 0x4000), 4)
    host.settle(4 + HOST.write_ns)
    assert host.memory.read(0x4000, 4) == b"\x5a" * 4
    assert host.memory.read(BAR.base, 4) == before and host.hidden
    host.take(tlp(False, BAR.base, 9), 8)
    answers = [(ns, told) for ns in range(12, 4000, 4) if (told := host.next(ns))]
    ((at, (completion, _)),) = answers
    assert at >= BAR.write_ns and completion.data == b"\x5a" * 4 and completion.tag == 9


@pytest.mark.parametrize("address", [0x0, 0xFFC, 1 << 44, BAR.base - 4, BAR.base + BAR.size])
def test_outside_of_all_windows_a_read_is_unsupported_and_a_write_is_lost(address: int) -> None:
    host = Host(CONFIG, Random(1))
    fields = {"address": address, "length": 1, "first_be": 15, "last_be": 0}
    host.take(MemoryRequest(write=True, data=bytes(4), **fields).pack(), 0)  # type: ignore[arg-type]
    host.take(MemoryRequest(write=False, tag=3, **fields).pack(), 0)  # type: ignore[arg-type]
    told = host.next(0)
    assert told is not None and told[0].status == Status.UR and not told[0].has_data
    assert not host.memory.written and host.quiet


def test_a_target_answers_with_its_latency_and_no_faster_than_its_bandwidth() -> None:
    slow = replace(HOST, read_ns=1000, jitter_ns=0, ns_per_kib=1024)
    host = Host(CONFIG, Random(1), (slow,), whole=True)
    for tag in range(3):
        host.take(MemoryRequest(write=False, address=0x4000, length=64, first_be=15, last_be=15, tag=tag).pack(), 0)
    assert [ns for ns in range(0, 2000, 4) if host.next(ns)] == [1000, 1256, 1512]


def test_credits_come_back_after_their_time_and_not_while_they_are_stopped() -> None:
    host = Host(CONFIG, Random(1))
    host.credits["ph"], host.credits["pd"] = Credit(2, 100), Credit(8, 100)
    raw = MemoryRequest(write=True, address=0x4000, length=5, first_be=15, last_be=15, data=bytes(20)).pack()
    host.take(raw, 0)
    assert host.limits(96) == {"ph": 2, "pd": 8, "nph": None, "npd": None}
    host.stopped = {"pd"}
    assert host.limits(100) == {"ph": 3, "pd": 8, "nph": None, "npd": None}
    host.stopped = set()
    assert host.limits(104)["pd"] == 10


def test_the_same_seed_gives_the_same_answers() -> None:
    def run(seed: int) -> list[Event]:
        host = Host(CONFIG, Random(seed))
        host.rates = {Lie.DUPLICATE: 0.2, Lie.POISONED: 0.1}
        return play_out(host, layout(1), [request(False, SOURCE, 100 * n, 700, id=n) for n in range(9)])

    assert run(5) == run(5) != run(6)
