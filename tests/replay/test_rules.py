"""Rules of the ACL around a replay: from a file into the programmed NIC; what they did in table and page.

Sweep:    ClassBench and TOML; directions that captures name; files that are wrong, too long, not there; many rules
Stimulus: rule files made here and the example of the repository; windows with counters by hand
Checks:   lines and slots of the rules; the order of the table, what it leaves out; the page against the figures
Timing:   none
"""

from __future__ import annotations

import io
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from models.acl import Actions, Range, Rule, RuleSet
from models.acl_check import ENGINE
from models.acl_file import read_rules
from models.config import NicConfig
from models.frames import Batch, Edge
from models.meta import Code, pack, words_of
from models.nic import NicPortModel
from tb.replay.capture import read_capture, write_capture
from tb.replay.checks import UsageError
from tb.replay.out import OutCapture
from tb.replay.records import records
from tb.replay.rules import RuleFigures, RuleFile, action_text, blamed, directions_of, programmed, ruled_by
from tb.replay.show import MOST_RULES, show_rules
from tb.replay.statistics import Statistics
from tb.replay.window import Judged, Ruled, Window
from tb.report.page import render_page
from tb.targets.engine import CLOCK_NS
from tb.targets.program import RulesError
from tb.toolchain import ROOT
from tests.replay.judging import judge, udp_frame
from tests.report.test_page import EVIL, Page, matching, run

EDGE = ROOT / "tests" / "acl" / "rules" / "edge.toml"
FILTER = "@10.0.0.0/8 0.0.0.0/0 0 : 65535 80 : 80 0x06/0xFF"


def classbench(path: Path, rules: int) -> Path:
    path.write_text("".join(f"@10.{i >> 8}.{i & 255}.0/24 0.0.0.0/0 0 : 65535 1 : 2 0x11/0xFF\n" for i in range(rules)))
    return path


def test_rules_of_a_file_know_their_lines(tmp_path: Path) -> None:
    (tmp_path / "set").write_text(f"# a comment\n{FILTER}\n\n  {FILTER}\n\t# another\n{FILTER}\n")
    assert RuleFile.read(tmp_path / "set").lines == (2, 4, 6)
    lines = EDGE.read_text().splitlines()
    file = RuleFile.read(EDGE)
    assert [lines[at] for at in file.lines] == [f'name = "{rule.name}"' for rule in file.rule_set.rules]
    (tmp_path / "one.toml").write_text('rule = [{ action = "deny" }]\n')
    assert RuleFile.read(tmp_path / "one.toml").lines == (), "the text has no head of a table for it"


def test_rules_go_into_the_slots_of_the_directions_in_place_of_those_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "nic.toml").write_text("[port.0]\nmax_frame = 1514\n[port.0.acl]\nrx = 'own'\ntx = 'own'\n")
    (tmp_path / "own").write_text(FILTER)
    own, edge = read_rules(tmp_path / "own"), read_rules(EDGE)
    nic, file = programmed(tmp_path / "nic.toml", None, ["rx"])
    assert file is None and (nic.ports[0].acl_rx, nic.ports[0].acl_tx) == (own, own)
    for ways, expected in ((["rx"], (edge, own)), (["tx"], (own, edge)), (["rx", "tx"], (edge, edge))):
        nic, file = programmed(tmp_path / "nic.toml", EDGE, ways)
        assert (nic.ports[0].acl_rx, nic.ports[0].acl_tx) == expected
        assert nic.ports[0].max_frame == 1514 and file is not None and file.rule_set == edge
    nic, _ = programmed(None, EDGE, ["tx"], 1)
    assert nic.ports[0] == NicConfig().ports[0] and nic.ports[1].acl_tx == edge and nic.ports[1].acl_rx is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.toml", None, "none.toml: No such file or directory"),
        (".", None, ": Is a directory"),
        ("a", "@10.0.0.0/8\n", "a:1: '@10.0.0.0/8' is no filter; accepted: "),
        ("a.toml", "\n[[rule]]\nname = 'web'\nvlan = 4096\n", "a.toml:4: rule 0 (web): vlan: 4096; accepted: "),
    ],
)
def test_a_wrong_file_is_told_as_nicloop_acl_check_tells_it(
    name: str, content: str | None, words: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(UsageError) as refused:
        programmed(None, tmp_path / name, ["rx"])
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_more_rules_than_the_engine_has_room_for_are_refused(tmp_path: Path) -> None:
    programmed(None, classbench(tmp_path / "fits", ENGINE["rules"]), ["rx"])
    with pytest.raises(UsageError) as refused:
        programmed(None, classbench(tmp_path / "more", ENGINE["rules"] + 7), ["rx"])
    assert (
        str(refused.value)
        == f"{tmp_path / 'more'}: doesn't fit: 1031 rules, 7 more than the 1024 that the engine has room for"
    )
    with pytest.raises(UsageError, match="--acl: there is no port 2"):
        programmed(None, EDGE, ["rx"], 2)


def test_rules_that_the_device_has_no_room_for_are_told_with_the_option_that_gave_them(tmp_path: Path) -> None:
    of_rx, of_tx = RulesError("acl_rx: doesn't fit: 2 rules"), RulesError("acl_tx: doesn't fit: 2 rules")
    assert blamed(of_rx, "a.toml", ["acl_rx"], "nic.toml") == "a.toml"
    assert blamed(of_tx, "a.toml", ["acl_rx"], tmp_path) == str(tmp_path)
    assert blamed(of_tx, None, [], None) == blamed(of_tx, "", ["acl_tx"], None) == "--config"


def test_a_file_of_rules_that_can_be_read_once_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("[[rule]]\nname = 'a'\n\n[[rule]]\n",), daemon=True)
    writer.start()
    file = RuleFile.read(pipe)
    writer.join()
    assert (len(file.rule_set.rules), file.lines) == (2, (1, 4))


