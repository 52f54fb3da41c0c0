"""ESP transmitted, on the ports of ``ipsec_tx``. Every test ends with counters, event and states of all SAs checked,
and every frame that leaves or ends is held against the models, its cycles too (tb/ipsec/env.py)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from models.ipsec_sa import Cipher, Df, Mode, Natt, Sa
from models.meta import Code
from tb.ipsec.books import Flight
from tb.ipsec.cases import CIPHERS, QINQ, VLAN, any_sa, inner, plain
from tb.ipsec.driver import MAP
from tb.ipsec.env import HOLD, SM4, Slot, test
from tb.ipsec.frames import HERE, HERE6, KEY, SALT, SPI, THERE, THERE6, address, datagram, ethernet, ipv4, ipv6, sa
from tb.lib import cover
from tb.lib.clock import wait_cycles
from tb.lib.pause import PAUSES

KNOWN = CIPHERS if SM4 else CIPHERS[:2]
REMOVAL = 14
"""Most cycles of a removal from a slot that holds nothing; a key takes 18 in the engine alone."""
_seen_pair = cover.point("ipsec.tx.precedence", ["head", "head_and_tail"])
_seen_reset = cover.point("ipsec.tx.reset", ["input_open", "engine", "output_open"])
_seen_command = cover.point("ipsec.tx.command", ["written", "rewritten", "removed", "under_traffic"])
_seen_pads = cover.point("ipsec.tx.pads", list(range(4)))


async def put(slot: Slot, number: int, **changes: object) -> Sa:
    """An SA in the slot."""
    one = any_sa(slot.rng, **({"cipher": slot.rng.choice(KNOWN)} | changes))
    await slot.write(number, one)
    return one


def spoilt(frame: bytes, at: int, mask: int = 1) -> bytes:
    changed = bytearray(frame)
    changed[at] ^= mask
    return bytes(changed)


# What leaves


@test
async def every_form_of_esp_is_put_on(slot: Slot) -> None:
    kinds = list(product(KNOWN, (8, 12, 16)))
    forms = list(product((Mode.TRANSPORT, Mode.TUNNEL), (False, True), (Natt.NO, Natt.YES), (False, True)))
    flights = []
    for number, (mode, ipv6_, natt, esn) in enumerate(forms):
        cipher, tag = kinds[number % len(kinds)]
        at = number % slot.sas
        await put(slot, at, mode=mode, ipv6=ipv6_, natt=natt, cipher=cipher, tag=tag, esn=esn)
        for tags, family in product((b"", VLAN, QINQ), (4, 6)):
            size = slot.rng.randrange(64)
            tail = slot.rng.randbytes(size % 5)
            flights.append(slot.flight(plain(slot.rng, family, size, tags=tags, tail=tail), at))
        if (number + 1) % slot.sas == 0 or number + 1 == len(forms):
            assert set(await slot.ends(flights)) == {"secured"}
            flights.clear()


@test
async def packets_of_every_length_are_encrypted_whole(slot: Slot) -> None:
    await put(slot, 0, mode=Mode.TRANSPORT, ipv6=False)
    await put(slot, 1, mode=Mode.TUNNEL, ipv6=True, natt=Natt.YES)
    flights = []
    for size in range(201):
        flights.append(slot.flight(ethernet(ipv4(slot.rng.randbytes(size), 99)), 0))
        flights.append(slot.flight(plain(slot.rng, 4 + size % 2 * 2, size), 1))
        _seen_pads(-(size + 2) % 4)
    assert set(await slot.ends(flights)) == {"secured"}


@test
async def long_packets_are_encrypted_whole(slot: Slot) -> None:
    most = min(16 * HOLD, 9582) - 136
    await put(slot, 0, mode=Mode.TRANSPORT)
    await put(slot, 1, mode=Mode.TUNNEL, ipv6=True, natt=Natt.YES)
    sizes = [size for size in (1380, 1419, 1420, 1421, 1472, most - 1, most) if size <= most]
    flights = [slot.flight(plain(slot.rng, 4, size), number) for size in sizes for number in (0, 1)]
    for row in [flights] if HOLD >= 1024 else [[flight] for flight in flights]:
        assert set(await slot.ends(row)) == {"secured"}


@test
async def fields_of_an_outer_header_come_from_where_the_sa_says(slot: Slot) -> None:
    rows: list[dict[str, object]] = [
        {},
        {"dscp": 9},
        {"dscp": 0},
        {"dscp": 63},
        {"ecn_compat": True},
        {"ttl": 33},
        {"ttl": 0},
        {"df": Df.SET},
        {"df": Df.CLEAR},
        {"flow_label": 0xFEDCB},
        {"sequence": 0x1233F},
        {"src_port": 1, "dst_port": 0xFFFE},
        {"dscp": 21, "ecn_compat": True, "ttl": 255, "df": Df.SET, "flow_label": 1},
    ]
    for number, (row, ipv6_, natt) in enumerate(product(rows, (False, True), (Natt.NO, Natt.YES))):
        at = number % slot.sas
        await put(slot, at, mode=Mode.TUNNEL, ipv6=ipv6_, natt=natt, **row)
        frames = [
            plain(slot.rng, family, 9, tos=slot.rng.getrandbits(6) << 2 | ecn, **extra)
            for family, ecn in product((4, 6), range(4))
            for extra in (({"flags": 0, "ttl": 5}, {"flags": 0x4000}) if family == 4 else ({"hops": 7},))
        ]
        assert set(await slot.ends(slot.flight(frame, at) for frame in frames)) == {"secured"}


@test
async def esp_stands_behind_options_and_extension_headers(slot: Slot) -> None:
    await put(slot, 0, mode=Mode.TRANSPORT)
    await put(slot, 1, mode=Mode.TRANSPORT, natt=Natt.YES)
    await put(slot, 2, mode=Mode.TUNNEL)
    frames = [ethernet(ipv4(datagram(), options=bytes((1,)) * (4 * words), tos=0x2F)) for words in range(1, 11)]
    for kind, sizes in ((0, (0, 1, 3)), (60, (0, 2)), (43, (0, 2))):
        for size in sizes:
            rest = bytes((17, size, 0 if kind == 43 else 1, 0 if kind == 43 else 4 + 8 * size)) + bytes(4 + 8 * size)
            frames.append(ethernet(ipv6(datagram(), kind, extensions=rest)))
    # A whole packet in a fragment header (RFC 6946), and two headers in a row.
    frames.append(ethernet(ipv6(datagram(), 44, extensions=bytes.fromhex("1100000012345678"))))
    rest = bytes.fromhex("3c00010400000000") + bytes.fromhex("1100010400000000")
    frames.append(ethernet(ipv6(datagram(), 0, extensions=rest)))
    flights = [slot.flight(frame, at) for frame in frames for at in (0, 1, 2)]
    found = await slot.ends(flights)
    assert set(found) == {"secured"}, found


@test
async def a_tunnel_takes_what_transport_mode_refuses(slot: Slot) -> None:
    """Fragments, AH, segments left, packets that no parser reads to their end, a wrong checksum, TTL 1."""
    await put(slot, 0, mode=Mode.TUNNEL)
    await put(slot, 1, mode=Mode.TRANSPORT, natt=Natt.NO)
    await put(slot, 2, mode=Mode.TRANSPORT, natt=Natt.YES)
    ah = bytes.fromhex("11010000000000010000000a")
    left = bytes.fromhex("1102000100000000") + bytes(16)
    rows = [
        (ethernet(ipv4(datagram(), flags=0x2000)), "ipsec_fragment", "ipsec_fragment"),
        (ethernet(ipv4(bytes(20), flags=5)), "ipsec_fragment", "ipsec_fragment"),
        (ethernet(ipv4(ah + datagram(), 51)), "ipsec_policy", "ipsec_policy"),
        (ethernet(ipv6(datagram(), 43, extensions=left)), "secured", "ipsec_policy"),
        (ethernet(ipv4(b"\x50", 6)), "ipsec_policy", "ipsec_policy"),
        (spoilt(ethernet(ipv4(datagram())), 24, 0x55), "secured", "secured"),
        (ethernet(ipv4(datagram(), ttl=1, tos=3)), "secured", "secured"),
    ]
    for frame, plainly, in_udp in rows:
        found = await slot.ends(slot.flight(frame, at) for at in (0, 1, 2))
        assert found == ["secured", plainly, in_udp], (found, frame.hex())


@test
async def metadata_of_an_encrypted_frame_are_a_parsers(slot: Slot) -> None:
    """Noise in all fields of headers that are text now: they leave as 0."""
    await put(slot, 0, mode=Mode.TRANSPORT)
    await put(slot, 1, mode=Mode.TUNNEL, ipv6=False)
    await put(slot, 2, mode=Mode.TUNNEL, ipv6=True, natt=Natt.YES)
    names = ["tcp_flags", "icmp_type", "icmp_code", "spi", "esp_seq", "roce", "bth_opcode", "bth_flags", "bth_pkey"]
    names += ["bth_fecn", "bth_becn", "bth_dest_qp", "bth_ack_req", "bth_psn", "tunnel_kind", "tunnel_flags", "vni"]
    names += ["inner_dst_mac", "inner_src_mac", "inner_ethertype", "inner_vlan_count", "inner_vlan0", "inner_vlan1"]
    names += ["inner_l3_kind", "inner_l3_offset", "inner_l3_length", "inner_ip_src", "inner_ip_dst", "inner_dscp"]
    names += ["inner_ecn", "inner_ttl", "inner_protocol", "inner_fragment", "inner_l4_kind", "inner_l4_offset"]
    names += ["inner_src_port", "inner_dst_port", "inner_udp_length", "src_port", "dst_port"]
    wide = dict.fromkeys(names, 1)
    flights = [slot.flight(plain(slot.rng, family, 20), at, 0, **wide) for family in (4, 6) for at in (0, 1, 2)]
    assert set(await slot.ends(flights)) == {"secured"}


# What passes, what ends


@test
async def frames_that_nobody_wants_protected_pass_as_they_came(slot: Slot) -> None:
    await put(slot, 0)
    flights = [slot.flight(slot.rng.randbytes(size)) for size in (*range(1, 70), 1514)]
    flights += [slot.flight(plain(slot.rng, 4, 20), bad=1 | reason << 1) for reason in (0, Code.BAD_FCS)]
    assert set(await slot.ends(flights)) == {"passed"}


@test
async def of_two_faults_the_first_in_order_decides(slot: Slot) -> None:
    last = slot.sas - 1
    number = {"no_sa": last, "cipher": 0, "good": 1, "ended": 2, "used": 3}
    await put(slot, 0, cipher=Cipher.OTHER, mode=Mode.TRANSPORT)
    await put(slot, 1, mode=Mode.TRANSPORT, natt=Natt.YES, mtu=600)
    await put(slot, 2, mode=Mode.TRANSPORT, natt=Natt.YES, mtu=600, sequence=2**32 - 1, hard_packets=1)
    await put(slot, 3, mode=Mode.TRANSPORT, natt=Natt.YES, mtu=600, hard_bytes=4)
    frame = plain(slot.rng, 4, 40)
    faults: dict[str, tuple[str, dict[str, int]]] = {
        "l3": ("ipsec_policy", {"l3_kind": 0}),
        "parse": ("ipsec_policy", {"parse_code": int(Code.L4_TRUNCATED)}),
        "ah": ("ipsec_policy", {"ext_mask": 16}),
        "segments": ("ipsec_policy", {"segments_left": 1}),
        "fragment": ("ipsec_fragment", {"fragment": 1}),
        "mtu": ("ipsec_mtu", {"l3_length": 600}),
    }
    flights, want = [], []
    for sa_name, code in (
        ("no_sa", "ipsec_no_sa"),
        ("cipher", "ipsec_cipher"),
        ("good", None),
        ("ended", None),
        ("used", None),
    ):
        at = number[sa_name]
        rows: list[tuple[str, ...]] = [(), *((name,) for name in faults)]
        names = list(faults)
        rows += [(a, b) for first, a in enumerate(names) for b in names[first + 1 :]]
        for row in rows:
            fields: dict[str, int] = {}
            for name in row:
                fields |= faults[name][1]
            behind = {"ended": "ipsec_sequence", "used": "ipsec_lifetime", "good": "secured"}.get(sa_name, "")
            expected = code or (faults[row[0]][0] if row else behind)
            flights.append(slot.flight(frame, at, 0, **fields))
            want.append(expected)
            _seen_pair("head")
            if expected != "secured":
                flights.append(slot.flight(frame[:-9], at, 0, **fields))
                want.append(expected)
                _seen_pair("head_and_tail")
    found = await slot.ends(flights)
    wrong = [(a, b) for a, b in zip(found, want, strict=True) if a != b]
    assert not wrong, wrong
    # A number beyond the last, whose low bits are those of an SA.
    assert await slot.ends([slot.flight(frame, 1 + slot.sas)]) == ["ipsec_no_sa"]


@test
async def bad_frames_end_with_their_reason_and_short_ones_as_truncated(slot: Slot) -> None:
    """Their numbers are lost: a gap."""
    await put(slot, 0, mode=Mode.TUNNEL)
    frame = plain(slot.rng, 4, 100)
    flights = [slot.flight(frame, 0, bad=1 | reason << 1) for reason in (0, Code.BAD_FCS, Code.OVERSIZE)]
    flights += [slot.flight(frame[:-cut], 0) for cut in (1, 2, 15, 16, 17, 60, 100)]
    flights += [slot.flight(frame, 0), slot.flight(frame, slot.sas - 1, bad=1), slot.flight(frame[:-1], 0, bad=1)]
    found = await slot.ends(flights)
    assert found[3:11] == ["ipsec_truncated"] * 7 + ["secured"], found
    assert slot.model.counters["bad_in"] == 5


@test
async def no_packet_is_longer_than_its_limits(slot: Slot) -> None:
    """A byte around ``mtu``, ``max_packet`` and HOLD_BEATS, with every length of padding."""
    rows = ((300, Natt.NO, Mode.TUNNEL, 16), (303, Natt.YES, Mode.TRANSPORT, 8), (0, Natt.NO, Mode.TUNNEL, 12))
    for number, (mtu, natt, mode, tag) in enumerate(rows):
        await put(slot, number, mtu=mtu, natt=natt, mode=mode, tag=tag, ipv6=bool(number & 1))
        if not mtu:
            await slot.driver.put("max_packet", 352)
            slot.model.max_packet = 352
        flights = [slot.flight(plain(slot.rng, 4, size), number) for size in range(170, 300)]
        assert set(await slot.ends(flights)) == {"secured", "ipsec_mtu"}
    await slot.driver.put("max_packet", 0xFFFF)
    slot.model.max_packet = 0xFFFF
    if HOLD <= 256:
        found = set()
        for back in range(80, 140):
            # One at a time: two of them don't fit, and the page's cycles are those of frames that find room.
            found |= set(await slot.ends([slot.flight(plain(slot.rng, 4, 16 * HOLD - back), 2)]))
        assert found == {"secured", "ipsec_mtu"}


@test
async def numbers_end_and_no_nonce_comes_twice(slot: Slot) -> None:
    rows = ((False, 2**32 - 4, 3), (True, 2**64 - 4, 3), (True, 2**32 - 3, 8), (False, 0, 8))
    for number, (esn, start, good) in enumerate(rows):
        await put(slot, number % slot.sas, esn=esn, sequence=start, mode=Mode.TUNNEL)
        found = await slot.ends(slot.flight(plain(slot.rng, 4, 20), number % slot.sas) for _ in range(8))
        assert found == ["secured"] * min(good, 8) + ["ipsec_sequence"] * (8 - min(good, 8))
        await slot.check()
        if good < 8:
            await slot.ends([slot.flight(plain(slot.rng, 4, 20), number % slot.sas)])
            await slot.check()


@test
async def lifetimes_end_an_sa_and_are_told_once(slot: Slot) -> None:
    rows: list[dict[str, object]] = [
        {"soft_packets": 2, "hard_packets": 4},
        {"soft_bytes": 132, "hard_bytes": 132},
        {"hard_bytes": 131, "soft_packets": 1},
        {"hard_packets": 1},
        {"soft_packets": 1 << 40, "hard_bytes": 1 << 63},
    ]
    for number, row in enumerate(rows):
        at = number % slot.sas
        await put(slot, at, mode=Mode.TRANSPORT, **row)
        # 32 bytes of UDP are 36 of text.
        flights = [slot.flight(ethernet(ipv4(datagram(bytes(24)))), at) for _ in range(6)]
        flights.insert(2, slot.flight(ethernet(ipv4(datagram(bytes(24))))[:-1], at))
        await slot.play(flights)
        await slot.check()


# SAs and commands


@test
async def every_sa_has_its_own_key_and_numbers(slot: Slot) -> None:
    for number in range(slot.sas):
        await put(slot, number, cipher=KNOWN[number % len(KNOWN)])
    order = list(range(slot.sas)) * 2
    slot.rng.shuffle(order)
    assert set(await slot.ends(slot.flight(plain(slot.rng, 4, 10), at) for at in order)) == {"secured"}


@test
async def sas_change_under_traffic_and_each_frame_has_the_old_one_or_the_new(slot: Slot) -> None:
    await put(slot, 0)
    one = await put(slot, 1, mode=Mode.TUNNEL)
    for turn in range(40):
        slot.send(
            slot.flight(plain(slot.rng, 4, slot.rng.randrange(300)), slot.rng.choice((0, 1, 1))) for _ in range(14)
        )
        await wait_cycles(slot.clk, slot.rng.randrange(120))
        if turn % 3 == 2:
            await slot.driver.remove(1)
            _seen_command("removed")
        else:
            one = replace(one, key=slot.rng.randbytes(len(one.key)), spi=slot.rng.getrandbits(32))
            if turn % 2:
                one = replace(
                    one, tag=slot.rng.choice((8, 12, 16)), mode=slot.rng.choice((Mode.TUNNEL, Mode.TRANSPORT))
                )
            await slot.write(1, one)
            _seen_command("rewritten" if turn else "written")
        _seen_command("under_traffic")
        slot.send(slot.flight(plain(slot.rng, 4, 30), 1) for _ in range(3))
        if turn % 8 == 7:
            await slot.finish()
            await slot.check()
    _seen_command("written")


@test
async def ops_and_numbers_that_there_are_not_do_nothing(slot: Slot) -> None:
    one = await put(slot, 1)
    await slot.driver.prepare(replace(one, spi=one.spi ^ 2))
    for op, number in ((0, 1), (4, 1), (15, 1), (1, slot.sas), (2, slot.sas + 1), (1, 0xFFFF), (2, 1 | slot.sas)):
        await slot.driver.command(op, number, one)
    await slot.play([slot.flight(plain(slot.rng, 4, 20), 1)])
    for number in (0, 2, 3):
        await slot.check_state(number)
    # A key that is erased needs no cipher: of a slot that holds nothing an SA is removed sooner than a key is computed.
    await slot.driver.remove(1)
    (_, _, begun), (_, _, answered) = slot.books.commands[-2:]
    assert answered - begun <= REMOVAL


@test
async def keys_and_salts_are_never_read(slot: Slot) -> None:
    ones = [await put(slot, number) for number in range(min(slot.sas, 4))]
    secrets = set()
    for one in ones:
        secrets |= {int.from_bytes(one.key[at : at + 4], "little") for at in range(0, len(one.key), 4)}
        secrets.add(int.from_bytes(one.salt, "little"))
    await slot.play(slot.flight(plain(slot.rng, 4, 20), number) for number in range(len(ones)))
    known = {
        address for register in MAP for address in range(register.address, register.address + register.width // 8, 4)
    }
    for where in range(0, 0x400, 4):
        value, error = await slot.bus.access(where, None)
        assert error == (where not in known), f"{where:#x}: error {error}"
        assert value not in secrets, f"{where:#x} shows {value:#x}"
        if 0x60 <= where < 0x80 or where == 0x2C:
            assert value == 0, f"{where:#x}"
    assert MAP["size"].decode(await slot.driver.get("size")) == {"sas": slot.sas, "tx": 1, "sm4": int(SM4)}


# Streams


def mixed(slot: Slot, count: int, sas: int, most: int = 200) -> Iterator[Flight]:
    rng = slot.rng
    for _ in range(count):
        kind = rng.random()
        bad = rng.choice((0,) * 12 + (1, 45))
        if kind < 0.2:
            yield slot.flight(rng.randbytes(rng.randrange(1, most)), bad=bad)
            continue
        extra: dict[str, Any] = {}
        family = rng.choice((4, 6))
        if family == 4:
            extra = {"options": bytes((1,)) * (4 * rng.choice((0, 0, 1, 10))), "ttl": rng.randrange(256)}
            extra["flags"] = rng.choice((0, 0x4000, 0x4000, 0x2000))
        tags = rng.choice((b"", VLAN, QINQ))
        frame = plain(
            rng, family, rng.randrange(most), tags=tags, tos=rng.getrandbits(8), tail=bytes(rng.randrange(9)), **extra
        )
        if kind > 0.95:
            frame = frame[: -rng.randrange(1, 30)]
        yield slot.flight(frame, rng.randrange(sas), bad=bad)


async def some(slot: Slot, count: int) -> int:
    count = min(count, slot.sas - 1)
    rng = slot.rng
    for number in range(count):
        await put(
            slot,
            number,
            mode=rng.choice((Mode.TUNNEL, Mode.TRANSPORT)),
            natt=rng.choice((Natt.NO, Natt.YES)),
            esn=bool(rng.getrandbits(1)),
            cipher=KNOWN[number % len(KNOWN)],
            tag=(8, 12, 16)[number // 3 % 3],
            df=rng.choice(list(Df)),
            ttl=rng.choice((0, 64)),
            dscp=rng.choice((None, 13)),
            ecn_compat=bool(rng.getrandbits(1)),
            mtu=rng.choice((0, 0, 250)),
            soft_packets=rng.choice((0, 5)),
            hard_packets=rng.choice((0, 0, 60)),
            sequence=rng.choice((0, 2**32 - 30)),
        )
    return count


@test
async def frames_pass_every_pair_of_pauses(slot: Slot) -> None:
    count = await some(slot, 6)
    for source, sink in product(PAUSES, PAUSES):
        slot.pause(source, sink)
        await slot.play(mixed(slot, 5, count, 90))
    slot.pause("none", "none")


@test
async def a_storm_of_all_kinds_is_as_the_model_says(slot: Slot) -> None:
    count = await some(slot, 18)
    for source, sink in (
        ("none", "none"),
        ("storm", "none"),
        ("none", "storm"),
        ("bursty", "bursty"),
        ("none", "none"),
    ):
        slot.pause(source, sink)
        await slot.play(mixed(slot, 150, count + 1))
    slot.pause("none", "none")


@test
async def a_reset_in_mid_frame_leaves_nothing(slot: Slot) -> None:
    for delay in (1, 3, 7, 12, 20, 30, 33, 38, 41, 45, 52, 60, 80):
        await put(slot, 0)
        slot.pause("none", slot.rng.choice(("none", "one_in")))
        slot.send(slot.flight(plain(slot.rng, 4, 60), 0) for _ in range(6))
        await wait_cycles(slot.clk, delay)
        _seen_reset("output_open" if slot.output.bus.partial else "engine" if delay > 20 else "input_open")
        await slot.reset(1 + delay % 3)
        assert await slot.ends([slot.flight(plain(slot.rng, 4, 60), 0)]) == ["ipsec_no_sa"]
        await put(slot, 0)
        slot.pause("none", "none")
        assert await slot.ends([slot.flight(plain(slot.rng, 4, 60), 0)]) == ["secured"]
        await slot.check()


@test
async def frames_of_one_beat_stand_behind_any_others(slot: Slot) -> None:
    """Nothing of IP is in them, so they end; those around them lose nothing."""
    await put(slot, 0, mode=Mode.TUNNEL)
    flights, want = [], []
    for size in range(48):
        flights += [slot.flight(plain(slot.rng, 4, size), 0), slot.flight(slot.rng.randbytes(1 + size % 16), 0)]
        want += ["secured", "ipsec_policy"]
    assert await slot.ends(flights) == want


@test
async def a_udp_checksum_of_0_is_written_as_ffff(slot: Slot) -> None:
    """The same frame with the same number a second time, from a port by which the sum becomes 0."""
    frame = plain(slot.rng, 6, 20)
    for mode, at in ((Mode.TRANSPORT, 60), (Mode.TUNNEL, 60)):
        one = await put(slot, 0, mode=mode, ipv6=True, natt=Natt.YES, src_port=1)
        flight = slot.flight(frame, 0)
        assert await slot.ends([flight]) == ["secured"]
        left = int.from_bytes(flight.out().data[at : at + 2], "big")
        await slot.write(0, replace(one, src_port=(1 + left - 1) % 0xFFFF + 1))
        flight = slot.flight(frame, 0)
        assert await slot.ends([flight]) == ["secured"]
        assert flight.out().data[at : at + 2] == b"\xff\xff"


@test
async def long_frames_stand_behind_short_ones(slot: Slot) -> None:
    most = min(16 * HOLD // 4, 4154)
    await put(slot, 0, mode=Mode.TRANSPORT, ipv6=False, natt=Natt.NO, tag=16)
    sizes = [size for _ in range(4) for size in (20, 80, 20, most // 4, 20, 20, 80, 80, most)]
    assert set(await slot.ends(slot.flight(plain(slot.rng, 4, size), 0) for size in sizes)) == {"secured"}


# Time


@test
async def frames_of_64_bytes_with_an_sa_each_take_less_than_a_wire(slot: Slot) -> None:
    """60 bytes without FCS in the clear: 6.7 cycles each, or what the longer frame takes on a wire."""
    count = min(slot.sas, 64)
    for number in range(count):
        await put(slot, number, mode=Mode.TRANSPORT, ipv6=False, natt=Natt.NO, tag=16)
    for size in (18, 0):
        flights = [slot.flight(plain(slot.rng, 4, size), at % count) for at in range(4 * count)]
        await slot.play(flights)
        took = flights[-1].beats[-1] - flights[0].beats[0] + 1
        assert took / len(flights) <= 6.7, f"{took / len(flights)} cycles a frame"


@test
async def no_length_takes_longer_than_its_wire(slot: Slot) -> None:
    count = min(slot.sas, 8)
    for number in range(count):
        await put(slot, number, mode=Mode.TUNNEL, ipv6=False, natt=Natt.NO, tag=16)
    for size in (*range(18, 130), 500, 1400):
        flights = [slot.flight(plain(slot.rng, 4, size), at) for at in range(count)]
        await slot.play(flights)
        took = flights[-1].beats[-1] - flights[0].beats[0] + 1
        wire = 0.0
        for flight in flights:
            assert flight.result is not None and flight.result.frame is not None
            wire += (max(len(flight.result.frame) + 4, 64) + 20) * 8 / 25 / 4
        assert took <= wire, f"frames of {size} bytes took {took} cycles, the wire {wire:.1f}"


# What implementations got wrong


@test
async def faults_of_the_field_are_not_here(slot: Slot) -> None:
    """Padding to 4 bytes and no more around the MTU; tags of all lengths side by side; the high half in the tag."""
    for number, tag in enumerate((8, 12, 16)):
        await put(
            slot,
            number,
            tag=tag,
            mode=Mode.TUNNEL,
            mtu=1500,
            ipv6=False,
            natt=Natt.NO,
            esn=tag == 12,
            sequence=2**32 - 2,
        )
    sizes = range(1439, 1447)
    if 16 * HOLD < 1600:
        sizes = range(39, 47)
    flights = [slot.flight(ethernet(ipv4(datagram(bytes(size - 28)))), 1) for size in sizes]
    flights += [slot.flight(ethernet(ipv4(datagram(bytes(33)))), number) for number in (0, 1, 2)]
    found = await slot.ends(flights)
    assert found == ["secured"] * len(flights), found
    for flight, size in zip(flights, sizes, strict=False):
        assert flight.result is not None and flight.result.frame is not None
        assert len(flight.result.frame) == 14 + 20 + 16 + size + -(size + 2) % 4 + 2 + 12
    lengths = [len(flight.result.frame or b"") for flight in flights[-3:] if flight.result is not None]
    assert [length - lengths[0] for length in lengths] == [0, 4, 8]


@test
async def a_key_that_the_engine_has_not_is_no_key(slot: Slot) -> None:
    await put(slot, 0, cipher=Cipher.SM4_GCM, mode=Mode.TRANSPORT)
    flights = [slot.flight(plain(slot.rng, 4, size), 0) for size in (0, 30, 100)]
    flights.append(slot.flight(plain(slot.rng, 4, 30)[:-1], 0))
    found = await slot.ends(flights)
    assert found == ["secured" if SM4 else "ipsec_cipher"] * 3 + ["ipsec_truncated"]


@test
async def frames_for_others_to_decrypt(slot: Slot) -> None:
    """What leaves goes to ``sent.txt`` in the run's folder: a line with the SA's number, the plain and the sealed frame
    in hex; tests/ipsec/test_tx.py gives it to Scapy and tshark."""
    lines = []
    ones = [
        sa(mode=Mode.TUNNEL, src=address(THERE)),
        sa(mode=Mode.TUNNEL, tag=12, spi=SPI + 1, src=address(THERE)),
        sa(mode=Mode.TUNNEL, spi=SPI + 2, ipv6=True, src=address(THERE6)),
    ]
    assert ones[0].key == KEY and ones[0].salt == SALT and HERE != HERE6
    for number, one in enumerate(ones):
        await slot.write(number, one)
        flights = [slot.flight(ethernet(inner(slot.rng, 4 + 2 * (size % 2), size)), number) for size in range(12)]
        assert set(await slot.ends(flights)) == {"secured"}
        for flight in flights:
            assert flight.result is not None and flight.result.frame is not None
            lines.append(f"{number} {flight.sent.data.hex()} {flight.out().data.hex()}")
    Path(os.environ["NICLOOP_RUN_DIR"], "sent.txt").write_text("\n".join(lines) + "\n")
