"""The books of a slot of IPsec: what must become of each frame, and in which cycle.

Frames are judged by ``models/ipsec.py`` in the order in which the slot does it: the checks of a head when it is looked
up, the verdict when the engine has ended, by the cycles of ``models/ipsec_time.py``. So a window that a verdict moves
counts for the heads looked up behind it, and for no other. What was seen is entered some cycles later, when everything
that could matter for it is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from models.ipsec import Fields, InFlight, IpsecRx, IpsecTx, Result
from models.ipsec_sa import Cipher, Mode, Natt, Sa, SaState
from models.ipsec_time import AES, EARLY, NO_KEY, SM4, Come, Judged, Kind, SlotTime, blocks
from models.meta import Code, pack, unpack
from tb.ipsec.driver import REMOVE, WRITE
from tb.lib.axis import AxisFrame

__all__ = ["FOUND", "REMOVED", "SETTLED", "Books", "Done", "Flight", "RxSide", "Side", "TxSide"]

SETTLED = 64
"""Cycles after which nothing can come that matters for what was seen."""
REMOVED = {"ipsec_rx": 12, "ipsec_tx": 4}
"""Cycles from the first one with ``reg_req`` to the check of the first head that doesn't find the SA."""
FOUND = {"ipsec_rx": 7, "ipsec_tx": -1}
"""Cycles from ``reg_ack`` to the check of the first head that finds an SA that was written."""

_IPV6 = 2


@dataclass(eq=False)
class Flight:
    """A frame on its way. meta: its metadata by name; beats: cycles of its input handshakes."""

    sent: AxisFrame
    meta: dict[str, int]
    given: Fields
    beats: list[int] = field(default_factory=list)
    look: int | None = None
    kind: Kind = Kind.PASSING
    head: InFlight | None = None
    state: SaState | None = None
    result: Result | None = None
    come: Come | None = None
    judged: Judged | None = None

    @property
    def whole(self) -> bool:
        """All of it has come."""
        return len(self.beats) == self.sent.beats()

    def out(self) -> AxisFrame:
        """What leaves."""
        assert self.result is not None and self.result.frame is not None
        user = self.sent.user if self.result.user is None else self.result.user
        meta = pack(self.meta | self.result.meta) if self.result.meta else self.sent.meta
        return AxisFrame(self.result.frame, user, meta)


@dataclass(frozen=True)
class Done:
    """A frame that has left or ended as it must. first_out, last_out: -1, it ended."""

    flight: Flight
    first_out: int
    last_out: int

    @property
    def code(self) -> Code:
        assert self.flight.result is not None
        return Code(self.flight.result.code)


class Work(NamedTuple):
    """What a frame's time depends on, as ``Come`` names it, but for ``n``, bytes of text, and ``needed`` and ``begun``,
    numbers of beats (-1: none)."""

    skipped: int
    n: int = 0
    needed: int = -1
    begun: int = -1
    short: int = 0
    behind: int = 0
    tail: int = 0


def _rest(length: int, at: int) -> int:
    """1: bytes of a frame's last beat stand in a beat of their own when what begins at ``at`` is moved to lane 0."""
    return int(length > at and at % 16 != 0 and (length - 1) % 16 + 1 > at % 16)


def _engine(state: SaState, sm4: bool) -> str:
    if state.sa.cipher is Cipher.SM4_GCM:
        return SM4 if sm4 else NO_KEY
    return AES


