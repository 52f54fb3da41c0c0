"""TLP headers, byte enables and the bus form against cocotbext-pcie and published bytes.

Sweep:    both formats, all tags of 10 bits, lengths to 1024 DWs, every byte enable, all fields of completions
Stimulus: random fields (hypothesis); bytes that pcileech printed; byte enable cases of warp-pipe
Checks:   cocotbext-pcie's Tlp packs and unpacks the same; back and forth gives the same; what isn't a TLP is refused
Timing:   none
"""

from __future__ import annotations

import json

import pytest
from cocotbext.pcie.core.tlp import CplStatus, Tlp, TlpAttr, TlpType
from cocotbext.pcie.core.utils import PcieId
from hypothesis import given
from hypothesis import strategies as st

from models.dma_split import byte_enables, dws, split
from models.dma_tlp import Attr, Beat, Completion, MemoryRequest, Status, TlpError, beats_of, from_beats, unpack

ADDRESSES = st.integers(0, (1 << 30) - 1) | st.integers(1 << 30, (1 << 62) - 1)
ID = st.integers(0, 0xFFFF)
TAG = st.integers(0, 1023)
COMMON = {
    "attr": st.integers(0, 7).map(Attr),
    "tc": st.integers(0, 7),
    "td": st.booleans(),
    "ep": st.booleans(),
    "at": st.integers(0, 2),
}


@st.composite
def requests(draw):
    write = draw(st.booleans())
    length = draw(st.integers(1, 40) | st.integers(1, 1024))
    seed = draw(st.binary(min_size=4, max_size=4))
    return MemoryRequest(
        write=write,
        address=4 * draw(ADDRESSES),
        length=length,
        first_be=draw(st.integers(0, 15)),
        last_be=draw(st.integers(0, 15)),
        tag=draw(TAG),
        requester_id=draw(ID),
        data=seed * length if write else b"",
        **{name: draw(values) for name, values in COMMON.items()},
    )


@st.composite
def completions(draw):
    length = draw(st.integers(0, 40) | st.integers(0, 1024))
    return Completion(
        status=draw(st.sampled_from(Status)),
        byte_count=draw(st.integers(1, 4096)),
        lower_address=draw(st.integers(0, 127)),
        length=length,
        has_data=length > 0,
        tag=draw(TAG),
        requester_id=draw(ID),
        completer_id=draw(ID),
        bcm=draw(st.booleans()),
        data=draw(st.binary(min_size=4, max_size=4)) * length,
        **{name: draw(values) for name, values in COMMON.items()},
    )


def theirs(tlp: MemoryRequest | Completion) -> Tlp:
    """The same fields in cocotbext-pcie's class."""
    other = Tlp()
    other.length, other.tag, other.attr = tlp.length, tlp.tag, TlpAttr(int(tlp.attr))
    other.tc, other.td, other.ep, other.at = tlp.tc, tlp.td, tlp.ep, tlp.at
    other.requester_id = PcieId.from_int(tlp.requester_id)
    other.data = bytearray(tlp.data)
    if isinstance(tlp, MemoryRequest):
        name = ("MEM_WRITE" if tlp.write else "MEM_READ") + ("_64" if tlp.address >> 32 else "")
        other.fmt_type = TlpType[name]
        other.address, other.first_be, other.last_be = tlp.address, tlp.first_be, tlp.last_be
    else:
        other.fmt_type = TlpType.CPL_DATA if tlp.has_data else TlpType.CPL
        other.status, other.byte_count, other.bcm = CplStatus(tlp.status), tlp.byte_count, tlp.bcm
        other.lower_address, other.completer_id = tlp.lower_address, PcieId.from_int(tlp.completer_id)
    return other


@given(requests() | completions())
def test_a_tlp_is_packed_as_cocotbext_pcie_packs_it_and_comes_back(tlp):
    raw = tlp.pack()
    assert raw == bytes(theirs(tlp).pack())
    assert unpack(raw) == tlp
    assert Tlp.unpack(raw).pack() == raw


