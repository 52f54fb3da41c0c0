"""Frames followed through the slots of the port, and the figures of the slots.

Sweep:    captures in both directions at once, every back-pressure profile, an isolated frame of each length and kind of
          header, drops in each direction, frames that the command can and can't follow
Stimulus: tests/captures, frames built here
Checks:   the taps against the outcome of the same play and against the model: entries, exits, latencies, ends; the
          results of the probe against those of the native target; stalls against the cycles that a stream stood;
          words, JSON and exit codes of nicloop trace; the table of slots in the report
Timing:   the cycles of an isolated frame in each slot, those of docs/nic.md
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.meta import Code
from models.nic import Mismatch, NicPortModel
from models.parser import ParserModel
from tb.cli import app
from tb.native.device import TapLog
from tb.nic.slots import LANES
from tb.replay.capture import read_capture, write_capture
from tb.replay.play import stimulus
from tb.replay.slots import SlotFigures
from tb.replay.taps import Passed, passed
from tb.replay.trace import Trace, follow_last
from tb.replay.trace_command import show_trace
from tb.replay.window import Judged, Window
from tb.targets.base import PROFILES, Fault, FaultKind, TargetError, Unsupported
from tb.targets.native import NativeTarget
from tb.targets.probe import ProbeTarget, native_of_build
from tb.targets.recorded import Play, differences, record
from tb.toolchain import ROOT
from tests.replay.judging import udp_frame

CAPTURES = sorted((ROOT / "tests" / "captures").glob("*.pcap*"))
IMIX = ROOT / "tests" / "captures" / "scapy_imix.pcapng"


def frames_of(path: Path, most: int = 300) -> Batch:
    """A capture's first frames in both directions at once."""
    batch = read_capture(path).batch
    return stimulus(batch.select(np.flatnonzero(batch.lengths)[:most]))


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


async def started() -> ProbeTarget:
    target = ProbeTarget()
    await target.start()
    return target


async def played(
    target: ProbeTarget, batch: Batch, profiles: dict[Edge, str] | None = None
) -> tuple[Outcome, dict[str, Passed]]:
    await target.configure(NicConfig())
    for edge, profile in (profiles or {}).items():
        await target.inject(Fault.back_pressure(edge, profile))
    outcome = await target.play(batch)
    assert target.log is not None
    return outcome, {frames.lane.name: frames for frames in passed(target.log, batch)}


def traced(batch: Batch, outcome: Outcome, lanes: dict[str, Passed]) -> Trace:
    """The last frame of a play."""
    count = np.arange(len(batch), dtype=np.int64)
    judged = Judged(Window(batch, count, "field", count, batch.lengths), outcome, [], 0, 0)
    return follow_last(judged, list(lanes.values()), NicPortModel(NicConfig()))


def check_against_outcome(batch: Batch, outcome: Outcome, frames: Passed) -> None:
    """Entries, exits, latencies and ends as the harness saw them from outside."""
    at = frames.frame
    assert (frames.first[:, 0] == outcome.first_in[at]).all()
    assert (frames.last[:, 0] == outcome.last_in[at]).all()
    out = outcome.code[at] == Code.DELIVERED
    assert (frames.spent[out].sum(axis=1) == outcome.latency_cycles[at][out]).all()
    assert (frames.spent[out] > 0).all()
    assert (frames.offered[out, -1] == outcome.first_out[at][out]).all()
    assert (frames.last[out, -1] == outcome.last_out[at][out]).all()
    assert (frames.ended[out] == len(frames.lane.slots)).all()
    dropped = {frames.lane.behind(place) for place in frames.ended[~out].tolist()}
    assert dropped <= {frames.lane.buffer}


def check_stalls(frames: Passed) -> None:
    """Cycles in which a first beat stood have a culprit each, behind the stream where it stood."""
    wait = np.where(frames.first >= 0, frames.first - frames.offered, 0)
    blamed = np.zeros_like(wait)
    np.add.at(blamed, (frames.row, frames.place), frames.before)
    assert (wait == blamed).all()
    assert (frames.culprit >= frames.place).all()
    assert (frames.all >= frames.before).all()


