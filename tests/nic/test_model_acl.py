"""The golden model of nic_port with rules in its ACL, and the check that holds a device against it.

Sweep:    both directions at once; rules with every action, alone and mixed; meters that run dry; receivers that never,
          sometimes and long pause; senders with gaps; small buffers and mirrors that overflow; resets; tunnels
Stimulus: frames of every kind; a port built cycle by cycle (tests/nic/port_cycles.py)
Checks:   the model against that port: no mismatch where it is right, and the right one for each way to be wrong
Timing:   first beats out in their exact cycle where no copy or redirected frame shares the output
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.acl import AclModel, Actions, Range, Rule, RuleSet
from models.acl_meter import MeterRates
from models.config import NicConfig
from models.frames import Batch, Edge, Outcome, bad_mark
from models.meta import Code, field_of, pack, unpack, word_of, words_of
from models.nic import Mismatch, NicPortModel, reference_code, reference_first_out, reference_held
from models.nic_lane import Lane
from models.nic_meters import Clock, time_after_reset
from models.parser import ParserModel
from tests.acl.frames import ethernet, ipv4, ipv6, tcp, udp, vxlan
from tests.acl.strategies import RULE_SETS
from tests.nic.port_cycles import receiver, run

SLOW = MeterRates(cir=200_000_000, pir=600_000_000, cbs=400, pbs=900, yellow_dscp=12)
FAST = MeterRates(cir=40_000_000_000, pir=80_000_000_000, cbs=20_000, pbs=40_000)


def frame_of(rng: random.Random, most: int = 300) -> bytes:
    """TCP or UDP over IPv4 or IPv6, or something else."""
    port = rng.randrange(1, 9)
    payload = bytes(rng.randrange(max(1, most - 60)))
    l4, protocol = (tcp(dst_port=port) + payload, 6) if rng.random() < 0.5 else (udp(payload, dst_port=port), 17)
    kind = rng.random()
    if kind < 0.6:
        return ethernet(ipv4(l4, protocol, tos=rng.randrange(256)), tci=5 if rng.random() < 0.2 else None)
    if kind < 0.9:
        return ethernet(ipv6(l4, protocol, tos=rng.randrange(256)), 0x86DD)
    return ethernet(bytes(rng.randrange(46, 100)), 0x0806)


def traffic(rng: random.Random, n: int, most: int = 300, edges: tuple[Edge, ...] = tuple(Edge)) -> Batch:
    return Batch.of(
        [frame_of(rng, most) for _ in range(n)],
        edge=[rng.choice(edges) for _ in range(n)],
        queue=[rng.randrange(8) for _ in range(n)],
        bad=[rng.choice([bad_mark(), bad_mark(40)]) if rng.random() < 0.1 else 0 for _ in range(n)],
    )


def ports(*numbers: int, **actions: Any) -> list[Rule]:
    return [Rule(dst_port=Range(number, number), actions=Actions(**actions)) for number in numbers]


PLAIN = RuleSet(
    (
        *ports(1, permit=False),
        *ports(2, queue=9, priority=5, protect=77),
        *ports(3, mark_dscp=33),
        *ports(4, queue=3, mark_dscp=1, priority=2),
        Rule(ethertype=0x0806, actions=Actions(permit=False)),
    )
)
METERED = RuleSet(
    (*ports(1, 2, meter=0, mark_dscp=5), *ports(3, meter=1), *ports(4, meter=0, queue=2), *ports(5, permit=False)),
    True,
    (SLOW, FAST),
)
MIRRORED = RuleSet(
    (*ports(1, permit=False, mirror=7), *ports(2, 3, mirror=200, mark_dscp=9, queue=1), *ports(4, meter=0, mirror=3)),
    True,
    (SLOW,),
)
TURNED = RuleSet((*ports(1, 2, redirect=0, queue=4), *ports(3, redirect=1), *ports(4, permit=False)))
ALL = RuleSet(
    (
        *ports(1, redirect=0, mirror=5, mark_dscp=8),
        *ports(2, meter=0, mirror=6, redirect=0),
        *ports(3, redirect=1, mirror=1),
        *ports(4, meter=1, mark_dscp=3),
        *ports(5, permit=False, mirror=2),
        Rule(ip=6, actions=Actions(queue=3, priority=7)),
    ),
    False,
    (SLOW, FAST),
)
SETS = {"plain": PLAIN, "metered": METERED, "mirrored": MIRRORED, "turned": TURNED, "all": ALL}


def configured(rx: RuleSet | None, tx: RuleSet | None = None) -> NicConfig:
    return NicConfig().with_port(0, acl_rx=rx, acl_tx=tx)


def told(mismatches: list[Mismatch]) -> str:
    return "\n".join(str(mismatch) for mismatch in mismatches[:5])


@pytest.mark.parametrize("name", list(SETS))
@pytest.mark.parametrize("kind", ["none", "random", "bursty", "stalled"])
@pytest.mark.parametrize("gap", [0.0, 0.3], ids=["dense", "gaps"])
def test_a_right_port_with_rules_is_found_right_under_any_back_pressure(
    seed: int, name: str, kind: str, gap: float
) -> None:
    rng = random.Random(f"{seed} {name} {kind} {gap}")
    batch = traffic(rng, 150)
    config = configured(SETS[name], SETS[name])
    outcome = run(batch, rng, receiver(kind, rng), gap=gap, config=config)
    found = NicPortModel(config).check(batch, outcome)
    assert not found, told(found)


@pytest.mark.parametrize("name", ["metered", "mirrored", "turned", "all"])
@pytest.mark.parametrize("kind", ["random", "stalled"])
@pytest.mark.parametrize(("depth", "slots", "mirror"), [(96, 256, (48, 64)), (2048, 16, (1024, 4))])
def test_a_right_port_with_rules_is_found_right_when_its_buffers_overflow(
    seed: int, monkeypatch: pytest.MonkeyPatch, name: str, kind: str, depth: int, slots: int, mirror: tuple[int, int]
) -> None:
    rng = random.Random(f"{seed} {name} {kind} {depth}")
    monkeypatch.setattr("models.nic_copies.MIRROR_BEATS", mirror[0])
    monkeypatch.setattr("models.nic_copies.MIRROR_FRAMES", mirror[1])
    batch, config = traffic(rng, 250), configured(SETS[name], SETS[name])
    pauses = {Edge.HOST: receiver(kind, rng), Edge.WIRE: receiver("random", rng)}
    outcome = run(batch, rng, pauses, gap=0.1, config=config, depth=depth, slots=slots, mirror=mirror)
    lost = sum(outcome.counters.get(f"acl_{way}.mirror_dropped", 0) for way in ("rx", "tx"))
    assert (lost > 0) == (name in ("mirrored", "all"))
    model = NicPortModel(config, rx_buffer_beats=depth, tx_buffer_beats=depth, buffer_frames=slots)
    found = model.check(batch, outcome)
    assert not found, told(found)


@pytest.mark.parametrize("name", list(SETS))
@pytest.mark.parametrize("kind", ["none", "random", "stalled"])
def test_frames_that_a_reset_meets_are_lost_with_their_copies_and_the_meters_begin_anew(
    seed: int, name: str, kind: str
) -> None:
    rng = random.Random(f"{seed} {name} {kind}")
    judged = 0
    for _ in range(3):
        batch, config = traffic(rng, 120), configured(SETS[name], SETS[name])
        resets = tuple(sorted(rng.sample(range(100, 700), 2)))
        outcome = run(batch, rng, receiver(kind, rng), gap=0.1, config=config, resets=resets)
        assert (outcome.code == Code.RESET).any()
        model = NicPortModel(config)
        found = model.check(batch, outcome)
        assert not found, told(found)
        judged += {1, 2} <= model.played(batch, outcome).clocks.keys()
    assert judged or kind == "stalled"


@pytest.mark.parametrize("gap", [0.0, 0.2], ids=["dense", "gaps"])
def test_tunnels_are_looked_up_twice_and_may_fill_the_queue_of_keys(seed: int, gap: float) -> None:
    rng = random.Random(f"{seed} {gap}")
    inner = ethernet(ipv4(udp(dst_port=9), 17))
    frames = [
        ethernet(ipv4(vxlan(inner if rng.random() < 0.5 else frame_of(rng, 80)), 17))
        if rng.random() < 0.9
        else frame_of(rng)
        for _ in range(300)
    ]
    rules = RuleSet(
        (
            Rule(inner=True, dst_port=Range(9, 9), actions=Actions(queue=7, meter=0, mark_dscp=9)),
            Rule(inner=True, ip=6, actions=Actions(permit=False)),
        ),
        meters=(FAST,),
    )
    config = configured(rules, rules)
    batch = Batch.of(frames, edge=[rng.choice(list(Edge)) for _ in frames])
    outcome = run(batch, rng, receiver("random", rng), gap=gap, config=config, tunnel=True)
    model = NicPortModel(config, tunnel=True)
    found = model.check(batch, outcome)
    assert not found, told(found)
    assert set(model.predict(batch).code.tolist()) == {Code.DELIVERED, Code.ACL_DENIED}


def test_a_queue_of_keys_that_was_full_leaves_a_range_and_no_colour_from_there_on(seed: int) -> None:
    rng = random.Random(seed)
    # Three beats a frame: they come in four cycles, and two lookups take eight.
    frame = ethernet(ipv4(vxlan(ethernet(b"", 0x0806)), 17))[:48]
    assert ParserModel(tunnel=True).parse(frame).meta_fields()["tunnel_kind"] == 0
    tunnel = ethernet(ipv4(vxlan(ethernet(bytes(4), 0x0806)), 17))
    rules = RuleSet((Rule(actions=Actions(meter=0)),), meters=(FAST,))
    config = configured(rules)
    batch = Batch.of([tunnel] * 300)
    outcome = run(batch, rng, receiver("none", rng), config=config, tunnel=True)
    model = NicPortModel(config, tunnel=True)
    found = model.check(batch, outcome)
    assert not found, told(found)
    play = model.played(batch, outcome)
    assert play.unsure[Edge.WIRE].any() and not play.unsure[Edge.WIRE][:60].any()
    assert play.guessed == {Edge.WIRE} and play.banks[Edge.WIRE] is None


# -- every way to be wrong ---------------------------------------------------------------------------------------------


def put_meta(outcome: Outcome, j: int, name: str, value: int) -> Outcome:
    meta = outcome.meta.copy()
    meta[j] = words_of([pack(unpack(word_of(outcome.meta[j])) | {name: value})])[0]
    return replace(outcome, meta=meta)


def put_out(outcome: Outcome, name: str, j: int, value: int) -> Outcome:
    array = getattr(outcome.frames, name).copy()
    array[j] = value
    return replace(outcome, frames=replace(outcome.frames, **{name: array}))


def put(outcome: Outcome, name: str, i: int, value: int) -> Outcome:
    array = getattr(outcome, name).copy()
    array[i] = value
    return replace(outcome, **{name: array})


def picked(outcome: Outcome, order: list[int]) -> Outcome:
    parts = {name: getattr(outcome, name)[order] for name in ("source", "user", "meta", "begun", "ended")}
    return replace(outcome, frames=outcome.frames.select(order), **parts)


def without(outcome: Outcome, j: int) -> Outcome:
    return picked(outcome, [k for k in range(len(outcome.source)) if k != j])


def copy_of(outcome: Outcome, i: int, copy: bool = True) -> int:
    """Which frame out is the copy of frame i, or the frame itself."""
    copies = field_of(outcome.meta, "acl_copy") != 0
    return int(np.flatnonzero((outcome.source == i) & (copies == copy))[0])


def byte_at(outcome: Outcome, j: int, at: int, flip: int) -> Outcome:
    data = outcome.frames.data.copy()
    data[outcome.frames.offset[j] + at] ^= flip
    return replace(outcome, frames=replace(outcome.frames, data=data))


def ended(outcome: Outcome, i: int, code: int) -> Outcome:
    """Frame i ends by that code instead of being delivered."""
    changed = put(without(outcome, copy_of(outcome, i, False)), "code", i, code)
    for name in ("first_out", "last_out", "latency_cycles"):
        changed = put(changed, name, i, -1)
    return changed


def counted(outcome: Outcome, name: str, by: int = 1) -> Outcome:
    return replace(outcome, counters=outcome.counters | {name: outcome.counters.get(name, 0) + by})


def twisted(outcome: Outcome, a: int, b: int) -> Outcome:
    order = list(range(len(outcome.source)))
    order[a], order[b] = order[b], order[a]
    return picked(outcome, order)


# One frame of each kind, by its destination port; each direction has all of them.
KINDS = RuleSet(
    (
        *ports(1, permit=False, mirror=7),
        *ports(2, mirror=200, mark_dscp=9, queue=1),
        *ports(3, redirect=0, queue=4, mark_dscp=5),
        *ports(4, redirect=1),
        *ports(5, meter=0),
        *ports(6, priority=5, protect=99),
        *ports(7, mirror=8),
    ),
    True,
    (MeterRates(1_000_000, 2_000_000, 100, 200, yellow_dscp=12),),
)
ORDER = [1, 2, 3, 4, 5, 5, 5, 6, 7, 8]
FIRST_TX = len(ORDER)

WRONG: dict[str, tuple[Callable[[Outcome], Outcome], int, str]] = {
    "a denied frame that came out": (lambda o: put(o, "code", 0, Code.DELIVERED), 0, "code"),
    "a permitted frame that was denied": (lambda o: ended(o, 1, Code.ACL_DENIED), 1, "code"),
    "a red frame that was delivered": (lambda o: put(o, "code", 6, Code.DELIVERED), 6, "code"),
    "a green frame that was policed": (lambda o: ended(o, 4, Code.ACL_POLICED), 4, "code"),
    "a frame to no port that was denied": (lambda o: put(o, "code", 3, Code.ACL_DENIED), 3, "code"),
    "an unmarked frame": (lambda o: byte_at(o, copy_of(o, 1, False), 15, 9 << 2), 1, "byte 15"),
    "a yellow frame that isn't marked": (lambda o: byte_at(o, copy_of(o, 5, False), 15, 12 << 2), 5, "byte 15"),
    "a checksum that didn't follow": (lambda o: byte_at(o, copy_of(o, 1, False), 25, 1), 1, "byte 25"),
    "a copy that is marked": (lambda o: byte_at(o, copy_of(o, 1), 15, 9 << 2), 1, "copy, byte 15"),
    "a copy for another queue": (lambda o: put_out(o, "queue", copy_of(o, 1), 3), 1, "queue of the copy out"),
    "a copy for another queue in the metadata": (
        lambda o: put_meta(o, copy_of(o, 1), "queue", 3),
        1,
        "copy, meta.queue",
    ),
    "a copy that has the frame's actions": (
        lambda o: put_meta(o, copy_of(o, 1), "acl_priority", 2),
        1,
        "copy, meta.acl_priority",
    ),
    "a copy with another rule": (lambda o: put_meta(o, copy_of(o, 0), "acl_rule", 9), 0, "copy, meta.acl_rule"),
    "a copy that is marked bad": (lambda o: put(o, "user", copy_of(o, 0), 1), 0, "copy, tuser"),
    "a copy that didn't come": (lambda o: without(o, copy_of(o, 0)), 0, "copy"),
    "a copy that came twice": (
        lambda o: picked(o, [*range(len(o.source)), copy_of(o, 0)]),
        0,
        "copies of it that came out",
    ),
    "a copy of a frame that isn't mirrored": (
        lambda o: put_meta(picked(o, [*range(len(o.source)), copy_of(o, 7, False)]), -1, "acl_copy", 1),
        7,
        "copies of it that came out",
    ),
    "copies in another order": (
        lambda o: twisted(o, copy_of(o, 0), copy_of(o, 1)),
        0,
        "order of the copies",
    ),
    "a redirected frame at the edge opposite": (
        lambda o: put_out(o, "edge", copy_of(o, 2, False), Edge.HOST),
        2,
        "edge out",
    ),
    "a frame that was redirected and shouldn't": (
        lambda o: put_out(o, "edge", copy_of(o, 7, False), Edge.WIRE),
        7,
        "edge out",
    ),
    "a redirected frame for another queue": (
        lambda o: put_out(o, "queue", copy_of(o, FIRST_TX + 2, False), 7),
        FIRST_TX + 2,
        "queue of the frame out",
    ),
    "a redirected frame whose direction is another": (
        lambda o: put_meta(o, copy_of(o, FIRST_TX + 2, False), "direction", 0),
        FIRST_TX + 2,
        "meta.direction",
    ),
    "a redirected frame that doesn't say so": (
        lambda o: put_meta(o, copy_of(o, FIRST_TX + 2, False), "acl_redirect", 0),
        FIRST_TX + 2,
        "meta.acl_redirect",
    ),
    "a disposition for the queue that came": (lambda o: put(o, "queue", 1, 0), 1, "queue"),
    "another rule in the metadata": (lambda o: put_meta(o, copy_of(o, 9, False), "acl_rule", 0), 9, "meta.acl_rule"),
    "another priority": (lambda o: put_meta(o, copy_of(o, 7, False), "acl_priority", 4), 7, "meta.acl_priority"),
    "no protection": (lambda o: put_meta(o, copy_of(o, 7, False), "acl_protect", 0), 7, "meta.acl_protect"),
    "another association": (lambda o: put_meta(o, copy_of(o, 7, False), "acl_sa", 98), 7, "meta.acl_sa"),
    "a time that is 1 ns late": (
        lambda o: put_meta(o, copy_of(o, FIRST_TX + 2, False), "timestamp",
                           int(field_of(o.meta, "timestamp")[copy_of(o, FIRST_TX + 2, False)]) + 1),
        FIRST_TX + 2,
        "meta.timestamp",
    ),
    "a device whose time is another": (lambda o: replace(o, now=o.now + (1 << 32)), 1, "meta.timestamp"),
    "a frame out that nobody sent": (lambda o: put(o, "source", copy_of(o, 9, False), -1), -1, "without a frame in"),
    "a copy that isn't counted": (lambda o: counted(o, "rx_frames_out", -1), -1, "counter rx_frames_out"),
    "a redirected frame that isn't counted": (lambda o: counted(o, "tx_frames_out", -1), -1, "counter tx_frames_out"),
    "a rule that counts twice": (lambda o: counted(o, "acl_rx.rule[1].frames"), -1, "counter acl_rx.rule[1].frames"),
    "a rule that counts the FCS": (lambda o: counted(o, "acl_tx.rule[1].bytes", 4), -1, "counter acl_tx.rule[1].bytes"),
    "a rule that isn't there": (lambda o: counted(o, "acl_rx.rule[77].frames"), -1, "counter acl_rx.rule[77].frames"),
    "a default action that counts": (lambda o: counted(o, "acl_rx.default.frames"), -1, "acl_rx.default.frames"),
    "a copy that is said to be lost": (lambda o: counted(o, "acl_rx.mirror_dropped"), -1, "acl_rx.mirror_dropped"),
    "a colour that isn't counted": (lambda o: counted(o, "acl_tx.metered_yellow", -1), -1, "acl_tx.metered_yellow"),
    **{
        f"{name} that counts": (lambda o, name=name: counted(o, f"acl_tx.{name}"), -1, f"counter acl_tx.{name}")
        for name in ("judged", "unjudged", "denied", "policed", "no_port", "mirrored", "redirected")
    },
}  # fmt: skip


def one_of_each() -> tuple[Batch, NicConfig]:
    frames = [ethernet(ipv4(tcp(dst_port=number) + bytes(26), 6)) for number in ORDER]
    batch = Batch.of(frames * 2, edge=[0] * len(ORDER) + [1] * len(ORDER), queue=2)
    return batch, configured(KINDS, KINDS)


@pytest.mark.parametrize("name", list(WRONG))
def test_a_device_that_is_wrong_about_its_rules_is_found_out(seed: int, name: str) -> None:
    batch, config = one_of_each()
    outcome = run(batch, random.Random(seed), receiver("none", random.Random(seed)), config=config)
    assert set(outcome.code.tolist()) == {Code.DELIVERED, Code.ACL_DENIED, Code.ACL_POLICED, Code.ACL_NO_PORT}
    model = NicPortModel(config)
    assert not model.check(batch, outcome)
    change, frame, what = WRONG[name]
    found = model.check(batch, change(outcome))
    hits = [mismatch for mismatch in found if mismatch.frame == frame and what in mismatch.what]
    assert hits, told(found)


@pytest.mark.parametrize("place", ["rx before", "rx after", "tx before", "tx after"])
@pytest.mark.parametrize("name", ["metered", "turned"])
def test_a_cycle_more_is_found_out_where_rules_are(seed: int, name: str, place: str) -> None:
    rng = random.Random(f"{seed} {place}")
    edges = (Edge.WIRE,) if place.startswith("rx") else (Edge.HOST,)
    batch, config = traffic(rng, 40, edges=edges), configured(SETS[name], SETS[name])
    outcome = run(batch, rng, receiver("none", rng), config=config, more={place: 1})
    found = NicPortModel(config).check(batch, outcome)
    assert {mismatch.what for mismatch in found} == {"first_out"}
    assert found[0].got == found[0].expected + 1


@pytest.mark.parametrize("edge", list(Edge), ids=["rx", "tx"])
@pytest.mark.parametrize("number", [3, 5, 6, 8], ids=["turned", "metered", "marked", "default"])
def test_a_frame_alone_takes_exactly_the_cycles_that_the_model_says(seed: int, edge: Edge, number: int) -> None:
    rng = random.Random(f"{seed} {edge} {number}")
    for size in (0, 26, 200, 1000):
        frame = ethernet(ipv4(tcp(dst_port=number) + bytes(size), 6))
        rules = replace(KINDS, meters=(FAST,))
        config = configured(rules, rules)
        outcome = run(Batch.of([frame], edge=edge), rng, receiver("none", rng), config=config)
        assert outcome.latency_cycles.tolist() == [NicPortModel(config).latency_cycles(edge, frame)]


def test_a_copy_lost_in_a_mirror_that_had_room_is_found_out(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    batch, config = traffic(rng, 200, edges=(Edge.WIRE,)), configured(MIRRORED)
    outcome = run(batch, rng, receiver("stalled", rng), config=config, mirror=(64, 64))
    assert outcome.counters["acl_rx.mirror_dropped"] > 10
    assert {mismatch.what for mismatch in NicPortModel(config).check(batch, outcome)} == {"copy"}
    monkeypatch.setattr("models.nic_copies.MIRROR_BEATS", 64)
    assert not NicPortModel(config).check(batch, outcome)


def mirror_of_all(edge: Edge, **actions: Any) -> NicConfig:
    rules = RuleSet((Rule(actions=Actions(mirror=3, **actions)),))
    return configured(rules) if edge == Edge.WIRE else configured(None, rules)


def copies_out(outcome: Outcome) -> Any:
    return np.flatnonzero(field_of(outcome.meta, "acl_copy") != 0)


@pytest.mark.parametrize("edge", list(Edge), ids=["rx denied", "tx"])
@pytest.mark.parametrize("size", [60, 400], ids=["frames", "beats"])
def test_copies_lost_where_nothing_else_comes_to_the_host_are_found_out(edge: Edge, size: int) -> None:
    config = mirror_of_all(edge, permit=edge == Edge.HOST)
    batch = Batch.of([bytes(size)] * 400, edge=edge)
    outcome = NicPortModel(config).play(batch)
    assert not NicPortModel(config).check(batch, outcome)
    kept = (
        np.flatnonzero(outcome.source < 70)
        if edge == Edge.WIRE
        else np.flatnonzero((outcome.source < 70) | (outcome.frames.edge == Edge.WIRE))
    )
    lost = len(outcome.source) - len(kept)
    assert lost == 330
    name = "acl_rx" if edge == Edge.WIRE else "acl_tx"
    wrong = counted(picked(outcome, kept.tolist()), f"{name}.mirror_dropped", lost)
    wrong = counted(counted(wrong, "rx_frames_out", -lost), "rx_bytes_out", -size * lost)
    found = NicPortModel(config).check(batch, wrong)
    assert [(mismatch.frame, mismatch.what) for mismatch in found] == [(i, "copy") for i in range(70, 400)]


def delayed(outcome: Outcome, frames: Any, copies: Any, cycles: int) -> Outcome:
    """Each frame out later than the one before it by so much more: frames themselves, copies, or both."""
    late = cycles * outcome.source
    copy = field_of(outcome.meta, "acl_copy") != 0
    out = np.where(copy, copies, frames) * late
    own = frames * cycles * np.arange(len(outcome))
    return replace(
        outcome,
        first_out=outcome.first_out + own,
        last_out=outcome.last_out + own,
        latency_cycles=outcome.latency_cycles + own,
        begun=outcome.begun + out,
        ended=outcome.ended + out,
        cycles=outcome.cycles + cycles * len(outcome),
    )


@pytest.mark.parametrize("edge", list(Edge), ids=["rx", "tx"])
def test_frames_and_copies_that_come_late_behind_copies_are_found_out(edge: Edge) -> None:
    config, batch = mirror_of_all(edge), Batch.of([bytes(60)] * 20, edge=edge)
    outcome = NicPortModel(config).play(batch)
    for frames, copies, what in ((1, 0, "first_out"), (0, 1, "first beat out of the copy")):
        found = NicPortModel(config).check_timing(batch, delayed(outcome, frames, copies, 1))
        late = [mismatch for mismatch in found if mismatch.got == mismatch.expected + mismatch.frame]
        assert {mismatch.what for mismatch in late} == {what}
        assert {mismatch.frame for mismatch in late} >= set(range(1, 4)), told(found)
        found = NicPortModel(config).check_timing(batch, delayed(outcome, frames, copies, 1000))
        assert len([mismatch for mismatch in found if mismatch.what == what]) == 19


@pytest.mark.parametrize("kind", ["none", "random", "bursty", "stalled"])
@pytest.mark.parametrize("by", [-1, 1], ids=["early", "late"])
def test_a_copy_a_cycle_off_is_found_out_under_any_back_pressure(seed: int, kind: str, by: int) -> None:
    rng = random.Random(f"{seed} {kind}")
    batch, config = traffic(rng, 60, edges=(Edge.WIRE,)), configured(MIRRORED)
    outcome = run(batch, rng, receiver(kind, rng), config=config)
    assert not NicPortModel(config).check(batch, outcome)
    for j in copies_out(outcome)[1:-1]:
        wrong = put(outcome, "begun", int(j), int(outcome.begun[j]) + by)
        source = int(outcome.source[j])
        assert source in {mismatch.frame for mismatch in NicPortModel(config).check_timing(batch, wrong)}


def test_a_copy_that_is_out_before_its_beats_can_be_is_found_out(seed: int) -> None:
    batch, config = one_of_each()
    outcome = run(batch, random.Random(seed), receiver("none", random.Random(seed)), config=config)
    j = copy_of(outcome, 1)
    wrong = put(outcome, "ended", j, int(outcome.begun[j]) + int(outcome.frames.beats[j]) - 2)
    assert "last beat out of the copy, at the earliest" in {m.what for m in NicPortModel(config).check(batch, wrong)}


def test_a_device_that_tells_no_cycles_of_its_copies_is_not_let_pass(seed: int) -> None:
    batch, config = one_of_each()
    outcome = NicPortModel(config).play(batch)
    silent = replace(outcome, begun=outcome.begun[:0], ended=outcome.ended[:0])
    assert [m.what for m in NicPortModel(config).check(batch, silent)] == ["cycles of the copies out"]


def test_a_redirected_frame_that_is_late_behind_nothing_is_found_out() -> None:
    config = configured(RuleSet((Rule(actions=Actions(redirect=0)),)))
    batch = Batch.of([bytes(60)] * 5)
    outcome = NicPortModel(config).play(batch)
    assert not NicPortModel(config).check(batch, outcome)
    late = replace(outcome, cycles=outcome.cycles + 80)
    for name in ("first_out", "last_out", "latency_cycles"):
        late = put(late, name, 4, int(getattr(outcome, name)[4]) + 80)
    found = NicPortModel(config).check_timing(batch, late)
    assert [(mismatch.frame, mismatch.what) for mismatch in found] == [(4, "first_out")]


@pytest.mark.parametrize("kind", ["random", "bursty", "stalled"])
def test_frames_that_end_in_a_full_transmit_buffer_hold_up_those_behind_them(seed: int, kind: str) -> None:
    rng = random.Random(f"{seed} {kind}")
    long = Rule(dst_port=Range(1, 1), actions=Actions(permit=False))
    denied, passed = (ethernet(ipv4(tcp(dst_port=port) + bytes(size), 6)) for port, size in ((1, 740), (2, 40)))
    frames = [passed] * 10 + ([denied] * 18 + [passed]) * 4
    config = configured(RuleSet((Rule(actions=Actions(redirect=0)),)), RuleSet((long,)))
    batch = Batch.of(frames + [passed] * 4, edge=[Edge.HOST] * len(frames) + [Edge.WIRE] * 4)
    outcome = run(batch, rng, receiver(kind, rng), config=config, depth=64)
    model = NicPortModel(config, rx_buffer_beats=64, tx_buffer_beats=64)
    found = model.check(batch, outcome)
    assert not found, told(found)


def test_a_long_frame_that_waited_for_a_slot_comes_in_only_then(seed: int) -> None:
    rng, config = random.Random(seed), configured(None, PLAIN)
    batch = Batch.of([bytes(60)] * 20 + [bytes(8000)], edge=Edge.HOST)
    outcome = run(batch, rng, receiver("stalled", rng), config=config, slots=16)
    found = NicPortModel(config, buffer_frames=16).check(batch, outcome)
    assert not found, told(found)


# -- meters from play to play ------------------------------------------------------------------------------------------


def two_plays() -> tuple[NicConfig, Batch, list[Outcome]]:
    """A bucket that is empty after the first play and has a part of a frame at the second."""
    rules = RuleSet((Rule(actions=Actions(meter=0)),), meters=(MeterRates(8_000_000, 8_000_000, 200, 200),))
    config = configured(rules)
    batch = Batch.of([bytes(100)] * 3)
    device = NicPortModel(config)
    return config, batch, [device.play(batch) for _ in range(3)]


def test_meters_go_from_play_to_play_once_each_is_committed() -> None:
    config, batch, plays = two_plays()
    assert [play.code.tolist() for play in plays] == [[1, 1, 49], [49, 49, 49], [49, 49, 49]]
    model, before = NicPortModel(config), {}
    for play in plays:
        for _ in range(2):
            assert not model.check(batch, play, before)
        model.commit(batch, play, before)
        model.commit(batch, play, before)
        assert not model.check(batch, play, before)
        before = play.counters
    skipped = NicPortModel(config)
    assert {mismatch.what for mismatch in skipped.check(batch, plays[1])} >= {"code"}


def test_a_model_that_missed_a_play_judges_no_colour_and_all_else() -> None:
    config, batch, plays = two_plays()
    model = NicPortModel(config)
    assert not model.check(batch, plays[2], plays[1].counters)
    wrong = put(plays[2], "code", 1, Code.ACL_DENIED)
    assert "code" in {mismatch.what for mismatch in model.check(batch, wrong, plays[1].counters)}
    counters = model.expected_counters(batch, plays[2], plays[1].counters)
    assert "acl_rx.metered_green" not in counters and counters["acl_rx.metered_red"] == 3


def test_a_colour_that_nobody_knows_is_what_the_device_made_of_it(seed: int) -> None:
    rng = random.Random(seed)
    batch, config = traffic(rng, 200), configured(METERED, METERED)
    outcome = replace(run(batch, rng, receiver("random", rng), config=config), now=-1)
    model = NicPortModel(config)
    assert not model.check(batch, outcome)
    play = model.played(batch, outcome)
    assert play.guessed == set(Edge)
    known = NicPortModel(config).played(batch, replace(outcome, now=777 << 32))
    for edge in Edge:
        for colour in ("green", "yellow", "red"):
            name = f"acl_{'rx' if edge == Edge.WIRE else 'tx'}.metered_{colour}"
            assert play.courses[edge].counts()[name].sum() == known.courses[edge].counts()[name].sum()
    for i in np.flatnonzero(outcome.code == Code.ACL_POLICED)[:1]:
        wrong = put(outcome, "code", int(i), Code.ACL_DENIED)
        assert "code" in {mismatch.what for mismatch in NicPortModel(config).check(batch, wrong)}


def test_a_time_that_goes_back_is_told_and_leaves_the_colours_unknown() -> None:
    config, batch, plays = two_plays()
    model = NicPortModel(config)
    model.commit(batch, plays[0])
    back = replace(plays[1], now=0)
    assert [m.what for m in model.check(batch, back, plays[0].counters)] == ["the port's time at the play's start"]
    assert model.played(batch, back, plays[0].counters).guessed == {Edge.WIRE}


@given(
    st.integers(0, 1 << 90), st.sampled_from([1, 1 << 30, 1 << 32, 4 << 32, (5 << 31) + 1, (1 << 40) - 1]), st.data()
)
def test_the_clock_is_exact_for_any_base_and_increment(base: int, increment: int, data: Any) -> None:
    cycles = data.draw(st.lists(st.integers(0, 1 << 31), max_size=5))
    expected = [(base + increment * cycle >> 32) % (1 << 64) for cycle in cycles]
    assert Clock(base, increment).stamps(np.array(cycles, np.int64)).tolist() == expected


@given(st.integers(0, 10**6), st.sampled_from([4 << 32, 1 << 32, 5 << 31, 1 << 31]), st.data())
def test_the_time_after_a_reset_follows_from_timestamps_if_they_leave_no_choice(
    zero: int, increment: int, data: Any
) -> None:
    cycles = [zero + passed for passed in data.draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=5))]
    stamps = [(cycle - zero) * increment >> 32 for cycle in cycles]
    base = time_after_reset(stamps, cycles, increment)
    assert base == -increment * zero if increment >= 1 << 32 else base in (None, -increment * zero)
    if len(cycles) > 1:
        assert time_after_reset([stamps[0] + 1000 * increment, *stamps[1:]], cycles, increment) in (None,)


# -- the model as a device ---------------------------------------------------------------------------------------------

MIXED = st.lists(st.tuples(st.integers(0, 2**32), st.sampled_from(list(Edge)), st.booleans()), min_size=1, max_size=25)


@settings(max_examples=40)
@given(MIXED, st.sampled_from(list(SETS)))
def test_a_play_of_the_model_is_found_right_and_again(rows: list[Any], name: str) -> None:
    batch = Batch.of(
        [frame_of(random.Random(seed)) for seed, _, _ in rows],
        edge=[edge for _, edge, _ in rows],
        bad=[int(bad and seed % 4 == 0) for seed, _, bad in rows],
        queue=[seed % 7 for seed, _, _ in rows],
    )
    config = configured(SETS[name], SETS[name])
    device, model = NicPortModel(config), NicPortModel(config)
    before: dict[str, int] = {}
    for _ in range(2):
        prediction = device.predict(batch)
        outcome = device.play(batch)
        assert prediction.code.tolist() == outcome.code.tolist()
        assert prediction.frames == outcome.frames
        found = model.check(batch, outcome, before)
        assert not found, told(found)
        assert not device.check(batch, outcome, before)
        model.commit(batch, outcome, before)
        before = outcome.counters


@settings(max_examples=60)
@given(MIXED, RULE_SETS, RULE_SETS)
def test_codes_in_bulk_are_the_scalar_ones_whatever_the_rules(rows: list[Any], rx: RuleSet, tx: RuleSet) -> None:
    batch = Batch.of([frame_of(random.Random(seed)) for seed, _, _ in rows], edge=[edge for _, edge, _ in rows])
    model = NicPortModel(configured(rx, tx))
    outcome = model.play(batch)
    alone = {Edge.WIRE: AclModel(rx), Edge.HOST: AclModel(tx)}
    for i, (data, (_, edge, _)) in enumerate(zip(batch, rows, strict=True)):
        now = 4 * (int(outcome.first_in[i]) + 1)
        code = reference_code(edge, data, 0, 3, 9596, 2048, acl=alone[edge], now_ns=now)
        assert outcome.code[i] == code


def test_without_metadata_a_copy_is_the_frame_too_many(seed: int) -> None:
    batch, config = one_of_each()
    outcome = NicPortModel(config).play(batch)
    lacks = without(outcome, copy_of(outcome, 0))
    blind, wrong = (replace(o, meta=o.meta[:0], user=o.user[:0]) for o in (outcome, lacks))
    assert not NicPortModel(config).check(batch, blind)
    assert "copy" in {mismatch.what for mismatch in NicPortModel(config).check(batch, wrong)}


# -- the vectorised forms against the scalar ones ----------------------------------------------------------------------

STEP = st.integers(0, 20)
LANE = st.lists(
    st.tuples(STEP, STEP, st.integers(1, 12), STEP, STEP, st.booleans(), st.integers(1, 8)), min_size=1, max_size=25
)


@given(LANE, st.sampled_from(list(Edge)), st.sets(st.integers(0, 400), max_size=2))
def test_first_beats_out_and_what_is_held_are_the_scalar_ones_with_rules(
    rows: list[Any], edge: Edge, resets: set[int]
) -> None:
    """(gap before, pauses inside, beats more, pause before out, pauses inside out, delivered, port) a frame."""
    rules = RuleSet((*ports(1, 2, meter=0), *ports(3, 4, redirect=0)), True, (FAST,))
    model = NicPortModel(configured(rules, rules))
    frames = [ethernet(ipv4(tcp(dst_port=row[6]) + bytes(16 * row[2]), 6)) for row in rows]
    batch = Batch.of(frames, edge=edge)
    beats = batch.beats.tolist()
    first, last, first_out, last_out = [], [], [], []
    now = out = 0
    for (gap, inside, _, wait, pauses, delivered, _), count in zip(rows, beats, strict=True):
        first.append(now + gap)
        last.append(now + gap + count - 1 + inside)
        now = last[-1] + 1
        begin = max(out + wait, last[-1])
        first_out.append(begin if delivered else -1)
        last_out.append(begin + count - 1 + pauses if delivered else -1)
        out = max(out, last_out[-1] + 1)
    turned = [row[6] in (3, 4) for row in rows]
    columns = {"first_in": first, "last_in": last, "first_out": first_out, "last_out": last_out}
    outcome = replace(
        model.play(batch),
        **{name: np.array(column, np.int64) for name, column in columns.items()},  # type: ignore[arg-type]
        code=np.where(np.array(last_out) >= 0, Code.DELIVERED, Code.BAD_FRAME).astype(np.uint8),
        resets=np.array(sorted(resets), np.int64),
    )
    lane = Lane.of(batch, outcome, model._courses(batch)[edge])
    latency = [ParserModel().parse(data).latency_cycles for data in batch]
    asked = [(1, row[6] in (1, 2)) for row in rows]
    # Of frames that nothing is before at the output.
    silent = [-1] * len(rows)
    expected = reference_first_out(edge, first, last, beats, latency, silent, sorted(resets), asked)
    got = list(zip(*(c.tolist() for c in lane.expected_first_out(np.zeros(len(rows), np.int64))), strict=True))
    for i, (left, right) in enumerate(zip(got, expected, strict=True)):
        more = (beats[i] + 8 - 7 if edge == Edge.WIRE else 5 - 5) if turned[i] else 0
        assert left == tuple(cycle + more for cycle in right)
    times = np.array(first_out, np.int64) + 7
    (least, few), (most, many) = ([part.tolist() for part in held(times)] for held in (lane.held_least, lane.held_most))
    sent = [i for i in range(len(rows)) if last_out[i] >= 0]
    for k in range(len(rows)):
        before = sum(i < k for i in sent)
        chosen = [[column[i] for i in sent] for column in (first_out, last_out, beats, turned)]
        assert (least[k], most[k], few[k], many[k]) == reference_held(int(times[k]), *chosen, before)
