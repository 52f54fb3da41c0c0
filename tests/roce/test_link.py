"""Two endpoints back to back over a path that loses, repeats, reorders, damages, delays and marks.

Sweep:    every verb, 0 bytes to 1 MiB, every path MTU, IPv4 and IPv6, PSNs that wrap, 10 % of losses
Stimulus: random work from a seed, chances and rules of the path
Checks:   every byte once and in order, every work request completes once and in order, the path's own counts
Timing:   the model's time: RNR waits and timeouts by their tables
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from models.roce_link import Chances, Link, Rule
from models.roce_packet import Op, operation
from models.roce_qp import MTUS, RNR_TIMES, Verb
from tests.roce.pairs import LOCAL, REMOTE, WAY, WAY6, Pair

LOSS = Chances(drop=0.1)
ROUGH = Chances(drop=0.05, duplicate=0.05, reorder=0.05, corrupt=0.03, mark=0.2, delay=0.03)
SIZES = (0, 1, 3, 255, 256, 257, 1023, 4096, 4097, 10_000)


def worked(pair: Pair, rng: random.Random, sizes: list[int]) -> None:
    """All verbs of these sizes in a random order, each in a place of its own; then all of it is looked at."""
    verbs = [(verb, size) for verb in Verb for size in sizes if verb < Verb.COMPARE_SWAP] + [
        (verb, 8) for verb in (Verb.COMPARE_SWAP, Verb.FETCH_ADD) for _ in range(3)
    ]
    rng.shuffle(verbs)
    for end in (0, 1):
        for key in (LOCAL, REMOTE):
            pair.data(end, key)[:] = rng.randbytes(pair.size)
    invalidated = 0x9900
    before = [{key: bytes(pair.data(end, key)) for key in (LOCAL, REMOTE)} for end in (0, 1)]
    expected = {key: bytearray(before[1][key]) for key in (LOCAL, REMOTE)}
    local = bytearray(before[0][LOCAL])
    received, at = [], 0
    for n, (verb, size) in enumerate(verbs):
        more = {"wr_id": n}
        source = before[0][LOCAL][at : at + size]
        if verb in (Verb.SEND, Verb.SEND_IMM, Verb.SEND_INV, Verb.WRITE_IMM):
            if verb == Verb.SEND_INV:
                invalidated += 1
                pair.ends[1].memory.regions[invalidated] = pair.ends[1].memory.regions[LOCAL]
            more["imm"] = invalidated if verb == Verb.SEND_INV else n << 8
            received.append((n, size, None if verb in (Verb.SEND, Verb.SEND_INV) else n << 8))
            pair.receive(size if verb != Verb.WRITE_IMM else 0, at, n)
        if verb == Verb.READ:
            local[at : at + size] = before[1][REMOTE][at : at + size]
        elif verb in (Verb.COMPARE_SWAP, Verb.FETCH_ADD):
            at += -at % 8
            old = before[1][REMOTE][at : at + 8]
            local[at : at + 8] = old
            more["swap"] = rng.getrandbits(64)
            more["compare"] = int.from_bytes(old, "little") ^ (n & 1)
            new = more["swap"] if not n & 1 else int.from_bytes(old, "little")
            if verb == Verb.FETCH_ADD:
                new = (int.from_bytes(old, "little") + more["swap"]) % (1 << 64)
            expected[REMOTE][at : at + 8] = new.to_bytes(8, "little")
        else:
            expected[REMOTE][at : at + size] = source
        pair.post(verb, size, at, **more)
        at += size
    assert at <= pair.size
    pair.link.run()
    assert [(entry.wr_id, entry.status.name) for entry in pair.done[0]] == [(n, "SUCCESS") for n in range(len(verbs))]
    assert [(entry.wr_id, entry.length, entry.imm) for entry in pair.done[1]] == received
    assert pair.data(1, REMOTE) == expected[REMOTE]
    assert pair.data(0, LOCAL) == local
    assert pair.data(1, LOCAL) == expected[LOCAL] and pair.data(0, REMOTE) == before[0][REMOTE]
    assert not set(pair.ends[1].memory.regions) - {LOCAL, REMOTE}
    # every byte once: what was written is as much as was sent
    region = pair.ends[1].memory.regions[REMOTE]
    spans = Counter(address for address, _ in region.writes)
    assert set(spans.values()) <= {1}
    assert not pair.a.jobs and not pair.a.sends and pair.a.deadline is None


@pytest.mark.parametrize("chances", [Chances(), LOSS, ROUGH], ids=["clean", "loss", "rough"])
@pytest.mark.parametrize("mtu", MTUS)
def test_all_verbs_and_sizes_arrive_once_and_in_order(mtu, chances, seed):
    rng = random.Random(f"{seed}{mtu}")
    pair = Pair(
        size=1 << 18,
        way=rng.choice((WAY, WAY6)),
        a_set={"mtu": mtu, "window": 32, "ack_every": 8},
        b_set={"mtu": mtu},
        chances=chances,
        seed=rng.getrandbits(32),
    )
    worked(pair, rng, list(SIZES))
    if chances is ROUGH:
        assert {"drop", "duplicate", "reorder", "corrupt", "mark", "bad"} <= set(pair.link.happened)


def large(pair: Pair, length: int, rng: random.Random) -> None:
    """SEND, WRITE and READ of one length, one behind the other."""
    for verb in (Verb.WRITE, Verb.READ, Verb.SEND):
        data = rng.randbytes(length)
        pair.data(1 if verb == Verb.READ else 0, REMOTE if verb == Verb.READ else LOCAL)[:length] = data
        pair.receive(length)
        pair.post(verb, length)
        pair.link.run()
        assert pair.done[0][-1].status.name == "SUCCESS" and pair.done[0][-1].length == length
        assert pair.data(0 if verb == Verb.READ else 1, LOCAL if verb == Verb.READ else REMOTE)[:length] == data
    assert len(pair.done[0]) == 3 and len(pair.done[1]) == 1


def large_pair(mtu: int, seed: int) -> Pair:
    asks = {"mtu": mtu, "window": 64, "ack_every": 16, "timeout": 8}
    return Pair(size=1 << 20, a_set=asks, b_set={"mtu": mtu}, chances=LOSS, seed=seed)


def test_a_mebibyte_arrives_whole_over_a_path_that_loses_a_tenth(seed):
    large(large_pair(4096, seed), 1 << 20, random.Random(seed))


@pytest.mark.regress
@pytest.mark.parametrize("mtu", MTUS)
def test_lengths_up_to_a_mebibyte_arrive_whole_at_each_path_mtu(mtu, seed):
    for length in (1 << 16, (1 << 18) - 1, (1 << 20) - 3, 1 << 20):
        large(large_pair(mtu, seed), length, random.Random(seed))


@pytest.mark.regress
@pytest.mark.parametrize("mtu", MTUS)
def test_many_seeds_of_rough_paths_lose_nothing(mtu, seed):
    for n in range(60):
        rng = random.Random(f"{seed}{mtu}{n}")
        window = rng.choice((1, 2, 32, 256))
        asks = {"mtu": mtu, "window": window, "ack_every": rng.choice((1, 8, 64)), "reads_out": rng.randint(1, 4)}
        chances = rng.choice((LOSS, ROUGH))
        pair = Pair(size=1 << 18, a_set=asks, b_set={"mtu": mtu}, chances=chances, seed=rng.getrandbits(32))
        worked(pair, rng, [0, 1, mtu - 1, mtu, mtu + 1, 9000])


LOST = {
    "first request": lambda packet: operation(packet.opcode) == Op.WRITE_FIRST,
    "middle request": lambda packet: operation(packet.opcode) == Op.WRITE_MIDDLE,
    "last request": lambda packet: operation(packet.opcode) == Op.WRITE_LAST,
    "READ request": lambda packet: operation(packet.opcode) == Op.READ_REQUEST,
    "READ first": lambda packet: operation(packet.opcode) == Op.READ_FIRST,
    "READ middle": lambda packet: operation(packet.opcode) == Op.READ_MIDDLE,
    "READ last": lambda packet: operation(packet.opcode) == Op.READ_LAST,
    "ACK": lambda packet: operation(packet.opcode) == Op.ACK,
    "NAK": lambda packet: packet.aeth is not None and packet.aeth.syndrome == 0x60,
    "atomic": lambda packet: operation(packet.opcode) == Op.FETCH_ADD,
    "atomic ACK": lambda packet: operation(packet.opcode) == Op.ATOMIC_ACK,
}


@pytest.mark.parametrize("lost", LOST)
def test_each_kind_of_packet_may_be_lost_up_to_three_times(lost):
    """An atomic is done once whatever is lost; a READ that is asked again begins with first where it begins."""
    pair = Pair()
    pair.link.rules = [Rule(LOST[lost], drop=True, times=3)]
    if lost == "NAK":
        pair.link.rules.append(Rule(LOST["middle request"], drop=True, times=3))
    data = bytes(range(256)) * 16
    pair.data(0, LOCAL)[:4000] = data[:4000]
    pair.data(1, REMOTE)[8192:12288] = data
    pair.post(Verb.WRITE, 4000)
    pair.post(Verb.READ, 4096, 8192)
    pair.post(Verb.FETCH_ADD, 8, 16384, swap=5)
    pair.link.run()
    # what follows the last packet of a READ, or an ACK, says the same, so they aren't sent again
    assert pair.link.happened["drop"] == {"READ last": 1, "ACK": 1, "NAK": 4}.get(lost, 3)
    assert pair.statuses(0) == ["SUCCESS"] * 3
    assert pair.data(1, REMOTE)[:4000] == data[:4000] and pair.data(0, LOCAL)[8192:12288] == data
    assert pair.data(1, REMOTE)[16384] == 5
    for verb in (Op.READ_FIRST, Op.READ_ONLY):
        begins = {packet.psn for end, packet in pair.packets if end == 1 and operation(packet.opcode) == verb}
        asked = {packet.psn for end, packet in pair.packets if operation(packet.opcode) == Op.READ_REQUEST}
        assert begins <= asked


def test_a_marked_packet_arrives_marked_with_its_icrc_good_and_a_damaged_one_does_not():
    pair = Pair(chances=Chances(mark=1))
    ecn = []
    receive = pair.ends[1].receive
    pair.ends[1].receive = lambda route, packet, now: ecn.append(route.ecn) or receive(route, packet, now)
    pair.post(Verb.WRITE, 100)
    pair.link.run()
    assert ecn == [3] and pair.statuses(0) == ["SUCCESS"]
    pair.link.rules = [Rule(lambda packet: packet.opcode == Op.WRITE_ONLY, corrupt=True, times=2)]
    pair.post(Verb.WRITE, 100)
    pair.link.run()
    assert pair.link.happened["bad"] == 2 and pair.statuses(0) == ["SUCCESS"] * 2


@pytest.mark.parametrize("code", [1, 12, 13])
def test_rnr_waits_are_those_of_the_table(code):
    """Table 45; the second SEND behind the first waits with it and isn't answered."""
    pair = Pair(b_set={"rnr_timer": code})
    pair.post(Verb.SEND, 100)
    pair.post(Verb.SEND, 100)
    sent = []
    pair.link.seen = lambda end, packet: sent.append((pair.link.now, end, packet))
    pair.link.run(until=5000)
    pair.receive(100)
    pair.receive(100)
    pair.link.run()
    rnr = [(now, packet) for now, end, packet in sent if end == 1 and packet.aeth.syndrome == 0x20 | code]
    assert len(rnr) == 1
    again = next(now for now, end, packet in sent if end == 0 and now > rnr[0][0])
    assert again - rnr[0][0] == pair.link.latency + RNR_TIMES[code] * 1000
    assert [packet.aeth.syndrome for _, end, packet in sent if end == 1] == [0x20 | code, 0x1F, 0x1F]
    assert pair.statuses(0) == pair.statuses(1) == ["SUCCESS"] * 2


