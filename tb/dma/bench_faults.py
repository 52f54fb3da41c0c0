"""Bench of ``dma``: completions that lie, one at a time and many at once; throughput beside them."""

from __future__ import annotations

import os
from dataclasses import replace

import cocotb

from models.dma import Code, Ended, Request
from tb.dma.bench_dma import fill_tags
from tb.dma.completer import BAR, CODES, HOST, Lie
from tb.dma.env import CONFIG, DmaEnv, test
from tb.dma.layout import DEVICE, SINK
from tb.dma.wires import NS
from tb.lib import cover

__all__: list[str] = []

LONG = os.environ.get("NICLOOP_LONG") == "1"
RESTING = (Code.TIMEOUT, Code.BAD_COUNT, Code.BAD_ADDRESS, Code.SHORT)

PLACES = ("only", "first", "last")


def is_lie(lie: Lie, place: str) -> bool:
    """Not in every place is it one."""
    return (lie, place) not in ((Lie.EARLY_COUNT, "only"), (Lie.EARLY_COUNT, "last"), (Lie.ZERO_ADDRESS, "last"))


seen_lie_place = cover.point(
    "dma.lie_place", [f"{lie.name.lower()}*{place}" for lie in Lie for place in PLACES if is_lie(lie, place)]
)


async def lies_in(env: DmaEnv, place: str, rcb: int) -> None:
    """Every lie in one place, in the middle of right reads of both requesters; at the end all tags are free."""
    await env.begin(replace(CONFIG, rcb=rcb, timeout_ns=6000, tags=32), whole=place == "only")
    for lie in Lie:
        if not is_lie(lie, place):
            continue
        for _ in range(30):
            env.host.rules.clear()
            rule = env.lie(lie, env.host.reads, -1 if place == "last" else 0)
            victim = env.read(0, 0x44, 400)
            env.ask([victim])
            await env.settled(lambda before=rule.read: env.host.reads == before)
            beside = [env.read(n % 2, 0x44 + 64 * n, 333) for n in range(4)] + [env.write(1, 64, 99)]
            await env.run(beside)
            if rule.told:
                break
        assert rule.told, f"{lie} was never told"
        seen_lie_place(f"{lie.name.lower()}*{place}")
        codes = {id(request): code for request, code in env.scoreboard.codes}
        broken = place == "first" and lie in (Lie.LOST, Lie.LATE, Lie.WRONG_REQUESTER, Lie.DUPLICATE)
        want = (CODES[lie], Code.BAD_COUNT) if broken else (CODES[lie],)
        assert codes[id(victim)] in want, f"{lie} of the {place}: {codes[id(victim)].name}, not {CODES[lie].name}"
        assert all(codes[id(request)] == Code.OK for request in beside), f"{lie} harmed another request"
    await env.wires.cycles(2 * 6000 // NS + 1100)
    env.config = replace(env.config, timeout_ns=6000)
    await fill_tags(env, 32)


@test
async def a_lie_of_the_only_completion_has_its_code_and_harms_no_other_request(env: DmaEnv) -> None:
    await lies_in(env, "only", 64)


@test
async def a_lie_of_the_first_completion_has_its_code_and_harms_no_other_request(env: DmaEnv) -> None:
    await lies_in(env, "first", 64)


@test
async def a_lie_of_the_last_completion_has_its_code_and_harms_no_other_request(env: DmaEnv) -> None:
    await lies_in(env, "last", 128)


@test
async def a_tag_is_free_at_once_behind_a_status_and_rests_behind_what_is_broken(env: DmaEnv) -> None:
    for lie in (Lie.UR, Lie.CA, Lie.CRS, Lie.POISONED, Lie.BYTE_COUNT, Lie.SHORT):
        await env.begin(replace(CONFIG, tags=32, timeout_ns=24_000), whole=True)
        for n in range(32):
            env.lie(lie, n)
        codes = await env.run(env.read(n % 2, 64 * n, 64) for n in range(32))
        assert codes == [CODES[lie]] * 32
        before = env.wires.cycle
        await env.run(env.read(n % 2, 64 * n, 64) for n in range(32))
        took = env.wires.cycle - before
        rests = CODES[lie] in RESTING
        assert (took > 24_000 // NS - 1000) == rests, f"{lie}: 32 reads behind 32 faults took {took} cycles"


@test
async def a_completion_that_comes_behind_its_timeout_is_unexpected_and_taken_for_no_other_read(env: DmaEnv) -> None:
    await env.begin(replace(CONFIG, tags=32, timeout_ns=8000), whole=True)
    for n in range(20):
        env.lie(Lie.LATE, n)
    codes = await env.run(env.read(n % 2, 64 * n, 64) for n in range(100))
    assert codes.count(Code.TIMEOUT) == 20 and codes.count(Code.OK) == 80
    assert (await env.control.counters())["unexpected"] == 20


@test
async def a_fault_of_one_tlp_ends_a_long_read_once_and_the_next_is_whole(env: DmaEnv) -> None:
    for lie in (Lie.CA, Lie.POISONED, Lie.LOWER_ADDRESS, Lie.LOST):
        await env.begin(replace(CONFIG, timeout_ns=8000, mrrs=256), whole=True)
        env.lie(lie, 7)
        env.lie(Lie.UR, 9)
        codes = await env.run([env.read(0, 3, 5000), env.read(0, 5, 700)])
        assert codes[0] != Code.OK and codes[1] == Code.OK, (lie, codes)


async def storm(env: DmaEnv, count: int, rate: float) -> None:
    """Random requests of both requesters, many reads under way, each lie told of one completion in so many."""
    await env.begin(replace(CONFIG, timeout_ns=40_000), gap_ns=20, targets=(replace(HOST, read_ns=2000), BAR))
    slow = {Lie.LOST: rate / 4, Lie.LATE: rate / 4, Lie.WRONG_REQUESTER: rate / 4}
    env.host.rates = {lie: slow.get(lie, rate) for lie in Lie}
    rng = env.rng
    requests: list[Request] = []
    for n in range(count):
        size = rng.choice((0, 1, 64, 64, 64, 100, 500, 2000)) if n % 3 else 64
        # Long ones would still have completions to come when one of their TLPs times out.
        offset = rng.randrange(20_000)
        if rng.random() < 0.8:
            requests.append(env.read(n % 2, offset, size, ro=rng.random() < 0.5))
        else:
            kind = rng.choice((SINK, DEVICE))
            requests.append(env.write(n % 2, 8 * n % 20_000, min(size, 600), kind, flush=rng.random() < 0.5))
    await env.run(requests)
    most = env.host.most_open
    cocotb.log.info(f"at most {most} reads were under way")
    assert most >= 64, f"at most {most} reads were under way: this is no storm"
    env.host.rates = {}


@test
async def a_storm_of_requests_and_lies_ends_with_nothing_held(env: DmaEnv) -> None:
    await storm(env, 3000 if LONG else 350, 0.01)
    await env.wires.cycles(2 * 40_000 // NS + 1100)
    assert set((await env.run(env.read(n % 2, 64 * n, 300) for n in range(100)))[-100:]) == {Code.OK}


async def rate(env: DmaEnv, requests: list[Request], bytes_each: int) -> float:
    """Gb/s of requests that were all queued at once, between the 1st and the last quarter of their ends."""
    env.ask(requests)
    await env.finish()
    ends = sorted(env.cycles_of(Ended))
    low, high = len(ends) // 4, len(ends) * 3 // 4
    return (high - low) * bytes_each * 8 / ((ends[high] - ends[low]) * NS)


@test
async def reads_of_64_bytes_at_800_ns_reach_50_gbps_with_both_requesters(env: DmaEnv) -> None:
    for size, count in ((64, 600), (256, 240), (1024, 100), (4096, 40)):
        host = replace(HOST, read_ns=800, jitter_ns=0, write_ns=0)
        await env.begin(replace(CONFIG, mrrs=512), targets=(host, BAR), gap_ns=0, whole=True)
        got = await rate(env, [env.read(n % 2, size * n % 24576, size) for n in range(count)], size)
        cocotb.log.info(f"reads of {size} bytes: {got:.1f} Gb/s")
        assert got >= 50, f"reads of {size} bytes: {got:.1f} Gb/s"


@test
async def writes_of_both_requesters_reach_50_gbps(env: DmaEnv) -> None:
    for size, count in ((64, 600), (256, 240), (1024, 100), (4096, 40)):
        await env.begin()
        got = await rate(env, [env.write(n % 2, size * n % 24576, size) for n in range(count)], size)
        cocotb.log.info(f"writes of {size} bytes: {got:.1f} Gb/s")
        assert got >= 50, f"writes of {size} bytes: {got:.1f} Gb/s"
