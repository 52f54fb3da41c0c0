"""The report of a replay: one HTML file that a person can trust.

Sweep:    replays that match, that differ in bytes, in fields and in fate, without a frame, of a million frames; names
          and texts that hold markup; optional sections there and not there
Stimulus: frames through the golden model, some spoilt; figures with planted texts
Checks:   the file is well-formed HTML, refers to nothing outside it, runs no script; what it says is what the figures
          say; hypothesis compares the rows of a dump with the bytes
Timing:   none
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.config import NicConfig
from models.frames import Batch, Edge
from models.nic import Mismatch
from tb.replay.statistics import Statistics
from tb.replay.window import Judged
from tb.report import plot
from tb.report.hexdump import MOST_ROWS, field_differences, rows
from tb.report.page import Run, render_page, write_page
from tests.replay.judging import byte_flipped, judge, udp_frame

VOID = {"meta", "link", "br", "hr", "img", "input"}
EVIL = "<script>alert(1)</script>&\"'<b>.pcap"


class Page(HTMLParser):
    """A page that was read: text by the id of the section that holds it, titles of marks, tags, faults of nesting."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.sections: dict[str, str] = {}
        self.titles: list[str] = []
        self.marked = 0
        self._open: list[str] = []
        self._ids: list[str] = []
        self._section = "top"
        self.feed(html)
        self.close()
        self.faults += [f"{tag} is never closed" for tag in self._open]
        self.faults += [f"id {name} is there twice" for name in {n for n in self._ids if self._ids.count(n) > 1}]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if len(attributes) != len(attrs):
            self.faults.append(f"{tag} has an attribute twice")
        if "id" in attributes:
            self._ids.append(attributes["id"] or "")
        if tag == "section":
            self._section = attributes["id"] or ""
        if tag == "mark":
            self.marked += 1
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"{tag} is closed at {self.getpos()}, and isn't the one that is open")
        if tag == "section":
            self._section = "bottom"

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            return
        if self._open[-1:] == ["title"] and "svg" in self._open:
            self.titles.append(data)
            return
        self.sections[self._section] = self.sections.get(self._section, "") + " " + " ".join(data.split())

    def said(self, section: str) -> str:
        """Text of a section, spaces as one."""
        return " ".join(self.sections.get(section, "").split())

    @property
    def text(self) -> str:
        return " ".join(self.said(section) for section in self.sections)


def figures_of(*judged: Judged) -> dict[str, Any]:
    counted = Statistics()
    for window in judged:
        counted.take(window)
    return counted.figures()


def run(**more: Any) -> Run:
    versions = {"nicloop": "9.8.7", "commit": "0123abc", "simulator": "Verilator 5.048", "Python": "CPython 3.11"}
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    return Run(**{"command": ["nicloop", "replay", "a b.pcap"], "versions": versions, "when": when} | more)


def matching() -> dict[str, Any]:
    rx = judge([udp_frame(60 + 7 * i) for i in range(150)])
    tx = judge([udp_frame(1514)] * 40, edge=Edge.HOST, first=150, begin_ns=10**6, capture="second.pcap")
    return figures_of(rx, tx)


def differing() -> dict[str, Any]:
    bytes_and_fields = judge([udp_frame(300)] * 8, spoil=byte_flipped(2, 30))
    payload = judge([udp_frame(1500)] * 3, first=8, begin_ns=10**5, spoil=byte_flipped(1, 1000))
    lost = judge([udp_frame(10_000), udp_frame(80)], first=11, begin_ns=10**6)
    lost = replace(lost, mismatches=[Mismatch(0, "code", "DELIVERED", "OVERSIZE", 7), Mismatch(-1, "counter x", 3, 4)])
    return figures_of(bytes_and_fields, payload, lost)


def evil() -> dict[str, Any]:
    judged = judge([udp_frame(64)] * 3, capture=EVIL, spoil=byte_flipped(1, 50))
    planted = [Mismatch(0, EVIL, EVIL, EVIL), Mismatch(-1, EVIL, EVIL, EVIL)]
    figures = figures_of(replace(judged, mismatches=judged.mismatches + planted))
    numbers = dict.fromkeys(("frames", "min", "median", "max", "stalled", "holding"), 1)
    figures["slots"] = [{"slot": EVIL, "direction": "rx", **numbers}]
    figures["baseline"] = {"verdict": EVIL, "rows": [[EVIL] * 4], "changes": [EVIL]}
    return figures


EVIL_RUN = {"command": [EVIL], "versions": {EVIL: EVIL}, "config": EVIL, "notices": [EVIL], "error": EVIL}
PAGES = {
    "matching": (matching, {"config": NicConfig().to_toml()}),
    "differing": (differing, {}),
    "empty": (figures_of, {}),
    "evil": (evil, EVIL_RUN),
}


