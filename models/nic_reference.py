"""The model of ``nic_port`` a frame at a time, as docs/architecture.md and docs/acl.md say it. Tests prove it equal to
what the other modules do for all frames at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.acl import AclModel, Verdict
from models.frames import BEAT_BYTES, Edge
from models.meta import Code
from models.nic_pipeline import INGRESS_CYCLES, direction_of
from models.parser import ParserModel

__all__ = ["AclTimes", "reference_acl", "reference_code", "reference_first_out", "reference_held"]


def reference_code(
    edge: int,
    frame: bytes,
    bad: int,
    control: int,
    max_frame: int,
    buffer_beats: int,
    drop: int = 0,
    *,
    parse_bytes: int = 128,
    tunnel: bool = False,
    acl: AclModel | None = None,
    now_ns: int = 0,
    port: int = 0,
) -> int:
    """Code of one frame that meets an empty port: precedence as in `nic_ingress`, then what the parser drops (``drop``:
    its register; ``parse_bytes`` and ``tunnel``: its parameters), then what the ACL ends (``acl``: its rules and
    meters, which move on; ``now_ns``: the port's time when ingress took the frame), then what no buffer can hold."""
    enabled = control >> (0 if edge == Edge.WIRE else 1) & 1
    if not enabled:
        return Code.PORT_DISABLED
    if len(frame) > max_frame:
        return Code.OVERSIZE
    if bad:
        return bad >> 1 or Code.BAD_FRAME
    parsed = ParserModel(parse_bytes, drop, tunnel).parse(frame)
    if parsed.user & 1:
        return parsed.code
    if acl is not None:
        judgement = acl.judge(parsed.meta_fields() | {"port": port}, len(frame), now_ns)
        if judgement.verdict != Verdict.PASSED:
            return Code[judgement.verdict.name]
        if judgement.redirect not in (None, port):
            return Code.ACL_NO_PORT
    if -(-len(frame) // BEAT_BYTES) > buffer_beats:
        return Code.OVERSIZE
    return Code.DELIVERED


@dataclass(frozen=True)
class AclTimes:
    """Cycles of a frame in the ACL: the matcher takes its first key, its turn, its first and last beat out."""

    key: int
    lookups: int
    metered: bool
    turn: int
    first: int
    last: int


def reference_acl(first: int, end: int, beats: int, lookups: int, metered: bool, before: AclTimes | None) -> AclTimes:
    """Docs/acl.md, Time: of a frame whose first beat comes in cycle ``first`` and its last in ``end``; ``before``: the
    frame before it, None after a reset."""
    key = first + 1 if before is None else max(first + 1, before.key + 4 * before.lookups)
    ready = key + 4 * (lookups - 1) + 11
    if metered:
        ready = max(ready, end + 1)
    if before is not None:
        step = {(True, True): 4, (True, False): 7}.get((before.metered, metered), 1)
        ready = max(ready, before.turn + step)
    done = ready + 7 if metered else ready
    out = done + 1 if before is None else max(done + 1, before.last + 1)
    return AclTimes(key, lookups, metered, ready, out, max(out + beats - 1, end + 3))


def reference_first_out(
    edge: int,
    first_in: Sequence[int],
    last_in: Sequence[int],
    beats: Sequence[int],
    latency: Sequence[int],
    last_out: Sequence[int],
    resets: Sequence[int] = (),
    acl: Sequence[tuple[int, bool]] | None = None,
) -> list[tuple[int, int]]:
    """Cycle of the first beat out of each frame that entered at one edge, in order, a frame at a time: the earliest and
    the latest, which are one where the frame and those that it follows closely came without gaps. ``latency``: the
    parser's. ``last_out`` is -1 for a frame that is not delivered; the entry of such a frame is where it would have
    come out. ``acl``: how often the ACL looks each frame up, and whether it is metered; None: once, and no. None of the
    frames is oversize, redirected or mirrored. After a reset the port remembers nothing."""
    pipeline = direction_of(edge)
    # Registers between the parser and the ACL, and between the ACL and the buffer.
    to_acl, to_buffer = (4, 0) if edge == Edge.WIRE else (0, 3)
    behind = pipeline.buffer + pipeline.after
    cycles: list[tuple[int, int]] = []
    free = previous = parser_least = parser_most = -1
    acl_least: AclTimes | None = None
    acl_most: AclTimes | None = None
    epoch = 0
    asked = acl if acl is not None else [(1, False)] * len(beats)
    for first, last, count, wait, out, (lookups, metered) in zip(
        first_in, last_in, beats, latency, last_out, asked, strict=True
    ):
        now = sum(reset < first for reset in resets)
        if now != epoch:
            epoch, free, previous, parser_least, parser_most = now, -1, -1, -1, -1
            acl_least = acl_most = None
        entry = max(first + 1, free)
        free = entry + max(INGRESS_CYCLES, count)
        end = max(last + 1, entry + count - 1)
        # At the parser's input the beats pass one cycle after ingress took them.
        least = max(entry + 1 + wait, parser_least + 1)
        parser_least = max(least + count - 1, end + 1 + 2)
        gaps = end - (entry + count - 1)
        most = max(entry + 1 + gaps + wait, parser_most + 1)
        parser_most = max(most + count - 1, end + 1 + 2)
        acl_least = reference_acl(least + to_acl, parser_least + to_acl, count, lookups, metered, acl_least)
        acl_most = reference_acl(
            parser_most - count + 1 + to_acl, parser_most + to_acl, count, lookups, metered, acl_most
        )
        ends = [times.last + to_buffer + behind for times in (acl_least, acl_most)]
        cycles.append((max(ends[0], previous + 1), max(ends[1], previous + 1)))
        if out >= 0:
            previous = out
    return cycles


def reference_held(
    time: int,
    first_out: Sequence[int],
    last_out: Sequence[int],
    beats: Sequence[int],
    turned: Sequence[bool] | None = None,
    of: int | None = None,
) -> tuple[int, int, int, int]:
    """How many beats of delivered frames have not passed the output before cycle ``time``: the least and the most that
    their cycles allow (a frame passes at most one beat a cycle), and how many of the frames have not passed whole, the
    least and the most. ``turned``: frames that left by the other direction. Nobody knows when these left the buffer:
    at once, or when a frame behind them, or they, came out. ``of``: how many of the frames are meant, None: all."""
    least = most = least_frames = most_frames = 0
    aside = turned if turned is not None else [False] * len(beats)
    for place, (first, last, count) in enumerate(zip(first_out, last_out, beats, strict=True)):
        if of is not None and place >= of:
            break
        if last >= time and not aside[place]:
            least_frames += 1
            least += count if time <= first else max(1, count - (time - first))
        gone = min(last_out[place:]) if any(aside) else last
        if gone >= time:
            most_frames += 1
            most += min(count, gone - time + 1)
    return least, most, least_frames, most_frames
