"""The judge of what a bench has seen: one thing changed in a right play, and it says so with place and reason.

Sweep:    every kind of event left out, doubled, moved, or changed in one field
Stimulus: right plays of the machine with one request or several
Checks:   the reason that is given first, and the place that it names
Timing:   resting tags and timeouts in ns
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from models.dma import Came, Code, Config, Ended, Gave, Limits, Request, Sent, Submitted, check
from models.dma_tlp import Attr, Completion
from tests.dma.host import mapped, run
from tests.dma.test_model import BASES, CONFIGS, read, some_requests, write

CONFIG = Config(requesters=2, mps=128, mrrs=128, tags=32)
REGIONS = mapped(BASES)
PAGE = BASES[0] // 4096 * 4096 + 4096


def played(requests: list[Request], config: Config = CONFIG, seed: int = 1) -> list:
    return run(config, REGIONS, seed, requests).events


def said(events: list, config: Config = CONFIG) -> list[str]:
    return [f"{place}: {reason}" for place, reason in check(config, REGIONS, events)]


def at(events: list, kind: type, n: int = 0) -> int:
    return [i for i, event in enumerate(events) if isinstance(event, kind)][n]


def changed(events: list, index: int, **fields: object) -> list:
    """The same with other fields of one event, or of its TLP."""
    event = events[index]
    if isinstance(event, Sent):
        event = event._replace(tlp=replace(event.tlp, **fields))
    elif isinstance(event, Came):
        event = event._replace(completion=replace(event.completion, **fields))
    else:
        event = event._replace(**fields)
    return [*events[:index], event, *events[index + 1 :]]


def without(events: list, index: int) -> list:
    return events[:index] + events[index + 1 :]


@pytest.mark.parametrize("n", range(len(CONFIGS)))
def test_a_right_play_has_no_violation(n, seed):
    requests = some_requests(random.Random(seed + n), CONFIGS[n], 30)
    assert check(CONFIGS[n], REGIONS, played(requests, CONFIGS[n], seed)) == []


WRITE = [write(BASES[4] + 1, bytes(range(1, 131)))]
FIELDS = [
    ({"address": 0x1000}, "address 0x1000, not 0x"),
    ({"length": 31}, "length 0x1f, not 0x20"),
    ({"first_be": 0xF}, "first_be 0xf, not 0x"),
    ({"last_be": 0x7}, "last_be 0x7, not 0x"),
    ({"tag": 1}, "tag 0x1, not 0x0"),
    ({"requester_id": 1}, "requester_id 0x1, not 0x0"),
    ({"attr": Attr.RO}, "attr 0x2, not 0x0"),
    ({"tc": 1}, "tc 0x1, not 0x0"),
    ({"td": True}, "td 0x1, not 0x0"),
    ({"ep": True}, "ep 0x1, not 0x0"),
    ({"at": 1}, "at 0x1, not 0x0"),
]


@pytest.mark.parametrize(("fields", "reason"), FIELDS)
def test_each_wrong_field_of_a_write_is_named(fields, reason):
    events = played(WRITE)
    index = at(events, Sent)
    told = said(changed(events, index, **fields))
    assert told[0].startswith(f"event {index} at {events[index].ns} ns, sent: {reason}")
    assert len(told) == 1


@pytest.mark.parametrize("byte", [0, 1, 2, 3, 60, 127])
def test_each_wrong_byte_of_a_payload_is_named_and_masked_ones_are_0(byte):
    events = played(WRITE)
    index = at(events, Sent)
    data = bytearray(events[index].tlp.data)
    data[byte] ^= 0x80
    assert said(changed(events, index, data=bytes(data))) == [
        f"event {index} at {events[index].ns} ns, sent: payload differs from byte {byte} on"
    ]


READ = [read(PAGE + 1, 300)]


@pytest.mark.parametrize(
    ("fields", "reason"), [one for one in FIELDS if "tag" not in one[0]] + [({"tag": 32}, "tag 32, of 32 tags")]
)
def test_each_wrong_field_of_a_read_is_named(fields, reason):
    events = played(READ)
    assert reason in said(changed(events, at(events, Sent), **fields))[0]


def test_a_tag_in_use_is_named():
    events = played(READ)
    first, second = at(events, Sent), at(events, Sent, 1)
    if any(isinstance(event, Came) for event in events[first:second]):
        events.insert(first + 1, events.pop(second))
        second = first + 1
    told = said(changed(events, second, tag=events[first].tlp.tag))
    assert told[0].endswith(f"tag {events[first].tlp.tag} is in use")


def test_a_lost_and_a_doubled_tlp_are_named():
    events = played(WRITE)
    assert said(without(events, at(events, Sent))) == [
        f"event {at(events, Sent, 1) - 1} at {events[at(events, Sent, 1)].ns} ns, sent: {reason}"
        for reason in said_differences(events)
    ] + [
        f"event {at(events, Ended) - 1} at {events[at(events, Ended)].ns} ns, ended: request 0 isn't finished: "
        "1 of 2 TLPs have left"
    ]
    twice = [*events[: at(events, Ended)], events[at(events, Sent, 1)], *events[at(events, Ended) :]]
    assert "no write of 1 DWs at" in said(twice)[0] and "is to be sent now" in said(twice)[0]


def said_differences(events: list) -> list[str]:
    first, second = events[at(events, Sent)].tlp, events[at(events, Sent, 1)].tlp
    fields = ("address", "length", "first_be", "last_be")
    told = [
        f"{name} {getattr(second, name):#x}, not {getattr(first, name):#x}"
        for name in fields
        if getattr(first, name) != getattr(second, name)
    ]
    return [*told, "payload differs from byte 0 on"]


def test_tlps_of_one_kind_out_of_order_are_named():
    """Within a requester and a kind, order is kept; between kinds it is free."""
    for requests in (WRITE, READ):
        events = [event for event in played(requests) if isinstance(event, (Submitted, Limits, Sent))]
        swapped = [*events[:-2], events[-1], events[-2]]
        assert "address" in said(swapped)[0]
    events = played([read(PAGE, 4), write()])
    moved = [event for event in events if isinstance(event, (Limits, Submitted))]
    sent = [event for event in events if isinstance(event, Sent)]
    rest = [event for event in events if isinstance(event, (Came, Gave, Ended))]
    for order in (sent, sent[::-1]):
        assert said([*moved, *order, *rest]) == []


def test_data_given_before_they_came_or_wrong_or_cut_are_named():
    events = played([read(PAGE, 40)])
    came, gave = at(events, Came), at(events, Gave)
    early = [*events[:came], events[gave], *events[came:gave], *events[gave + 1 :]]
    assert "bytes 0 to 15 given, 0 have come" in said(early)[0]
    wrong = bytes([events[gave].data[0] ^ 1]) + events[gave].data[1:]
    assert "bytes 0 to 15 are" in said(changed(events, gave, data=wrong))[0]
    assert "15 bytes in the midst of a frame" in said(changed(events, gave, data=events[gave].data[:15]))[0]
    assert "tlast 1 at byte 16 of 40" in said(changed(events, gave, last=True))[0]
    assert "tlast 0 at byte 40 of 40" in said(changed(events, at(events, Gave, 2), last=False))[1]
    assert (
        "a bad end of a read without a fault"
        in said(changed(events, at(events, Gave, 2), data=b"\0", last=True, bad=True))[0]
    )
    assert "tuser[0] without tlast" in said(changed(events, gave, bad=True))[0]
    assert "bytes 0 to 15 are" in said(without(events, gave))[0]


def test_a_done_too_early_wrong_missing_or_twice_is_named():
    events = played([read(PAGE, 40)])
    end = at(events, Ended)
    last = at(events, Gave, 2)
    early = [*events[:last], events[end], *events[last:end], *events[end + 1 :]]
    assert "request 0 isn't finished: 32 of 40 bytes were given" in said(early)[0]
    for n, reason in ((at(events, Came), "1 reads are under way"), (at(events, Sent), "0 of 1 TLPs have left")):
        assert f"request 0 isn't finished: {reason}" in said([*events[:n], events[end], *events[n:end]])[0]
    assert said(changed(events, end, code=11)) == [f"event {end} at {events[end].ns} ns, ended: code 11, not 0 ok"]
    assert said(changed(events, end, id=7))[0].endswith("no request 7 of requester 0 is the next to be done")
    assert said(without(events, end)) == ["the end: request 0 of requester 0 isn't done: 40 of 40 bytes were given"]
    assert said([*events, events[end]])[0].endswith("no request 0 of requester 0 is the next to be done")


def test_credits_that_were_not_there_are_named():
    events = played(WRITE + READ)
    for name, value, reason in (
        ("ph", 1, "no posted header credit (2.6.1.2)"),
        ("pd", 8, "1 posted data credits aren't there (2.6.1.2)"),
        ("nph", 2, "no non-posted header credit (2.6.1.2)"),
    ):
        limits = Limits(0, {"ph": None, "pd": None, "nph": None, "npd": None} | {name: value})
        assert [one.split(": ")[1] for one in said([limits, *events[1:]])] == [reason]
        enough = limits._replace(limits=dict(limits.limits) | {name: value + 1})
        assert said([enough, *events[1:]]) == []


@pytest.mark.parametrize(
    ("limit", "reason"), [({"buffer": 128}, "lines of 2"), ({"cplh": 3}, "CPLH 3"), ({"cpld": 9}, "CPLD 9")]
)
def test_reads_without_room_for_what_they_bring_are_named(limit, reason):
    events = played([read(PAGE, 256)], replace(CONFIG, mrrs=256))
    sent = at(events, Sent)
    told = said(events, replace(CONFIG, mrrs=256, **limit))
    assert len(told) == 1 and told[0].startswith(f"event {sent} ") and reason in told[0]


def test_a_resting_tag_that_is_used_is_named():
    config = replace(CONFIG, timeout_ns=10_000)
    events: list = played([read(PAGE, 4)], config)
    first = replace(events[at(events, Sent)].tlp, tag=5)
    events = [
        events[0],
        Submitted(0, read(PAGE, 4)),
        Submitted(0, read(PAGE, 4, id=1)),
        Sent(100, 0, first),
        Gave(15_000, 0, b"\0", True, True),
        Ended(15_000, 0, 0, Code.TIMEOUT),
        Sent(20_099, 0, first),
    ]
    assert check(config, REGIONS, events, at_rest=False) == [
        ("event 6 at 20099 ns, sent", "tag 5 rests until 20100 ns")
    ]
    assert check(config, REGIONS, [*events[:6], Sent(20_100, 0, first)], at_rest=False) == []
    early = [*events[:3], Sent(100, 0, first), events[4]._replace(ns=10_099)]
    assert check(config, REGIONS, early, at_rest=False) == [
        ("event 4 at 10099 ns, gave", "a bad end of a read without a fault")
    ]


def test_a_fence_that_was_passed_is_named():
    events = played([read(PAGE, 4, id=0), write(id=1)])
    order = {Limits: 0, Submitted: 1}
    events = sorted(events, key=lambda event: order.get(type(event), 2))
    second = at(events, Submitted, 1)
    fenced = changed(events, second, request=write(id=1, fence=True))
    early = next(n for n, event in enumerate(events) if isinstance(event, Sent) and event.tlp.write)
    moved = fenced.pop(early)
    fenced.insert(at(fenced, Submitted, 1) + 1, moved)
    assert "is to be sent now" in said(fenced)[0]


def test_a_flush_that_is_missing_is_named():
    events = played([write(flush=True)])
    read_back = next(n for n, event in enumerate(events) if isinstance(event, Sent) and not event.tlp.write)
    assert "request 0 isn't finished: its flush hasn't left" in said(without(events, read_back))[-1]


def test_a_tlp_that_a_failed_read_had_not_sent_may_leave_or_not():
    """The fault of a completion may cross a read on its way out."""
    requests = [read(PAGE, 300, id=0), read(PAGE, 4, id=1)]
    events = [event for event in played([requests[0]]) if isinstance(event, (Limits, Submitted, Sent))]
    sent = [event for event in events if isinstance(event, Sent)]
    for n in range(3):
        sent[n] = sent[n]._replace(ns=100, tlp=replace(sent[n].tlp, tag=n))
    last = Sent(200, 0, replace(sent[0].tlp, length=1, last_be=0, tag=9))
    good = events[0], Submitted(0, requests[0]), Submitted(0, requests[1])
    failed = [Came(110, Completion(status=1, byte_count=300, lower_address=1, length=0, has_data=False, tag=0))]
    end = [Gave(210, 0, b"\0", True, True)]
    base = [*good, sent[0], *failed]
    assert check(CONFIG, REGIONS, [*base, last, *end], at_rest=False) == []
    assert check(CONFIG, REGIONS, [*base, sent[1], last, *end], at_rest=False) == []
    assert check(CONFIG, REGIONS, [*base, sent[1], sent[2], last, *end], at_rest=False) == []
    late = check(CONFIG, REGIONS, [*base, last, sent[1], *end], at_rest=False)
    assert len(late) == 1 and "is to be sent now" in late[0].reason


def test_a_tlp_over_the_hosts_mps_is_named():
    """aws-fpga#656: the device and the host took MPS from different places."""
    events = played([write(BASES[4], bytes(512))], replace(CONFIG, mps=256))
    assert "length 0x40, not 0x20" in said(events, replace(CONFIG, mps=128))[0]


def test_counters_that_differ_are_named():
    done = run(CONFIG, REGIONS, 1, WRITE + READ)
    model = done.model
    right = dict(model.counters)
    assert right["write_tlps"] == 2 and right["read_tlps"] == 3 and right["write_bytes"] == 130
    assert right["read_bytes"] == 300 and right["requests"] == right["done_ok"] == 2
    assert model.check_counters(right | {"unexpected": 0, "done_short": 0}) == []
    assert model.check_counters(right | {"write_bytes": 131}) == [("counter write_bytes", "131, not 130")]
    assert model.check_counters({"unexpected": 1}) == [("counter unexpected", "1, not 0")]
