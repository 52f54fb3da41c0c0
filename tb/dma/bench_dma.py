"""Bench of ``dma``: requests of every shape, protection, order, credits, tags, resets, back-pressure."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import pairwise, product

from models.dma import Came, Code, Ended, Event, Gave, Request, Sent, Submitted
from models.dma_platform import PROFILES
from models.dma_region import Region, Regions, Right, Target
from models.dma_split import SIZES
from models.dma_tlp import Attr
from tb.dma.completer import BAR, CODES, HOST, Lie, host_target
from tb.dma.control import KEY, REMOVE_PAGE, REMOVE_REGION
from tb.dma.env import CONFIG, PORTS, DmaEnv, test
from tb.dma.layout import ALL, DEVICE, SINK, SOURCE, base_of, key_of, layout
from tb.dma.wires import NS
from tb.lib import cover
from tb.lib.pause import PAUSES

__all__: list[str] = []

LONG = os.environ.get("NICLOOP_LONG") == "1"
TAGS = (32, 256, 768)

seen_size = cover.point("dma.size", [f"{name}{size}" for name in ("mps", "mrrs") for size in SIZES])
seen_rcb = cover.point("dma.rcb", [64, 128])
seen_page = cover.point("dma.page", [4096, 16384, 65536, 2 << 20])
seen_tags = cover.point("dma.tags_full", list(TAGS))
seen_starved = cover.point("dma.starved", ["ph", "pd", "nph"])
seen_attr = cover.point("dma.attr", list(range(8)))
seen_reset = cover.point("dma.reset", ["asked", "sent", "coming", "giving", "done"])


def edges(most: int) -> list[tuple[int, int]]:
    """Offsets in a page and lengths around each boundary: DW, line, MPS or MRRS, 4 KiB."""
    offsets = [0, 1, 2, 3, 4, 61, 63, 64, 65, most - 1, most % 4096, most + 3, 4031, 4092, 4093, 4095]
    lengths = [1, 2, 3, 4, 5, 7, 60, 63, 64, 65, 127, 129, most - 4, most - 1, most, most + 1, 4095, 4096, 4097]
    return [(offset % 4096, length) for offset, length in product(offsets, lengths)]


def some(pairs: list[tuple[int, int]], index: int) -> list[tuple[int, int]]:
    """All of them in a long run, else every eighth and a page; all settings together have nearly all."""
    return pairs if LONG else [*pairs[index % 8 :: 8], (0, 4096)]


@test
async def reads_around_every_boundary_bring_their_bytes(env: DmaEnv) -> None:
    for index, (mrrs, rcb) in enumerate(product(SIZES, (64, 128))):
        await env.begin(replace(CONFIG, mrrs=mrrs, rcb=rcb))
        seen_size(f"mrrs{mrrs}")
        seen_rcb(rcb)
        pairs = some(edges(mrrs), index)
        await env.run(env.read(n % 2, offset, length) for n, (offset, length) in enumerate(pairs))
        largest = max(tlp.length for _, tlp in env.sent(write=False))
        assert largest == mrrs // 4, f"MRRS {mrrs}: the largest read had {largest} DWs"


@test
async def writes_around_every_boundary_leave_their_bytes(env: DmaEnv) -> None:
    for index, mps in enumerate(SIZES):
        await env.begin(replace(CONFIG, mps=mps))
        seen_size(f"mps{mps}")
        pairs = some(edges(mps), index)
        await env.run(
            env.write(n % 2, offset + 4096 * (n % 3), length, kind=(SINK, DEVICE)[n // 2 % 2])
            for n, (offset, length) in enumerate(pairs)
        )
        assert max(tlp.length for _, tlp in env.sent(write=True)) == mps // 4


@test
async def requests_cross_pages_of_every_size_and_touch_no_byte_beside_them(env: DmaEnv) -> None:
    for size in (4096, 16384, 65536, 2 << 20):
        seen_page(size)
        await env.begin(regions=layout(2, size))
        requests = []
        offsets = (size - 1, size - 64, size - 65, 2 * size - 5)
        for n, (offset, length) in enumerate(product(offsets, (1, 2, 66, 300, 5000))):
            for kind in (SOURCE, SINK, DEVICE):
                ask = env.read if kind == SOURCE else env.write
                spread = offset + (n // 4 % 3) * size
                requests.append(ask(n % 2, 0, length, kind, addr=base_of(n % 2, kind) // 2**36 * 2**36 + spread))
        await env.run(requests)


@test
async def a_request_of_no_bytes_sends_nothing_and_is_done_at_its_turn(env: DmaEnv) -> None:
    fields = {"key": 0xDEAD_BEEF, "addr": 2**64 - 1, "fence": False, "flush": True}
    requests = []
    for n in range(8):
        requests += [env.read(n % 2, 0, 0, **fields), env.read(n % 2, 10, 100)]
        requests += [env.write(n % 2, 0, 0, **fields), env.write(n % 2, 200 * n, 100)]
    assert set(await env.run(requests)) == {Code.OK}
    assert len(env.sent()) == 8 + 8 and len(env.cycles_of(Ended)) == 32


@test
async def each_fault_of_protection_has_its_code_sends_nothing_and_harms_no_other_request(env: DmaEnv) -> None:
    regions = layout(2, rights={key_of(0, SINK): Right.LOCAL_READ | Right.REMOTE_WRITE})
    del regions.pages[3]
    await env.begin(regions=regions)
    base, key = base_of(0, SOURCE), key_of(0, SOURCE)
    end = 8 * 4096
    cases: list[tuple[Code, Request]] = []
    for write in (False, True):

        def ask(offset: int, length: int, kind: int = SOURCE, write: bool = write, **fields: object) -> Request:
            return (env.write if write else env.read)(0, offset, length, kind=kind, **fields)

        cases += [(Code.NO_REGION, ask(0, 64, key=key ^ 1 << bit)) for bit in range(8, 32)]
        cases += [(Code.NO_REGION, ask(0, 64, key=wrong)) for wrong in (0, 0xFF, key ^ 0x80)]
        cases += [(Code.BOUNDS, ask(-1, 1)), (Code.BOUNDS, ask(end, 1)), (Code.BOUNDS, ask(end - 1, 2))]
        cases += [(Code.BOUNDS, ask(0, end + 1)) if not write else (Code.BOUNDS, ask(1, end))]
        cases += [(Code.BOUNDS, ask(0, 300, addr=2**64 - 100)), (Code.BOUNDS, ask(0, 17, addr=2**64 - 17))]
        cases += [(Code.BOUNDS, ask(-(2**32), 64)), (Code.BOUNDS, ask(2**32, 64))]
        cases += [(Code.NO_PAGE, ask(3 * 4096, 1)), (Code.NO_PAGE, ask(2 * 4096, 4097))]
        cases += [(Code.NO_PAGE, ask(4095 + 3 * 4096, 1)), (Code.OK, ask(2 * 4096, 4096)), (Code.OK, ask(4 * 4096, 5))]
        cases += [
            (Code.RIGHTS if write else Code.OK, ask(0, 70, SINK)),
            (Code.OK if write else Code.RIGHTS, ask(0, 70, SINK, remote=True)),
        ]
        # Several faults at once: the first in the order of codes.
        cases += [(Code.NO_REGION, ask(-1, 70, key=key ^ 0x100)), (Code.BOUNDS, ask(-5000, 70, SINK, remote=not write))]
    assert base_of(0, SOURCE) == base
    env.rng.shuffle(cases)
    others = [env.read(1, 33 * n, 100) for n in range(60)]
    env.ask(others)
    await env.run(request for _, request in cases)
    told = {id(request): code for request, code in env.scoreboard.codes}
    for want, request in cases:
        assert told[id(request)] == want, f"{want.name} of {request}: {told[id(request)].name}"
    assert all(told[id(request)] == Code.OK for request in others)


@test
async def each_right_allows_what_it_says_and_nothing_else(env: DmaEnv) -> None:
    for bit in range(5):
        await env.begin(
            regions=layout(2, rights={key_of(0, SOURCE): Right(1 << bit), key_of(0, SINK): Right(31 ^ 1 << bit)})
        )
        requests = []
        for kind in (SOURCE, SINK):
            requests += [env.read(0, 9, 9, kind, remote=remote) for remote in (False, True)]
            requests += [env.write(0, 99, 9, kind, remote=remote) for remote in (False, True)]
        await env.run(requests)
        told = {id(request): code for request, code in env.scoreboard.codes}
        place = {(False, False): 0, (True, False): 1, (False, True): 2, (True, True): 3}
        for request in requests:
            alone = request.key == key_of(0, SOURCE)
            allowed = (place[request.write, request.remote] == bit) == alone
            assert told[id(request)] == (Code.OK if allowed else Code.RIGHTS), (bit, request)


@test
async def a_region_may_end_at_the_top_of_all_addresses_and_have_4_gib(env: DmaEnv) -> None:
    """rogue#1186: a length of 2^32 is none of 0."""
    size = 2 << 20
    top = Region(key=7, base=2**64 - 8192, length=8192, rights=ALL, first=0)
    wide = Region(key=8, base=1 << 40, length=1 << 32, rights=ALL, page_size=size, first=2)
    less = Region(key=9, base=1 << 40, length=(1 << 32) - 1, rights=ALL, page_size=size, first=2)
    table = {0: 0x5000, 1: 0x9000, 2: 1 << 33, 2049: 3 << 33}
    await env.begin(regions=Regions([top, wide, less], table, size=env.pages))
    last = Code.OK if env.pages > 2049 else Code.NO_PAGE
    cases = [
        (Code.OK, 7, 2**64 - 4097, 4097),
        (Code.OK, 7, 2**64 - 1, 1),
        (Code.BOUNDS, 7, 2**64 - 1, 2),
        (Code.BOUNDS, 7, 2**64 - 8193, 2),
        (last, 8, (1 << 40) + (1 << 32) - 5, 5),
        (Code.BOUNDS, 8, (1 << 40) + (1 << 32) - 5, 6),
        (Code.NO_PAGE, 8, (1 << 40) + size, 5),
        (Code.BOUNDS, 9, (1 << 40) + (1 << 32) - 5, 5),
        (last, 9, (1 << 40) + (1 << 32) - 5, 4),
    ]
    requests = [env.read(0, 0, length, key=key, addr=addr) for _, key, addr, length in cases]
    assert await env.run(requests) == [code for code, *_ in cases]


