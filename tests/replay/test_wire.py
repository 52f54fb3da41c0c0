"""The port with XGMII at the wire: `nicloop replay --edge wire`, the target behind it, and the model's judgement.

Sweep:    captures of short, long, too long and all other lengths; both directions; clocks off by 100 ppm each way;
          frames with a wrong FCS; every figure of an outcome changed
Stimulus: captures of the repository, random frames of 60 and 1514 bytes at both edges at once, on the RTL
Checks:   no mismatch with the golden model, bytes, ends, metadata, counters of the port and of its MACs; a changed
          figure is told; a failure's file remembers the edge
Timing:   10.5 cycles of the MAC's clock a frame of 64 bytes, 192.25 of 1518, both ways at once; cycles by the model
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import models.nic_timing
from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.meta import Code
from models.nic import NicPortModel
from models.nic_wire import arrivals, events, padded, received, received_events
from tb.cli import app
from tb.nic.redirect import CONFIG as RULED
from tb.nic.redirect import Act
from tb.nic.redirect import frame as ruled_frame
from tb.replay import run
from tb.replay.capture import write_capture
from tb.replay.packed import FailureError, load_failure
from tb.replay.rerun import PlayedOn, play_again
from tb.targets.base import Fault, Unsupported
from tb.targets.outcome import compare
from tb.targets.wire import WireTarget
from tb.toolchain import ROOT

CAPTURES = ROOT / "tests" / "captures"
MAC_NS = 2.56


def nicloop(*words: Any) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


# ----------------------------------------------------------------------------------------------------- without a device


def test_a_sender_pads_and_a_mac_cuts_and_judges() -> None:
    tagged = bytes(12) + b"\x81\x00\x00\x01" + bytes(9584)
    frames = [b"\1" * 20, bytes(9600), tagged, bytes(100), b"\2" * 20]
    batch = Batch.of(frames, edge=[0, 0, 0, 0, 1], bad=[0, 0, 0, 1, 0])
    sent = padded(batch)
    assert sent.lengths.tolist() == [60, 9600, 9600, 100, 20] and sent.frame(0) == b"\1" * 20 + bytes(40)
    came = received(sent)
    assert came.lengths.tolist() == [60, 9596, 9600, 100, 20]
    assert (came.bad >> 1).tolist() == [0, Code.OVERSIZE, 0, Code.BAD_FCS, 0]
    found = received_events(sent.select([0, 1, 2, 3]))
    assert (found["frames_ok"], found["oversize"], found["fcs_errors"], found["jabbers"]) == (2, 1, 1, 0)
    assert padded(Batch.of([b""], edge=0)).lengths.tolist() == [0], "a frame without a byte is none"


def test_events_are_those_of_the_model_of_a_mac(seed: int) -> None:
    from models.mac import good_events

    rng = np.random.default_rng(seed)
    frames = [rng.bytes(n) for n in (60, 61, 123, 124, 251, 252, 507, 508, 1019, 1020, 1514, 1515, 9000)]
    frames += [b"\xff" * 60, b"\1" + bytes(59), bytes(12) + b"\x88\x08" + bytes(46)]
    wanted = sum((good_events(frame) for frame in frames[1:]), good_events(frames[0]))
    assert {name: count for name, count in events(Batch.of(frames)).items() if count} == dict(wanted)


def test_beats_of_a_frame_come_no_faster_than_words() -> None:
    entry, lengths = np.full(3, 100), np.array([60, 1514, 9596])
    for beat in (0, 3):
        least, most = arrivals(entry, np.full(3, beat), lengths)
        assert (least >= 100 + beat).all() and (most - least <= 3).all() and (beat or (least == 100).all())
    least, most = arrivals(entry[1:], np.array([94, 599]), lengths[1:])
    assert np.abs(least - 100 - np.array([189, 1199]) * 0.64).max() < 3 and (most > least).all()


# ---------------------------------------------------------------------------------------------------------- on the RTL


@pytest.mark.parametrize("direction", ["rx", "tx"])
def test_captures_play_on_a_wire_as_the_model_says(verilator: str, direction: str, tmp_path: Path) -> None:
    names = ("scapy_short", "scapy_boundaries", "scapy_oversize", "scapy_lengths_60_200", "scapy_pause", "scapy_imix")
    captures = [CAPTURES / f"{name}.pcapng" for name in names]
    records = tmp_path / "records.jsonl"
    result = nicloop("replay", *captures, "--edge", "wire", "--direction", direction, "--records", records)
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in records.read_text().splitlines()]
    assert all(record["match"] for record in found) and len(found) > 400
    lengths = [record["length"] for record in found]
    assert min(lengths) == 60 if direction == "rx" else min(lengths) < 60


async def played(target: WireTarget, batch: Batch) -> Outcome:
    await target.start()
    await target.configure(NicConfig())
    return await target.play(batch)


def both_ways(seed: int, length: int, count: int) -> Batch:
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 256, 2 * count * length, dtype=np.uint8)
    return Batch.of_arrays(data, np.full(2 * count, length), edge=np.repeat([0, 1], count).astype(np.uint8))


@pytest.mark.parametrize(("length", "cycles", "count"), [(60, 10.5, 1200), (1514, 192.25, 120)])
@pytest.mark.parametrize("ppm", [(100, -100), (-100, 100)])
def test_a_wire_carries_line_rate_both_ways_at_once(
    verilator: str, length: int, cycles: float, count: int, ppm: tuple[int, int], seed: int
) -> None:
    batch = both_ways(seed, length, count)
    outcome = asyncio.run(played(WireTarget(seed, rx_ppm=ppm[0], tx_ppm=ppm[1]), batch))
    assert not compare(NicConfig(), batch, outcome, xgmii=True)
    assert (outcome.code == Code.DELIVERED).all()
    for starts, off in ((outcome.first_in[:count], ppm[0]), (outcome.first_out[count:], ppm[1])):
        spent = int(starts[-1] - starts[0]) * 4 / (MAC_NS / (1 + off / 1e6))
        # To a cycle of the port's clock, in which starts are told.
        assert abs(spent - (count - 1) * cycles) < 2, (spent, off)


def test_what_a_device_does_otherwise_on_a_wire_is_told(verilator: str, seed: int) -> None:
    batch = both_ways(seed, 200, 20)
    bad = batch.bad.copy()
    bad[3] = 1
    batch = replace(batch, bad=bad)
    outcome = asyncio.run(played(WireTarget(seed), batch))
    assert not compare(NicConfig(), batch, outcome, xgmii=True)
    assert outcome.code[3] == Code.BAD_FCS and outcome.counters["mac_rx.fcs_errors"] == 1
    sent = int(np.flatnonzero(outcome.frames.edge == Edge.WIRE)[4])
    frame = int(outcome.source[sent])

    def told(**columns: Any) -> list[str]:
        return [found.what for found in compare(NicConfig(), batch, replace(outcome, **columns), xgmii=True)]

    def moved(name: str, at: int, by: int) -> Any:
        column = getattr(outcome, name).copy()
        column[at] += by
        return column

    data = outcome.frames.data.copy()
    data[outcome.frames.offset[sent] + 7] ^= 1
    assert told(frames=replace(outcome.frames, data=data)) == ["byte 7"]
    assert "cycles from start to ingress" in told(entry=moved("entry", 5, 3))
    assert "cycles from start to ingress" in told(entry=moved("entry", 5, -3))
    late = {name: moved(name, frame, 3) for name in ("first_out", "latency_cycles")}
    assert "first_out" in told(**late)
    for name in ("mac_rx.frames_ok", "mac_rx.unicast", "mac_tx.bytes_ok", "mac_tx.underrun", "mac_rx.overflow_cut"):
        counters = outcome.counters | {name: outcome.counters[name] + 1}
        assert told(counters=counters) == [f"counter {name}"]
    code = outcome.code.copy()
    code[frame] = Code.MAC_UNDERRUN
    assert "code" in told(code=code)


def test_a_wire_that_rests_goes_on_as_one_that_does_not_skip(verilator: str, seed: int) -> None:
    batch = both_ways(seed, 100, 6)
    at = np.array([0, 10, 5_000, 5_100, 90_000, 200_000])
    batch = replace(batch, time_ns=np.concatenate([at, at + 37]))
    found = []
    for skip in (True, False):
        target = WireTarget(seed, skip_idle=skip, rx_ppm=20, tx_ppm=-30)
        outcome = asyncio.run(played(target, batch))
        assert not compare(NicConfig(), batch, outcome, xgmii=True)
        assert (target.skipped > 30_000) == skip
        found.append([outcome.first_in, outcome.entry, outcome.first_out, outcome.last_out, outcome.frames.data])
    for skipped, whole in zip(*found, strict=True):
        assert np.array_equal(skipped, whole)


@pytest.mark.parametrize("acts", [[*Act], [Act.REDIRECT, Act.NONE], [Act.MIRROR, Act.NONE, Act.DENY]])
def test_redirected_frames_and_copies_share_a_wire_as_the_model_says(
    verilator: str, acts: list[Act], seed: int
) -> None:
    random, model = Random(f"{seed} {acts}"), NicPortModel(RULED, xgmii=True)

    async def plays() -> None:
        target, before = WireTarget(seed, rx_ppm=-100, tx_ppm=100), None
        await target.start()
        await target.configure(RULED)
        for apart in (0, 100, 300):
            frames = [
                ruled_frame(random.choice(acts), random.choice((60, 64, 65, 200, 700, 1514)), i) for i in range(200)
            ]
            edges = [random.choice((0, 1)) for _ in frames]
            times = np.cumsum([random.randint(0, apart) for _ in frames]).tolist()
            batch = Batch.of(frames, edge=edges, time_ns=times)
            outcome = await target.play(batch)
            found = model.check(batch, outcome, before)
            assert not found, [str(one) for one in found[:5]]
            model.commit(batch, outcome, before)
            before = outcome.counters
            assert {0, 1} == set(outcome.frames.edge.tolist())

    asyncio.run(plays())


def test_a_wire_does_not_pause(verilator: str, seed: int) -> None:
    target = WireTarget(seed)
    with pytest.raises(Unsupported, match="back-pressure at the host edge only"):
        asyncio.run(target.inject(Fault.back_pressure(Edge.WIRE, "random")))
    with pytest.raises(Unsupported):
        asyncio.run(target.inject(Fault.reset(Edge.WIRE)))
    asyncio.run(target.inject(Fault.back_pressure(Edge.HOST, "random")))
    with pytest.raises(ValueError, match="rx_ppm 101"):
        WireTarget(seed, rx_ppm=101)


def test_frames_without_a_byte_are_left_out_on_a_wire(verilator: str, tmp_path: Path) -> None:
    capture, records = tmp_path / "a.pcap", tmp_path / "records.jsonl"
    write_capture(capture, Batch.of([b"", bytes(60), b"", bytes(61)]))
    result = nicloop("replay", capture, "--edge", "wire", "--records", records)
    assert result.exit_code == 0, result.output
    assert [json.loads(line)["length"] for line in records.read_text().splitlines()] == [0, 60, 0, 61]


@pytest.mark.parametrize(("increment", "code"), [(8.5, 2), (3.999, 2), (4.0004, 0)])
def test_a_wire_takes_only_an_increment_that_its_macs_follow(
    verilator: str, tmp_path: Path, increment: float, code: int
) -> None:
    config = tmp_path / "nic.toml"
    config.write_text(f"[port.0]\ntime_increment_ns = {increment}\n")
    result = nicloop("replay", CAPTURES / "scapy_boundaries.pcapng", "--edge", "wire", "--config", config)
    assert result.exit_code == code, result.output
    assert (f"nicloop: time_increment_ns {increment}: the MACs' time" in result.output) == (code == 2)


def test_a_failure_on_a_wire_is_played_again_on_a_wire(
    verilator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A model that takes no timestamp for right.
    monkeypatch.setattr(models.nic_timing, "TIME_NS", -1)
    monkeypatch.setattr("tb.replay.replay_command.SIM_BUILD", tmp_path)
    result = nicloop("replay", CAPTURES / "scapy_arp_l2.pcapng", "--edge", "wire")
    assert result.exit_code == 1 and "meta.timestamp" in result.output, result.output
    (path,) = (tmp_path / "failures").glob("*.zip")
    packed = load_failure(path)
    assert PlayedOn.of(packed).engine == "wire" and len(packed.item.frames) == 1
    again = nicloop("rerun", path)
    assert again.exit_code == 1 and "still fails the same way" in again.output and "(edge wire)" in again.output
    with pytest.raises(FailureError, match="XGMII at the wire"):
        play_again(packed, PlayedOn.of(packed, "model"))
    monkeypatch.undo()
    assert "no longer fails" in nicloop("rerun", path).output or "did not fail again" in nicloop("rerun", path).output


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--edge", "fibre"], "--edge: 'fibre' must be one of stream, wire"),
        (["--edge", "wire", "--target", "model"], "--edge: wire is played by --target native only"),
    ],
)
def test_an_edge_that_is_not_there_is_refused(options: list[str], told: str) -> None:
    result = nicloop("replay", CAPTURES / "scapy_arp_l2.pcapng", *options)
    assert result.exit_code == 2 and told in result.output


def test_the_wire_is_a_stream_unless_it_is_asked_for() -> None:
    assert run.How("native").edge == "stream" and run.How("native", engine="wire").edge == "wire"
    assert run.How("cocotb", "verilator", "bfm").edge == "stream" and not NicPortModel().xgmii
