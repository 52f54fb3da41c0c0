"""Rules in a replay, on the RTL: what becomes of each frame, what the rules count, what is said of a wrong device.

Sweep:    published filter sets; every action and both directions; asap and line rate; native and a simulator
Stimulus: the traces of the sets as frames beside a capture of the repository; captures of the repository; UDP frames
Checks:   no difference from the golden model; hits by rule against the set's own first matches, and against records;
          tshark's view of what came out; a counter that misses a frame and a denied frame that is let through are
          named, packed and seen again from the file; one line for a rule file that can't be used
Timing:   those of the golden model
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from models.acl_batch import NO_RULE, Classifier
from models.acl_file import read_rules
from models.frames import Batch, Edge
from models.parser_batch import parse_batch
from tb.cli import app
from tb.replay import replay_command
from tb.replay.capture import read_capture, write_capture
from tb.replay.packed import Packed, load_failure
from tb.toolchain import ROOT
from tests.acl.test_classbench import Trace
from tests.nic.test_capture import fields
from tests.replay.judging import udp_frame
from tests.replay.planted import LEAK_PORT, UNCOUNTED_BYTES, plant

CAPTURES = ROOT / "tests" / "captures"
EDGE = ROOT / "tests" / "acl" / "rules" / "edge.toml"
MIXED = tuple(
    CAPTURES / f"scapy_{name}.pcapng" for name in ("imix", "ipv4", "ipv6", "vlan", "rocev2", "esp", "fragments")
)
"""Between them they hit all rules of `EDGE` but the last one."""
COPIES = {3: 200, 5: 201, 6: 202}
"""Rules of `EDGE` with a mirror, and its queue."""


def nicloop(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def replayed(*arguments: object) -> dict[str, Any]:
    """The summary of a replay in which all matched."""
    result = nicloop("replay", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def records_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


# -- filter sets that were published -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ruleset_acl1_1k", "ruleset_fw2_1k"])
def test_a_published_set_counts_each_frame_at_its_first_match(
    name: str, material: Path, verilator: str, tmp_path: Path
) -> None:
    path = material / "06_acl" / f"{name}.rules"
    frames = Trace(path.with_suffix(".trace.tsv")).frames()
    write_capture(tmp_path / "trace.pcapng", frames)
    imix = CAPTURES / "scapy_imix.pcapng"
    found = replayed(tmp_path / "trace.pcapng", imix, "--acl", path, "--records", tmp_path / "records")
    batch = Batch.concat([frames, read_capture(imix).batch])
    rules = read_rules(path).rules
    first = Classifier(rules).first_match(parse_batch(batch), len(batch))
    (slot,) = found["acl"]
    assert (slot["slot"], slot["rules"], slot["judged"]) == ("acl_rx", len(rules), len(batch))
    expected = {number: int(np.count_nonzero(first == number)) for number in set(first.tolist()) - {NO_RULE}}
    assert {row["rule"]: row["frames"] for row in slot["hits"]} == expected and len(expected) > 100
    sizes = {number: int(batch.lengths[first == number].sum()) for number in expected}
    assert {row["rule"]: row["bytes"] for row in slot["hits"]} == sizes
    assert slot["default"]["frames"] == np.count_nonzero(first == NO_RULE)
    assert sorted([row["rule"] for row in slot["hits"]] + slot["without_hits"]) == list(range(len(rules)))
    told = [-1 if record["acl_rule"] is None else record["acl_rule"] for record in records_of(tmp_path / "records")]
    assert told == first.tolist()


def test_a_published_set_that_does_not_fit_is_refused_in_one_line(material: Path, tmp_path: Path) -> None:
    path = material / "06_acl" / "ruleset_fw1_10k.rules"
    refused(f"{path}: doesn't fit: 9416 rules, 8392 more than the 1024", CAPTURES / "scapy_imix.pcapng", path, tmp_path)


# -- what the actions do -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pace", ["asap", "line-rate"])
@pytest.mark.parametrize("direction", ["rx", "tx"])
def test_all_actions_in_both_directions_are_those_of_the_golden_model(
    direction: str, pace: str, verilator: str, tmp_path: Path
) -> None:
    out, records = tmp_path / "out.pcapng", tmp_path / "records"
    options = ("--direction", direction, "--pace", pace, "--out", out, "--records", records)
    found = replayed(*MIXED, "--acl", EDGE, *options)
    told, came = records_of(records), read_capture(out)
    (slot,) = found["acl"]
    assert slot["slot"] == f"acl_{direction}" and slot["without_hits"] == [8]
    by_rule = Counter(record["acl_rule"] for record in told)
    assert {row["rule"]: row["frames"] for row in slot["hits"]} == {
        rule: count for rule, count in by_rule.items() if rule is not None
    }
    assert slot["default"]["frames"] == by_rule[None]
    copies = sum(by_rule[rule] for rule in COPIES)
    assert slot["mirrored"] == found["accounting"]["copies"] == copies > 20
    assert slot["denied"] == found["drops"]["acl_denied"] == by_rule[0] + by_rule[6] > 10
    assert slot["redirected"] == found["redirected"] == by_rule[5] > 10
    assert slot["no_port"] == found["drops"]["acl_no_port"] == by_rule[4] > 10
    colours = Counter(record["colour"] for record in told if record["acl_rule"] == 7)
    for name, colour in (("metered_green", "green"), ("metered_yellow", "yellow"), ("metered_red", "red")):
        assert slot[name] == colours[colour] > 0
    assert slot["policed"] == found["drops"]["acl_policed"] == colours["red"]
    for record in told:
        check_frame(record, came, direction)


@pytest.mark.parametrize("direction", ["rx", "tx"])
def test_the_model_as_a_target_agrees_with_itself_on_all_actions(direction: str) -> None:
    options = ("--direction", direction, "--target", "model")
    (slot,) = replayed(*MIXED, "--acl", EDGE, *options)["acl"]
    assert slot["without_hits"] == [8] and slot["mirrored"] > 20 and slot["metered_yellow"] > 0 < slot["policed"]


def check_frame(record: dict[str, Any], came: Any, direction: str) -> None:
    """What came out of a frame, by what its record says."""
    rule, delivered = record["acl_rule"], record["disposition"] == "delivered"
    straight = Edge.HOST if direction == "rx" else Edge.WIRE
    copied = rule in COPIES
    assert len(record["out"]) == delivered + copied, record
    edges = [int(came.batch.edge[number]) for number in record["out"]]
    comments = [came.comments[number] for number in record["out"]]
    assert sum(comment.startswith("copy of input ") for comment in comments) == copied
    own = [edge for edge, comment in zip(edges, comments, strict=True) if not comment.startswith("copy of ")]
    if rule == 5:
        assert own == [Edge.WIRE if straight == Edge.HOST else Edge.HOST]
        assert sum("; redirected" in comment for comment in comments) == 1
    else:
        assert own == [straight] * delivered and not any("redirected" in comment for comment in comments)
    expected = {1: 10}.get(rule)
    if record["colour"] == "yellow":
        expected = 12
    assert record["mark"] == expected
    if direction == "rx" and delivered and rule in (1, 2):
        assert record["queue"] == {1: 3, 2: 7}[rule]


def test_marked_frames_and_copies_are_what_tshark_reads(verilator: str, tshark: str, tmp_path: Path) -> None:
    out, records = tmp_path / "out.pcapng", tmp_path / "records"
    replayed(CAPTURES / "scapy_ipv4.pcapng", CAPTURES / "scapy_imix.pcapng", "--acl", EDGE, "--out", out,
             "--records", records)  # fmt: skip
    rows = fields(tshark, out, "frame.comment", "ip.dsfield.dscp", "ip.checksum.status")
    told, seen = records_of(records), Counter()
    for record in told:
        for number in record["out"]:
            comment, dscp, _ = rows[number]
            assert f"input {record['index']} ({record['capture']}: frame {record['frame']}," in comment
            if not comment.startswith("copy") and record["mark"] is not None:
                assert int(dscp) == record["mark"]
                seen[record["mark"]] += 1
    assert seen[10] > 5


def test_a_simulator_says_of_rules_what_the_native_target_says(verilator: str, tmp_path: Path) -> None:
    told = []
    for target in ("native", "cocotb"):
        files = ("--records", tmp_path / f"{target}.jsonl", "--out", tmp_path / f"{target}.pcapng")
        figures = replayed(CAPTURES / "scapy_esp.pcapng", "--acl", EDGE, "--target", target, *files)["acl"]
        told.append((figures, (tmp_path / f"{target}.jsonl").read_text(), (tmp_path / f"{target}.pcapng").read_bytes()))
    assert told[0] == told[1]
    assert told[0][0][0]["redirected"] > 0 and told[0][0][0]["mirrored"] > 0


def test_the_table_and_the_page_have_the_rules(verilator: str, tmp_path: Path) -> None:
    result = nicloop("replay", CAPTURES / "scapy_ipv4.pcapng", "--acl", EDGE, "--report", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert f"rules of acl_rx ({EDGE})" in lines
    assert any(line.startswith("1 web queue 3, mark_dscp 10 ") for line in lines)
    assert lines[-1] == "all as the model says"
    page = (tmp_path / "page.html").read_text()
    assert 'id="acl"' in page and "mark_dscp 10" in page


def test_trace_and_sim_take_rules_too(verilator: str, tmp_path: Path) -> None:
    traced = nicloop("trace", CAPTURES / "scapy_ipv4.pcapng", "--frame", 0, "--acl", EDGE, "--json")
    assert traced.exit_code == 0, traced.output
    figures = json.loads(traced.stdout)
    assert next(step["cycles"] for step in figures["steps"] if step["slot"] == "acl_rx") >= 13
    assert figures["acl_rule"] == 7
    traced = nicloop("trace", CAPTURES / "scapy_ipv4.pcapng", "--frame", 0, "--acl", EDGE)
    assert "; by rule 7\n" in traced.stdout
    redirected = nicloop("trace", CAPTURES / "scapy_esp.pcapng", "--frame", 0, "--acl", EDGE)
    assert redirected.exit_code == 0, redirected.output
    assert "delivered; redirected in rx_demux, to the wire edge; by rule 5\n" in redirected.stdout
    assert " rx_demux " in redirected.stdout and "egress_rx" not in redirected.stdout
    result = nicloop("sim", CAPTURES / "scapy_esp.pcapng", "--acl", EDGE, "--output", tmp_path)
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "sim" / "summary.json").read_text())
    assert summary["ok"] and "[[port.0.acl.tx.rule]]" in summary["config"]


# -- what is wrong with the device -------------------------------------------------------------------------------------


@pytest.fixture
def planted(verilator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Result, Packed]]:
    """Replays a capture by rules on the port with the bugs; gives what was said and the failure that was packed."""
    plant(monkeypatch)
    monkeypatch.setattr(replay_command, "SIM_BUILD", tmp_path)

    def play(path: Path, *options: object) -> tuple[Result, Packed]:
        result = nicloop("replay", path, "--acl", tmp_path / "rules.toml", *options)
        assert result.exit_code == 1, result.output
        (file,) = (tmp_path / "failures").glob("*.zip")
        return result, load_failure(file)

    return play


RULES = """
[[rule]]
name = "other"
dst_port = 7
[[rule]]
name = "no leak"
dst_port = "7000-9000"
action = "deny"
"""


def field(path: Path, count: int, at: int, frame: bytes) -> Path:
    """UDP frames of 60 to 90 bytes, one of which is this one; the rules are beside them."""
    frames = [udp_frame(60 + i % 31, 8000 if i % 3 == 0 else 9) for i in range(count)]
    frames[at] = frame
    write_capture(path, Batch.of(frames))
    (path.parent / "rules.toml").write_text(RULES)
    return path


def test_a_denied_frame_that_is_let_through_is_named_packed_and_seen_again(
    planted: Callable[..., tuple[Result, Packed]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = field(tmp_path / "field.pcapng", 600, 421, udp_frame(80, LEAK_PORT))
    result, packed = planted(path, "--window", 200)
    assert "frame 421 (" in result.output and "code: expected ACL_DENIED, got DELIVERED" in result.output
    assert packed.path.name == "field-421.zip" and packed.item.numbers.tolist() == [421]
    assert (packed.note["reproduced"], packed.note["minimal"], packed.note["rules"]) == (True, True, {"acl_rx": 2})
    assert [rule.name for rule in packed.config.ports[0].acl_rx.rules] == ["other", "no leak"]
    (tmp_path / "rules.toml").unlink()
    again = nicloop("rerun", packed.path)
    assert again.exit_code == 1, again.output
    assert f"still fails the same way: {packed.words[0]}" in again.output and "2 rules, in the file" in again.output
    monkeypatch.undo()
    mended = nicloop("rerun", packed.path)
    assert mended.exit_code == 0, mended.output
    assert "no longer fails: 1 frame, all as the model says" in mended.output


def test_a_rule_whose_counter_misses_a_frame_is_named_packed_and_seen_again(
    planted: Callable[..., tuple[Result, Packed]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = field(tmp_path / "field.pcapng", 600, 421, udp_frame(UNCOUNTED_BYTES, 8000))
    result, packed = planted(path, "--window", 200, "--json")
    found = json.loads(result.stdout)
    (wrong,) = found["mismatches"]["port_kept"]
    assert wrong["what"] == "counter acl_rx.rule[1].frames" and int(wrong["got"]) == int(wrong["expected"]) - 1
    assert found["mismatches"]["frames"] == 0 and found["frames"] == 600
    assert packed.item.numbers.tolist() == [421] and packed.note["reproduced"]
    assert packed.words == ["counter acl_rx.rule[1].frames: expected 1, got 0"]
    again = nicloop("rerun", packed.path)
    assert again.exit_code == 1, again.output
    assert f"still fails the same way: {packed.words[0]}" in again.output
    monkeypatch.undo()
    assert nicloop("rerun", packed.path).exit_code == 0


def test_rules_that_the_port_can_not_match_are_told(tmp_path: Path) -> None:
    rules = tmp_path / "a.toml"
    rules.write_text("[[rule]]\nqueue = 1\n[[rule]]\nname = 'tenant'\ninner = true\naction = 'deny'\n")
    result = nicloop("replay", CAPTURES / "scapy_arp_l2.pcapng", "--target", "model", "--acl", rules)
    assert result.exit_code == 0
    words = "1 rule asks for headers in a tunnel, which this port doesn't read, so nothing matches: rule 1 (tenant)"
    assert result.stderr == f"nicloop: {rules}: {words}\n"


# -- what is wrong with the file ---------------------------------------------------------------------------------------


def refused(words: str, capture: Path, rules: Path, folder: Path) -> None:
    """Each command says it in one line, and nothing is written."""
    outputs = [folder / name for name in ("records", "out", "page")]
    written = ("--records", outputs[0], "--out", outputs[1], "--report", outputs[2])
    for command in (
        ("replay", capture, "--target", "model", *written),
        ("trace", capture, "--frame", 0),
        ("sim", capture, "--output", folder / "sim"),
    ):
        result = nicloop(*command, "--acl", rules)
        assert result.exit_code == 2, result.output
        assert result.stdout == "" and result.stderr.count("\n") == 1, result.output
        assert result.stderr.startswith("nicloop: ") and words in result.stderr
    assert not any(path.exists() for path in (*outputs, folder / "sim"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.toml", None, "none.toml: No such file or directory"),
        ("a.toml", "[[rule]]\nname = 'web'\nqueue = 256\n", "a.toml:3: rule 0 (web): queue: 256; accepted: "),
        ("a.rules", "@10.0.0.0/8 to 10.0.0.0/8\n", "a.rules:1: '@10.0.0.0/8 to 10.0.0.0/8' is no filter; accepted: "),
    ],
)
def test_a_rule_file_that_can_not_be_used_is_told_in_one_line_and_nothing_is_written(
    name: str, content: str | None, words: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    refused(words, CAPTURES / "scapy_arp_l2.pcapng", tmp_path / name, tmp_path)


@pytest.mark.parametrize("sim", ["icarus"], indirect=True)
def test_rules_that_the_device_has_no_room_for_are_refused_by_the_device(sim: str, tmp_path: Path) -> None:
    rules = tmp_path / "many.toml"
    rules.write_text("".join(f"[[rule]]\ndst_port = {i}\n" for i in range(65)))
    result = nicloop("replay", CAPTURES / "scapy_arp_l2.pcapng", "--acl", rules, "--target", "cocotb", "--sim", sim,
                     "--records", tmp_path / "records")  # fmt: skip
    assert result.exit_code == 2, result.output
    words = f"nicloop: {rules}: acl_rx: doesn't fit: 65 rules, 1 more than the 64 that the engine has room for\n"
    assert result.stderr == words
    assert not (tmp_path / "records").exists()
