"""What an endpoint refuses, how a queue pair fails and begins anew, and the faults that others had in the field.

Sweep:    guessed keys, queue pairs, PSNs and addresses; states; lengths and pads; retry limits
Stimulus: packets made by hand, work requests between two endpoints
Checks:   NAK or silence as volume 1 says, nothing written, statuses, counters
Timing:   none
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import pytest

from models.roce_link import Rule
from models.roce_memory import Region, Right, Sge
from models.roce_packet import Deth, Op, Packet, Reth, Service, ahead, opcode, operation
from models.roce_qp import Context, Drop, Receive, Send, State, Verb, timeout_of
from models.roce_requester import Requester
from models.roce_responder import Nak
from tests.roce.pairs import ALL, BASE, LOCAL, REMOTE, WAY, Pair

FIRST = 0xFFFFF0
"""PSN of a pair's first request."""


def write(pair: Pair, payload: bytes = b"guess", address: int = BASE, key: int = REMOTE, **more) -> Packet:
    """A WRITE only to queue pair ``b``."""
    what = {"opcode": int(Op.WRITE_ONLY), "qpn": pair.b.number, "psn": FIRST, "ack_request": True} | more
    return Packet(reth=Reth(address, key, len(payload)), payload=payload, **what)


def thrown(pair: Pair, packet: Packet, way=WAY) -> tuple[Drop | None, list[Packet]]:
    """A packet at end 1, and what is answered to it."""
    drop = pair.ends[1].receive(way, packet, 0)
    answers = [answer for _, answer in pair.ends[1].out]
    pair.ends[1].out.clear()
    return drop, answers


def untouched(pair: Pair) -> bool:
    return not any(region.writes for region in pair.ends[1].memory.regions.values())


def refused(pair: Pair, packet: Packet, code: Nak) -> None:
    """One NAK of the packet's PSN, nothing written, both queues flushed, silence from then on."""
    pair.receive(100, wr_id=7)
    drop, answers = thrown(pair, packet)
    assert drop == Drop.REFUSED and untouched(pair)
    assert [(answer.opcode, answer.psn, answer.aeth.syndrome) for answer in answers] == [
        (Op.ACK, packet.psn, 0x60 | code)
    ]
    assert pair.b.state == State.ERR and pair.statuses(1) == ["FLUSHED"]
    assert thrown(pair, write(pair)) == (Drop.STATE, [])
    assert untouched(pair)


def test_a_write_as_it_should_be_is_taken():
    """What the guesses below are next to."""
    pair = Pair()
    drop, answers = thrown(pair, write(pair))
    assert drop is None and answers[0].aeth.syndrome == 0x1F and answers[0].aeth.msn == 1
    assert pair.data(1, REMOTE)[:5] == b"guess"


@pytest.mark.parametrize("key", [REMOTE ^ 1, REMOTE ^ 1 << 31, REMOTE ^ 1 << 8, 0])
def test_a_wrong_rkey_is_refused(key):
    pair = Pair()
    refused(pair, write(pair, key=key), Nak.ACCESS)


@pytest.mark.parametrize("qpn", [0x23, 0x22 ^ 1 << 23, 0])
def test_a_wrong_queue_pair_is_met_with_silence(qpn):
    pair = Pair()
    assert thrown(pair, write(pair, qpn=qpn)) == (Drop.NO_QP, [])
    assert untouched(pair) and pair.b.state == State.RTS


def test_a_stale_psn_is_acknowledged_and_not_done():
    pair = Pair()
    thrown(pair, write(pair, b"first"))
    drop, answers = thrown(pair, write(pair, b"other"))
    assert drop == Drop.DUPLICATE and pair.data(1, REMOTE)[:5] == b"first"
    assert [(answer.psn, answer.aeth.syndrome, answer.aeth.msn) for answer in answers] == [(FIRST, 0x1F, 1)]
    drop, answers = thrown(pair, write(pair, b"older", psn=FIRST - 1000))
    assert drop == Drop.DUPLICATE and pair.data(1, REMOTE)[:5] == b"first"


def test_a_psn_ahead_is_naked_once_and_not_done():
    """9.7.5.2.8: one NAK an event, until the expected packet has come."""
    pair = Pair()
    for n in (1, 2, 300):
        drop, answers = thrown(pair, write(pair, psn=(FIRST + n) % (1 << 24)))
        assert drop == Drop.SEQUENCE and untouched(pair)
        assert [(answer.psn, answer.aeth.syndrome) for answer in answers] == ([(FIRST, 0x60)] if n == 1 else [])
    assert thrown(pair, write(pair))[0] is None
    assert len(thrown(pair, write(pair, psn=FIRST + 5))[1]) == 1