def test_both_sides_ask_at_once(seed):
    pair = Pair(chances=ROUGH, seed=seed)
    for n in range(20):
        pair.post(Verb.WRITE, 1500, n * 1500, wr_id=n)
        pair.post(Verb.READ, 1500, n * 1500, wr_id=n, qp=pair.b, to=30_000 + n * 1500)
    pair.data(0, LOCAL)[:30_000] = random.Random(seed).randbytes(30_000)
    pair.data(0, REMOTE)[30_000:60_000] = random.Random(seed + 1).randbytes(30_000)
    pair.link.run()
    assert pair.statuses(0) == pair.statuses(1) == ["SUCCESS"] * 20
    assert pair.data(1, REMOTE)[:30_000] == pair.data(0, LOCAL)[:30_000]
    assert pair.data(1, LOCAL)[:30_000] == pair.data(0, REMOTE)[30_000:60_000]


def test_a_path_that_passes_nothing_ends_in_retries_and_flush():
    """retry 3: the first and three more, 131072 ns apart (4.096 us * 2^5), then all completes once."""
    pair = Pair(chances=Chances(drop=1), a_set={"retry": 3})
    sent = []
    pair.link.seen = lambda end, packet: sent.append(pair.link.now)
    pair.post(Verb.WRITE, 10, wr_id=1)
    pair.post(Verb.READ, 10, wr_id=2)
    pair.link.run()
    assert sent[::2] == [0, 131072, 2 * 131072, 3 * 131072] and pair.link.now == 4 * 131072
    assert [(entry.wr_id, entry.status.name) for entry in pair.done[0]] == [(1, "RETRIES"), (2, "FLUSHED")]


def test_a_run_without_end_is_told():
    pair = Pair(chances=Chances(drop=1), a_set={"rnr_retry": 7})
    pair.post(Verb.WRITE, 10)
    with pytest.raises(RuntimeError, match="3 events"):
        Link(pair.ends, chances=Chances(drop=1)).run(events=3)
    # its second time to retry
    pair.ends[0].expire = lambda now: None
    with pytest.raises(RuntimeError, match="a timer ran out at 262144 ns"):
        Link(pair.ends, chances=Chances(drop=1)).run()