@pytest.fixture(params=PAGES)
def html(request):
    figures, more = PAGES[request.param]
    return render_page(figures(), run(**more))


def test_the_page_is_well_formed(html):
    page = Page(html)
    assert page.faults == []
    assert [tag for tag, _ in page.tags if tag in ("html", "head", "body", "main", "h1")] == [
        "html", "head", "body", "h1", "main",
    ]  # fmt: skip
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert links
    assert {link.removeprefix("#") for link in links} <= ids


def test_the_page_refers_to_nothing_outside_it_and_runs_nothing(html):
    assert re.findall(r"https?:|//[a-z]|@import|url\(|javascript:", html) == []
    for tag, attributes in Page(html).tags:
        assert tag not in ("script", "iframe", "object", "embed", "img", "form", "base")
        assert not {name for name in attributes if name.startswith("on") or name == "src"}
        if "href" in attributes:
            assert attributes["href"].startswith("#") or attributes["href"] == "data:,"


def test_names_and_texts_that_hold_markup_are_shown_as_text():
    html = render_page(evil(), run(**EVIL_RUN))
    assert "<script" not in html and "<b>" not in html
    page = Page(html)
    for section in ("top", "mismatches", "captures", "slots", "baseline", "run"):
        assert EVIL in page.said(section), section


def test_the_page_says_pass_and_the_numbers_of_the_figures():
    figures = matching()
    page = Page(render_page(figures, run(config="[port.0]\nmax_frame = 77\n")))
    assert "Pass All 190 frames did what the golden model says." in page.said("top")
    assert "frames 190" in page.said("top")
    assert f"{figures['bytes']:,} bytes" in page.said("top")
    assert "frames that differ 0" in page.said("top")
    assert f"{figures['cycles']:,} cycles" in page.said("top")
    for way, numbers in figures["directions"].items():
        latency = numbers["latency"]
        numbers_said = ((plot.number(latency[key]), latency[key] * 4) for key in ("min", "median", "p99", "max"))
        said = " ".join(f"{cycles} cycles {ns:g} ns" for cycles, ns in numbers_said)
        assert f"{way} {latency['frames']} {said}" in page.said("latency")
        assert f"{way}: {numbers['gbps']:.2f} Gb/s while it delivered" in page.said("throughput")
    assert "delivered 190 100 %" in page.said("frames")
    assert "Closed: 190 in + 0 generated + 0 copies = 190 out + 0 consumed + 0 dropped" in page.said("frames")
    for row in figures["captures"]:
        words = (row["capture"], row["direction"], row["frames"], f"{row['bytes']:,}", row["delivered"], 0, 0, 0, 0)
        assert " ".join(map(str, words)) in page.said("captures")
    assert "nicloop replay 'a b.pcap'" in page.said("run")
    assert "date 2026-01-02 03:04:05 UTC nicloop 9.8.7 commit 0123abc simulator Verilator 5.048" in page.said("run")
    assert "[port.0] max_frame = 77" in page.said("run")
    assert "mismatches" not in page.sections


def test_the_marks_of_the_plots_are_the_frames_of_the_figures():
    figures = matching()
    page = Page(render_page(figures, run()))
    histogram = [title for title in page.titles if re.match(r"[\d, to]+ cycles: ", title)]
    grid = [title for title in page.titles if " bytes, " in title]
    for titles in (histogram, grid):
        assert sum(int(re.search(r"([\d,]+) frames?$", title)[1].replace(",", "")) for title in titles) == 190
    assert any(title.startswith("1,") and "to 1,5" in title for title in grid)
    over_time = [title for title in page.titles if "Gb/s" in title]
    assert len(over_time) <= 200
    assert all(re.fullmatch(r"\S+ to \S+ ms: rx \S+ Gb/s \(\d+%\), tx \S+ Gb/s \(\d+%\)", title) for title in over_time)


def test_frames_far_slower_than_all_others_are_said_and_not_drawn():
    judged = judge([udp_frame(60 + i % 40) for i in range(500)])
    latency = judged.outcome.latency_cycles.copy()
    latency[7] = 5000
    latency[8] = plot.shown_up_to({"min": latency.min(), "max": 5000, "p99": np.sort(latency)[494]})
    figures = figures_of(replace(judged, outcome=replace(judged.outcome, latency_cycles=latency)))
    assert latency[8] == plot.shown_up_to(figures["directions"]["rx"]["latency"])
    page = Page(render_page(figures, run()))
    assert re.search(r"1 frame above \d+ cycles, up to 5,000, not drawn", page.said("latency"))
    assert sum(int(re.search(r"(\d+) frames?$", t)[1]) for t in page.titles if re.match(r"[\d to]+ cycles: ", t)) == 499