def test_the_slots_of_every_frame_add_up_to_its_latency(verilator: str) -> None:
    async def work() -> None:
        target = await started()
        for path in CAPTURES:
            batch = frames_of(path)
            outcome, lanes = await played(target, batch)
            for frames in lanes.values():
                check_against_outcome(batch, outcome, frames)
                check_stalls(frames)

    run(work())


def test_they_do_under_back_pressure_and_where_frames_are_lost(verilator: str) -> None:
    async def work() -> None:
        target, lost = await started(), 0
        batch = frames_of(IMIX)
        for profile in PROFILES:
            outcome, lanes = await played(target, batch, dict.fromkeys(Edge, profile))
            lost += int(np.count_nonzero(outcome.code != Code.DELIVERED))
            for frames in lanes.values():
                check_against_outcome(batch, outcome, frames)
                check_stalls(frames)
        assert lost > 0

    run(work())


def test_the_probe_does_what_the_native_target_does(verilator: str, seed: int) -> None:
    plays = [Play(profile, frames_of(IMIX), dict.fromkeys(Edge, profile)) for profile in ("none", "bursty", "stalled")]

    async def outcomes(target: NativeTarget) -> list[Outcome]:
        await target.start()
        return await record(target, plays)

    both = [run(outcomes(kind(seed))) for kind in (NativeTarget, ProbeTarget)]
    for play, one, other in zip(plays, *both, strict=True):
        assert not differences(one, other), play.name


def test_an_isolated_frame_is_in_each_slot_as_long_as_the_model_says(verilator: str) -> None:
    tagged = udp_frame(300)[:12] + bytes.fromhex("81000001") + udp_frame(300)[12:]
    kinds = [bytes(20), bytes(60), udp_frame(60), udp_frame(64), tagged, udp_frame(1514)]

    async def work() -> None:
        target = await started()
        for edge, lane in LANES.items():
            for data in kinds:
                batch = Batch.of([data], edge=int(edge))
                outcome, lanes = await played(target, batch)
                beats, parser = int(batch.beats[0]), ParserModel().parse(data).latency_cycles
                known = {f"parser_{lane.name}": parser, f"acl_{lane.name}": 13, lane.buffer: beats + 1}
                cycles = dict.fromkeys(lane.slots, 1) | known
                assert dict(zip(lane.slots, lanes[lane.name].spent[0].tolist(), strict=True)) == cycles
                found = traced(batch, outcome, lanes)
                assert [step.alone for step in found.steps] == [None, *cycles.values(), None]
                assert found.latency_cycles == found.alone_cycles == sum(cycles.values())
                assert not any(step.stalled or step.ahead for step in found.steps)

    run(work())


@pytest.mark.parametrize("edge", list(Edge))
def test_back_pressure_at_an_edge_is_blamed_on_the_edge(verilator: str, edge: Edge) -> None:
    batch = Batch.of([udp_frame(200)] * 20, edge=int(edge))

    async def work() -> None:
        outcome, lanes = await played(await started(), batch, {edge.opposite: "stalled"})
        lane = LANES[edge]
        frames = lanes[lane.name]
        slots = ["tls_rx", "roce", "egress_rx"] if edge == Edge.WIRE else ["egress_tx", "mac_tx"]
        one = traced(batch.select([0]), alone(outcome), {lane.name: first(frames)})
        found = {step.slot: step for step in one.steps}
        assert set(frames.culprit.tolist()) == {len(lane.slots)}
        for slot in slots:
            assert set(found[slot].by) == {lane.exit_name}
        assert found[slots[-1]].stalled > 4000
        assert found[lane.exit_name].cycles == found[slots[-1]].before > 4000
        # The last one stands in the buffer behind all that are held.
        last = {step.slot: step for step in traced(batch, outcome, lanes).steps}[lane.buffer]
        assert last.ahead is not None
        assert last.ahead.frames >= 17
        assert set(last.ahead.held) == {lane.exit_name}

    run(work())