@pytest.mark.parametrize(
    ("address", "length"), [(BASE - 1, 5), (BASE + 65536 - 4, 5), (BASE + 65536, 1), (2**64 - 4, 5)]
)
def test_a_byte_out_of_bounds_is_refused(address, length):
    pair = Pair()
    refused(pair, write(pair, bytes(length), address), Nak.ACCESS)


def test_a_write_whose_first_packet_alone_is_within_bounds_is_refused():
    """The whole length counts with the first packet."""
    pair = Pair()
    first = write(pair, bytes(1024), BASE + 65536 - 1024, opcode=int(Op.WRITE_FIRST))
    refused(pair, replace(first, reth=Reth(BASE + 65536 - 1024, REMOTE, 1025)), Nak.ACCESS)


def test_a_write_to_a_region_that_may_only_be_read_is_refused():
    pair = Pair(rights=Right.REMOTE_READ | Right.LOCAL_READ | Right.LOCAL_WRITE)
    refused(pair, write(pair), Nak.ACCESS)


@pytest.mark.parametrize(
    ("verb", "missing"),
    [(Verb.READ, Right.REMOTE_READ), (Verb.WRITE, Right.REMOTE_WRITE), (Verb.FETCH_ADD, Right.REMOTE_ATOMIC)],
)
def test_each_verb_needs_its_own_right_and_the_requester_hears_of_it(verb, missing):
    for rights in (ALL, ALL & ~missing):
        pair = Pair(rights=rights)
        pair.post(Verb.WRITE, 0, wr_id=1)
        pair.post(verb, 8, wr_id=2)
        pair.post(Verb.WRITE, 0, wr_id=3)
        pair.link.run()
        good = rights == ALL
        assert pair.statuses(0) == (["SUCCESS"] * 3 if good else ["SUCCESS", "REMOTE_ACCESS", "FLUSHED"])
        assert (pair.a.state, pair.b.state) == ((State.RTS, State.RTS) if good else (State.ERR, State.ERR))


@pytest.mark.parametrize(
    ("change", "drop"),
    [
        ({"version": 1}, Drop.MALFORMED),
        ({"opcode": opcode(Service.UC, Op.WRITE_ONLY)}, Drop.OPCODE),
        ({"key": 0x8001}, Drop.P_KEY),
        ({"qpn": 0x24}, Drop.NO_QP),
    ],
)
def test_headers_that_are_not_the_queue_pairs_are_met_with_silence(change, drop):
    pair = Pair()
    assert thrown(pair, replace(write(pair), **change)) == (drop, [])
    assert untouched(pair) and pair.ends[1].counters[drop.name.lower()] == 1


def test_another_sender_is_met_with_silence():
    pair = Pair()
    assert thrown(pair, write(pair), replace(WAY, src=b"\xc0\0\2\3")) == (Drop.ADDRESS, [])
    assert thrown(pair, write(pair), replace(WAY, dst=b"\xc0\0\2\3")) == (Drop.ADDRESS, [])
    assert untouched(pair)


def test_a_limited_member_of_the_partition_is_heard_by_a_full_one_alone():
    """10.9.3: the low 15 bits are equal and one of the two is a full member."""
    pair = Pair(b_set={"p_key": 0xFFFF})
    assert thrown(pair, replace(write(pair), key=0x7FFF))[0] is None
    pair = Pair(b_set={"p_key": 0x7FFF})
    assert thrown(pair, replace(write(pair), key=0x7FFF))[0] == Drop.P_KEY


@pytest.mark.parametrize(
    ("op", "payload", "length"),
    [
        (Op.WRITE_FIRST, 1023, 4000),
        (Op.WRITE_FIRST, 1024, 1024),
        (Op.WRITE_ONLY, 1025, 1025),
        (Op.WRITE_ONLY, 5, 6),
        (Op.READ_REQUEST, 0, (1 << 31) + 1),
    ],
)
def test_lengths_that_contradict_are_an_invalid_request(op, payload, length):
    pair = Pair()
    packet = replace(write(pair, bytes(payload)), opcode=int(op), reth=Reth(BASE, REMOTE, length))
    refused(pair, packet, Nak.INVALID)