def test_the_page_says_fail_and_shows_bytes_and_fields_of_the_frames_that_differ():
    page = Page(render_page(differing(), run(notices=["field.pcap: byte 99: cut"])))
    assert "Fail 3 frames of 13 differ from the golden model; 1 difference of the port itself." in page.said("top")
    assert "field.pcap: byte 99: cut" in page.said("top")
    assert "frames that differ 3 and 1 of the port" in page.said("top")
    said = page.said("mismatches")
    assert "Frame 2 byte 30: expected 0x0a, got 0x4a" in said
    assert "Frame 2 of field.pcap (Wireshark: 3), rx of port 0, 300 bytes; delivered" in said
    assert "ip_dst 10.0.0.2 74.0.0.2" in said
    assert "ip_checksum good bad" in said
    # A byte that no header holds: no field, but the byte itself, with its offset.
    assert "Frame 9 byte 1000: expected 0x5a, got 0x1a" in said
    assert "No header field differs." in said
    assert "03e0" in said
    assert page.marked == 4
    assert "Frame 11 code: expected DELIVERED, got OVERSIZE" in said
    assert "dropped: oversize" in said
    assert "No frame came out." in said
    assert "counter x 3 4" in said
    assert "dropped oversize 1 7.7 %" in page.said("frames")


def test_the_first_mismatches_are_open_and_the_rest_is_folded():
    judged = judge([udp_frame(64)] * 200)
    judged = replace(judged, mismatches=[Mismatch(i, "queue", 0, 1) for i in range(150)])
    page = Page(render_page(figures_of(judged), run()))
    folds = ["open" in attributes for tag, attributes in page.tags if tag == "details" and "class" in attributes]
    assert folds == [True] * 3 + [False] * 97
    assert "The first 100 of 150 frames that differ." in page.said("mismatches")
    assert "Its bytes came out unchanged." in page.said("mismatches")


def test_a_long_list_of_captures_is_folded():
    def page(captures: int) -> Page:
        return Page(
            render_page(figures_of(*(judge([udp_frame(64)], capture=f"{i}.pcap") for i in range(captures))), run())
        )

    few, many = page(20), page(21)
    assert many.faults == []
    assert [sum(tag == "details" for tag, _ in each.tags) for each in (few, many)] == [0, 1]
    assert "21 lines" in many.said("captures") and "20.pcap rx 1 64" in many.said("captures")


def test_a_replay_without_a_frame_says_so_and_has_no_plot():
    page = Page(render_page(figures_of(), run()))
    assert "Nothing played There was no frame to play." in page.said("top")
    assert page.said("latency").endswith("No frame was delivered.")
    assert page.said("captures") == "Captures No capture held a frame."
    assert "svg" not in [tag for tag, _ in page.tags]


def test_frames_that_were_all_dropped_have_no_plot():
    page = Page(render_page(figures_of(judge([udp_frame(9700)] * 3)), run()))
    assert "Pass All 3 frames" in page.said("top")
    assert "dropped oversize 3 100 %" in page.said("frames")
    assert "svg" not in [tag for tag, _ in page.tags]


def test_a_port_that_got_stuck_fails_without_a_mismatch():
    page = Page(render_page(matching(), run(error="frame 3: the port got stuck")))
    assert "Fail frame 3: the port got stuck." in page.said("top")


def test_a_sum_that_is_not_closed_fails_without_a_mismatch():
    judged = judge([udp_frame(64)])
    beside = {name: getattr(judged.outcome, name)[:0] for name in ("user", "meta", "begun", "ended")}
    lost = replace(judged.outcome, frames=Batch.empty(), source=np.zeros(0, np.int64), **beside)
    page = Page(render_page(figures_of(replace(judged, outcome=lost)), run()))
    assert "Fail the accounting sum isn't closed." in page.said("top")
    assert "Not closed: 1 in + 0 generated + 0 copies ≠ 0 out" in page.said("frames")


def test_slots_and_baseline_are_shown_where_they_are_given():
    figures = matching()
    assert not {"slots", "baseline"} & Page(render_page(figures, run())).sections.keys()
    cycles = {"frames": 150, "min": 3, "median": 4.5, "max": 1234, "stalled": 17, "holding": 5}
    nothing = {"frames": 0, "min": None, "median": None, "max": None, "stalled": 0, "holding": 12}
    figures["slots"] = [
        {"slot": "parser_rx", "direction": "rx", **cycles},
        {"slot": "host edge", "direction": "rx", **nothing},
    ]
    figures["baseline"] = {
        "verdict": "Of 9 frames that both have: 1 slower",
        "rows": [["rx latency, max", "5", "6", "+1"]],
        "changes": ["frame 3"],
    }
    page = Page(render_page(figures, run()))
    assert page.faults == []
    assert "parser_rx rx 150 3 4.5 1,234 17 5 host edge rx 0 - - - 0 12" in page.said("slots")
    assert "Of 9 frames that both have: 1 slower" in page.said("baseline")
    assert "rx latency, max 5 6 +1" in page.said("baseline")
    assert page.said("baseline").endswith("Frames that changed frame 3")


