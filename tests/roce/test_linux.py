"""Linux as the judge: the requester's half of its captures into our responder, the responder's half into our requester.

Sweep:    every RC flow of every capture, both ways
Stimulus: requests and answers of Linux's rxe, clean, with losses, with bad ICRCs, with RNR
Checks:   our answers and requests are Linux's, field for field, but for what docs/roce.md (Linux) leaves free
Timing:   none
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from models.roce import frame_of
from models.roce_packet import Op, Packet
from models.roce_qp import Drop, Status
from models.roce_requester import Requester
from models.roce_responder import NAK, RNR, UNLIMITED, Nak, Responder
from tests.roce.captured import CAPTURES, seen
from tests.roce.replayed import Flow, flows, is_request, receive, requester_of, responder_of

RC = sorted(path for path in CAPTURES.glob("roce_*.pcap") if not path.stem.startswith("roce_u"))
LOSSY = ("roce_rc_send_loss5", "roce_rc_write_loss5", "roce_rc_write_corrupt")
LARGE = ("roce_rc_pingpong_m256", "roce_rc_pingpong_m2048", "roce_rc_pingpong_m4096", "roce_rc_write_ce")


def answers_of(flow: Flow) -> tuple[list[Packet], set[Drop | None]]:
    """What our responder answers to the requests. A receive request is there unless Linux had none."""
    memory, qp = responder_of(flow)
    responder = Responder(memory)
    out: list[Packet] = []
    drops: set[Drop | None] = set()
    for n, one in enumerate(flow.packets):
        if not is_request(one):
            continue
        syndromes = (
            later.packet.aeth.syndrome
            for later in flow.packets[n : n + 400]
            if later.packet.opcode == Op.ACK and later.packet.psn == one.packet.psn
        )
        verdict = next((syndrome for syndrome in syndromes if syndrome != NAK | Nak.SEQUENCE), UNLIMITED)
        if verdict & 0xE0 == RNR:
            qp.receives.clear()
        else:
            qp.receives.append(receive(n))
        answers, drop = responder.take(qp, one.packet)
        out += answers
        drops.add(drop)
    return out, drops


def linux(flow: Flow) -> list[Packet]:
    """Linux's answers without the sequence NAKs that it sends behind an RNR NAK of the same PSN."""
    out: list[Packet] = []
    waiting = None
    for one in flow.answers:
        packet = one.packet
        if packet.opcode == Op.ACK:
            if packet.aeth.syndrome & 0xE0 == RNR:
                waiting = packet.psn
            elif packet.aeth.syndrome == NAK | Nak.SEQUENCE and packet.psn == waiting:
                continue
        out.append(packet)
    return out


def asked(flow: Flow) -> None:
    """Request for request and answer for answer in the capture's order; each work request completes once, in order."""
    memory, qp = requester_of(flow)
    requester = Requester(memory)
    wanted = len(qp.sends)
    sent: set[int] = set()
    again = False
    for one in flow.packets:
        again |= is_request(one) and one.packet.psn in sent
        if not is_request(one):
            assert requester.take(qp, one.packet, 0) in ((None, Drop.STALE) if again else (None,)), one.packet
        elif one.packet.psn not in sent:
            sent.add(one.packet.psn)
            found = requester.send(qp, 0)
            assert found is not None
            assert found[1] == one.packet
            assert frame_of(replace(found[0], identification=one.route.identification), found[1]) == one.frame
    assert [(entry.wr_id, entry.status) for entry in qp.completions] == [(n, Status.SUCCESS) for n in range(wanted)]


@pytest.mark.parametrize("path", RC, ids=lambda path: path.stem)
def test_our_responder_answers_as_linux_did(path):
    for flow in flows(seen(path)):
        ours, drops = answers_of(flow)
        assert drops <= {None, Drop.DUPLICATE}
        assert ours == linux(flow)


@pytest.mark.parametrize("path", RC, ids=lambda path: path.stem)
def test_our_requester_asks_as_linux_did_and_takes_its_answers(path):
    for flow in flows(seen(path)):
        asked(flow)


@pytest.mark.parametrize("name", LARGE)
def test_the_same_with_the_large_captures(material, name):
    for flow in flows(seen(material / f"10_peers/{name}.pcap")):
        ours, _ = answers_of(flow)
        assert ours == linux(flow)
        asked(flow)


@pytest.mark.parametrize("name", LOSSY)
def test_with_losses_all_that_linux_answered_is_ours_and_what_it_asked_again_too(material, name):
    """The captures hold what arrived: of the requests all, of the answers those that weren't lost behind."""
    for flow in flows(seen(material / f"10_peers/{name}.pcap")):
        ours, drops = answers_of(flow)
        theirs = linux(flow)
        assert drops == {None, Drop.DUPLICATE, Drop.SEQUENCE}
        assert not Counter(map(str, theirs)) - Counter(map(str, ours))
        said = set(map(str, theirs))
        assert sum(str(packet) not in said for packet in ours) < len(ours) / 10
        memory, qp = requester_of(flow)
        requester = Requester(memory)
        stream = {}
        while found := requester.send(qp, 0):
            stream[found[1].psn] = found[1]
        assert {str(one.packet) for one in flow.requests} <= set(map(str, stream.values()))
        assert all(stream[one.packet.psn] == one.packet for one in flow.requests)


def test_linuxs_rnr_naks_are_ours_with_its_timer(material):
    """Its sequence NAK behind each of them is not: one NAK an event (9.7.5.2.8)."""
    flow = next(flows(seen(material / "10_peers/roce_rc_send_rnr.pcap")))
    ours, drops = answers_of(flow)
    assert ours == linux(flow)
    assert drops == {None, Drop.SEQUENCE, Drop.NO_RECEIVE}
    assert sum(packet.aeth.syndrome == RNR | 12 for packet in ours) > 20
