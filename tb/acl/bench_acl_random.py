"""Bench of the ACL's conditions: random rules of every kind at every place of a set, and frames at and beside the ends
of what each of them accepts."""

from __future__ import annotations

import os
from typing import Any

from models.acl import Actions, Rule, RuleSet, first_match, matches
from tb.acl.slot import IPV6, RULES, TUNNEL, Flight, SlotBench, acl_test
from tb.acl.traffic import CONDITIONS, KINDS, SPANS, Neighbour, fitting, kinds_of, neighbours, random_rule
from tb.lib import cover

__all__: list[str] = []

COUNT = int(os.environ["NICLOOP_SETS"])
"""Sets of rules."""

_inside = cover.point("acl.near.inside", SPANS)
_beside = cover.point("acl.near.beside", CONDITIONS)
_found = cover.cross("acl.found", ["first", "middle", "last", "none"], list(KINDS))


def _kind(fields: dict[str, int]) -> str:
    if TUNNEL and fields.get("tunnel_kind", 0):
        return "inner"
    return ("non_ip", "ipv4", "ipv6")[fields.get("l3_kind", 0)]


def _set(b: SlotBench, count: int, ported: float) -> list[Rule]:
    """Rules of all kinds, that share of them with a port of their own; some twice, further down."""
    rng = b.rng
    rules = []
    for number in range(count):
        kind = rng.choice(kinds_of(IPV6, TUNNEL))
        given: dict[str, Any] = {"actions": Actions(queue=rng.randrange(256), protect=number)}
        if rng.random() < ported:
            given["port"] = rng.randrange(256)
        rules.append(random_rule(rng, kind, IPV6, **given))
    # Rules that ask little stand at the end, or they would take everything.
    rules.sort(key=lambda rule: rule.port is None)
    return rules


def _at(b: SlotBench, rules: list[Rule], place: int, kind: str) -> dict[str, int]:
    """Put a rule at that place which is the first for some frame of that kind; returns the frame's fields."""
    while True:
        rules[place] = random_rule(b.rng, kind, IPV6, port=b.rng.randrange(256), actions=rules[place].actions)
        fields = fitting(b.rng, rules[place], IPV6)
        if _kind(fields) == kind and first_match(rules, fields) == place % len(rules):
            return fields


def _flight(b: SlotBench, near: Neighbour | None, fields: dict[str, int]) -> Flight:
    size = b.rng.choice((60, 61, 64, 80))
    flight = b.flight(b.rng.randbytes(size), fields if near is None else near.fields)
    return flight


@acl_test(40)
async def slot_finds_the_first_rule_for_frames_beside_every_edge(dut: Any) -> None:
    b = await SlotBench(dut, "edges").start()
    rng = b.rng
    for number in range(COUNT):
        whole, kinds = number % 2 == 1, kinds_of(IPV6, TUNNEL)
        rules = _set(b, 1 if number == 0 else (2, 24, 40, RULES)[number % 4], 1.0 if whole else 0.85)
        # Behind rules that ask little, the last is never the first for a frame.
        ends = [_at(b, rules, 0, kinds[number % len(kinds)])]
        if whole:
            ends.append(_at(b, rules, -1, kinds[number // 2 % len(kinds)]))
        await b.load(RuleSet(tuple(rules), rng.random() < 0.5))
        flights = [_flight(b, None, fields) for fields in ends]
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
                    (_inside if one.hit else _beside)(one.condition)
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