def alone(outcome: Outcome) -> Outcome:
    """What became of the first frame alone."""
    names = ("code", "queue", "latency_cycles", "first_in", "last_in", "first_out", "last_out")
    out = outcome.source == 0
    own = {"frames": outcome.frames.select(out), "source": outcome.source[out]}
    beside = {name: getattr(outcome, name)[out] for name in ("user", "meta", "begun", "ended")}
    return replace(outcome, **own, **beside, **{name: getattr(outcome, name)[:1] for name in names})


def first(frames: Passed) -> Passed:
    """What passed, of the first frame alone."""
    stalls = frames.row == 0
    columns = (frames.frame[:1], frames.offered[:1], frames.first[:1], frames.last[:1])
    return Passed(frames.lane, *columns, *(getattr(frames, name)[stalls] for name in STALLS))


STALLS = ("row", "place", "culprit", "before", "all")


def test_a_short_frame_waits_in_front_of_ingress_and_ingress_is_blamed(verilator: str) -> None:
    batch = Batch.of([bytes(16)] * 4, edge=0)

    async def work() -> None:
        outcome, lanes = await played(await started(), batch)
        steps = {step.slot: step for step in traced(batch, outcome, lanes).steps}
        assert set(steps["mac_rx"].by) == {"ingress_rx"}
        assert steps["mac_rx"].before > 0

    run(work())


@pytest.mark.parametrize("edge", list(Edge))
def test_a_dropped_frame_ends_in_the_buffer_which_drops_it(verilator: str, edge: Edge) -> None:
    lane = LANES[edge]

    async def work() -> None:
        target = await started()
        for batch, reason in (
            (Batch.of([udp_frame(60), bytes(20_000)], edge=int(edge)), "oversize"),
            (Batch.of([udp_frame(60), udp_frame(90)], edge=int(edge), bad=[0, 1]), "bad_frame"),
        ):
            outcome, lanes = await played(target, batch)
            found = traced(batch, outcome, lanes)
            assert (found.disposition, found.reason, found.ended) == ("dropped", reason, lane.buffer)
            assert found.latency_cycles is None
            steps = {step.slot: step for step in found.steps}
            assert steps[lane.buffer].reached is not None
            assert steps[lane.buffer].left is None
            assert steps[lane.exit_name].reached is None

    run(work())


def test_a_frame_that_stands_in_the_port_is_traced_to_where_it_stands() -> None:
    """A log in which the second frame was taken by nothing behind the buffer."""
    lane = LANES[Edge.HOST]
    at = lane.first
    rows = [(at, 0, 0, 0, 3), (at + 1, 0, 1, 1, 4), (at + 2, 7, 2, 2, 5), (at + 3, 7, 8, -1, -1)]
    stream, seq, offered, taken, last = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    stalls = (np.array([value], np.int64) for value in (3, at + 3, 90, 90))
    batch = Batch.of([bytes(60)], edge=1)
    frames = passed(TapLog(stream, seq, offered, taken, last, *stalls), batch)[1]
    assert frames.spent[0].tolist()[:3] == [1, 1, -1]
    unknown, none = np.full(1, -1, np.int64), np.zeros(1, np.uint8)
    outcome = Outcome(Batch.empty(), np.zeros(0, np.int64), none, none, *[unknown] * 5, 90)
    found = traced(batch, outcome, {"tx": frames})
    assert (found.disposition, found.latency_cycles, found.ended) == (None, None, "parser_tx")
    steps = {step.slot: step for step in found.steps}
    assert (steps["parser_tx"].stalled, steps["parser_tx"].by) == (90, {"acl_tx": 90})
    assert steps["acl_tx"].reached is None
    shown = stream_of(found)
    assert "its end was not reported; it stands at parser_tx" in shown
    assert "\n parser_tx " in shown
    assert "\n acl_tx " not in shown


def stream_of(found: Trace) -> str:
    """What a person is shown."""
    text = StringIO()
    show_trace(Console(file=text, width=140), found)
    return text.getvalue()