@pytest.mark.parametrize("op", [Op.SEND_MIDDLE, Op.SEND_LAST, Op.WRITE_MIDDLE, Op.WRITE_LAST])
def test_a_message_without_a_first_packet_is_an_invalid_request(op):
    pair = Pair()
    refused(pair, Packet(opcode=int(op), qpn=0x22, psn=FIRST, payload=bytes(1024)), Nak.INVALID)


def test_a_message_within_a_message_is_an_invalid_request_and_its_receive_says_so():
    pair = Pair()
    pair.receive(4000, wr_id=4)
    assert thrown(pair, Packet(opcode=int(Op.SEND_FIRST), qpn=0x22, psn=FIRST, payload=bytes(1024)))[0] is None
    drop, answers = thrown(pair, write(pair, psn=FIRST + 1))
    assert drop == Drop.REFUSED and answers[0].aeth.syndrome == 0x61
    assert [(entry.wr_id, entry.status.name) for entry in pair.done[1]] == [(4, "REMOTE_INVALID")]


def test_an_atomic_off_eight_bytes_is_an_invalid_request():
    pair = Pair()
    pair.post(Verb.FETCH_ADD, 8, address=BASE + 4)
    pair.link.run()
    assert pair.statuses(0) == ["REMOTE_INVALID"] and untouched(pair)


def test_a_send_that_is_too_long_for_its_receive_fails_both():
    pair = Pair()
    pair.receive(99)
    pair.post(Verb.SEND, 100)
    pair.link.run()
    assert pair.statuses(0) == ["REMOTE_INVALID"] and pair.statuses(1) == ["LOCAL_LENGTH"] and untouched(pair)


def test_a_receive_without_rights_is_an_operational_error_for_the_sender():
    pair = Pair()
    pair.b.post_receive(Receive(wr_id=1, pieces=[Sge(BASE, 100, 0x77)]))
    pair.post(Verb.SEND, 100)
    pair.link.run()
    assert pair.statuses(0) == ["REMOTE_OPERATION"] and pair.statuses(1) == ["LOCAL_PROTECTION"]


def test_a_send_without_rights_fails_behind_what_came_before_it():
    pair = Pair()
    pair.post(Verb.WRITE, 3000, wr_id=1)
    pair.a.post_send(Send(wr_id=2, verb=Verb.WRITE, pieces=[Sge(BASE, 10, 0x77)], address=BASE, key=REMOTE))
    pair.post(Verb.WRITE, 10, wr_id=3)
    pair.link.run()
    assert [(entry.wr_id, entry.status.name) for entry in pair.done[0]] == [
        (1, "SUCCESS"),
        (2, "LOCAL_PROTECTION"),
        (3, "FLUSHED"),
    ]


def test_states_go_where_volume_1_says_and_nowhere_else():
    """10.3.1, figure 124: for each state, which others software may set."""
    may = {
        State.RESET: {State.RESET, State.INIT, State.ERR},
        State.INIT: {State.RESET, State.INIT, State.RTR, State.ERR},
        State.RTR: {State.RESET, State.RTS, State.ERR},
        State.RTS: {State.RESET, State.RTS, State.SQD, State.ERR},
        State.SQD: {State.RESET, State.RTS, State.SQD, State.ERR},
        State.SQE: {State.RESET, State.RTS, State.ERR},
        State.ERR: {State.RESET, State.ERR},
    }
    for before, allowed in may.items():
        for after in State:
            pair = Pair()
            pair.b.state = before
            if after in allowed:
                pair.b.modify(after)
                assert pair.b.state == after
            else:
                with pytest.raises(ValueError, match=before.name):
                    pair.b.modify(after)


@pytest.mark.parametrize("state", [State.RESET, State.INIT, State.ERR])
def test_requests_are_met_with_silence_below_ready_to_receive(state):
    pair = Pair()
    pair.b.state = state
    assert thrown(pair, write(pair)) == (Drop.STATE, [])


