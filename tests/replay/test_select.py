"""Which frames are chosen: ranges and filters.

Sweep:    every form of a range; every test of the filter, its operators and brackets; what can't be understood
Stimulus: texts; frames of captures of the repository, IPv4, IPv6, tagged, ARP, ICMP, TCP, UDP, RoCEv2
Checks:   numbers of frames; tshark's display filter on the same frames; the column of an error
Timing:   none
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from models.frames import Batch
from models.parser_batch import parse_batch
from tb.replay.capture import read_capture, write_pcap
from tb.replay.select import Filter, FrameRange, SelectError
from tb.toolchain import ROOT

CAPTURES = ROOT / "tests" / "captures"
MIXED = ("scapy_ipv4", "scapy_ipv6", "scapy_vlan", "scapy_arp_l2", "scapy_rocev2", "scapy_imix")
_TSHARK = {
    "host": "({a}.addr == {v})",
    "src": "({a}.src == {v})",
    "dst": "({a}.dst == {v})",
    "port": "(tcp.port == {v} or udp.port == {v})",
    "src port": "(tcp.srcport == {v} or udp.srcport == {v})",
    "dst port": "(tcp.dstport == {v} or udp.dstport == {v})",
}


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("2:5", [2, 3, 4]), ("7:", [7, 8, 9]), (":2", [0, 1]), ("4", [4]), ("8:99", [8, 9]), ("10:", []), (" 0:1 ", [0])],
)
def test_a_range_counts_from_0_and_leaves_b_out(text: str, chosen: list[int]) -> None:
    assert list(range(10))[FrameRange.parse(text).part(0, 10)] == chosen
    # The same through pieces of three.
    pieces = [list(range(at, min(at + 3, 10))) for at in range(0, 10, 3)]
    wanted = FrameRange.parse(text)
    assert [i for piece in pieces for i in piece[wanted.part(piece[0], len(piece))]] == chosen


@pytest.mark.parametrize("text", ["", ":", "a:b", "1:2:3", "-1", "-3:", "1-5", "0x10", "5:5", "7:3", "1" * 19])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(SelectError, match=re.escape(repr(text.strip() or text))):
        FrameRange.parse(text)


def mixed() -> Batch:
    """Frames that the NIC's parser reads to their end, as tshark does."""
    batch = Batch.concat([read_capture(CAPTURES / f"{name}.pcapng").batch for name in MIXED])
    return batch.select(parse_batch(batch)["parse_code"] == 0)


def as_tshark(text: str) -> str:
    """The filter in tshark's words: on IP the outermost header, which is the only one in these frames."""

    def one(found: re.Match[str]) -> str:
        kind, value = found[1].replace("src host", "src").replace("dst host", "dst"), found[2]
        address = "eth" if len(value) == 17 else "ipv6" if ":" in value else "ip"
        return _TSHARK[kind].format(a=address, v=value)

    return re.sub(r"((?:src|dst) (?:port|host)|host|src|dst|port) ([0-9a-f.:/]+)", one, text)


FILTERS = (
    "host 192.0.2.1",
    "src 192.0.2.1",
    "dst 192.0.2.0/30",
    "host 192.0.2.0/24 and not port 4791",
    "src host 2001:db8::1 or dst port 443",
    "host 2001:db8::/32",
    "not host 2001:db8::/64",
    "src 02:00:00:00:00:01",
    "host 02:00:00:00:00:02 and (src port 49152 or dst port 49153)",
    "port 4791 and not (src 192.0.2.2 or dst 192.0.2.9)",
    "not not port 80",
    "port 0",
    "host 10.0.0.0/8 or port 53 and src 192.0.2.1",
)


