"""What a replay writes: records a frame, and the capture of what came out.

Sweep:    every key; delivered, dropped, empty, unreported and differing frames; IPv4, IPv6, ARP, ESP, RoCEv2, broken
Stimulus: captures of the repository, through the golden model
Checks:   the outcome; docs/replay.md; tshark on the capture that was written
Timing:   none
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.meta import Code
from models.nic import Mismatch, NicPortModel
from tb.cli import app
from tb.replay.capture import CaptureError, read_capture
from tb.replay.out import OutCapture
from tb.replay.records import KEYS, VERSION, Records, records
from tb.replay.window import Judged, Window
from tb.toolchain import ROOT
from tests.nic.test_capture import fields, nanoseconds
from tests.replay.judging import begun_at, byte_flipped, judge, udp_frame

CAPTURES = ROOT / "tests" / "captures"
CLOCK_NS = 4.0


def judged_capture(name: str, edge: Edge = Edge.WIRE, begin_ns: int = 1000, first_out: int = 0) -> Judged:
    """A capture of the repository as one window, passed by the golden model."""
    capture = read_capture(CAPTURES / name)
    batch = Batch.of_arrays(capture.batch.data, capture.batch.lengths, edge=edge, flags=capture.batch.flags)
    model = NicPortModel()
    outcome = begun_at(model.play(batch), begin_ns)
    number = np.arange(len(batch), dtype=np.int64)
    window = Window(batch, number + 7, name, number, capture.original_length)
    return Judged(window, outcome, NicPortModel().check(batch, outcome), begin_ns, first_out)


def documented_keys() -> list[str]:
    text = (ROOT / "docs" / "replay.md").read_text()
    table = text.partition("## Records")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [key for cell in cells for key in re.findall(r"`(\w+)`", cell)]


def test_the_keys_are_those_of_the_page_in_its_order() -> None:
    right = records(judge([udp_frame(60)]), CLOCK_NS)[0]
    wrong = records(judge([udp_frame(60)], spoil=byte_flipped(0, 3)), CLOCK_NS)[0]
    assert tuple(wrong) == KEYS
    assert tuple(right) == tuple(key for key in KEYS if key != "differences")
    assert sorted(documented_keys()) == sorted(KEYS)


@pytest.mark.parametrize("name", ["scapy_malformed.pcapng", "scapy_oversize.pcapng", "scapy_rocev2.pcapng"])
@pytest.mark.parametrize("edge", list(Edge))
def test_records_say_what_the_outcome_says(name: str, edge: Edge) -> None:
    judged = judged_capture(name, edge, first_out=50)
    outcome, batch = judged.outcome, judged.window.batch
    found = records(judged, CLOCK_NS)
    assert len(found) == len(batch)
    out = [number for record in found for number in record["out"]]
    assert sorted(out) == list(range(50, 50 + len(outcome.frames)))
    for i, record in enumerate(found):
        code = int(outcome.code[i])
        assert record["v"] == VERSION == 2 and (record["index"], record["frame"]) == (i + 7, i)
        assert record["length"] == batch.lengths[i] and record["capture"] == name
        assert record["direction"] == ("rx" if edge == Edge.WIRE else "tx") and record["port"] == 0
        assert record["time_ns"] == 1000 + 4 * outcome.first_in[i]
        assert record["disposition"] == ("delivered" if code == Code.DELIVERED else "dropped")
        assert record["reason"] == (None if code == Code.DELIVERED else Code(code).name.lower())
        latency = int(outcome.latency_cycles[i])
        expected = (None, None) if latency < 0 else (latency, 4 * latency)
        assert (record["latency_cycles"], record["latency_ns"]) == expected
        assert record["match"] is True
        for number in record["out"]:
            assert outcome.source[number - 50] == i


def of(name: str, at: int = 0) -> dict[str, Any]:
    return records(judged_capture(name), CLOCK_NS)[at]


def test_records_hold_the_headers_that_tshark_reads(tshark: str) -> None:
    names = (
        "ip.src",
        "ip.dst",
        "ip.proto",
        "udp.srcport",
        "udp.dstport",
        "infiniband.bth.destqp",
        "infiniband.bth.psn",
    )
    rows = fields(tshark, CAPTURES / "roce_rc_send_small.pcap", *names)
    found = records(judged_capture("roce_rc_send_small.pcap"), CLOCK_NS)
    compared = 0
    for row, record in zip(rows, found, strict=True):
        if not row[5]:
            continue
        compared += 1
        assert [record["src"], record["dst"]] == row[:2]
        numbers = [record[key] for key in ("proto", "src_port", "dst_port", "qpn", "psn")]
        assert numbers == [int(text, 0) for text in row[2:]]
    assert compared > 5
    rows = fields(tshark, CAPTURES / "esp_tunnel_aes128gcm.pcap", "ip.src", "ip.dst", "esp.spi")
    for row, record in zip(rows, records(judged_capture("esp_tunnel_aes128gcm.pcap"), CLOCK_NS), strict=True):
        if row[2]:
            assert [record["src"], record["dst"], record["spi"]] == [*row[:2], int(row[2], 0)]
            assert (record["proto"], record["src_port"], record["qpn"]) == (50, None, None)


def test_what_a_frame_does_not_have_is_null() -> None:
    arp = of("scapy_arp_l2.pcapng")
    assert re.fullmatch("([0-9a-f]{2}:){5}[0-9a-f]{2}", arp["src"]) and arp["dst"] == "02:00:00:00:00:0b"
    assert [arp[key] for key in ("proto", "src_port", "dst_port", "spi", "qpn", "psn", "parse_code")] == [None] * 7
    assert (arp["ip_checksum"], arp["l4_checksum"]) == ("none", "none")
    short = records(judge([b"\2" * 13]), CLOCK_NS)[0]
    assert (short["src"], short["dst"], short["parse_code"]) == (None, None, "l2_truncated")
    v6 = of("scapy_ipv6.pcapng")
    assert v6["src"] == "2001:db8::1" and v6["proto"] is not None


@pytest.mark.parametrize("name", ["scapy_malformed.pcapng", "scapy_ipv6.pcapng"])
def test_the_code_is_that_of_nicloop_parse_also_where_the_header_chain_ended_well(name: str) -> None:
    printed = CliRunner().invoke(app, ["parse", str(CAPTURES / name), "--json"]).stdout.splitlines()
    found = records(judged_capture(name), CLOCK_NS)
    assert [record["code"] for record in found] == [json.loads(line)["code"] for line in printed]
    snapped = records(judge([udp_frame(200)[:80]]), CLOCK_NS)[0]
    assert (snapped["code"], snapped["parse_code"]) == ("l3_beyond_frame", None)


def test_checksum_verdicts_are_told() -> None:
    good, bad = udp_frame(80), bytearray(udp_frame(80))
    bad[24] ^= 1
    found = records(judge([good, bytes(bad)]), CLOCK_NS)
    assert [record["ip_checksum"] for record in found] == ["good", "bad"]
    assert found[0]["l4_checksum"] == "none", "UDP without a checksum"


def test_a_frame_that_differs_says_in_what() -> None:
    found = records(judge([udp_frame(60), udp_frame(70)], spoil=byte_flipped(1, 37)), CLOCK_NS)
    assert [record["match"] for record in found] == [True, False]
    assert len(found[1]["differences"]) == 1 and found[1]["differences"][0].startswith("byte 37: expected ")


def test_a_frame_without_a_byte_and_one_without_a_report_have_no_disposition() -> None:
    batch = Batch.of([b"", udp_frame(60), udp_frame(61)])
    none, unknown = np.zeros(3, np.uint8), np.full(3, -1, np.int64)
    outcome = Outcome(
        Batch.empty(), np.zeros(0, np.int64), none, none, unknown, unknown, unknown, unknown, unknown, cycles=9
    )
    number = np.arange(3, dtype=np.int64)
    stuck = [Mismatch(1, "the play", "an end of every frame", "Stuck: m_axis_host")]
    found = records(Judged(Window(batch, number, "a", number, batch.lengths), outcome, stuck, 0, 0), CLOCK_NS)
    assert [record["disposition"] for record in found] == [None] * 3
    assert [record["reason"] for record in found] == ["empty_frame", None, None]
    assert [record["code"] for record in found] == ["l2_truncated", None, None]
    assert [record["match"] for record in found] == [True, False, False]
    assert [record["time_ns"] for record in found] == [None] * 3
    assert found[1]["differences"] == ["the play: expected an end of every frame, got Stuck: m_axis_host"]
    assert found[2]["differences"] == ["its end was not reported"]


def test_the_file_of_records_is_a_json_object_a_line(tmp_path: Path) -> None:
    listener = Records(tmp_path / "out.jsonl", CLOCK_NS)
    windows = [judge([udp_frame(60)] * 3), judge([udp_frame(70)] * 2, first=3)]
    for judged in windows:
        listener.take(judged)
        # A reader that follows the file sees each window when it is done.
        assert len((tmp_path / "out.jsonl").read_text().splitlines()) in (3, 5)
    listener.close()
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert found == [record for judged in windows for record in records(judged, CLOCK_NS)]
    assert [record["index"] for record in found] == [0, 1, 2, 3, 4]


def test_the_capture_of_what_came_out_opens_in_tshark_with_times_and_comments(tmp_path: Path, tshark: str) -> None:
    path = tmp_path / "out.pcapng"
    listener = OutCapture(path, CLOCK_NS)
    judged = [judged_capture("scapy_malformed.pcapng"), judged_capture("scapy_oversize.pcapng", Edge.HOST, 5000)]
    for window in judged:
        listener.take(window)
    listener.close()
    rows = fields(tshark, path, "frame.time_epoch", "frame.len", "frame.interface_name", "frame.comment")
    assert len(rows) == sum(len(window.outcome.frames) for window in judged)
    numbered = iter(rows)
    for window in judged:
        outcome = window.outcome
        for at, source in enumerate(outcome.source.tolist()):
            time, length, interface, comment = next(numbered)
            assert nanoseconds(time) == outcome.frames.time_ns[at] == window.begin_ns + 4 * outcome.first_out[source]
            assert int(length) == outcome.frames.lengths[at]
            assert interface == ("port0.host" if window is judged[0] else "port0.wire")
            latency = int(outcome.latency_cycles[source])
            name = window.window.capture
            assert comment == (
                f"input {source + 7} ({name}: frame {source}, in Wireshark {source + 1}); delivered; "
                f"latency {latency} cycles, {4 * latency} ns; as the model says"
            )


def test_a_window_that_came_out_can_be_read_before_the_replay_ends(tmp_path: Path) -> None:
    for name in ("out.pcapng", "out.pcapng.gz"):
        out = OutCapture(tmp_path / name, 4.0)
        for first in (0, 3):
            out.take(judge([udp_frame(60)] * 3, first=first))
            whole = tmp_path / name
            content = whole.read_bytes()
            if name.endswith(".gz"):
                content = zlib.decompressobj(31).decompress(content)  # its end is not there yet
            (tmp_path / "so far.pcapng").write_bytes(content)
            assert len(read_capture(tmp_path / "so far.pcapng").batch) == first + 3
        out.close()


def test_a_comment_tells_a_mismatch_and_a_frame_that_nothing_asked_for(tmp_path: Path, tshark: str) -> None:
    path = tmp_path / "out.pcapng"
    listener = OutCapture(path, CLOCK_NS)
    wrong = judge([udp_frame(60), udp_frame(70)], spoil=byte_flipped(1, 37))
    wrong.outcome.source[0] = -1
    listener.take(wrong)
    listener.close()
    comments = [row[0] for row in fields(tshark, path, "frame.comment")]
    assert comments[0] == "made by the port: of no input frame"
    assert re.search("MISMATCH: byte 37: expected ", comments[1])


@pytest.mark.parametrize("kind", [Records, OutCapture])
def test_an_output_that_is_full_is_an_error_that_names_it(kind: Any) -> None:
    judged = judge([udp_frame(1500)] * 100)
    with pytest.raises(CaptureError, match="/dev/full: can't be written: No space left on device"):
        listener = kind("/dev/full", CLOCK_NS)
        for _ in range(3):
            listener.take(judged)
        listener.close()


def test_a_difference_of_no_frame_is_in_no_record() -> None:
    judged = judge([udp_frame(60)] * 2)
    found = records(replace(judged, mismatches=[Mismatch(-1, "rx_frames_in", 2, 3)]), CLOCK_NS)
    assert [record["match"] for record in found] == [True, True]


def test_disabled_ports_drop_by_name() -> None:
    (record,) = records(judge([udp_frame(60)], config=NicConfig.parse("[port.0]\nrx_enable = false\n")), CLOCK_NS)
    assert (record["disposition"], record["reason"], record["out"]) == ("dropped", "port_disabled", [])


def test_records_of_a_name_that_ends_in_gz_are_gzipped_and_whole(tmp_path: Path) -> None:
    listener = Records(tmp_path / "out.jsonl.gz", CLOCK_NS)
    listener.take(judge([udp_frame(60)] * 3))
    listener.close()
    lines = gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(line)["index"] for line in lines] == [0, 1, 2]