def test_numbers_that_wrap_are_told_apart_by_time() -> None:
    """70,000 frames of which only every seventh passes the stream behind ingress: each keeps its own passage."""
    n = 70_000
    count = np.arange(n, dtype=np.int64)
    kept = count[::7]
    parts = [(place, count, 4 * count + place) for place in range(3)] + [(3, kept, 4 * kept + 50)]
    stream = np.concatenate([np.full(len(index), place) for place, index, _ in parts])
    seq = np.concatenate([index & 0xFFFF if place > 1 else 0 * index for place, index, _ in parts])
    cycle = np.concatenate([cycles for _, _, cycles in parts])
    none = np.zeros(0, np.int64)
    log = TapLog(stream, seq, cycle, cycle, cycle, none, none, none, none)
    frames = passed(log, Batch.of([b"x"] * n))[0]
    assert (np.flatnonzero(frames.first[:, 3] >= 0) == kept).all()
    assert (frames.first[kept, 3] == 4 * kept + 50).all()


def test_figures_of_the_slots_are_those_of_the_frames(verilator: str) -> None:
    batches = [frames_of(IMIX), frames_of(IMIX, 50)]

    async def work() -> None:
        target = await started()
        slots, seen = SlotFigures(target), []
        for batch in batches:
            outcome, lanes = await played(target, batch, {Edge.HOST: "random"})
            count = np.arange(len(batch), dtype=np.int64)
            slots.take(Judged(Window(batch, count, "field", count, batch.lengths), outcome, [], 0, 0))
            seen.append(lanes)
        rows = slots.figures()
        assert [row["slot"] for row in rows] == [
            name for lane in LANES.values() for name in (lane.entry_name, *lane.slots, lane.exit_name)
        ]
        for lane in LANES.values():
            parts = [lanes[lane.name] for lanes in seen]
            ours = [row for row in rows if row["direction"] == lane.name]
            for place, row in enumerate(ours[1:-1]):
                spent = np.concatenate([part.spent[:, place] for part in parts])
                spent = spent[spent >= 0]
                wanted = (len(spent), int(spent.min()), float(np.median(spent)), int(spent.max()))
                assert (row["frames"], row["min"], row["median"], row["max"]) == wanted
            # A row has what stands at its way out, and what it is to blame for.
            for key, column, shift in (("stalled", "place", 0), ("holding", "culprit", 1)):
                wanted = np.zeros(len(ours) + 1, np.int64)
                for part in parts:
                    np.add.at(wanted, getattr(part, column) + shift, part.all)
                assert [row[key] for row in ours] == wanted[:-1].tolist()
        host = next(row for row in rows if row["slot"] == "host edge" and row["direction"] == "rx")
        assert host["holding"] > 0

    run(work())