@test
async def a_write_whose_data_end_early_or_late_writes_what_it_may(env: DmaEnv) -> None:
    requests = []
    for n, (length, data) in enumerate(
        [
            (100, 1),
            (100, 99),
            (100, 101),
            (1, 40),
            (300, 256),
            (300, 257),
            (257, 300),
            (600, 16),
            (16, 17),
            (4096, 4000),
        ]
    ):
        requests += [env.write(n % 2, 5000 * (n // 2) + n, length, data=data), env.write(1 - n % 2, 25000 + 64 * n, 60)]
    codes = await env.run(requests)
    assert codes.count(Code.BAD_LENGTH) == 10 and codes.count(Code.OK) == 10


@test
async def data_of_a_refused_write_are_swallowed(env: DmaEnv) -> None:
    requests = []
    for n, size in enumerate((1, 16, 17, 64, 65, 700, 4096)):
        requests += [
            env.write(n % 2, 0, size, key=1),
            env.write(n % 2, 4100 * n, 50),
            env.write(n % 2, 0, size, key=1, data=size + 20),
        ]
    codes = await env.run(requests)
    assert codes.count(Code.NO_REGION) == 14 and codes.count(Code.OK) == 7


@test
async def a_fence_waits_for_all_earlier_requests_and_holds_back_the_later_ones(env: DmaEnv) -> None:
    for pause in ("none", "bursty"):
        env.pause("done", pause)
        requests = []
        for n in range(12):
            fence = n % 4 == 3
            requests += [
                env.read(0, 100 * n, 300, fence=fence),
                env.write(0, 700 * n, 600, DEVICE, flush=n % 2 == 1, fence=n % 5 == 4),
            ]
            requests.append(env.read(1, 0, 200))
        assert set(await env.run(requests)) == {Code.OK}


@test
async def a_flushed_write_is_seen_in_the_gpu_when_it_is_done(env: DmaEnv) -> None:
    """verilog-pcie#64, torchcomms#2373: a flag in the host that is seen before the data in the GPU."""
    await env.begin(targets=(HOST, replace(BAR, write_ns=6000)))
    late = 0
    for n in range(6):
        data = env.write(0, 4096 * n + 3, 900, DEVICE, flush=True)
        plain = env.write(1, 4096 * n + 3, 900, DEVICE)
        env.ask([data, plain, env.write(0, 8 * n, 8, SINK, fence=True)])
        await env.done(plain)
        late += env.host.hidden
        await env.done(data)
        hidden = [line for line in env.hidden() if int(line.split()[1], 16) // 4096 in pages_of(env, data)]
        assert not hidden, f"done, but {hidden}"
        await env.finish()
    assert late, "the GPU never showed a write later than it was done: the test proves nothing"


def pages_of(env: DmaEnv, request: Request) -> set[int]:
    """Bus pages of a request."""
    low = (request.addr // 4096, (request.addr + request.len - 1) // 4096 + 1)
    region = env.regions.regions[request.key & 0xFF]
    first = region.base // 4096
    return {env.regions.pages[region.first + page - first] // 4096 for page in range(*low)}


@test
async def a_flush_that_fails_fails_its_write_and_no_other(env: DmaEnv) -> None:
    for lie in (Lie.UR, Lie.CA, Lie.CRS, Lie.POISONED, Lie.BYTE_COUNT, Lie.NO_DATA, Lie.LOWER_ADDRESS, Lie.LOST):
        await env.begin(replace(CONFIG, timeout_ns=8000))
        env.lie(lie, 1)
        requests = [env.write(0, 100 * n + 1, 90, DEVICE, flush=True) for n in range(3)]
        assert await env.run(requests) == [Code.OK, CODES[lie], Code.OK], lie


@test
async def requesters_take_turns_a_tlp_at_a_time(env: DmaEnv) -> None:
    env.pause("tlp", "one_in")
    for write in (False, True):
        await env.begin(replace(CONFIG, mps=128, mrrs=128))
        make = env.write if write else env.read
        # One asks for much at once, the other for little often; the buffer has room for both.
        await env.run([make(0, 0, 16384)] + [make(1, 512 * n, 512) for n in range(32)])
        owners = [event.requester for event in env.scoreboard.log if isinstance(event, Sent)]
        last = [len(owners) - owners[::-1].index(n) for n in (0, 1)]
        both = owners[max(owners.index(0), owners.index(1)) + 4 : min(last) - 4]
        assert len(both) > 60
        assert max_run(both) == 1, f"{max_run(both)} TLPs of one requester in a row: {both}"


def max_run(values: list[int]) -> int:
    """Longest run of equal values."""
    longest = run = 1
    for a, b in pairwise(values):
        run = run + 1 if a == b else 1
        longest = max(longest, run)
    return longest


@test
async def all_tags_that_are_configured_are_used_and_come_back(env: DmaEnv) -> None:
    for tags in TAGS:
        await env.begin(replace(CONFIG, tags=tags, timeout_ns=1_000_000))
        if await fill_tags(env, tags) == tags:
            seen_tags(tags)


async def fill_tags(env: DmaEnv, tags: int) -> int:
    """As many reads as there are tags, or lines, are under way while no answer comes; then all are answered."""
    most = min(tags, env.requesters * env.config.buffer // 64)
    used = set()
    for _ in range(2 if tags == 32 else 1):
        env.host.held = True
        before, mark = env.host.reads, len(env.scoreboard.codes)
        # Two TLPs of a line each: a requester may have no more than 128 requests.
        env.ask(env.read(n % env.requesters, 4096 * (1 + n % 5) - 32, 64) for n in range(most // 2 + 10))
        await env.settled(lambda before=before: env.host.reads - before < most)
        await env.wires.cycles(200)
        assert env.host.reads - before == most, f"{env.host.reads - before} reads under way, not {most}"
        used |= {tlp.tag for _, tlp in env.sent(write=False)[-most:]}
        env.host.held = False
        assert set((await env.finish())[mark:]) == {Code.OK}
    assert used <= set(env.config.tag_range) and (most < tags or len(used) == tags)
    return most


@test
async def a_requester_has_at_most_128_requests_that_are_not_done(env: DmaEnv) -> None:
    await env.begin(replace(CONFIG, timeout_ns=1_000_000))
    env.host.held = True
    env.ask(env.read(0, 64 * (n % 300), 64) for n in range(140))
    await env.wires.cycles(800)
    assert len(env.cycles_of(Submitted, 0)) == 128
    await env.wires.cycles(100)
    env.ask([env.write(1, 0, 64)])
    await env.settled(lambda: len(env.cycles_of(Ended, 1)) == 0)
    env.host.held = False
    assert set(await env.finish()) == {Code.OK}


@test
async def a_kind_without_credits_waits_and_holds_up_no_other(env: DmaEnv) -> None:
    for kind in ("ph", "pd", "nph"):
        await env.begin()
        env.credits("ph", 4)
        env.credits("pd", 40)
        env.credits("nph", 4)
        env.host.stopped = {kind}
        reads = [env.read(n % 2, 64 * n, 64) for n in range(40)]
        writes = [env.write(n % 2, 64 * n, 64) for n in range(40)]
        env.ask(reads + writes)
        stuck = reads if kind == "nph" else writes
        free = writes if kind == "nph" else reads
        await env.settled(
            lambda free=free: sum(request.write == free[0].write for request, _ in env.scoreboard.codes) < 40
        )
        await env.wires.cycles(300)
        allowed = {"ph": 4, "pd": 10, "nph": 4}[kind]
        assert len(env.sent(write=stuck[0].write)) == allowed, kind
        seen_starved(kind)
        env.host.stopped = set()
        assert set(await env.finish()) == {Code.OK}


@test
async def credits_are_never_overdrawn_over_many_turns_of_the_counters(env: DmaEnv) -> None:
    """The counters of headers turn at 256, those of data at 4096."""
    for mps, ph, pd, nph in ((128, 1, 8, 1), (256, 3, 16, 2), (512, 128, 2048, 128), (4096, 2, 257, 7)):
        await env.begin(replace(CONFIG, mps=mps))
        for kind, initial in (("ph", ph), ("pd", pd), ("nph", nph)):
            env.credits(kind, initial, hold_ns=env.rng.choice((0, 40, 100)))
        requests = []
        for n in range(340 if mps == 128 else 60):
            size = env.rng.choice((1, 60, 64, 300, 700))
            requests += [
                env.read(n % 2, 100 * n % 16000, env.rng.choice((1, 64, 200))),
                env.write(n % 2, 0, size),
            ]
        await env.run(requests)
        if mps == 128:
            assert min(len(env.sent(write=True)), len(env.sent(write=False))) > 256
            assert sum(tlp.length for _, tlp in env.sent(write=True)) > 4 * 4096


@test
async def attributes_are_what_request_target_and_control_say(env: DmaEnv) -> None:
    attrs = set()
    for ro, ido, snoop in product(
        (False, True), (False, True), ((), (Target.HOST,), (Target.BAR,), (Target.HOST, Target.BAR))
    ):
        await env.begin(replace(CONFIG, ro_enable=ro, ido_enable=ido, no_snoop=frozenset(snoop)))
        requests = []
        for n, (kind, wants) in enumerate(product((SINK, DEVICE), (False, True))):
            requests += [
                env.write(n % 2, 64 * n, 30, kind, ro=wants, flush=n % 3 == 0),
                env.read(n % 2, 9000, 30, kind, ro=wants),
            ]
        await env.run(requests)
        attrs |= {int(tlp.attr) for _, tlp in env.sent()}
        for _, tlp in env.sent():
            assert not tlp.attr & Attr.RO or (ro and tlp.first_be), "RO on a flush, or where it isn't allowed"
    for attr in attrs:
        seen_attr(attr)
    assert attrs == set(range(8))


@test
async def a_timeout_is_seen_at_its_time_and_at_most_1024_cycles_later(env: DmaEnv) -> None:
    for timeout in (4000, 12_000):
        await env.begin(replace(CONFIG, timeout_ns=timeout))
        for n in range(4):
            env.lie(Lie.LOST, n)
        codes = await env.run(env.read(n % 2, 64 * n, 64) for n in range(4))
        assert codes == [Code.TIMEOUT] * 4
        left, done = [cycle for cycle, _ in env.sent()], env.cycles_of(Ended)
        for a, b in zip(left, done, strict=True):
            assert timeout // NS <= b - a <= timeout // NS + 1024 + 40, f"done {b - a} cycles after the TLP left"


@test
async def without_a_timeout_nothing_ends_by_itself_and_a_broken_tag_rests_until_reset(env: DmaEnv) -> None:
    await env.begin(replace(CONFIG, timeout_ns=0, tags=32))
    env.lie(Lie.BYTE_COUNT, 0)
    assert await env.run([env.read(0, 0, 64)]) == [Code.BAD_COUNT]
    broken = env.sent()[0][1].tag
    assert set((await env.run(env.read(n % 2, 64 * n, 64) for n in range(100)))[1:]) == {Code.OK}
    assert broken not in {tlp.tag for _, tlp in env.sent()[1:]}
    env.host.held = True
    env.ask([env.read(0, 0, 64)])
    await env.wires.cycles(6000)
    assert env.scoreboard.open == 1, "a read ended without an answer"
    env.host.held = False
    await env.finish()
    await env.begin(replace(CONFIG, timeout_ns=0, tags=32))
    await fill_tags(env, 32)


@test
async def what_is_removed_is_no_region_and_no_page_until_it_is_written_again(env: DmaEnv) -> None:
    await env.begin()
    key, tables = key_of(0, SOURCE), env.regions
    region = tables.regions[key & 0xFF]
    page = region.first + 1
    address = tables.pages[page]

    async def told() -> list[Code]:
        requests = [env.read(0, 0, 64), env.read(0, 4096, 64), env.read(1, 0, 64)]
        await env.run(requests)
        codes = {id(request): code for request, code in env.scoreboard.codes}
        return [codes[id(request)] for request in requests]

    assert await told() == [Code.OK] * 3
    del tables.pages[page]
    await env.control.command(REMOVE_PAGE, page)
    assert await told() == [Code.OK, Code.NO_PAGE, Code.OK]
    del tables.regions[key & 0xFF]
    await env.control.write(KEY, key)
    await env.control.command(REMOVE_REGION)
    assert await told() == [Code.NO_REGION, Code.NO_REGION, Code.OK]
    tables.regions[key & 0xFF] = region
    await env.control.write_region(region)
    assert await told() == [Code.OK, Code.NO_PAGE, Code.OK]
    tables.pages[page] = address
    await env.control.write_page(page, address)
    assert await told() == [Code.OK] * 3


@test
async def a_physical_requester_asks_for_bus_addresses_with_key_0_alone(env: DmaEnv) -> None:
    await env.begin(replace(CONFIG, physical=frozenset({1})))
    cases = [
        (Code.OK, env.read(1, 0, 5000, key=0, addr=0x4_1234_5678)),
        (Code.OK, env.write(1, 0, 5000, key=0, addr=0x5_1234_5677)),
        (Code.OK, env.read(1, 0, 8192, key=0, addr=(1 << 32) - 4096)),
        (Code.OK, env.write(1, 0, 70, key=0, addr=0x1234_5677, flush=True)),
        (Code.BOUNDS, env.read(1, 0, 64, key=0, addr=2**64 - 63)),
        (Code.BOUNDS, env.write(1, 0, 64, key=0, addr=2**64 - 63)),
        (Code.UNSUPPORTED, env.read(1, 0, 64, key=0, addr=2**64 - 64)),
        (Code.OK, env.read(1, 0, 64)),
        (Code.NO_REGION, env.read(0, 0, 64, key=0, addr=0x4_1234_5678)),
        (Code.NO_REGION, env.read(1, 0, 64, key=1, addr=0x4_1234_5678)),
        # A peer's key of 0 is no key: it would reach all of the host's memory.
        (Code.NO_REGION, env.read(1, 0, 64, key=0, addr=0x4_1234_5678, remote=True)),
        (Code.NO_REGION, env.write(1, 0, 64, key=0, addr=0x4_1234_5678, remote=True)),
    ]
    await env.run(request for _, request in cases)
    told = {id(request): code for request, code in env.scoreboard.codes}
    assert [told[id(request)] for _, request in cases] == [code for code, _ in cases]


@test
async def outside_of_a_bar_window_a_read_is_unsupported(env: DmaEnv) -> None:
    await env.begin(targets=(HOST, replace(BAR, size=4096)))
    requests = [env.read(0, 0, 64), env.read(1, 4096, 64, DEVICE), env.read(0, 64, 64)]
    assert sorted(await env.run(requests)) == [Code.OK, Code.OK, Code.UNSUPPORTED]


@test
async def every_pause_on_every_port(env: DmaEnv) -> None:
    for index, name in enumerate(PAUSES):
        for port in PORTS:
            env.pause(port, name)
        await env.begin(replace(CONFIG, mps=(128, 256, 512)[index % 3]), gap_ns=index * 10)
        requests = []
        for n in range(12):
            size = env.rng.choice((1, 16, 17, 64, 200, 900))
            requests += [
                env.read(n % 2, 77 * n, size),
                env.write(n % 2, 1000 * n, size, (SINK, DEVICE)[n % 2], flush=n % 3 == 0),
            ]
        await env.run(requests)
    for port in PORTS:
        env.pause(port, "none")
    for port, name in product(PORTS, ("random", "storm")):
        env.pause(port, name)
        await env.run(
            [env.read(n % 2, 50 * n, 400) for n in range(4)] + [env.write(n % 2, 4096 * n, 400) for n in range(4)]
        )
        env.pause(port, "none")


@test
async def a_reset_in_mid_traffic_leaves_nothing_behind(env: DmaEnv) -> None:
    seen = set()
    for delay in (2, 5, 9, 14, 20, 28, 40, 60, 75, 90, 110, 130, 160, 200):
        await env.begin(replace(CONFIG, tags=32))
        requests = []
        for n in range(10):
            requests += [env.read(n % 2, 0, 500), env.write(n % 2, 600 * n, 500, DEVICE, flush=True)]
        env.ask(requests)
        await env.wires.cycles(delay)
        kinds = {type(event) for event in env.scoreboard.log}
        seen |= {
            name
            for kind, name in ((Submitted, "asked"), (Sent, "sent"), (Gave, "giving"), (Ended, "done"))
            if kind in kinds
        }
        seen |= {"coming"} if env.wires.busy else set()
        await env.begin(replace(CONFIG, tags=32), reset_cycles=1 + delay % 3)
        assert set(await env.run([env.read(0, 5, 300), env.write(1, 6, 300, flush=True)])) == {Code.OK}
    await env.begin(replace(CONFIG, tags=32, timeout_ns=1_000_000))
    await fill_tags(env, 32)
    for name in seen:
        seen_reset(name)


@test
async def hosts_of_every_platform(env: DmaEnv) -> None:
    for name, profile in sorted(PROFILES.items()):
        base = profile.config()
        config = replace(CONFIG, mps=base.mps, mrrs=base.mrrs, rcb=base.rcb)
        await env.begin(config, layout(2, profile.region_page), (host_target(profile), BAR))
        requests = []
        for n in range(10):
            size = env.rng.randint(1, 2000)
            requests += [env.read(n % 2, 900 * n, size), env.write(n % 2, 2100 * n, size, (SINK, DEVICE)[n % 2])]
        assert set(await env.run(requests)) == {Code.OK}, name


@test
async def cycles_at_rest_are_those_of_the_page(env: DmaEnv) -> None:
    """docs/dma.md, Time: from handshake to the first cycle of ``valid``."""

    async def between(first: type[Event], then: type[Event], request: Request) -> int:
        before = len(env.scoreboard.log)
        assert await env.run([request]) and env.scoreboard.codes[-1][1] == Code.OK
        log = env.scoreboard.log[before:]
        begin = [event.ns for event in log if isinstance(event, first)][-1]
        return (next(event.ns for event in log if isinstance(event, then)) - begin) // NS

    got = {
        "read to TLP": await between(Submitted, Sent, env.read(0, 0, 64)),
        "read of 3 pages to TLP": await between(Submitted, Sent, env.read(0, 4000, 4300)),
        "write to TLP": await between(Submitted, Sent, env.write(0, 0, 64)),
        "write of 2 pages to TLP": await between(Submitted, Sent, env.write(0, 4032, 128)),
        "completion to data": await between(Came, Gave, env.read(0, 0, 16)),
        "data to done": await between(Gave, Ended, env.read(0, 0, 500)),
        "TLP to done": await between(Sent, Ended, env.write(0, 0, 700)),
    }
    assert list(got.values()) == [7, 9, 12, 13, 6, 1, 2], got