def test_a_page_of_a_million_frames_is_small():
    judged = judge([udp_frame(size) for size in range(60, 1515)])
    rng = np.random.default_rng(3)
    counted = Statistics()
    for number in range(690):
        late = rng.integers(0, 400, len(judged.window))
        outcome = replace(judged.outcome, latency_cycles=judged.outcome.latency_cycles + late)
        counted.take(replace(judged, outcome=outcome, begin_ns=number * outcome.cycles * 4))
    figures = counted.figures()
    html = render_page(figures, run())
    page = Page(html)
    assert page.faults == []
    assert "1,003,950" in page.said("top")
    assert len(html) < 600_000


def test_a_page_is_written_as_utf_8(tmp_path):
    write_page(tmp_path / "out.html", figures_of(judge([udp_frame(64)], capture="größe→.pcap")), run())
    text = (tmp_path / "out.html").read_bytes().decode("utf-8")
    assert "größe→.pcap" in text
    with pytest.raises(OSError):
        write_page(tmp_path / "absent" / "out.html", figures_of(), run())


@given(
    st.binary(min_size=1, max_size=3000),
    st.lists(st.tuples(st.integers(0, 2999), st.integers(0, 255))),
    st.integers(-40, 40),
)
def test_a_dump_shows_every_byte_that_differs_and_says_what_it_leaves_out(left, changes, more):
    right = bytearray(left)
    for at, value in changes:
        right[at % len(left)] = value
    right = bytes(right[:more] if more < 0 else right + bytes(more))
    shown = list(rows(left, right))
    end, position, seen = max(len(left), len(right)), 0, set()
    for row in shown:
        assert row.offset == position
        if row.skipped:
            position += row.skipped
            continue
        for at, (a, b) in enumerate(zip(row.left, row.right, strict=True), row.offset):
            here, there = left[at : at + 1], right[at : at + 1]
            assert (a.text, b.text) == (here.hex() or "··", there.hex() or "··")
            assert a.differs == b.differs == (here != there)
            if a.differs:
                seen.add(at)
        position += len(row.left)
    assert position == end
    unequal = {at for at in range(end) if left[at : at + 1] != right[at : at + 1]}
    if sum(not row.skipped for row in shown) < MOST_ROWS or all(row.equal for row in shown):
        assert seen == unequal
    else:
        assert seen <= unequal


def test_a_dump_of_frames_that_differ_everywhere_ends():
    shown = list(rows(bytes(9000), b"\1" * 9000))
    assert len(shown) == MOST_ROWS + 1
    assert (shown[-1].skipped, shown[-1].equal) == (9000 - 16 * MOST_ROWS, False)


@pytest.mark.parametrize(
    ("at", "mask", "said"),
    [
        (0, 0x80, {"dst_mac": ("02:00:00:00:00:02", "82:00:00:00:00:02")}),
        (12, 0x80, {"ethertype": ("0x0800", "0x8800"), "l3_kind": ("ipv4", "none"), "ip_src": ("10.0.0.1", "none")}),
        (36, 0x10, {"dst_port": ("9", "4105")}),
        (14, 0x10, {"code": ("none", "bad_ip_version")}),
        (16, 0x10, {"l3_length": ("50", "4146"), "code": ("none", "l3_beyond_frame")}),
    ],
)
def test_fields_that_differ_are_named_with_their_values(at, mask, said):
    frame = udp_frame(64)
    other = bytearray(frame)
    other[at] ^= mask
    found = {each.name: (each.left, each.right) for each in field_differences(frame, bytes(other))}
    assert said.items() <= found.items()
    assert field_differences(frame, frame) == []
    assert field_differences(frame, b"") == []
    assert field_differences(frame, frame[:1])


@given(st.floats(0, 1e6), st.floats(1e-6, 1e9), st.integers(2, 8), st.booleans())
def test_ticks_are_few_round_numbers_in_the_range(least, span, wanted, whole):
    found = plot.ticks(least, least + span, wanted, whole=whole)
    slack = span * 1e-6 + 1e-9
    assert len(found) <= wanted + 1
    assert all(least - slack <= at <= least + span + slack for at in found)
    if len(found) > 1:
        step = found[1] - found[0]
        assert float(f"{step:.2g}") == pytest.approx(step, rel=1e-3)
        assert f"{step:.0e}"[0] in "125"
    if whole:
        assert all(abs(at - round(at)) < 1e-6 for at in found)