def test_the_directions_of_captures_are_those_that_they_name(tmp_path: Path) -> None:
    write_capture(tmp_path / "wire", Batch.of([udp_frame(60)], edge=Edge.WIRE))
    write_capture(tmp_path / "host", Batch.of([udp_frame(60)], edge=Edge.HOST))
    wire, host, gone = (str(tmp_path / name) for name in ("wire", "host", "gone"))
    assert directions_of(None, [wire]) == directions_of(None, [gone]) == ["rx"]
    assert directions_of(None, [wire, host]) == directions_of(None, ["-"]) == ["rx", "tx"]
    assert directions_of("tx", [wire, "-"]) == ["tx"]


def test_an_action_is_told_in_words() -> None:
    assert action_text(Actions()) == "permit"
    assert action_text(Actions(permit=False, mirror=3)) == "deny, mirror 3"
    assert action_text(Actions(queue=0, mark_dscp=10, meter=2)) == "queue 0, mark_dscp 10, meter 2"


# -- what they did -----------------------------------------------------------------------------------------------------


def slot_of(rule_set: RuleSet, counters: dict[str, int], **file: Any) -> dict[str, Any]:
    """The figures of acl_rx after a window that ended with these counters."""
    config = NicConfig().with_port(0, acl_rx=rule_set)
    kept = RuleFigures(config, **file, slots=["acl_rx"])
    window = judge([udp_frame(60)])
    kept.take(replace(window, outcome=replace(window.outcome, counters=counters)))
    kept.take(replace(window, outcome=replace(window.outcome, counters={})))  # of a play that had no end
    (slot,) = kept.figures()["acl"]
    return slot


def test_rules_of_the_configuration_have_neither_file_nor_line() -> None:
    sets = {"acl_rx": RuleSet((Rule(),)), "acl_tx": RuleSet((Rule(), Rule(name="b")))}
    kept = RuleFigures(NicConfig().with_port(0, **sets), file="set", lines=[7], slots=["acl_rx"])
    kept.take(judge([udp_frame(60)]))
    rx, tx = kept.figures()["acl"]
    assert (rx["slot"], rx["file"], tx["slot"], tx["file"], tx["rules"]) == ("acl_rx", "set", "acl_tx", None, 2)


def many_rules(count: int) -> dict[str, Any]:
    """A slot of which every second rule was hit, the later the more often."""
    hits = {f"acl_rx.rule[{i}].{what}": (i + 1) * size for i in range(0, count, 2)
            for what, size in (("frames", 1), ("bytes", 60))}  # fmt: skip
    sums = {"acl_rx.default.frames": 5, "acl_rx.default.bytes": 300, "acl_rx.judged": 9999, "acl_rx.denied": 7,
            "acl_rx.mirrored": 3, "acl_rx.metered_red": 2}  # fmt: skip
    rules = tuple(Rule(name=f"r{i}" if i % 4 else "", actions=Actions(permit=i % 3 > 0)) for i in range(count))
    return slot_of(RuleSet(rules), hits | sums, file="set", lines=list(range(11, 11 + count)))