def test_a_queue_pair_that_is_made_anew_knows_nothing_of_before():
    """RecoNIC#19: after a fatal error a queue pair must work again. No answer, PSN, counter or queue is left."""
    pair = Pair(rights=ALL & ~Right.REMOTE_WRITE)
    pair.post(Verb.READ, 4000, wr_id=1)
    pair.post(Verb.WRITE, 10, wr_id=2)
    pair.post(Verb.WRITE, 10, wr_id=3)
    pair.receive(10)
    pair.link.run()
    assert pair.statuses(0) == ["SUCCESS", "REMOTE_ACCESS", "FLUSHED"]
    for end, qp in enumerate((pair.a, pair.b)):
        qp.modify(State.RESET)
        fresh = pair.ends[end].create(0x77, [])
        assert {name: value for name, value in vars(qp).items() if name not in ("number", "completions")} == {
            name: value for name, value in vars(fresh).items() if name not in ("number", "completions")
        }
        assert qp.context == Context() and qp.state == State.RESET
    pair.connect(psn=5)
    pair.ends[1].memory.regions[REMOTE].rights = ALL
    pair.post(Verb.WRITE, 10, wr_id=4)
    pair.link.run()
    assert pair.statuses(0)[3:] == ["SUCCESS"]


def test_packets_of_a_former_queue_pair_are_not_taken_by_the_new_one():
    pair = Pair()
    pair.post(Verb.WRITE, 10)
    pair.link.run()
    pair.b.modify(State.RESET)
    pair.a.modify(State.RESET)
    pair.connect(psn=0x400000)
    pair.ends[1].memory.regions[REMOTE].writes.clear()
    assert thrown(pair, write(pair, psn=0xFFFFF1))[0] in (Drop.DUPLICATE, Drop.SEQUENCE)
    assert untouched(pair)


@pytest.mark.parametrize("limit", [0, 1, 6, 7])
def test_rnr_retries_end_after_their_number_and_never_with_seven(limit):
    """surf#1438, Simple-10GbE-RUDP#14: 7 was counted as a number."""
    pair = Pair(a_set={"rnr_retry": limit})
    pair.post(Verb.SEND, 100, wr_id=1)
    pair.post(Verb.SEND, 100, wr_id=2)
    pair.link.run(until=1_000_000)
    naks = sum(end == 1 for end, _ in pair.packets)
    if limit == 7:
        assert naks > 40
        pair.receive(100)
        pair.receive(100)
        pair.link.run()
        assert pair.statuses(0) == ["SUCCESS"] * 2
    else:
        assert naks == limit + 1
        assert [(entry.wr_id, entry.status.name) for entry in pair.done[0]] == [(1, "RNR_RETRIES"), (2, "FLUSHED")]


def test_a_lost_packet_and_rnr_in_turns_end_well():
    """surf#1430: RNR within a retry, and a retry within RNR."""
    pair = Pair()
    pair.link.rules = [
        Rule(lambda packet: operation(packet.opcode) == Op.SEND_MIDDLE, drop=True, skip=1, times=2),
        Rule(lambda packet: packet.aeth is not None and packet.aeth.syndrome >> 5 == 1, drop=True, times=1),
    ]
    for n in range(4):
        pair.post(Verb.SEND, 5000, n * 5000, wr_id=n)
    for n in range(4):
        pair.link.run(until=(n + 1) * 400_000)
        pair.receive(5000, n * 5000, wr_id=n)
    pair.link.run()
    assert pair.statuses(0) == pair.statuses(1) == ["SUCCESS"] * 4


@pytest.mark.parametrize("length", range(9))
def test_lengths_and_pads_are_delivered_exactly(length):
    """surf#1188: what the ICRC and the padding add is no data."""
    pair = Pair()
    pair.data(0, LOCAL)[:16] = b"\x5a" * 16
    pair.receive(16)
    pair.post(Verb.SEND, length)
    pair.link.run()
    assert pair.done[1][0].length == length
    assert pair.data(1, REMOTE)[:16] == b"\x5a" * length + bytes(16 - length)


@pytest.mark.parametrize("verb", [Verb.SEND, Verb.SEND_IMM, Verb.WRITE, Verb.WRITE_IMM, Verb.READ])
def test_a_message_without_bytes_takes_one_psn_and_no_key(verb):
    """rdma-core#246: it took none. 9.7.4.1.3: the key of nothing isn't looked at."""
    pair = Pair()
    pair.receive(0)
    pair.post(verb, 0, key=0xBAD, address=0)
    pair.post(Verb.WRITE, 1)
    pair.link.run()
    assert pair.statuses(0) == ["SUCCESS"] * 2
    assert [packet.psn for end, packet in pair.packets if end == 0] == [FIRST, FIRST + 1]


