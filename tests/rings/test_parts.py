"""Descriptors and completions as bytes, the address filter, the figures of the page's rate.

Sweep:    each field alone and at random; each kind of address against each mode; all lengths of frames
Stimulus: fields; addresses one bit off
Checks:   bits where the page says; the numbers in docs/rings.md
Timing:   loads as parts of 1
"""

from __future__ import annotations

import random
import re

import pytest

from models.rings_filter import BROADCAST, Filter
from models.rings_layout import Completion, RxDescriptor, TxDescriptor
from models.rings_rate import Batches, link_bytes_per_second, load, worst
from tb.toolchain import ROOT

TX_PLACES = {
    "address": (0, 64),
    "length": (64, 16),
    "eop": (80, 1),
    "report": (81, 1),
    "ip_checksum": (82, 1),
    "l4": (83, 2),
    "vlan": (85, 1),
    "key": (86, 2),
    "l3": (88, 8),
    "tci": (96, 16),
    "l4_offset": (112, 8),
    "ad": (120, 1),
    "reserved": (121, 7),
}
COMPLETION_PLACES = {
    "hash": (0, 32),
    "timestamp": (32, 32),
    "tci": (64, 16),
    "index": (80, 16),
    "length": (96, 14),
    "vlan": (110, 1),
    "vlan_ad": (111, 1),
    "l4_checksum": (112, 2),
    "ip_checksum": (114, 2),
    "hash_kind": (116, 2),
    "queue": (118, 4),
    "status": (122, 4),
    "tx": (126, 1),
    "owner": (127, 1),
}


@pytest.mark.parametrize(("kind", "places"), [(TxDescriptor, TX_PLACES), (Completion, COMPLETION_PLACES)])
def test_every_field_has_its_bits_and_no_others(kind, places, seed):
    zero = {name: 0 for name in places}
    assert kind(**zero).pack() == bytes(16)
    assert sum(width for _, width in places.values()) == 128
    for name, (low, width) in places.items():
        full = kind(**zero | {name: (1 << width) - 1}).pack()
        assert int.from_bytes(full, "little") == ((1 << width) - 1) << low
    rng = random.Random(seed)
    for _ in range(200):
        raw = rng.randbytes(16)
        assert kind.unpack(raw).pack() == raw


def test_an_rx_descriptor_is_address_length_key_and_nothing_else():
    raw = RxDescriptor(address=0x0102030405060708, length=0x0A0B, key=2).pack()
    assert raw == bytes([8, 7, 6, 5, 4, 3, 2, 1, 0x0B, 0x0A, 0x80, 0, 0, 0, 0, 0])
    for bit in range(128):
        flipped = (int.from_bytes(raw, "little") ^ 1 << bit).to_bytes(16, "little")
        descriptor = RxDescriptor.unpack(flipped)
        assert descriptor.pack() == flipped
        assert descriptor.faulty() == (bit >= 80 and bit not in (86, 87))


OWN, OTHER, GROUP = 0x0200_0000_0001, 0x0200_0000_0002, 0x0100_5E00_0001
WAYS = {
    "nothing": (Filter(broadcast=False), []),
    "reset": (Filter(), [BROADCAST]),
    "own": (Filter(addresses=frozenset({OWN})), [BROADCAST, OWN]),
    "group": (Filter(addresses=frozenset({OWN, GROUP})), [BROADCAST, OWN, GROUP]),
    "all multicast": (Filter(all_multicast=True, broadcast=False), [GROUP, GROUP + 1]),
    "promiscuous": (Filter(promiscuous=True, broadcast=False), [BROADCAST, OWN, OTHER, GROUP, GROUP + 1]),
    "broadcast in the table": (Filter(broadcast=False, addresses=frozenset({BROADCAST})), [BROADCAST]),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_mode_passes_its_addresses_alone(way):
    mode, passing = WAYS[way]
    for address in (BROADCAST, OWN, OTHER, GROUP, GROUP + 1):
        assert mode.passes({"dst_mac": address}) == (address in passing)


def test_an_address_is_compared_in_all_48_bits_and_what_a_rule_sent_passes():
    mode = Filter(addresses=frozenset({OWN}))
    assert not any(mode.passes({"dst_mac": OWN ^ 1 << bit}) for bit in range(48))
    for name in ("acl_copy", "acl_redirect"):
        assert mode.passes({"dst_mac": OTHER, name: 1})


def test_the_page_says_what_the_loads_are():
    page = (ROOT / "docs/rings.md").read_text()
    small = load(60)
    rows = {
        "link up": small.up,
        "link down": small.down,
        "TLPs out": small.tlp_out,
        "TLPs in": small.tlp_in,
        "data of a port's": small.write_data,
    }
    for name, value in rows.items():
        (row,) = re.findall(rf"^\| {name}.*\| (\d+) % \|$", page, re.MULTILINE)
        assert int(row) == round(100 * value)
    assert round(link_bytes_per_second() / 1e9, 2) == 15.75
    assert worst("up") == (pytest.approx(0.756, abs=0.0005), 61)
    assert worst("down") == (pytest.approx(0.669, abs=0.0005), 65)
    assert worst("write_data") == worst("read_data") == (pytest.approx(7 / 7.12), 65)
    assert [length for length in range(60, 9597) if load(length).tlp_out > 1] == [65, 66, 67, 68, 69]
    assert worst("tlp_out") == (pytest.approx(1.053, abs=0.0005), 65)
    assert worst("tlp_out", Batches(reports=8))[0] < 1
    single = load(60, Batches(descriptors=1, completions=1))
    assert (round(100 * single.up), round(100 * single.tlp_out)) == (111, 179)
    flushed = [length for length in range(60, 9597) if load(length, Batches(flushes=1)).tlp_out > 1]
    assert flushed == list(range(60, 95))
    assert round(100 / load(65, Batches(flushes=1)).tlp_out) == 75
    assert round(100 / load(60, Batches(flushes=1)).tlp_out) == 90


def test_a_frame_of_64_bytes_costs_what_its_parts_are():
    """Counted by hand from PCIe 4.0: bytes of each TLP on the link."""
    rate = 2 / (84 * 8 / 25)
    up = 60 + 24 + 24 + 2 * (16 + 24 / 4) + 2 * 24 / 8
    down = 60 + 20 + 2 * (128 + 2 * 20) / 8
    assert (up, down) == (158, 122)
    assert load(60).up == pytest.approx(up * rate / 15.753846, rel=1e-6)
    assert load(60).down == pytest.approx(down * rate / 15.753846, rel=1e-6)
