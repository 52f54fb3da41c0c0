"""Interrupts: moderation, arming, MSI-X table and pending bits.

Sweep:    packets and microseconds; masks of vector and function, enable; arming before, in the midst and after
Stimulus: the parts alone, and whole rings behind a driver that sleeps until an interrupt comes
Checks:   PCI 3.0 6.8.2 and 6.8.3; each completion is announced once, and never none where one is left
Timing:   moderation in ns
"""

from __future__ import annotations

import random

import pytest

from models.rings import Config, Door
from models.rings_msix import Message, Moderation, Msix, Vector
from tests.rings.host import PHYSICAL, Host, queue_config
from tests.rings.test_model import frame_of


def armed(packets: int, usecs: int) -> Moderation:
    moderation = Moderation(packets, usecs)
    moderation.head(0, True, 0)
    return moderation


@pytest.mark.parametrize("packets", [1, 2, 7])
def test_it_fires_with_the_nth_completion_or_when_the_first_has_waited(packets):
    moderation = armed(packets, 50)
    for n in range(1, packets):
        moderation.completed(1, 1000 * n)
        assert not moderation.fires(1000 * n)
    if packets > 1:
        assert moderation.deadline_ns() == 51_000
        assert not moderation.fires(50_999)
    moderation.completed(1, 50_999)
    assert moderation.fires(50_999)
    slow = armed(0, 50)
    slow.completed(9, 1000)
    slow.completed(9, 50_000)
    assert not slow.fires(50_999)
    assert slow.fires(51_000)


def test_no_setting_keeps_an_interrupt_for_ever():
    for packets in (0, 1, 65535):
        for usecs in (0, 1, 65535):
            moderation = armed(packets, usecs)
            assert moderation.deadline_ns() is None
            moderation.completed(1, 0)
            assert moderation.fires(1000 * usecs)


def test_it_fires_once_until_it_is_armed_again():
    moderation = armed(0, 0)
    moderation.completed(1, 0)
    assert moderation.fires(0)
    moderation.completed(5, 10)
    assert not moderation.fires(10**9)
    moderation.head(5, False, 20)
    assert not moderation.fires(10**9)
    moderation.head(5, True, 30)
    assert moderation.fires(30)


def test_what_is_left_at_arming_counts_and_its_time_begins_then():
    moderation = armed(4, 10)
    moderation.completed(4, 0)
    assert moderation.fires(0)
    moderation.completed(1, 100)
    moderation.head(3, True, 5000)
    assert moderation.deadline_ns() == 15_000
    moderation.completed(1, 6000)
    assert moderation.fires(6000)


def table(n: int = 4) -> Msix:
    return Msix([Vector(0x1000 * v + 3, 100 + v, masked=False) for v in range(n)], enable=True)


def test_after_reset_every_vector_is_masked():
    assert [vector.masked for vector in Host(Config(), {}, 1).rings.msix.vectors] == [True] * 16


@pytest.mark.parametrize("by", ["vector", "function", "enable"])
def test_a_masked_message_is_pending_and_goes_out_when_it_is_unmasked(by):
    msix = table()

    def mask(on: bool) -> None:
        if by == "vector":
            msix.vectors[2].masked = on
        elif by == "function":
            msix.masked = on
        else:
            msix.enable = not on

    mask(True)
    msix.fire(5, 2)
    assert msix.pba() == 0b100
    assert list(msix.may_send()) == []
    mask(False)
    assert list(msix.may_send()) == [Message(2, 0x2000, 102)]
    msix.sent(2)
    assert msix.pba() == 0
    assert list(msix.may_send()) == []


def test_only_the_masked_vector_waits():
    msix = table()
    msix.vectors[1].masked = True
    msix.fire(0, 1)
    msix.fire(1, 3)
    assert msix.pba() == 0b1010
    assert [message.vector for message in msix.may_send()] == [3]