def test_writes_longer_than_eight_kib_go_on_after_a_loss():
    """Coyote#86, #120: writes of several path MTUs stopped at 8 KB once something was sent again."""
    pair = Pair(a_set={"mtu": 256}, b_set={"mtu": 256})
    pair.link.rules = [Rule(lambda packet: operation(packet.opcode) == Op.WRITE_MIDDLE, drop=True, skip=31, times=1)]
    pair.data(0, LOCAL)[:] = bytes(range(256)) * 256
    pair.post(Verb.WRITE, 40_000)
    pair.link.run()
    assert pair.statuses(0) == ["SUCCESS"] and pair.data(1, REMOTE)[:40_000] == pair.data(0, LOCAL)[:40_000]
    # the last packet of the message is its own, whatever was sent before it
    assert {len(packet.payload) for _, packet in pair.packets if packet.opcode == Op.WRITE_LAST} == {40_000 % 256}


def test_it_goes_on_after_an_ack_that_acknowledges_several():
    """RoCEv2-lite#2, #3: silent after the first ACK."""
    pair = Pair()
    pair.link.rules = [Rule(lambda packet: packet.opcode == Op.ACK, drop=True, times=9)]
    for n in range(10):
        pair.post(Verb.WRITE, 10, n * 10, wr_id=n)
    pair.link.run(until=8000)
    assert pair.statuses(0) == ["SUCCESS"] * 10
    pair.post(Verb.WRITE, 10, wr_id=11)
    pair.link.run()
    assert pair.statuses(0) == ["SUCCESS"] * 11


def test_an_answer_nobody_waits_for_changes_nothing():
    """fpga-network-stack#50: what an ACK says counts only for PSNs in flight."""
    pair = Pair()
    pair.post(Verb.WRITE, 10)
    taken = Requester(pair.ends[0].memory)
    _, packet = taken.send(pair.a, 0)
    ack = Packet(opcode=int(Op.ACK), qpn=0x11, psn=packet.psn, aeth=pair.ends[1].responder._ack(pair.b, 0).aeth)
    for psn in (packet.psn + 1, packet.psn - 1, packet.psn ^ 1 << 22):
        assert taken.take(pair.a, replace(ack, psn=psn % (1 << 24)), 0) == Drop.STALE
    assert not pair.done[0]
    assert taken.take(pair.a, ack, 0) is None and pair.statuses(0) == ["SUCCESS"]
    assert taken.take(pair.a, ack, 0) == Drop.STALE and len(pair.done[0]) == 1


def test_a_duplicate_atomic_is_told_the_stored_answer_and_others_nothing():
    pair = Pair(b_set={"reads_in": 2})
    pair.post(Verb.FETCH_ADD, 8, swap=1)
    _, first = Requester(pair.ends[0].memory).send(pair.a, 0)
    _, (answer,) = thrown(pair, first)
    assert thrown(pair, first) == (Drop.DUPLICATE, [answer]) and pair.data(1, REMOTE)[0] == 1
    other = replace(first, atomic=replace(first.atomic, swap=2))
    assert thrown(pair, other) == (Drop.DUPLICATE, [])
    for n in (1, 2):
        thrown(pair, replace(first, psn=FIRST + n))
    assert thrown(pair, first) == (Drop.DUPLICATE, []) and pair.data(1, REMOTE)[0] == 3


def test_a_duplicate_read_may_ask_for_a_part_of_the_first_alone():
    pair = Pair()
    pair.data(1, REMOTE)[:4096] = bytes(range(256)) * 16
    read = Packet(opcode=int(Op.READ_REQUEST), qpn=0x22, psn=FIRST, reth=Reth(BASE, REMOTE, 4000))
    assert len(thrown(pair, read)[1]) == 4
    part = replace(read, psn=FIRST + 2, reth=Reth(BASE + 2048, REMOTE, 1952))
    drop, answers = thrown(pair, part)
    assert drop == Drop.DUPLICATE
    assert [operation(answer.opcode) for answer in answers] == [Op.READ_FIRST, Op.READ_LAST]
    assert b"".join(answer.payload for answer in answers) == pair.data(1, REMOTE)[2048:4000]
    for reth in (Reth(BASE + 2048, REMOTE, 1953), Reth(BASE - 1, REMOTE, 10), Reth(BASE + 2048, LOCAL, 1952)):
        assert thrown(pair, replace(part, reth=reth)) == (Drop.DUPLICATE, [])