@given(requests() | completions())
def test_the_bus_form_holds_the_same_tlp(tlp):
    beats = beats_of(tlp)
    assert from_beats(beats) == tlp
    assert len(beats) == max(1, -(-len(tlp.data) // 64))
    dw0 = int.from_bytes(tlp.header[:4], "big")
    assert beats[0].hdr & 0xFFFFFFFF == dw0 and beats[0].hdr >> 96 == (
        int.from_bytes(tlp.header[12:], "big") if tlp.header_dws == 4 else 0
    )
    assert b"".join(beat.data.to_bytes(64, "little") for beat in beats)[: len(tlp.data)] == tlp.data
    assert [beat.keep for beat in beats[:-1]] == [0xFFFF] * (len(beats) - 1)


def test_every_tag_of_ten_bits_has_its_places_in_the_header():
    for tag in range(1024):
        read = MemoryRequest(write=False, address=0x1000, length=1, first_be=15, last_be=0, tag=tag)
        assert read.header[6] == tag & 0xFF
        assert (read.header[1] >> 7, read.header[1] >> 3 & 1) == (tag >> 9, tag >> 8 & 1)
        assert Tlp.unpack(read.pack()).tag == tag


def test_a_length_of_1024_dws_and_4096_bytes_is_0_in_its_field():
    read = MemoryRequest(write=False, address=0, length=1024, first_be=15, last_be=15)
    assert read.header[2:4] == b"\0\0" and unpack(read.pack()) == read
    cpl = Completion(status=0, byte_count=4096, lower_address=0, length=1024, tag=0, data=bytes(4096))
    assert cpl.header[2:4] == b"\0\0" and cpl.header[6:8] == b"\0\0" and unpack(cpl.pack()) == cpl


@given(st.integers(0, 4095), st.integers(0, 4200), st.sampled_from([0, 1 << 32]))
def test_byte_enables_and_length_are_those_of_cocotbext_pcie(offset, length, base):
    for address, size in split(base + offset, length, 4096) or [(base + offset, 0)]:
        tlp = Tlp()
        tlp.set_addr_be(address, size)
        assert (dws(address, size), *byte_enables(address, size)) == (tlp.length, tlp.first_be, tlp.last_be)
        if size:
            assert tlp.get_be_byte_count() == size and tlp.address + tlp.get_first_be_offset() == address


def test_byte_enables_of_every_short_piece_choose_its_bytes_and_no_others():
    for address in range(8):
        for length in range(1, 20):
            first_be, last_be = byte_enables(address, length)
            count = dws(address, length)
            tlp = MemoryRequest(write=False, address=address & ~3, length=count, first_be=first_be, last_be=last_be)
            chosen = [tlp.address + n for n, on in enumerate(tlp.enabled()) if on]
            assert chosen == list(range(address, address + length))
            assert (last_be == 0) == (count == 1) and first_be != 0


def test_tlps_of_pcileech_are_read_and_written_back(material):
    stored = json.loads((material / "07_pcie/pcileech_issue_tlps.json").read_text())["tlps"]
    assert stored
    for entry in stored:
        raw = bytes.fromhex(entry["tlp"])
        tlp, fields = unpack(raw), entry["decoded"]
        assert isinstance(tlp, MemoryRequest) and tlp.pack() == raw
        assert (tlp.length, tlp.tag, tlp.first_be, tlp.last_be) == (
            fields["length_dw"],
            fields["tag"],
            fields["fbe"],
            fields["lbe"],
        )
        assert (f"{tlp.requester_id:04x}", f"{tlp.address:08x}") == (fields["req"], fields["addr"])


def test_byte_enables_are_those_of_warp_pipe(material):
    cases = json.loads((material / "07_pcie/warp_pipe_be_crc_vectors.json").read_text())["byte_enable_cases"]
    assert len(cases) == 21
    for case in cases:
        assert byte_enables(case["addr"], case["len_bytes"]) == (case["first_be"], case["last_be"]), case
        assert case["addr"] & ~3 == case["aligned_addr"]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (bytes(8), "8 bytes are no TLP"),
        (bytes(14), "14 bytes are no TLP"),
        (bytes.fromhex("20000001 0000000f 00000000 00001000"), "below 4 GiB"),
        (bytes.fromhex("20000001 0000000f 00000001"), "its header has 16"),
        (bytes.fromhex("40000002 000000ff 00001000 00000000"), "4 bytes of payload, length 2 DWs"),
        (bytes.fromhex("00000001 0000000f 00001000 00000000"), "4 bytes of payload"),
        (bytes.fromhex("04000001 0000000f 01000000"), "neither a memory request nor a completion"),
        (bytes.fromhex("80000001 0000000f 01000000"), "neither a memory request nor a completion"),
        (bytes.fromhex("2a000001 0000000f 01000000 00000000"), "neither a memory request nor a completion"),
    ],
)
def test_bytes_that_are_no_tlp_are_refused(raw, said):
    with pytest.raises(TlpError, match=said):
        unpack(raw)


def test_beats_that_break_the_bus_are_refused_with_their_place():
    write = MemoryRequest(write=True, address=0, length=20, first_be=15, last_be=15, data=bytes(80))
    first, second = beats_of(write)
    read = beats_of(MemoryRequest(write=False, address=0, length=20, first_be=15, last_be=15))[0]
    for beats, said in (
        ([], "no beat"),
        ([first], "beat 0 of 1: sop 1, eop 0"),
        ([first, first], "beat 1 of 2: sop 1, eop 0"),
        ([first._replace(eop=True), second], "beat 0 of 2: sop 1, eop 1"),
        ([first._replace(keep=0x7FFF), second], "beat 0 of 2: 15 DWs"),
        ([first, second._replace(keep=0x5)], "beat 1: keep 0x5 isn't contiguous"),
        ([first, second._replace(keep=0)], "beat 1 of 2: 0 DWs"),
        ([first, second._replace(keep=0x7)], "76 bytes of payload, length 20"),
        ([read._replace(hdr=read.hdr | 1 << 96)], "isn't 0 behind its 3 DWs"),
        ([Beat(True, True, read.hdr, 0, 1)], "4 bytes of payload"),
    ):
        with pytest.raises(TlpError, match=said):
            from_beats(beats)