def test_the_figures_hold_the_rules_that_were_hit_most_frames_first() -> None:
    slot = many_rules(100)
    assert (slot["slot"], slot["direction"], slot["rules"], slot["file"]) == ("acl_rx", "rx", 100, "set")
    assert slot["hits"][0] == {"rule": 98, "name": "r98", "line": 109, "action": "permit", "frames": 99, "bytes": 5940}
    assert [row["rule"] for row in slot["hits"]] == list(range(98, -1, -2))
    assert slot["without_hits"] == list(range(1, 100, 2))
    assert slot["default"] == {"action": "permit", "frames": 5, "bytes": 300}
    assert (slot["denied"], slot["mirrored"], slot["policed"]) == (7, 3, 0)
    assert slot_of(RuleSet((Rule(),), False), {})["default"]["action"] == "deny"


def test_a_nic_without_rules_has_no_figures_of_them() -> None:
    assert RuleFigures(NicConfig()).figures() == {}
    assert RuleFigures(NicConfig(), 7).figures() == {}, "a port that isn't there"


def test_the_table_shows_the_rules_that_were_hit_most() -> None:
    out = io.StringIO()
    show_rules(Console(file=out, width=100), many_rules(100))
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines()]
    assert lines[0] == "rules of acl_rx (set)"
    assert "98 r98 permit 99 5,940" in lines and "96 line 107 deny 97 5,820" in lines
    assert f"{98 - 2 * (MOST_RULES - 1)} line 71 deny 61 3,660" in lines
    assert not any(line.startswith(f"{98 - 2 * MOST_RULES} ") for line in lines)
    assert "none permit 5 300" in lines
    assert "50 of 100 rules hit, the first 20 of them above; 50 without a hit" in lines
    assert "denied 7; mirrored 3" in lines


def test_the_page_has_all_rules_that_were_hit_and_names_the_others() -> None:
    page = Page(render_page({**matching(), "acl": [many_rules(100)]}, run()))
    assert page.faults == []
    said = page.said("acl")
    assert "acl_rx, set" in said and "rules hit 50 of 100" in said and "30 more rules that were hit" in said
    for row in many_rules(100)["hits"]:
        assert (
            f"{row['rule']} {row['name'] or ''} {row['line']} {row['action']} {row['frames']}".replace("  ", " ")
            in said
        )
    assert "50 rules without a hit 1, 3, 5, 7," in said
    assert "No rule: 5 frames, 300 bytes, permit by default." in said
    all_hit = slot_of(RuleSet((Rule(name=EVIL),)), {"acl_rx.rule[0].frames": 1})
    html = render_page({**matching(), "acl": [all_hit, {**all_hit, "slot": "acl_tx"}]}, run())
    assert Page(html).faults == [] and "<script>" not in html
    assert Page(html).said("acl").count("Every rule was hit.") == 2
    some = slot_of(RuleSet((Rule(),) * 12), {"acl_rx.rule[4].frames": 1})
    assert "11 rules without a hit 0 to 3, 5 to 11" in Page(render_page({**matching(), "acl": [some]}, run())).said(
        "acl"
    )
    assert "Rules" not in Page(render_page(matching(), run())).text


# -- copies and redirected frames --------------------------------------------------------------------------------------


def looked_at() -> Judged:
    """Four received frames: delivered with a copy, denied with a copy, redirected, delivered."""
    window = judge([udp_frame(60 + i) for i in range(4)], first=7)
    outcome, batch = window.outcome, window.window.batch
    source = np.array([2, 0, 0, 1, 3], np.int64)
    edge = np.array([Edge.WIRE, *[Edge.HOST] * 4], np.uint8)
    meta = words_of([pack({"acl_copy": copy, "acl_redirect": redirect})
                     for copy, redirect in ((0, 1), (0, 0), (1, 0), (1, 0), (0, 0))])  # fmt: skip
    code = np.array([Code.DELIVERED, Code.ACL_DENIED, Code.DELIVERED, Code.DELIVERED], np.uint8)
    denied = code == Code.ACL_DENIED
    outcome = replace(
        outcome,
        frames=replace(batch.select(source), edge=edge, time_ns=np.zeros(5, np.int64)),
        source=source,
        code=code,
        latency_cycles=np.where(denied, -1, outcome.latency_cycles),
        first_out=np.where(denied, -1, outcome.first_out),
        last_out=np.where(denied, -1, outcome.last_out),
        user=np.zeros(5, np.uint16),
        meta=meta,
        begun=np.zeros(5, np.int64),
        ended=np.zeros(5, np.int64),
    )
    ruled = Ruled(*(np.array(column, np.int32) for column in ([3, 0, -1, 5], [-1, -1, -1, 12], [-1, -1, -1, 1])))
    return replace(window, outcome=outcome, mismatches=[], first_out=20, ruled=ruled)


