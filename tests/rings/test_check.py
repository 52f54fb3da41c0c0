"""The judge of what a bench has seen: one thing changed in a right play, and it says so with its place.

Sweep:    every kind of event left out, doubled, or changed in one field
Stimulus: a right play: frames both ways through two queues, with interrupts
Checks:   the first violation is at that event or at the first that depends on it
Timing:   none
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from models.rings import Config
from models.rings_check import Asked, Disabled, Done, Enabled, Event, FrameIn, FrameOut, Gave, Judged, Rang, check
from models.rings_layout import TxDescriptor
from tests.rings.host import PHYSICAL, Host, queue_config
from tests.rings.test_model import frame_of


@pytest.fixture(scope="module")
def events() -> list[Event]:
    rng = random.Random(1)
    host = Host(Config(), {0: queue_config(0), 2: queue_config(2, ro=True)}, 1)
    for number in (0, 2):
        host.post_rx(number, *[(0, PHYSICAL + 4096 * n + (number << 16), 100) for n in range(8)])
        for n in range(3):
            address = PHYSICAL + 0x8000 + 4096 * n + (number << 16)
            host.post_tx(number, TxDescriptor(address=address, length=60, report=True), data=rng.randbytes(60))
            host.receive(frame_of(rng, 90 + 20 * n), acl_queued=1, queue=number)
    host.run()
    assert len(host.sent) == 6
    return host.seen


def at(events: list[Event], kind: type, n: int = 0) -> int:
    return [i for i, event in enumerate(events) if isinstance(event, kind)][n]


def first(events: list[Event]) -> int:
    """Which event is found wrong first; the end: behind the last."""
    place = check(Config(), events)[0].place
    return int(place.split()[1]) if place.startswith("event") else len(events)


def test_a_right_play_has_no_violation_and_a_queue_may_be_closed(events):
    assert check(Config(), events) == []
    assert check(Config(), [*events, Disabled(events[-1].ns, 0)]) == []


@pytest.mark.parametrize("kind", [Enabled, Rang, FrameIn, Judged, Asked, Gave, Done, FrameOut])
def test_an_event_left_out_is_missed(events, kind):
    index = at(events, kind)
    assert first(events[:index] + events[index + 1 :]) >= index


@pytest.mark.parametrize("kind", [FrameIn, Judged, Asked, Gave, Done, FrameOut])
def test_an_event_that_comes_twice_is_one_too_many(events, kind):
    index = at(events, kind, -1)
    assert first([*events[: index + 1], events[index], *events[index + 1 :]]) > index


@pytest.mark.parametrize("n", range(4))
def test_each_field_of_a_request_is_compared_where_it_was_asked(events, n):
    index = at(events, Asked, 5 * n)
    request = events[index].request
    for fields in (
        {"write": not request.write},
        {"addr": request.addr ^ 1 << 20},
        {"len": request.len + 1},
        {"id": request.id ^ 1},
        {"key": 7},
        {"flush": not request.flush},
        {"ro": not request.ro},
    ):
        changed = events[index]._replace(request=replace(request, **fields))
        assert first([*events[:index], changed, *events[index + 1 :]]) == index


def test_a_wrong_byte_code_or_queue_is_named_where_it_shows(events):
    for kind, fields in (
        (FrameOut, {"queue": 5}),
        (FrameOut, {"frame": bytes(60)}),
        (Judged, {"code": 116}),
        (Done, {"code": 1}),
        (Gave, {"data": b""}),
    ):
        index = next(i for i, e in enumerate(events) if type(e) is kind and not (kind is Done and e.id & 0x80))
        assert first([*events[:index], events[index]._replace(**fields), *events[index + 1 :]]) == index


def test_a_completion_before_the_data_writes_are_done_is_named(seed):
    """A frame in two buffers: its completion is moved in front of each ``done``, and of each write."""
    host = Host(Config(), {0: queue_config(0)}, seed)
    host.post_rx(0, (0, PHYSICAL, 64), (0, PHYSICAL + 4096, 64))
    host.receive(frame_of(random.Random(seed), 100))
    host.run()
    seen = host.seen
    entry = next(i for i, e in enumerate(seen) if isinstance(e, Asked) and e.request.addr == queue_config(0).cq_base)
    writes = [i for i, e in enumerate(seen[:entry]) if isinstance(e, Asked) and e.request.write]
    ids = {seen[i].request.id for i in writes}
    done = [i for i, e in enumerate(seen) if isinstance(e, Done) and e.id in ids]
    assert (len(writes), len(done)) == (2, 2)
    for place in (*writes, *done):
        assert first([*seen[:place], seen[entry], *seen[place:entry], *seen[entry + 1 :]]) == place
