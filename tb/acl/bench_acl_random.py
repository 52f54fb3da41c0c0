"""Bench of the ACL's conditions: random rules of every kind at every place of a set, and frames at and beside the ends
of what each of them accepts."""

from __future__ import annotations

import os
from typing import Any

from models.acl import Actions, Rule, RuleSet, first_match, matches
from tb.acl.slot import IPV6, RULES, TUNNEL, Flight, SlotBench, acl_test
from tb.acl.traffic import CONDITIONS, KINDS, Neighbour, fitting, kinds_of, neighbours, random_rule
from tb.lib import cover

__all__: list[str] = []

COUNT = int(os.environ["NICLOOP_SETS"])
"""Sets of rules."""

_near = cover.cross("acl.near", CONDITIONS, ["hit", "miss"])
_found = cover.cross("acl.found", ["first", "middle", "last", "none"], list(KINDS))


def _kind(fields: dict[str, int]) -> str:
    if TUNNEL and fields.get("tunnel_kind", 0):
        return "inner"
    return ("non_ip", "ipv4", "ipv6")[fields.get("l3_kind", 0)]


def _set(b: SlotBench, count: int) -> list[Rule]:
    """Rules of all kinds, most of them with a port of their own; some twice, further down."""
    rng = b.rng
    rules = []
    for number in range(count):
        kind = rng.choice(kinds_of(IPV6, TUNNEL))
        given: dict[str, Any] = {"actions": Actions(queue=rng.randrange(256), protect=number)}
        if rng.random() < 0.85:
            given["port"] = rng.randrange(256)
        rules.append(random_rule(rng, kind, IPV6, **given))
    # Rules that ask little stand at the end, or they would take everything.
    rules.sort(key=lambda rule: rule.port is None)
    return rules


def _flight(b: SlotBench, near: Neighbour | None, fields: dict[str, int]) -> Flight:
    size = b.rng.choice((60, 61, 64, 80))
    flight = b.flight(b.rng.randbytes(size), fields if near is None else near.fields)
    return flight


@acl_test(40)
async def slot_finds_the_first_rule_for_frames_beside_every_edge(dut: Any) -> None:
    b = await SlotBench(dut, "edges").start()
    rng = b.rng
    for number in range(COUNT):
        rules = _set(b, RULES if number == COUNT - 1 else rng.choice((1, 2, 24, 40)))
        await b.load(RuleSet(tuple(rules), rng.random() < 0.5))
        flights: list[Flight] = []
        chosen = [rules[0], rules[-1], *rng.sample(rules, min(len(rules), 40))]
        for rule in chosen:
            fields = fitting(rng, rule, IPV6)
            flights.append(_flight(b, None, fields))
            near = list(neighbours(rng, rule, fields))
            for one in rng.sample(near, min(len(near), 10)):
                if TUNNEL or not rule.inner:
                    flight = _flight(b, one, fields)
                    assert matches(rule, flight.fields) == one.hit, f"{one} of {rule}"
                    flights.append(flight)
                    _near(one.condition, "hit" if one.hit else "miss")
        rng.shuffle(flights)
        # In the order in which they go, time rises.
        flights = [b.flight(flight.sent.data, flight.fields) for flight in flights]
        for flight in flights:
            rule_number = first_match(rules, flight.fields)
            place = "none" if rule_number is None else "middle"
            if rule_number in (0, len(rules) - 1):
                place = "first" if rule_number == 0 else "last"
            _found(place, _kind(flight.fields))
        await b.play(flights, f"set {number} of {len(rules)} rules")
        await b.quiet()
        await b.check_counters()