def test_taps_that_are_not_those_of_the_table_of_slots_are_refused(
    verilator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rx = LANES[Edge.WIRE]
    monkeypatch.setitem(LANES, Edge.WIRE, replace(rx, slots=rx.slots[1:]))
    with pytest.raises(TargetError, match=r"taps on 27 streams, of which \(14, 26\) .*slots.py names 26"):
        ProbeTarget(1)


def test_the_probe_refuses_what_it_can_not_note(verilator: str) -> None:
    async def work() -> None:
        target = await started()
        assert FaultKind.RESET not in target.capabilities.faults
        with pytest.raises(Unsupported):
            await target.inject(Fault.reset(Edge.WIRE))
        target.note(False)
        await target.configure(NicConfig())
        await target.play(Batch.of([bytes(60)]))
        assert target.log is None

    run(work())


def test_devices_with_taps_may_end_in_any_order(verilator: str) -> None:
    async def work() -> None:
        targets = [await started() for _ in range(4)]
        for at in (1, 2, 0):
            targets[at].engine.device.close()
            await started()
        outcome, _ = await played(targets[3], Batch.of([bytes(60)]))
        assert outcome.code.tolist() == [Code.DELIVERED]

    run(work())


def test_a_state_of_the_probe_is_put_back_into_a_probe(verilator: str) -> None:
    assert type(native_of_build(ProbeTarget().build, 1)) is ProbeTarget
    assert type(native_of_build("", 1)) is NativeTarget


# -- the command -------------------------------------------------------------------------------------------------------


def nicloop(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_trace_shows_the_latency_that_the_replay_has(verilator: str, tmp_path: Path) -> None:
    records, out = tmp_path / "records.jsonl", tmp_path / "out.pcapng"
    assert nicloop("replay", IMIX, "--window", 64, "--records", records, "--out", out).exit_code == 0
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    times = read_capture(out).batch.time_ns
    for index in (0, 63, 100):
        result = nicloop("trace", IMIX, "--frame", index, "--window", 64, "--json")
        assert result.exit_code == 0, result.output
        found, record = json.loads(result.stdout), lines[index]
        for key in ("index", "capture", "frame", "direction", "length", "disposition", "reason", "latency_cycles"):
            assert found[key] == record[key], key
        entry = found["steps"][0]
        assert found["begin_ns"] + 4 * entry["left"] == record["time_ns"]
        inside = [step["cycles"] for step in found["steps"][1:-1]]
        assert sum(inside) == record["latency_cycles"]
        assert found["begin_ns"] + 4 * found["steps"][-1]["reached"] == times[record["out"][0]]


def test_trace_says_where_each_cycle_went(verilator: str) -> None:
    result = nicloop("trace", IMIX, "--frame", 100, "--direction", "tx")
    assert result.exit_code == 0, result.output
    assert "tx, 590 bytes: delivered to the wire edge" in result.output
    for slot in (*LANES[Edge.HOST].slots, "host edge", "wire edge", "latency"):
        assert f"\n {slot} " in result.output
    assert "behind 8 frames" in result.output
    assert "123 cycles, 492 ns; alone 65: tx_sched +58" in result.output


def test_trace_of_a_dropped_frame_ends_where_it_was_dropped(verilator: str, tmp_path: Path) -> None:
    write_capture(tmp_path / "long.pcapng", Batch.of([udp_frame(60), bytes(20_000)]))
    result = nicloop("trace", tmp_path / "long.pcapng", "--frame", 1)
    assert result.exit_code == 0, result.output
    assert "dropped in rx_buffer, oversize" in result.output
    assert "tls_rx" not in result.output


def test_trace_of_a_frame_that_differs_says_so(verilator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_capture(tmp_path / "two.pcapng", Batch.of([udp_frame(60), udp_frame(80)]))
    for frame, said in (
        (1, "differs from the model: first_out: expected 22, got 23 (cycle 23)"),
        (0, "before it in its window 1 frame differs"),
    ):
        wrong = [Mismatch(frame, "first_out", 22, 23, 23)]
        monkeypatch.setattr(NicPortModel, "check", lambda *_, wrong=wrong: wrong)
        result = nicloop("trace", tmp_path / "two.pcapng", "--frame", 1)
        assert result.exit_code == 1, result.output
        assert said in result.output


def test_trace_of_a_frame_that_is_not_there_says_why(verilator: str, tmp_path: Path) -> None:
    write_capture(tmp_path / "few.pcapng", Batch.of([udp_frame(60), b"", udp_frame(80)]))
    for options, said in (
        (("--frame", 7), "there are 3 frames, counted from 0"),
        (("--frame", 1), "frame 1 has no byte"),
        (("--frame", 0, "--filter", "host 1.2.3.4"), "--frame 0: the filter leaves it out"),
        (("--frame", -1), "must be 0 or more"),
        (("--frame", 0, "--pace", "slow"), "--pace: 'slow' must be one of"),
    ):
        result = nicloop("trace", tmp_path / "few.pcapng", *options)
        assert result.exit_code == 2, result.output
        assert said in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_the_report_has_a_table_of_the_slots(verilator: str, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    result = nicloop("replay", IMIX, "--report", page, "--json")
    assert result.exit_code == 0, result.output
    slots = json.loads(result.stdout)["slots"]
    assert [row["slot"] for row in slots] == ["wire edge", *LANES[Edge.WIRE].slots, "host edge"]
    assert {row["frames"] for row in slots} == {json.loads(result.stdout)["frames"]}
    text = page.read_text()
    assert "Where the cycles go" in text
    assert '<th scope="row">rx_buffer</th>' in text
    assert "slots" not in json.loads(nicloop("replay", IMIX, "--json").stdout)
