"""The golden model of nic_port with rules in its ACL, and the check that holds a device against it.

Sweep:    both directions at once; rules with every action, alone and mixed; meters that run dry; receivers that never,
          sometimes and long pause; senders with gaps; small buffers and mirrors that overflow; resets; tunnels
Stimulus: frames of every kind; a port built cycle by cycle (tests/nic/port_cycles.py)
Checks:   the model against that port: no mismatch where it is right, and the right one for each way to be wrong
Timing:   first beats out in their exact cycle where no copy or redirected frame shares the output
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from models.acl import Actions, Masked, Rule, RuleSet
from models.acl_meter import MeterRates
from models.config import NicConfig
from models.frames import Batch, Edge, bad_mark
from models.nic import Mismatch, NicPortModel
from tests.acl.frames import ethernet, ipv4, ipv6, tcp, udp
from tests.nic.port_cycles import receiver, run

TCP, UDP = Masked(6, 0xFF), Masked(17, 0xFF)
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
    from models.acl import Range

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