def test_a_record_names_the_copies_of_its_frame_and_what_the_acl_made_of_it() -> None:
    found = records(looked_at(), CLOCK_NS)
    assert [record["out"] for record in found] == [[21, 22], [23], [20], [24]]
    assert [record["disposition"] for record in found] == ["delivered", "dropped", "delivered", "delivered"]
    assert [record["reason"] for record in found] == [None, "acl_denied", None, None]
    assert [record["acl_rule"] for record in found] == [3, 0, None, 5]
    assert [record["mark"] for record in found] == [None, None, None, 12]
    assert [record["colour"] for record in found] == [None, None, None, "yellow"]
    unruled = records(replace(looked_at(), ruled=None), CLOCK_NS)
    assert {record[key] for record in unruled for key in ("acl_rule", "mark", "colour")} == {None}


def test_the_comment_of_a_copy_says_of_which_frame_and_that_of_a_redirected_one_that_it_is_one(tmp_path: Path) -> None:
    out = OutCapture(tmp_path / "out.pcapng", CLOCK_NS)
    out.take(looked_at())
    out.close()
    capture = read_capture(tmp_path / "out.pcapng")
    starts = [capture.comments[number].partition("; latency")[0] for number in range(5)]
    assert starts == [
        "input 9 (field.pcap: frame 9, in Wireshark 10); delivered; redirected",
        "input 7 (field.pcap: frame 7, in Wireshark 8); delivered",
        "copy of input 7 (field.pcap: frame 7, in Wireshark 8); delivered",
        "copy of input 8 (field.pcap: frame 8, in Wireshark 9); dropped; reason acl_denied; as the model says",
        "input 10 (field.pcap: frame 10, in Wireshark 11); delivered",
    ]
    assert capture.batch.edge.tolist() == [Edge.WIRE, *[Edge.HOST] * 4]


def test_copies_close_the_accounting_sum_and_are_no_throughput() -> None:
    counted = Statistics()
    counted.take(looked_at())
    figures = counted.figures()
    accounting = figures["accounting"]
    assert (accounting["frames_in"], accounting["copies"], accounting["frames_out"], accounting["dropped"]) == (
        4,
        2,
        5,
        1,
    )
    assert accounting["closed"] and figures["verdict"] == "match"
    assert figures["redirected"] == 1
    rx = figures["directions"]["rx"]
    assert (rx["frames_out"], rx["bytes_out"], rx["latency"]["frames"]) == (3, 60 + 62 + 63, 3)
    lost = looked_at()
    lost = replace(lost, outcome=replace(lost.outcome, meta=np.zeros_like(lost.outcome.meta)))
    counted = Statistics()
    counted.take(lost)
    assert not counted.figures()["accounting"]["closed"], "a denied frame that comes out, and says of no copy"


def test_a_frame_that_came_bad_has_no_rule_and_a_copy_of_a_transmitted_one_is_not_redirected() -> None:
    rules = RuleSet((Rule(dst_port=Range(9, 9), actions=Actions(mirror=5, mark_dscp=7)),))
    config = NicConfig().with_port(0, max_frame=100, acl_tx=rules)
    batch = Batch.of([udp_frame(60), udp_frame(101), udp_frame(60, port=8)], edge=Edge.HOST)
    model = NicPortModel(config)
    outcome = model.play(batch)
    ruled = ruled_by(NicPortModel(config).played(batch, outcome))
    assert (ruled.rule.tolist(), ruled.mark.tolist()) == ([0, -1, -1], [7, -1, -1])
    assert ruled.colour.tolist() == [-1] * 3
    number = np.arange(3, dtype=np.int64)
    judged = Judged(Window(batch, number, "a", number, batch.lengths), outcome, [], 0, 0, ruled)
    assert outcome.frames.edge[judged.copies].tolist() == [Edge.HOST] and not judged.redirected.any()
    assert [len(record["out"]) for record in records(judged, CLOCK_NS)] == [2, 0, 1]