@pytest.mark.parametrize("text", FILTERS)
def test_a_filter_lets_through_what_tshark_lets_through(text: str, tmp_path: Path, tshark: str) -> None:
    batch = mixed()
    write_pcap(tmp_path / "mixed.pcap", batch)
    options = [f"-o{name}" for name in ("ip.defragment:FALSE", "ipv6.defragment:FALSE")]
    run = subprocess.run(
        [tshark, "-n", "-r", str(tmp_path / "mixed.pcap"), *options, "-Y", as_tshark(text), "-T", "fields", "-e",
         "frame.number"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    theirs = [int(line) - 1 for line in run.stdout.split()]
    assert np.flatnonzero(Filter.parse(text).hits(batch)).tolist() == theirs


def test_the_filters_of_the_comparison_choose_some_frames_and_not_all() -> None:
    batch = mixed()
    hits = [int(Filter.parse(text).hits(batch).sum()) for text in FILTERS]
    assert sum(0 < count < len(batch) for count in hits) >= 9, hits


def test_a_frame_without_a_byte_matches_no_test() -> None:
    batch = Batch.of([b"", bytes(60), b""])
    assert Filter.parse("host 00:00:00:00:00:00").hits(batch).tolist() == [False, True, False]
    assert Filter.parse("host 0.0.0.0/0 or host ::/0 or port 0").hits(batch).tolist() == [False] * 3
    assert Filter.parse("not port 0").hits(batch).tolist() == [True] * 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1: a test (host"),
        ("host", "column 5: an address is wanted"),
        ("host 10.0.0", "column 6: '10.0.0' is no IPv4, IPv6 or MAC address"),
        ("host 10.0.0.0/33", "column 6: '10.0.0.0/33' is no"),
        ("port http", "column 6: 'http' must be a port from 0 to 65535"),
        ("port 65536", "column 6: '65536' must be a port"),
        ("src port", "column 9: a port is wanted"),
        ("tcp", "column 1: 'tcp' is no test; there are: host"),
        ("host 10.0.0.1 port 4", "column 15: and, or, or the end is wanted, not 'port'"),
        ("host 10.0.0.1 and", "column 18: a test"),
        ("(host 10.0.0.1", "column 15: the bracket of column 1 is not closed"),
        ("host 10.0.0.1)", "column 14: and, or, or the end is wanted, not ')'"),
        ("port 0080000", "column 6: '0080000' must be a port"),
        ("port " + "1" * 5000, f"column 6: '{'1' * 39}…' must be a port from 0 to 65535"),
        ("x" * 5000, f"column 1: '{'x' * 39}…' is no test"),
        ("host " + "x" * 5000, f"column 6: '{'x' * 39}…' is no IPv4"),
        ("port 1 " + "x" * 5000, f"column 8: and, or, or the end is wanted, not '{'x' * 39}…'"),
        ("(" * 2000 + "port 1" + ")" * 2000, "column 51: brackets are nested deeper than 50"),
        ("not (port 4 or )", "column 16: a test (host, src, dst, port, src port, dst port) is wanted, not ')'"),
    ],
)
def test_a_filter_that_cannot_be_understood_names_the_column(text: str, message: str) -> None:
    with pytest.raises(SelectError, match=re.escape(message)):
        Filter.parse(text)


def test_a_range_of_many_digits_is_refused_in_a_short_line() -> None:
    for text in ("1" * 5000, f"{'1' * 5000}:", f":{'1' * 5000}", "x" * 5000):
        with pytest.raises(SelectError) as caught:
            FrameRange.parse(text)
        assert "must be A:B" in str(caught.value) and len(str(caught.value)) < 200
    assert FrameRange.parse(f"{10**18 - 1}:").first == 10**18 - 1


@pytest.mark.parametrize("text", [" or ".join(["port 80", "port 4791"] * 2000), " and ".join(["port 80"] * 4000)])
def test_a_filter_may_have_many_tests(text: str) -> None:
    batch = mixed()
    few = "port 80 or port 4791" if " or " in text else "port 80"
    assert np.array_equal(Filter.parse(text).hits(batch), Filter.parse(few).hits(batch))


def test_a_filter_may_be_negated_many_times_and_have_fifty_brackets() -> None:
    batch = mixed()
    plain = Filter.parse("port 4791").hits(batch)
    assert np.array_equal(Filter.parse("not " * 5001 + "port 4791").hits(batch), ~plain)
    assert np.array_equal(Filter.parse("(" * 50 + "port 4791" + ")" * 50).hits(batch), plain)