class RxSide:
    """What ``ipsec_rx`` has of its own."""

    slot = "ipsec_rx"

    def __init__(self, sas: int, sm4: bool, hold_beats: int) -> None:
        self.model = IpsecRx(sas, sm4, hold_beats)

    @staticmethod
    def passing(given: Fields) -> bool:
        return not (given.l4_kind == 5 or given.natt == 1 or (given.fragment and given.protocol == 50))

    def begin(self, flight: Flight) -> None:
        flight.head = head = self.model.begin(flight.sent.data, flight.given)
        flight.state = head.state
        if head.left:
            flight.kind = Kind.PASSING if head.left == "passed" else Kind.LEFT
            flight.result = self.model.finish(head, flight.sent.user & 0xFF)
        else:
            flight.kind = Kind.WORKED if head.code is Code.NONE else Kind.ENDED

    def finish(self, flight: Flight) -> None:
        assert flight.head is not None
        flight.result = self.model.finish(flight.head, flight.sent.user & 0xFF)

    def work(self, flight: Flight) -> Work:
        head, state, given = flight.head, flight.state, flight.given
        assert head is not None
        if flight.kind is not Kind.WORKED or state is None:
            esp = given.l4_offset + (8 if given.natt == 1 else 0)
            return Work(max(1, blocks(len(flight.sent.data) - esp)))
        n = head.end - head.esp - 16 - state.sa.tag
        there = blocks(len(flight.sent.data) - head.esp)
        skipped = max(0, there - 1 - blocks(n + state.sa.tag))
        short = max(0, blocks(n) - max(0, there - 1) + _rest(len(flight.sent.data), head.esp))
        return Work(skipped, n, (head.esp + 15) // 16, (head.esp + 31) // 16, short)


class TxSide:
    """What ``ipsec_tx`` has of its own."""

    slot = "ipsec_tx"

    def __init__(self, sas: int, sm4: bool, hold_beats: int) -> None:
        self.model = IpsecTx(sas, sm4, hold_beats)

    @staticmethod
    def passing(given: Fields) -> bool:
        return not given.acl_protect

    def begin(self, flight: Flight) -> None:
        given = flight.given
        flight.state = state = self.model.table.read(given.acl_sa) if given.acl_protect else None
        before = state.used if state is not None else 0
        flight.result = self.model.encap(flight.sent.data, given, flight.sent.user & 0xFF)
        if not given.acl_protect:
            flight.kind = Kind.PASSING
        else:
            flight.kind = Kind.WORKED if state is not None and state.used != before else Kind.ENDED

    def finish(self, flight: Flight) -> None:
        """All was known at the head."""

    def work(self, flight: Flight) -> Work:
        given, state = flight.given, flight.state
        transport = state is not None and state.sa.mode is Mode.TRANSPORT
        at = 16 if not given.l3_kind else given.l3_payload_offset if transport else given.l3_offset
        there = max(1, blocks(len(flight.sent.data) - at))
        if flight.kind is not Kind.WORKED or state is None:
            return Work(1 + there)
        sa, text = state.sa, given.end - at
        n = text + -(text + 2) % 4 + 2
        front = 16 + 8 * (sa.natt is not Natt.NO) + (0 if transport else 40 if sa.ipv6 else 20)
        behind = blocks(front + n + sa.tag)
        length = len(flight.sent.data)
        short = max(0, blocks(n) - there + (length <= 16 or _rest(length, at)))
        return Work(max(0, there - blocks(text)), n, -1, -1, short, behind, behind - front // 16 - blocks(n))


Side = RxSide | TxSide


class Books:
    """Frames in, frames out, dispositions and commands of one slot since its reset."""

    def __init__(self, side: Side, done: Callable[[Done], None]) -> None:
        self.side = side
        self._done = done
        self._time = SlotTime(side.slot)
        self.sent: deque[Flight] = deque()
        """Frames that were handed to the source, and haven't come whole."""
        self._come: deque[Flight] = deque()
        """Frames that have begun to come, and whose head wasn't looked up."""
        self._under_way: deque[Flight] = deque()
        """Frames whose head was looked up and that have no verdict, in their order."""
        self._leaving: deque[Flight] = deque()
        """Frames that haven't left or ended, in their order."""
        self._ended: deque[Flight] = deque()
        """Frames that ended, and whose disposition wasn't told."""
        self._changes: deque[tuple[int, Callable[[], None]]] = deque()
        self._keys = 0
        """Keys that were written since the slot was empty. Each may take a place in the engine (docs/gcm.md, Time), and
        frames behind it are a cycle later."""
        self.commands: list[tuple[int, int, int]] = []
        self._seen: deque[tuple[int, Callable[..., None], tuple[Any, ...]]] = deque()
        self.last_out = -1
        self.last_beat = -1
        self.beats_in = self.entered = self.gone = 0

    # What is seen

    def beat(self, cycle: int) -> None:
        """A handshake at the input."""
        assert self.sent, f"cycle {cycle}: a beat went in that nobody sent"
        flight = self.sent[0]
        if not flight.beats:
            self._come.append(flight)
            self._leaving.append(flight)
            self.entered += 1
        flight.beats.append(cycle)
        self.beats_in += 1
        self.last_beat = cycle
        if flight.whole:
            self.sent.popleft()

    def saw(self, cycle: int, what: Callable[..., None], *arguments: Any) -> None:
        """Something came out; ``what`` is called once everything that matters is known."""
        self.gone += 1
        self._seen.append((cycle, what, arguments))

    def commanded(self, op: int, number: int, cycle: int) -> None:
        """``command`` is being written: soon nobody finds the SA."""
        self.commands.append((op, number, cycle))
        table = self.side.model.table
        if op in (WRITE, REMOVE) and number < table.size:
            if self.entered > self.gone:
                self._keys += 1
            self._changes.append((cycle + REMOVED[self.side.slot], lambda: table.remove(number)))

    def answered(self, op: int, number: int, sa: Sa | None, cycle: int) -> None:
        """It was answered."""
        self.commands.append((op, number, cycle))
        table = self.side.model.table
        if op == WRITE and number < table.size:
            assert sa is not None
            self._changes.append((cycle + FOUND[self.side.slot], lambda: table.write(number, sa)))

    def settle(self, now: int) -> None:
        """Enter what was seen to cycle ``now``."""
        while self._seen and self._seen[0][0] <= now:
            cycle, what, arguments = self._seen.popleft()
            self.advance(cycle)
            what(cycle, *arguments)
        self.advance(now)

    # What happens in the slot

    def advance(self, now: int) -> None:
        """All that happens to cycle ``now``, in its order."""
        while True:
            nexts: list[tuple[int, int, Callable[[], None]]] = []
            if self._changes:
                nexts.append((self._changes[0][0], 0, self._change))
            if self._under_way and self._under_way[0].judged is not None:
                nexts.append((self._under_way[0].judged.verdict, 1, self._finish))
            elif self._under_way and self._under_way[0].whole and self._under_way[0].beats[-1] <= now:
                self._judge(self._under_way[0])
                continue
            if self._come and self._come[0].beats[0] <= now:
                nexts.append((self._look() + EARLY, 2, self._begin))
            if not nexts:
                return
            cycle, _, act = min(nexts, key=lambda entry: entry[:2])
            if cycle > now:
                return
            act()

    def _change(self) -> None:
        self._changes.popleft()[1]()

    def _look(self) -> int:
        flight = self._come[0]
        if flight.look is None:
            flight.look = self._time.look(flight.beats[0], self.side.passing(flight.given))
        return flight.look

    def _begin(self) -> None:
        flight = self._come.popleft()
        self.side.begin(flight)
        self._under_way.append(flight)

    def _judge(self, flight: Flight) -> None:
        beats, kind, engine = flight.beats, flight.kind, AES
        work = Work(0) if kind is Kind.PASSING else self.side.work(flight)
        if kind is Kind.WORKED:
            assert flight.state is not None
            engine = _engine(flight.state, self.side.model.sm4)
        needed, begun = (beats[min(at, len(beats) - 1)] if at >= 0 else -1 for at in (work.needed, work.begun))
        flight.come = Come(
            beats[0],
            beats[-1],
            len(beats),
            kind,
            needed,
            begun,
            blocks(work.n),
            engine,
            work.short,
            work.skipped,
            work.behind,
            work.tail,
        )
        assert flight.look is not None
        flight.judged = self._time.judge(flight.come, flight.look)

    def _finish(self) -> None:
        flight = self._under_way.popleft()
        if not flight.come or not flight.come.passes:
            self.side.finish(flight)
        assert flight.result is not None
        if flight.result.frame is None:
            self._ended.append(flight)

    # What comes out

    def disposed(self, cycle: int, seq: int, code: int, queue: int) -> None:
        """A disposition was told."""
        assert self._ended, (
            f"cycle {cycle}: disposition of seq {seq}, code {code}, of which the model knows nothing; under way: "
            f"{[shown(flight) for flight in self._leaving if flight.meta['seq'] == seq]}, commands {self.commands[-4:]}"
        )
        flight = self._ended.popleft()
        assert flight.result is not None and flight.judged is not None
        want = (flight.meta["seq"], flight.result.code, flight.meta["queue"])
        assert (seq, code, queue) == want, (
            f"cycle {cycle}: disposition (seq, code, queue) is {(seq, code, queue)}, must be {want}: {shown(flight)}"
        )
        assert 0 <= cycle - flight.judged.verdict <= self._keys, (
            f"disposition in cycle {cycle}, must be {flight.judged.verdict}: {shown(flight)}"
        )
        self._done(Done(flight, -1, -1))

    def left(self, cycle: int, got: AxisFrame, exact: bool) -> None:
        """A frame left. exact: the output was ready in each of its beats."""
        flight = self._next_out(cycle)
        want = flight.out()
        assert got == want, f"cycle {cycle}: {difference(want, got)}\n{shown(flight)}\ncommands {self.commands[-3:]}"
        come, judged = flight.come, flight.judged
        if come is None or judged is None:
            # It passes, and its end comes out before it was entered.
            self._judge(flight)
            come, judged = flight.come, flight.judged
        assert come is not None and judged is not None
        come = replace(come, out=want.beats())
        times = self._time.leave(come, judged, self.last_out)
        late = got.valid_cycle - times.first_out
        last = times.last_out + late if exact else got.last_cycle
        assert 0 <= late <= self._keys and got.last_cycle == last, (
            f"first and last beat left in cycles {got.valid_cycle}, {got.last_cycle}, must be {times.first_out}, "
            f"{last}; the frame before ended in {self.last_out}: {shown(flight)}"
        )
        self.last_out = got.last_cycle
        self._done(Done(flight, got.valid_cycle, got.last_cycle))

    def _next_out(self, cycle: int) -> Flight:
        """The next frame that leaves; those that ended are skipped."""
        while self._leaving:
            flight = self._leaving.popleft()
            assert flight.result is not None, (
                f"cycle {cycle}: a frame left, and the next one has no verdict yet: {shown(flight)}"
            )
            if flight.result.frame is not None:
                return flight
            assert flight.come is not None and flight.judged is not None
            self._time.leave(flight.come, flight.judged, self.last_out)
        raise AssertionError(f"cycle {cycle}: a frame left that nobody sent")

    def closed(self) -> None:
        """Nothing is left over."""
        assert not self.sent and not self._come and not self._under_way, "frames are on their way"
        assert not self._ended, f"{len(self._ended)} dispositions are missing, of {shown(self._ended[0])}"
        for flight in self._leaving:
            assert flight.result is not None and flight.result.frame is None, f"it never left: {shown(flight)}"
            assert flight.come is not None and flight.judged is not None
            self._time.leave(flight.come, flight.judged, self.last_out)
        self._leaving.clear()
        self._keys = 0


def shown(flight: Flight) -> str:
    """A frame in a message."""

    code = "" if flight.result is None else f" {Code(flight.result.code).name}"
    read = {name: getattr(flight.given, name) for name in Fields.__dataclass_fields__}
    fields = {name: hex(value) for name, value in read.items() if value}
    cycles = f"{flight.beats[0]}..{flight.beats[-1]}" if flight.beats else "not yet"
    sa = "" if flight.state is None else f"\n{flight.state.sa}"
    return (
        f"frame of {len(flight.sent.data)} bytes, seq {flight.meta['seq']}, tuser {flight.sent.user:#x}, "
        f"came {cycles}, {flight.kind.name}{code}, {flight.judged}\n{flight.sent.data[:160].hex()}\n{fields}{sa}"
    )


def difference(want: AxisFrame, got: AxisFrame) -> str:
    """All that differs."""

    found = []
    if want.user != got.user:
        found.append(f"tuser must be {want.user:#x}, is {got.user:#x}")
    if want.meta != got.meta:
        a, b = unpack(want.meta), unpack(got.meta)
        found += [f"{name} must be {a[name]:#x}, is {b[name]:#x}" for name in a if a[name] != b[name]]
        found = found or ["bits of the metadata that are no field"]
    if len(want.data) != len(got.data):
        found.append(f"{len(want.data)} bytes must come, {len(got.data)} came")
    pairs = enumerate(zip(want.data, got.data, strict=False))
    found += [f"byte {at} must be {x:#04x}, is {y:#04x}" for at, (x, y) in pairs if x != y][:8]
    return "; ".join(found)