def test_pending_is_cleared_when_its_causes_are_served_and_not_before():
    """6.8.3.5: no stray message at unmasking; with two causes both must be served."""
    msix = table()
    msix.vectors[1].masked = True
    msix.fire(0, 1)
    msix.fire(3, 1)
    msix.served(0)
    assert msix.pba() == 0b10
    msix.served(3)
    assert msix.pba() == 0
    msix.vectors[1].masked = False
    assert list(msix.may_send()) == []


def test_a_message_has_address_and_data_as_they_are_when_it_is_sent_and_serves_all_causes():
    msix = table()
    msix.vectors[1].masked = True
    msix.fire(0, 1)
    msix.fire(2, 1)
    msix.vectors[1].address, msix.vectors[1].data, msix.vectors[1].masked = 0xFEE0_1004, 7, False
    assert list(msix.may_send()) == [Message(1, 0xFEE0_1004, 7)]
    msix.sent(1)
    assert msix.pba() == 0


def test_a_vector_beyond_the_table_never_fires():
    msix = table()
    msix.fire(0, 4)
    assert msix.pba() == 0


# ----------------------------------------------------------------------------------------------------- in whole rings


def host_of(seed: int, **fields: object) -> Host:
    host = Host(Config(), {0: queue_config(0, rx_size=6, cq_size=7, **fields)}, seed)
    host.post_rx(0, *[(0, PHYSICAL + 4096 * n, 2048) for n in range(60)])
    return host


@pytest.mark.parametrize(("packets", "most"), [(1, 24), (4, 6), (8, 3)])
def test_moderated_interrupts_are_few_and_every_frame_is_announced(packets, most, seed):
    rng = random.Random(seed)
    host = host_of(seed, packets=packets, usecs=1000)
    frames = [frame_of(rng, 60 + n) for n in range(24)]
    for frame in frames:
        host.receive(frame)
    host.run()
    assert host.driver[0].frames == frames
    assert 1 <= host.driver[0].interrupts <= most


def test_a_completion_between_the_last_look_and_arming_is_announced(seed):
    """corundum#229: entries in the CQ, nobody armed. The driver has looked, an entry comes, then it arms."""
    rng = random.Random(seed)
    host = host_of(seed)
    driver, frames = host.driver[0], [frame_of(rng, 60), frame_of(rng, 61)]
    arm, looked = host.arm, []

    def late(number: int) -> None:
        """The second frame comes, to its completion in memory, before the first arming."""
        if not looked:
            looked.append(True)
            host.receive(frames[1])
            host.run()
            assert len(driver.frames) == 1
        arm(number)

    host.arm = late  # type: ignore[method-assign]
    host.receive(frames[0])
    host.run()
    assert driver.frames == frames
    assert driver.interrupts == 2


def test_polling_a_masked_queue_leaves_no_stray_message(seed):
    rng = random.Random(seed)
    host = host_of(seed)
    host.rings.msix.vectors[0].masked = True
    host.receive(frame_of(rng, 60))
    host.run()
    assert host.rings.msix.pba() == 1
    assert host.reap(0) == 1
    assert host.rings.msix.pba() == 0
    host.rings.msix.vectors[0].masked = False
    host.run()
    assert host.messages == []
    host.arm(0)
    host.receive(frame_of(rng, 60))
    host.run()
    assert host.messages == [0]


def test_a_head_that_leaves_some_keeps_pending(seed):
    rng = random.Random(seed)
    host = host_of(seed)
    host.rings.msix.vectors[0].masked = True
    for _ in range(2):
        host.receive(frame_of(rng, 60))
    host.run()
    assert host.rings.doorbell(0, Door.CQ_HEAD, 1, host.ns) == []
    assert host.rings.msix.pba() == 1
    host.rings.msix.vectors[0].masked = False
    host.driver[0].cq_head = 1
    host.run()
    assert host.messages == [0]


def test_an_event_sends_its_vector_and_clearing_it_serves_it(seed):
    host = Host(Config(event_vector=7), {0: queue_config(0)}, seed)
    host.rings.doorbell(0, Door.RX_TAIL, 17, 0)
    assert host.rings.msix.pba() == 1 << 7
    assert host.rings.event == 1
    host.rings.clear_event(1)
    assert (host.rings.event, host.rings.msix.pba()) == (0, 0)