def test_no_more_reads_are_out_than_the_peer_keeps_and_a_fence_waits():
    pair = Pair(a_set={"reads_out": 2})
    most = 0
    asked, answered = 0, 0

    def look(end, packet):
        nonlocal most, asked, answered
        asked += end == 0 and packet.opcode == Op.READ_REQUEST
        answered += end == 1 and packet.opcode == Op.READ_ONLY
        most = max(most, asked - answered)
        if packet.opcode == Op.WRITE_ONLY:
            assert asked == answered == 5

    pair.link.seen = look
    for n in range(5):
        pair.post(Verb.READ, 100, n * 100, wr_id=n)
    pair.post(Verb.WRITE, 10, wr_id=9, fence=True)
    pair.link.run()
    assert most == 2 and pair.statuses(0) == ["SUCCESS"] * 6


@pytest.mark.parametrize("window", [1, 2, 7])
def test_never_more_psns_are_in_flight_than_the_window_and_it_does_not_stop(window):
    pair = Pair(a_set={"window": window, "ack_every": 100})
    flight = []
    pair.link.seen = lambda end, packet: end or flight.append(ahead(packet.psn, Requester.oldest(pair.a)) + 1)
    pair.post(Verb.WRITE, 20_000)
    pair.link.run()
    assert max(flight) == window and pair.statuses(0) == ["SUCCESS"]


def test_an_immediate_and_a_solicited_event_arrive_with_the_receive():
    pair = Pair()
    pair.receive(3000, wr_id=3)
    pair.receive(0, wr_id=4)
    pair.post(Verb.SEND_IMM, 3000, imm=0xDEADBEEF, solicited=True)
    pair.post(Verb.WRITE_IMM, 3000, 4096, imm=7)
    pair.link.run()
    first, second = pair.done[1]
    assert (first.wr_id, first.imm, first.length, first.solicited, first.source) == (3, 0xDEADBEEF, 3000, True, 0x11)
    assert (second.wr_id, second.imm, second.length, second.solicited) == (4, 7, 3000, False)


def test_an_invalidated_key_is_gone():
    pair = Pair()
    pair.ends[1].memory.regions[0x55] = Region(0x55, 0, bytearray(10), ALL)
    pair.receive(10)
    pair.post(Verb.SEND_INV, 10, imm=0x55)
    pair.post(Verb.WRITE, 1, address=0, key=0x55)
    pair.link.run()
    assert pair.statuses(0) == ["SUCCESS", "REMOTE_ACCESS"] and pair.done[1][0].invalidated == 0x55


def test_what_is_not_signaled_completes_with_an_error_alone():
    pair = Pair()
    pair.post(Verb.WRITE, 10, wr_id=1, signaled=False)
    pair.post(Verb.WRITE, 10, wr_id=2)
    pair.post(Verb.WRITE, 10, wr_id=3, key=1, signaled=False)
    pair.link.run()
    assert [(entry.wr_id, entry.status.name) for entry in pair.done[0]] == [(2, "SUCCESS"), (3, "REMOTE_ACCESS")]


def test_a_shared_receive_queue_serves_two_and_outlives_them():
    pair = Pair()
    shared: deque[Receive] = deque()
    pair.b = pair.ends[1].create(0x22, pair.done[1], shared)
    pair.a.modify(State.RESET)
    pair.connect()
    for n in range(3):
        pair.b.post_receive(Receive(wr_id=n, pieces=[Sge(BASE + n * 100, 100, REMOTE)]))
    pair.post(Verb.SEND, 100)
    pair.post(Verb.SEND, 100)
    pair.link.run()
    assert [entry.wr_id for entry in pair.done[1]] == [0, 1]
    pair.b.modify(State.ERR)
    pair.b.modify(State.RESET)
    assert [receive.wr_id for receive in shared] == [2] and len(pair.done[1]) == 2


