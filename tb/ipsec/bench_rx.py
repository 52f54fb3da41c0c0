"""ESP received, on the ports of ``ipsec_rx``. Every test ends with counters, event and states of all SAs checked, and
every frame that leaves or ends is held against the models, its cycles too (tb/ipsec/env.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from models.ipsec_sa import Cipher, Mode, Natt
from models.meta import Code
from tb.ipsec.books import Flight
from tb.ipsec.cases import CIPHERS, QINQ, VLAN, Peer, any_sa, inner
from tb.ipsec.driver import MAP
from tb.ipsec.env import HOLD, SM4, Slot, test
from tb.ipsec.frames import datagram, ethernet, ipv4, ipv6, trailer
from tb.lib import cover
from tb.lib.clock import cycle, wait_cycles
from tb.lib.pause import PAUSES

NEXT = {4: 4, 6: 41}
REMOVAL = 14
"""Most cycles of a removal from a slot that holds nothing; a key takes 18 in the engine alone."""
KNOWN = CIPHERS if SM4 else CIPHERS[:2]
AH = bytes.fromhex("32010000000000010000000a")

_seen_pair = cover.point("ipsec.rx.precedence", ["head", "tail", "head_and_tail"])
_seen_reset = cover.point("ipsec.rx.reset", ["input_open", "engine", "output_open"])
_seen_command = cover.point("ipsec.rx.command", ["written", "rewritten", "removed", "under_traffic"])


async def peer(slot: Slot, number: int, **changes: object) -> Peer:
    """An SA in the slot, and who sends to it."""
    one = any_sa(slot.rng, **({"cipher": slot.rng.choice(KNOWN)} | changes))
    await slot.write(number, one)
    return Peer(one, slot.rng, one.sequence)


def spoilt(frame: bytes, at: int, mask: int = 1) -> bytes:
    changed = bytearray(frame)
    changed[at] ^= mask
    return bytes(changed)


# What leaves


@test
async def every_form_of_esp_is_taken_off(slot: Slot) -> None:
    """Modes, families outside and inside, NAT-T, tags of Ethernet, each with the ciphers and tags in turn."""
    kinds = list(product(KNOWN, (8, 12, 16)))
    flights = []
    for number, (mode, ipv6_, natt) in enumerate(product(Mode, (False, True), (Natt.NO, Natt.YES))):
        cipher, tag = kinds[number % len(kinds)]
        one = await peer(slot, number % slot.sas, mode=mode, ipv6=ipv6_, natt=natt, cipher=cipher, tag=tag)
        for tags, family in product((b"", VLAN, QINQ), (4, 6)):
            size = slot.rng.randrange(64)
            if mode is not Mode.TRANSPORT:
                flights.append(one.frame(inner(slot.rng, family, size), NEXT[family], tags=tags))
            if mode is not Mode.TUNNEL:
                flights.append(one.frame(datagram(slot.rng.randbytes(size)), 17, tags=tags, tail=bytes(size % 5)))
        if (number + 1) % slot.sas == 0:
            assert set(await slot.ends(map(slot.flight, flights))) == {"secured"}
            flights.clear()
    if flights:
        assert set(await slot.ends(map(slot.flight, flights))) == {"secured"}


@test
async def inner_packets_of_every_length_come_out_whole(slot: Slot) -> None:
    both = [await peer(slot, 0, mode=Mode.TRANSPORT), await peer(slot, 1, mode=Mode.TUNNEL, natt=Natt.YES)]
    sizes = list(range(201))
    flights = []
    for size in sizes:
        flights.append(slot.flight(both[0].frame(slot.rng.randbytes(size), 99)))
        flights.append(slot.flight(both[1].frame(inner(slot.rng, 4 + size % 2 * 2, size), 4 + size % 2 * 37)))
    assert set(await slot.ends(flights)) == {"secured"}


@test
async def long_packets_come_out_whole(slot: Slot) -> None:
    most = min(16 * HOLD, 9582) - 120
    both = [await peer(slot, 0, mode=Mode.TRANSPORT), await peer(slot, 1, mode=Mode.TUNNEL)]
    flights = []
    for size in (1380, 1419, 1420, 1421, 1472, most - 1, most):
        if size <= most:
            flights.append(slot.flight(both[0].frame(slot.rng.randbytes(size), 6)))
            flights.append(slot.flight(both[1].frame(inner(slot.rng, 4, size - 28), 4)))
    assert set(await slot.ends(flights)) == {"secured"}


@test
async def every_length_of_padding_is_taken_and_each_byte_of_it_counts(slot: Slot) -> None:
    one = await peer(slot, 0, mode=Mode.TRANSPORT, window=1024)
    good, wrong = [], []
    for pads in range(256):
        payload = slot.rng.randbytes(-(pads + 2) % 4 + 4 * slot.rng.randrange(4))
        good.append(slot.flight(one.frame(payload, 99, padding=bytes(range(1, pads + 1)))))
        if pads:
            bad = bytearray(range(1, pads + 1))
            bad[slot.rng.randrange(pads)] ^= 1 << slot.rng.randrange(8)
            wrong.append(slot.flight(one.frame(payload, 99, padding=bytes(bad))))
    assert set(await slot.ends(good)) == {"secured"}
    assert set(await slot.ends(wrong)) == {"ipsec_bad_padding"}
    for at in (0, 15, 16, 17, 100, 250):
        bad = spoilt(bytes(range(1, 252)), at, 0x80)
        assert await slot.ends([slot.flight(one.frame(bytes(3), 99, padding=bad))]) == ["ipsec_bad_padding"]
    # 1, 2, 3 ... stands there, but of another length than the one that is said.
    for there, said in ((2, 3), (3, 2), (1, 2), (1, 255), (4, 8), (8, 4), (16, 20), (20, 16)):
        n = -(-(max(there, said) + 3) // 4) * 4
        raw = b"\xee" * (n - 2 - there) + bytes(range(1, there + 1)) + bytes((said, 99))
        assert await slot.ends([slot.flight(ethernet(one.packet(raw)))]) == ["ipsec_bad_padding"], (there, said)
    # More padding than text, by one and by many; text of padding alone, and of nothing else.
    for n, pads in ((4, 3), (4, 255), (256, 255), (16, 15), (20, 19), (252, 251), (256, 254)):
        raw = bytes((i - (n - 2 - pads) + 1) & 255 for i in range(n - 2)) + bytes((pads, 99))
        frame = ethernet(one.packet(raw))
        assert await slot.ends([slot.flight(frame)]) == ["secured" if pads + 2 <= n else "ipsec_bad_padding"], (
            n,
            pads,
        )


@test
async def traffic_flow_padding_goes_where_a_length_says_so(slot: Slot) -> None:
    tunnel, transport = await peer(slot, 0, mode=Mode.TUNNEL), await peer(slot, 1, mode=Mode.TRANSPORT, natt=Natt.YES)
    flights = []
    for extra in (1, 2, 15, 16, 17, 40, 255, 1000):
        for family in (4, 6):
            flights.append(tunnel.frame(inner(slot.rng, family, 9) + b"\x5a" * extra, NEXT[family]))
        flights.append(transport.frame(datagram(b"abc") + bytes(extra), 17))
    for payload in (datagram(b"abc", length=7), datagram(b"abc", length=8), datagram(b"abc", length=99), bytes(7), b""):
        flights += [transport.frame(payload + tail, 17) for tail in (b"", bytes(9))]
    flights.append(transport.frame(bytes(30), 1))
    assert set(await slot.ends(map(slot.flight, flights))) == {"secured"}


@test
async def ecn_leaves_a_tunnel_as_rfc_6040_has_it(slot: Slot) -> None:
    flights, want = [], []
    for number, ipv6_ in enumerate((False, True)):
        one = await peer(slot, number, mode=Mode.TUNNEL, ipv6=ipv6_)
        for family, within, outside in product((4, 6), range(4), range(4)):
            tos = slot.rng.getrandbits(6) << 2
            flights.append(
                slot.flight(one.frame(inner(slot.rng, family, 5, tos | within), NEXT[family], tos=0xB8 | outside))
            )
            want.append("ipsec_ecn" if (within, outside) == (0, 3) else "secured")
    assert await slot.ends(flights) == want


@test
async def l4_checksums_are_corrected_for_a_nat(slot: Slot) -> None:
    flights = []
    for number, (delta, mode) in enumerate(product((0, 1, 5, 0x1234, 0xFFFF), (Mode.TRANSPORT, Mode.EITHER))):
        one = await peer(slot, number % slot.sas, mode=mode, natt=Natt.YES, nat_delta=delta)
        for size in (*range(24), 40):
            flights.append(slot.flight(one.frame(slot.rng.randbytes(size), slot.rng.choice((6, 17, 1, 132)))))
        for stood in (0, 5, delta, delta ^ 0xFFFF, 0xFFFF):
            payload = datagram(b"payload")
            flights.append(slot.flight(one.frame(payload[:6] + stood.to_bytes(2, "big") + payload[8:], 17)))
        assert set(await slot.ends(flights)) == {"secured"}
        flights.clear()
    plain = await peer(slot, 0, mode=Mode.TRANSPORT, nat_delta=0x4321)
    flights = [slot.flight(plain.frame(slot.rng.randbytes(20), protocol)) for protocol in (6, 17)]
    assert set(await slot.ends(flights)) == {"secured"}


@test
async def options_and_extension_headers_in_front_of_esp_stay(slot: Slot) -> None:
    four, six = await peer(slot, 0, mode=Mode.TRANSPORT, ipv6=False), await peer(slot, 1, mode=Mode.EITHER, ipv6=True)
    flights = []
    for words in range(1, 11):
        flights.append(four.frame(options=bytes((1,)) * (4 * words), ttl=words))
    for kind, sizes in ((0, (0, 1, 3)), (60, (0, 2)), (43, (0, 2))):
        for size in sizes:
            headers = bytes((50, size, 0 if kind == 43 else 1, 0 if kind == 43 else 4 + 8 * size)) + bytes(4 + 8 * size)
            flights.append(six.frame(slot.rng.randbytes(20), 6, extensions=(kind, headers)))
            flights.append(six.frame(inner(slot.rng, 6, size), 41, extensions=(kind, headers)))
    found = await slot.ends(map(slot.flight, flights))
    assert set(found) == {"secured"}, found


@test
async def ethernet_padding_behind_esp_goes(slot: Slot) -> None:
    one = await peer(slot, 0, mode=Mode.EITHER)
    flights = [slot.flight(one.frame(tail=slot.rng.randbytes(size))) for size in (1, 2, 15, 16, 17, 33, 60)]
    assert set(await slot.ends(flights)) == {"secured"}


# What passes, what ends


@test
async def what_is_not_esp_passes_as_it_came(slot: Slot) -> None:
    """IKE, keepalives, other UDP, everything else; bad frames with their mark."""
    await peer(slot, 0, natt=Natt.EITHER)
    rng = slot.rng
    kinds = [
        ethernet(ipv4(datagram(bytes(4) + b"IKE", 4500, 4500))),
        ethernet(ipv4(datagram(b"\xff", 4500, 4500))),
        ethernet(ipv6(datagram(bytes(40), 4500, 4500))),
        ethernet(ipv4(datagram(rng.randbytes(40), 1, 2))),
        ethernet(ipv4(rng.randbytes(40), 6)),
        ethernet(ipv4(rng.randbytes(40), 17, flags=0x2000)),
        ethernet(ipv4(rng.randbytes(40), 51)),
    ]
    flights = [slot.flight(frame) for frame in kinds]
    flights += [slot.flight(rng.randbytes(size)) for size in (*range(1, 70), 1514)]
    flights += [slot.flight(frame, bad=1 | reason << 1) for frame in kinds for reason in (0, Code.BAD_FCS)]
    assert set(await slot.ends(flights)) == {"passed"}


@test
async def esp_that_is_not_for_this_block_is_the_hosts_or_dropped_by_policy(slot: Slot) -> None:
    other = await peer(slot, 0, cipher=Cipher.OTHER, ipv6=False)
    one = await peer(slot, 1, mode=Mode.EITHER, ipv6=False)
    six = await peer(slot, 2, ipv6=True)

    def frames() -> dict[str, list[bytes]]:
        raw = other.sa.spi.to_bytes(4, "big") + slot.rng.randbytes(60)
        dst = ".".join(str(byte) for byte in other.sa.dst.to_bytes(4, "big"))
        stray = one.of(spi=one.sa.spi ^ 1)
        head = bytes.fromhex("3200000100000001")
        return {
            "cipher": [ethernet(ipv4(raw, 50, dst=dst))],
            "no_sa": [
                stray.frame(),
                one.of(dst=one.sa.dst ^ 1 << 31).frame(),
                six.of(dst=six.sa.dst ^ 1 << 127).frame(),
            ],
            "fragment": [
                one.frame(flags=0x2000),
                one.frame(flags=5),
                one.frame(natt=True, flags=0x2000),
                six.frame(extensions=(44, head)),
            ],
        }

    for dropped in ((), ("cipher",), ("no_sa",), ("fragment",), ("cipher", "no_sa", "fragment")):
        value = sum(1 << bit for bit, name in enumerate(("no_sa", "cipher", "fragment")) if name in dropped)
        await slot.driver.put("control", value)
        for name in ("no_sa", "cipher", "fragment"):
            setattr(slot.model, f"drop_{name}", name in dropped)
        for kind, row in frames().items():
            found = await slot.ends(map(slot.flight, row))
            assert set(found) == {f"ipsec_{kind}" if kind in dropped else "passed"}, (kind, dropped, found)
    flights = [slot.flight(frame, bad=3) for row in frames().values() for frame in row]
    await slot.play(flights)
    # What is dropped by policy would have ended here, so bad_in counts it.
    assert slot.model.counters["bad_in"] == len(flights)


HEAD: dict[str, tuple[str, dict[str, int]]] = {
    "fragment": ("ipsec_fragment", {"fragment": 1}),
    "no_sa": ("ipsec_no_sa", {"spi": 0xDEAD0001}),
    "cipher": ("ipsec_cipher", {"spi": 0xC1F4E200}),
    "ah": ("ipsec_policy", {"ext_mask": 16}),
    "segments": ("ipsec_policy", {"segments_left": 1}),
    "checksum": ("ipsec_bad_checksum", {"ip_checksum": 2}),
    "short": ("ipsec_truncated", {"l3_length": 20 + 16 + 16 + 3}),
    "aligned": ("ipsec_bad_padding", {"l3_length": 20 + 16 + 16 + 6}),
    "long": ("ipsec_mtu", {"l3_length": 16 * HOLD - 14 + 4 - (16 * HOLD - 14 - 52) % 4}),
    "zero": ("ipsec_replay", {"esp_seq": 0}),
}
"""Faults of a head in the order of the page, as metadata that says them."""
ORDER = list(HEAD)


@test
async def of_two_faults_of_a_head_the_first_in_order_decides(slot: Slot) -> None:
    await slot.driver.put("control", 7)
    model = slot.model
    model.drop_no_sa = model.drop_cipher = model.drop_fragment = True
    one = await peer(slot, 0, mode=Mode.TUNNEL, ipv6=False, tag=16, natt=Natt.NO)
    await slot.write(1, replace(one.sa, spi=0xC1F4E200, cipher=Cipher.OTHER, key=b""))
    frame = one.frame(inner(slot.rng, 4, 40), 4, 1)
    flights, want = [], []

    def add(names: tuple[str, ...], spoil: bool = False) -> None:
        fields: dict[str, int] = {}
        for name in reversed(names):
            fields |= HEAD[name][1]
        flights.append(slot.flight(spoilt(frame, -1) if spoil else frame, None, 0, **fields))
        want.append(HEAD[names[0]][0])

    for name in ORDER:
        add((name,))
        add((name,), True)
        _seen_pair("head_and_tail")
    for first, a in enumerate(ORDER):
        for b in ORDER[first + 1 :]:
            if {a, b} <= {"no_sa", "cipher"} or {a, b} in (
                {"short", "long"},
                {"short", "aligned"},
                {"aligned", "long"},
            ):
                continue
            _seen_pair("head")
            add((a, b))
    found = await slot.ends(flights)
    wrong = [(a, b) for a, b in zip(found, want, strict=True) if a != b]
    assert not wrong, wrong
    # The form: NAT-T where the SA has none, and the other way round.
    assert await slot.ends([slot.flight(one.frame(natt=True))]) == ["ipsec_policy"]
    other = await peer(slot, 2, natt=Natt.YES)
    assert await slot.ends([slot.flight(other.frame(natt=False))]) == ["ipsec_policy"]
    either = await peer(slot, 3, natt=Natt.EITHER)
    assert await slot.ends([slot.flight(either.frame(natt=way)) for way in (True, False)]) == ["secured"] * 2


@test
async def lengths_of_a_head_are_exact_at_their_bounds(slot: Slot) -> None:
    """n from below 0 to 12, with each tag; the packet that just fits, and 4 bytes more."""
    for number, tag in enumerate((8, 12, 16)):
        one = await peer(slot, number, mode=Mode.TRANSPORT, tag=tag, ipv6=False)
        frames = []
        for n in range(-16 - tag, 13):
            packet = one.packet(trailer(bytes(30), 99))
            cut = bytearray(packet[: max(20 + 16 + tag + n, 28)])
            cut[2:4] = len(cut).to_bytes(2, "big")
            frames.append(ethernet(bytes(cut)))
        await slot.play(slot.flight(frame, ip_checksum=1) for frame in frames)
    one = await peer(slot, 3, mode=Mode.TRANSPORT, tag=16, ipv6=True, natt=Natt.YES)
    fits = (16 * HOLD - 14 - 40 - 8 - 16 - 16) // 4 * 4 - 2
    frames = [one.frame(bytes(fits), 99), one.frame(bytes(fits + 4), 99)] if HOLD <= 256 else []
    if frames:
        assert await slot.ends(map(slot.flight, frames)) == ["secured", "ipsec_mtu"]


@test
async def each_fault_of_a_text_has_its_code_and_two_the_first(slot: Slot) -> None:
    one = await peer(slot, 0, mode=Mode.TUNNEL, ipv6=False, tag=16, natt=Natt.NO, window=64)
    rng = slot.rng
    good4, good6 = inner(rng, 4, 21), inner(rng, 6, 21)
    no_padding = bytes((9, 9))

    def padded(payload: bytes) -> bytes:
        return no_padding + bytes(-len(payload) % 4)

    rows: list[tuple[str, dict[str, Any]]] = [
        ("ipsec_bad_padding", {"payload": good4, "next_header": 59, "padding": padded(good4)}),
        ("ipsec_bad_padding", {"payload": good4, "next_header": 17, "padding": padded(good4)}),
        ("ipsec_dummy", {"payload": bytes(30), "next_header": 59}),
        ("ipsec_policy", {"payload": datagram(b"x"), "next_header": 17}),
        ("ipsec_policy", {"payload": b"", "next_header": 17, "tos": 3}),
        ("ipsec_bad_inner", {"payload": good6, "next_header": 4}),
        ("ipsec_bad_inner", {"payload": good4 + bytes(40), "next_header": 41}),
        ("ipsec_bad_inner", {"payload": good4[:-1], "next_header": 4}),
        ("ipsec_bad_inner", {"payload": good6[:-1], "next_header": 41}),
        ("ipsec_bad_inner", {"payload": good4[:19], "next_header": 4, "tos": 3}),
        ("ipsec_bad_inner", {"payload": good6[:39], "next_header": 41}),
        ("ipsec_bad_inner", {"payload": b"\x44" + good4[1:], "next_header": 4}),
        ("ipsec_bad_inner", {"payload": b"\x48" + good4[1:3] + b"\x1f" + good4[4:], "next_header": 4}),
        ("ipsec_bad_inner", {"payload": b"", "next_header": 4}),
        ("ipsec_bad_inner", {"payload": b"", "next_header": 41}),
        ("secured", {"payload": ipv4(b"", 99), "next_header": 4}),
        ("secured", {"payload": ipv6(b"", 59), "next_header": 41}),
        ("secured", {"payload": b"\x48" + good4[1:], "next_header": 4}),
        ("ipsec_ecn", {"payload": good4, "next_header": 4, "tos": 3}),
        ("ipsec_ecn", {"payload": good6, "next_header": 41, "tos": 3}),
    ]
    _seen_pair("tail")
    for want, row in rows:
        frame = one.frame(**row)
        _seen_pair("head_and_tail")
        flights = [slot.flight(frame[:-1]), slot.flight(spoilt(frame, -1)), slot.flight(frame, bad=1)]
        flights += [slot.flight(frame)]
        found = await slot.ends(flights)
        assert found == ["ipsec_truncated", "ipsec_bad_tag", "bad_frame", want], (row, found)
        # Whatever the text said, its number is taken.
        assert await slot.ends([slot.flight(frame)]) == ["ipsec_replay"]
    free = await peer(slot, 1, mode=Mode.EITHER)
    assert await slot.ends([slot.flight(free.frame(datagram(b"x"), 17))]) == ["secured"]


@test
async def every_bit_of_a_tag_and_one_of_each_other_byte_counts(slot: Slot) -> None:
    """A flipped bit anywhere in ESP: rejected, and nothing moves; then the frame itself is good."""
    for number, tag in enumerate((16, 12, 8)):
        one = await peer(slot, number, tag=tag, mode=Mode.TRANSPORT, window=64, ipv6=False, natt=Natt.NO)
        frame = one.frame(slot.rng.randbytes(30), 99, 1000)
        flights = [slot.flight(spoilt(frame, -1 - bit // 8, 1 << bit % 8)) for bit in range(8 * tag)]
        flights += [slot.flight(spoilt(frame, at, 1 << at % 8)) for at in range(34 + 8, len(frame) - tag)]
        assert set(await slot.ends(flights)) == {"ipsec_bad_tag"}
        flights = [slot.flight(one.frame(slot.rng.randbytes(9), 99, 1)), slot.flight(frame)]
        assert await slot.ends(flights) == ["secured"] * 2
    short = await peer(slot, 3, mode=Mode.TRANSPORT)
    for cut in (1, 2, 8, 16, 17, 30):
        assert await slot.ends([slot.flight(short.frame(bytes(40), 99)[:-cut])]) == ["ipsec_truncated"]


@test
async def wrong_keys_and_salts_and_high_halves_are_bad_tags(slot: Slot) -> None:
    for number, cipher in enumerate(KNOWN):
        one = await peer(slot, number, cipher=cipher, mode=Mode.TRANSPORT, esn=True)
        key = one.sa.key
        others = [one.of(key=spoilt(key, at, 1 << at % 8)) for at in range(len(key))]
        others += [one.of(salt=spoilt(one.sa.salt, at)) for at in range(4)] + [one.of(esn=False)]
        flights = [slot.flight(other.frame(bytes(20), 99, 9)) for other in others]
        flights.append(slot.flight(one.frame(bytes(20), 99, 9 | 1 << 32)))
        assert set(await slot.ends(flights)) == {"ipsec_bad_tag"}
        assert await slot.ends([slot.flight(one.frame(bytes(20), 99, 9))]) == ["secured"]


# The window


def arrivals(one: Peer, numbers: list[int]) -> Iterator[bytes]:
    for number in numbers:
        yield one.frame(b"ab", 99, number)


@test
async def a_window_of_every_size_takes_exactly_so_many_numbers(slot: Slot) -> None:
    for size in range(0, 1025, 32):
        start = slot.rng.choice((0, 1, 5000, 1 << 20))
        one = await peer(slot, 0, window=size, mode=Mode.TRANSPORT, sequence=start)
        head = start + 2000
        first = [head, head - size + 1, head - size, head - size - 1, head - 1, head, head - 1, 0]
        want = ["secured", "secured", "ipsec_replay", "ipsec_replay", "secured", *["ipsec_replay"] * 3]
        if size == 0:
            want = ["secured"] * 7 + ["ipsec_replay"]
            first[1] = head - 7
        flights = [slot.flight(frame) for frame in arrivals(one, first)]
        assert await slot.ends(flights) == want, size
        if not size:
            continue
        # The same with nothing in flight, which the check before decryption decides.
        for behind, end in ((size, "ipsec_replay"), (size + 1, "ipsec_replay"), (0, "ipsec_replay"), (2, "secured")):
            assert await slot.ends(map(slot.flight, arrivals(one, [head - behind]))) == [end], (size, behind)
        # Bad tags far ahead and inside move nothing; then steps of all kinds.
        numbers = [head + 5000, head - 3]
        bad = [slot.flight(spoilt(frame, -1)) for frame in arrivals(one, numbers)]
        assert set(await slot.ends(bad)) == {"ipsec_bad_tag"}
        steps = [head - 3, head + 1, head + size, head + 1, head + 2, head + 2 * size - 1, head + size, head + 2 * size]
        steps += [head + 2 * size + 1024, head + 3 * size, head + 2 * size + 1023, head + 2 * size + 2048 + 7]
        steps += [steps[-1] - size + 1, steps[-1] - size, steps[-1] - 1, steps[-2] - 1]
        await slot.play(slot.flight(frame) for frame in arrivals(one, steps))


@test
async def numbers_that_come_in_any_order_pass_once(slot: Slot) -> None:
    """Random walks, many frames in flight on one SA."""
    for number, (size, esn) in enumerate(((32, False), (64, True), (256, False), (992, True), (1024, False))):
        start = (3 << 32) - 40 if esn else 0
        one = await peer(slot, number % slot.sas, window=size, esn=esn, mode=Mode.TRANSPORT, sequence=start)
        top, numbers = start + size, []
        for _ in range(160):
            step = slot.rng.choice((1, 1, 1, 2, slot.rng.randrange(1, 2 * size)))
            top += step if slot.rng.random() < 0.5 else 0
            numbers.append(max(1, top - slot.rng.randrange(size + 3) * slot.rng.getrandbits(1)))
        await slot.play(slot.flight(frame) for frame in arrivals(one, numbers))


@test
async def extended_numbers_cross_2_to_the_32_both_ways(slot: Slot) -> None:
    for number, size in enumerate((32, 64, 1024)):
        edge = 1 << 32
        one = await peer(slot, number, window=size, esn=True, mode=Mode.TRANSPORT, sequence=edge - 3)
        numbers = [edge - 2, edge + 1, edge - 1, edge, edge - 1, edge + 1, edge + 2 - size, edge + size, edge + 2]
        numbers += [edge + size + 1, edge + 3, edge + 2 * size, edge + size, edge, 2 * edge + 5, edge + 2 * size + 9]
        await slot.play(slot.flight(frame) for frame in arrivals(one, numbers))
        # The same with nothing in flight: each finds the T of the one before.
        await slot.write(number, one.sa)
        for frame in arrivals(one, numbers):
            await slot.play([slot.flight(frame)])
        for number_ in (edge - 2, 5 * edge + 9):
            await slot.play([slot.flight(one.frame(b"ab", 99, number_))])
        # The ends of 64 bits, and number 0 with its neighbours.
        for start, row in (
            (2**64 - 3, [2**64 - 2, 2**64 - 1, 2**64 - 2, 5]),
            (0, [edge - 1, 0, 1, edge - 2, 2, 1]),
            (size - 2, [edge - 1, size - 1, edge - 1, 1]),
            (size - 1, [edge - 1, edge]),
        ):
            one = await peer(slot, number, window=size, esn=True, mode=Mode.TRANSPORT, sequence=start)
            await slot.play(slot.flight(frame) for frame in arrivals(one, row))
    top = await peer(slot, 0, esn=False, mode=Mode.TRANSPORT, sequence=2**32 - 2, window=64)
    assert await slot.ends(slot.flight(frame) for frame in arrivals(top, [2**32 - 1, 2**32 - 1, 0, 5])) == [
        "secured",
        *["ipsec_replay"] * 3,
    ]


@test
async def two_copies_in_flight_leave_one_frame(slot: Slot) -> None:
    one = await peer(slot, 0, window=32, mode=Mode.TRANSPORT)
    frame = one.frame(bytes(4), 99, 40)
    assert await slot.ends([slot.flight(frame) for _ in range(3)]) == ["secured", "ipsec_replay", "ipsec_replay"]
    assert slot.model.counters["replay_late"] >= 1
    # One that the window passes while it is in the engine.
    late = [one.frame(bytes(4), 99, number) for number in (100, 68, 69, 50)]
    assert await slot.ends(map(slot.flight, late)) == ["secured", "ipsec_replay", "secured", "ipsec_replay"]
    for _ in range(40):
        numbers = [one.number + slot.rng.randrange(1, 6) for _ in range(6)]
        one.number += 3
        await slot.play(
            slot.flight(one.frame(slot.rng.randbytes(slot.rng.randrange(40)), 99, n + 100)) for n in numbers
        )


# Lifetimes


@test
async def lifetimes_end_an_sa_and_are_told_once(slot: Slot) -> None:
    text = trailer(bytes(20), 99)
    n = len(text)
    rows = [
        {"soft_packets": 2, "hard_packets": 4},
        {"soft_bytes": 3 * n, "hard_bytes": 3 * n},
        {"hard_bytes": 3 * n - 1, "soft_packets": 1},
        {"soft_bytes": 2 * n - 1, "hard_packets": 3, "hard_bytes": 10 * n},
        {"hard_packets": 1},
        {"soft_packets": 1 << 40, "hard_bytes": 1 << 63, "soft_bytes": 2 * n + 1},
    ]
    for number, row in enumerate(rows):
        one = await peer(slot, number % slot.sas, mode=Mode.TRANSPORT, **row)
        frames = [one.frame(bytes(20), 99) for _ in range(6)]
        frames.insert(2, spoilt(one.frame(bytes(200), 99), -1))
        await slot.play(map(slot.flight, frames))
        await slot.check()
    # Two SAs that reach something: the first is told, and that others came.
    both = [await peer(slot, number, mode=Mode.TRANSPORT, soft_packets=1, hard_packets=2) for number in (1, 0)]
    await slot.play(slot.flight(one.frame(bytes(20), 99)) for one in (both[0], both[1], both[1], both[0], both[1]))
    await slot.check()
    await slot.play([slot.flight(both[0].frame(bytes(20), 99))])


# SAs and commands


@test
async def an_sa_is_found_by_spi_destination_and_family(slot: Slot) -> None:
    """As many SAs as there are, with SPIs and addresses that differ in one bit or in the family alone."""
    peers = []
    base = any_sa(slot.rng, ipv6=False, cipher=KNOWN[0], mode=Mode.EITHER)
    for number in range(slot.sas):
        if number < 32:
            one = replace(base, spi=base.spi ^ 1 << number)
        elif number < 64:
            one = replace(base, dst=base.dst ^ 1 << number - 32)
        elif number < 192:
            one = replace(base, ipv6=True, dst=base.dst ^ 1 << number - 64)
        else:
            one = any_sa(slot.rng, cipher=slot.rng.choice(KNOWN), mode=Mode.EITHER)
        one = replace(one, key=slot.rng.randbytes(len(one.key)))
        if number < 192 and slot.sas <= 16:
            one = replace(one, ipv6=bool(number % 2))
        await slot.write(number, one)
        peers.append(Peer(one, slot.rng))
    # Of no SA; the last one is of the first SA but for its family.
    stray = [Peer(base, slot.rng), Peer(replace(base, ipv6=True), slot.rng)]
    stray.append(Peer(replace(peers[0].sa, ipv6=True), slot.rng))
    everyone = [*peers, *stray]
    slot.rng.shuffle(everyone)
    await slot.play(slot.flight(one.frame(bytes(10), 99)) for one in everyone)
    assert slot.model.counters["left_no_sa"] >= 2
    # The lowest number wins; removed, the next one does.
    twin = replace(peers[-1].sa, key=slot.rng.randbytes(len(peers[-1].sa.key)))
    await slot.write(0, twin)
    assert await slot.ends([slot.flight(Peer(twin, slot.rng).frame(bytes(9), 99))]) == ["secured"]
    await slot.driver.remove(0)
    assert await slot.ends([slot.flight(peers[-1].frame(bytes(9), 99, 77))]) == ["secured"]
    await slot.check_state(0)


@test
async def sas_change_under_traffic_and_each_frame_has_the_old_one_or_the_new(slot: Slot) -> None:
    """Writes, rewrites and removals while frames of these and other SAs are on their way, in any phase."""
    steady = await peer(slot, 0, mode=Mode.EITHER, window=1024)
    one = await peer(slot, 1, mode=Mode.TRANSPORT, window=1024)
    for turn in range(40):
        slot.send(
            slot.flight(slot.rng.choice((steady, one, one)).frame(slot.rng.randbytes(slot.rng.randrange(300)), 99))
            for _ in range(14)
        )
        await wait_cycles(slot.clk, slot.rng.randrange(120))
        if turn % 3 == 2:
            await slot.driver.remove(1)
            _seen_command("removed")
        else:
            new = replace(one.sa, key=slot.rng.randbytes(len(one.sa.key)), sequence=0)
            if turn % 2:
                new = replace(one.sa, tag=slot.rng.choice((8, 12, 16)), esn=not one.sa.esn)
            one = Peer(new, slot.rng)
            await slot.write(1, new)
            _seen_command("rewritten" if turn else "written")
        _seen_command("under_traffic")
        slot.send(slot.flight(one.frame(slot.rng.randbytes(30), 99)) for _ in range(3))
        if turn % 8 == 7:
            await slot.finish()
            await slot.check()
    _seen_command("written")


@test
async def ops_and_numbers_that_there_are_not_do_nothing(slot: Slot) -> None:
    one = await peer(slot, 1, mode=Mode.TRANSPORT)
    await slot.driver.prepare(replace(one.sa, spi=one.sa.spi ^ 2))
    for op, number in (
        (0, 1),
        (4, 1),
        (15, 1),
        (9, 1),
        (1, slot.sas),
        (2, slot.sas + 1),
        (1, 0xFFFF),
        (2, 1 | slot.sas),
    ):
        await slot.driver.command(op, number, one.sa)
    await slot.play([slot.flight(one.frame(bytes(4), 99))])
    for number in (0, 2, 3):
        await slot.check_state(number)
    # A key that is erased needs no cipher: of a slot that holds nothing an SA is removed sooner than a key is computed.
    await slot.driver.remove(1)
    (_, _, begun), (_, _, answered) = slot.books.commands[-2:]
    assert answered - begun <= REMOVAL


@test
async def keys_and_salts_are_never_read(slot: Slot) -> None:
    """All addresses of the slot, with SAs in it: no word of a key, of a salt, of plaintext; holes say so."""
    ones = [await peer(slot, number) for number in range(min(slot.sas, 4))]
    secrets = set()
    for one in ones:
        secrets |= {int.from_bytes(one.sa.key[at : at + 4], "little") for at in range(0, len(one.sa.key), 4)}
        secrets.add(int.from_bytes(one.sa.salt, "little"))
    await slot.play(slot.flight(one.frame()) for one in ones)
    known = {
        address for register in MAP for address in range(register.address, register.address + register.width // 8, 4)
    }
    for address in range(0, 0x400, 4):
        value, error = await slot.bus.access(address, None)
        assert error == (address not in known), f"{address:#x}: error {error}"
        assert value not in secrets, f"{address:#x} shows {value:#x}"
        if 0x60 <= address < 0x80 or address == 0x2C:
            assert value == 0, f"{address:#x}"
    assert MAP["id"].decode(await slot.driver.get("id")) == {"block": 5, "version": 1, "state": 3}
    assert MAP["size"].decode(await slot.driver.get("size")) == {"sas": slot.sas, "tx": 0, "sm4": int(SM4)}


# Streams


def mixed(slot: Slot, peers: list[Peer], count: int, most: int = 200) -> Iterator[Flight]:
    """Frames of all kinds, good and bad."""
    rng = slot.rng
    for _ in range(count):
        one, kind = rng.choice(peers), rng.random()
        if kind < 0.2:
            yield slot.flight(rng.randbytes(rng.randrange(1, most)), bad=rng.choice((0, 0, 1, 45)))
            continue
        payload: bytes | None = None
        header = None
        if one.sa.mode is not Mode.TUNNEL and rng.getrandbits(1):
            payload, header = rng.randbytes(rng.randrange(most)), rng.choice((6, 17, 1))
        number = None if kind < 0.8 else max(0, one.number - rng.randrange(80))
        frame = one.frame(payload, header, number, tail=bytes(rng.choice((0, 0, 3, 20))), tos=rng.getrandbits(8))
        if kind > 0.95:
            frame = spoilt(frame, rng.randrange(len(frame) - 40, len(frame)), 1 << rng.randrange(8))
        elif kind > 0.92:
            frame = frame[: -rng.randrange(1, 30)]
        yield slot.flight(frame, bad=rng.choice((0,) * 12 + (1, 45)))


async def some_peers(slot: Slot, count: int) -> list[Peer]:
    found = []
    for number in range(min(count, slot.sas)):
        found.append(
            await peer(
                slot,
                number,
                mode=slot.rng.choice(list(Mode)),
                natt=slot.rng.choice(list(Natt)),
                esn=bool(slot.rng.getrandbits(1)),
                window=slot.rng.choice((32, 64, 1024)),
                nat_delta=slot.rng.choice((0, 0x1357)),
                cipher=KNOWN[number % len(KNOWN)],
                tag=(8, 12, 16)[number // 3 % 3],
                soft_packets=slot.rng.choice((0, 5)),
                hard_packets=slot.rng.choice((0, 0, 60)),
            )
        )
    return found


@test
async def frames_pass_every_pair_of_pauses(slot: Slot) -> None:
    peers = await some_peers(slot, 6)
    for source, sink in product(PAUSES, PAUSES):
        slot.pause(source, sink)
        await slot.play(mixed(slot, peers, 5, 90))
    slot.pause("none", "none")


@test
async def a_storm_of_all_kinds_is_as_the_model_says(slot: Slot) -> None:
    peers = await some_peers(slot, 18)
    for source, sink in (
        ("none", "none"),
        ("storm", "none"),
        ("none", "storm"),
        ("bursty", "bursty"),
        ("none", "none"),
    ):
        slot.pause(source, sink)
        await slot.play(mixed(slot, peers, 150))
    slot.pause("none", "none")


@test
async def a_reset_in_mid_frame_leaves_nothing(slot: Slot) -> None:
    for delay in (1, 3, 7, 12, 20, 30, 33, 38, 41, 45, 52, 60, 80):
        one = await peer(slot, 0, mode=Mode.TRANSPORT)
        slot.pause("none", slot.rng.choice(("none", "one_in")))
        slot.send(slot.flight(one.frame(bytes(60), 99)) for _ in range(6))
        await wait_cycles(slot.clk, delay)
        _seen_reset("output_open" if slot.output.bus.partial else "engine" if delay > 20 else "input_open")
        await slot.reset(1 + delay % 3)
        # No SA is left of what was.
        assert await slot.ends([slot.flight(one.frame(bytes(60), 99))]) == ["passed"]
        one = await peer(slot, 0, mode=Mode.TRANSPORT)
        slot.pause("none", "none")
        assert await slot.ends([slot.flight(one.frame(bytes(60), 99))]) == ["secured"]
        await slot.check()


# Time


async def cycles_of(slot: Slot, flights: list[Flight]) -> int:
    """Cycles in which frames came in, those that waited at the input counted."""
    stalls = slot.watch.stalls
    await slot.play(flights)
    first, last = flights[0].beats[0], flights[-1].beats[-1]
    del stalls
    return last - first + 1


@test
async def frames_of_64_bytes_with_an_sa_each_take_less_than_a_wire(slot: Slot) -> None:
    """64 bytes in the clear on the wire, 60 without FCS: in ESP of tunnel mode, in transport mode the smallest."""
    peers = [
        await peer(slot, number, mode=Mode.EITHER, ipv6=False, natt=Natt.NO) for number in range(min(slot.sas, 64))
    ]
    count = 4 * len(peers)
    for payload, header in ((inner(slot.rng, 4, 18), 4), (b"ab", 99)):
        frames = [peers[at % len(peers)].frame(payload, header) for at in range(count)]
        took = await cycles_of(slot, [slot.flight(frame) for frame in frames])
        wire = sum(max(len(frame) + 4, 64) + 20 for frame in frames) * 8 / 25 / 4
        assert took <= wire, f"{count} frames of {len(frames[0])} bytes took {took} cycles, the wire {wire:.0f}"
        assert took / count <= 6.7 or len(payload) > 2


@test
async def no_inner_length_holds_up_a_wire(slot: Slot) -> None:
    peers = [await peer(slot, number, mode=Mode.TRANSPORT) for number in range(min(slot.sas, 8))]
    for size in (*range(2, 130), 500, 1400):
        frames = [one.frame(bytes(size), 99) for one in peers]
        started = cycle(slot.clk)
        took = await cycles_of(slot, [slot.flight(frame) for frame in frames])
        wire = sum(max(len(frame) + 4, 64) + 20 for frame in frames) * 8 / 25 / 4
        # The last frame's gap is not waited for.
        assert took <= wire + 4, f"frames of {len(frames[0])} bytes took {took} cycles, the wire {wire:.1f}"
        assert started >= 0


# What implementations got wrong


@test
async def faults_of_the_field_are_not_here(slot: Slot) -> None:
    """Two SAs in turns with an empty text between; SAs of all tags side by side; frames of port 4500 of three kinds;
    IPv6 in UDP without a header left over; windows of 32, 64 and 128 with bad tags ahead."""
    first, second = await peer(slot, 0, mode=Mode.TRANSPORT), await peer(slot, 1, mode=Mode.TRANSPORT)
    flights = [slot.flight(one.frame(bytes(size), 99)) for size in (0, 1, 40, 7, 0) for one in (first, second)]
    assert set(await slot.ends(flights)) == {"secured"}
    tags = [await peer(slot, number, tag=tag, mode=Mode.TRANSPORT) for number, tag in enumerate((8, 12, 16))]
    assert set(await slot.ends(slot.flight(one.frame(bytes(33), 99)) for one in tags)) == {"secured"}
    six = await peer(slot, 0, ipv6=True, natt=Natt.YES, mode=Mode.TRANSPORT)
    flight = slot.flight(six.frame(datagram(b"in udp"), 17))
    assert await slot.ends([flight]) == ["secured"]
    assert flight.result is not None and flight.result.frame is not None
    assert flight.result.frame[54:] == datagram(b"in udp")
    for number, size in enumerate((32, 64, 128)):
        one = await peer(slot, number, window=size, mode=Mode.TRANSPORT)
        frames = [
            one.frame(b"ab", 99, 5000),
            spoilt(one.frame(b"ab", 99, 5100), -1),
            spoilt(one.frame(b"ab", 99, 4997), -1),
        ]
        frames += list(arrivals(one, [5001 - size, 5000 - size, 4999 - size, 4997]))
        want = ["secured", "ipsec_bad_tag", "ipsec_bad_tag", "secured", "ipsec_replay", "ipsec_replay", "secured"]
        assert await slot.ends(map(slot.flight, frames)) == want


@test
async def a_key_that_the_engine_has_not_is_no_key(slot: Slot) -> None:
    """An SA of SM4-GCM: decrypted, or without SM4 ended, always."""
    one = await peer(slot, 0, cipher=Cipher.SM4_GCM, mode=Mode.TRANSPORT)
    flights = [slot.flight(one.frame(bytes(size), 99)) for size in (0, 30, 100)]
    flights += [slot.flight(spoilt(one.frame(bytes(30), 99), -1)), slot.flight(one.frame(bytes(30), 99)[:-1])]
    found = await slot.ends(flights)
    if SM4:
        assert found == ["secured"] * 3 + ["ipsec_bad_tag", "ipsec_truncated"]
    else:
        assert found == ["ipsec_cipher"] * 4 + ["ipsec_truncated"]