def test_datagrams_arrive_behind_forty_bytes_or_not_at_all():
    """9.8.3; annex A17.4.5.1: an IPv4 header lies in the last 20 of them."""
    pair = Pair(service=Service.UD, b_set={"q_key": 0x1234})
    pair.data(0, LOCAL)[:100] = b"d" * 100
    what = {"route": WAY, "peer": 0x22, "q_key": 0x1234}
    pair.receive(200, wr_id=1)
    pair.post(Verb.SEND_IMM, 99, imm=5, **what)
    pair.post(Verb.SEND, 10, **what | {"q_key": 0x1235})
    pair.post(Verb.SEND, 10, **what)
    pair.link.run()
    assert pair.statuses(0) == ["SUCCESS"] * 3 and len(pair.done[1]) == 1
    entry = pair.done[1][0]
    assert (entry.wr_id, entry.length, entry.source, entry.imm) == (1, 139, 0x11, 5)
    data = pair.data(1, REMOTE)
    assert data[:20] == bytes(20) and data[20] == 0x45 and data[32:40] == WAY.src + WAY.dst
    assert data[40:140] == b"d" * 99 + b"\0"
    assert pair.ends[1].counters["q_key"] == pair.ends[1].counters["no_receive"] == 1


def test_a_datagram_longer_than_the_path_mtu_or_its_receive_goes_nowhere():
    pair = Pair(service=Service.UD)
    pair.receive(139)
    packet = Packet(opcode=opcode(Service.UD, Op.SEND_ONLY), qpn=0x22, psn=0, deth=Deth(0, 0x11), payload=bytes(100))
    assert thrown(pair, packet) == (Drop.LENGTH, [])
    assert thrown(pair, replace(packet, payload=bytes(99)))[0] is None
    pair.post(Verb.SEND, 1025, wr_id=1, route=WAY, peer=0x22)
    pair.post(Verb.SEND, 10, wr_id=2, route=WAY, peer=0x22)
    pair.link.run()
    assert pair.statuses(0) == ["LOCAL_LENGTH", "FLUSHED"] and pair.a.state == State.SQE
    pair.a.modify(State.RTS)
    pair.receive(139)
    pair.post(Verb.SEND, 10, wr_id=3, route=WAY, peer=0x22)
    pair.link.run()
    assert pair.statuses(0)[2:] == ["SUCCESS"]


def test_the_local_timeout_doubles_with_its_code():
    """9.7.6.1.3."""
    assert [timeout_of(code) for code in (0, 1, 14, 31)] == [None, 8192, 67_108_864, 4096 << 31]


@pytest.mark.parametrize("every", [1, 3, 64])
def test_an_ack_is_asked_for_every_so_many_packets_and_with_the_last(every):
    pair = Pair(a_set={"ack_every": every})
    pair.post(Verb.WRITE, 20 * 1024)
    pair.link.run()
    asks = [packet.ack_request for end, packet in pair.packets if end == 0]
    assert asks == [n % every == every - 1 or n == 19 for n in range(20)]


def test_reads_wait_for_the_window_too():
    pair = Pair(a_set={"window": 2})
    for n in range(4):
        pair.post(Verb.READ, 10, n * 10, wr_id=n)
    pair.link.run(until=1000)
    assert len(pair.packets) == 2
    pair.link.run()
    assert pair.statuses(0) == ["SUCCESS"] * 4


def test_an_rnr_nak_that_comes_twice_costs_one_retry():
    pair = Pair(a_set={"rnr_retry": 1}, b_set={"rnr_timer": 12})
    pair.link.rules = [Rule(lambda packet: packet.aeth is not None, duplicate=True)]
    pair.post(Verb.SEND, 10)
    pair.link.run(until=100_000)
    pair.receive(10)
    pair.link.run()
    assert pair.link.happened["duplicate"] == 2 and pair.statuses(0) == ["SUCCESS"]


def test_a_read_that_is_asked_again_replaces_its_answers_that_have_not_left():
    pair = Pair()
    read = Packet(opcode=int(Op.READ_REQUEST), qpn=0x22, psn=FIRST, reth=Reth(BASE, REMOTE, 4000))
    pair.ends[1].receive(WAY, read, 0)
    pair.ends[1].receive(WAY, write(pair, psn=FIRST + 4), 0)
    pair.ends[1].receive(WAY, replace(read, psn=FIRST + 2, reth=Reth(BASE + 2048, REMOTE, 1952)), 0)
    assert [(answer.psn - FIRST, operation(answer.opcode)) for _, answer in pair.ends[1].out] == [
        (0, Op.READ_FIRST),
        (1, Op.READ_MIDDLE),
        (4, Op.ACK),
        (2, Op.READ_FIRST),
        (3, Op.READ_LAST),
    ]
