"""The golden model on the pins of ``tops/dma_double.v``: what the bench says of a device that keeps to the page.

It does one thing a cycle and port, first things first, and takes a request when its data are there.
"""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.dma import Config, DmaModel, Ended, Gave, Limits, Request, play
from models.dma_region import Regions
from models.dma_tlp import Beat, Completion, MemoryRequest, TlpError, beats_of, from_beats
from tb.dma.control import COUNTERS
from tb.dma.wires import REQUEST, Vector
from tb.lib.clock import CORE_PS, cycle

__all__ = ["Double"]


MOST_REQUESTS = 128
"""Of one requester, that aren't done."""


class Double:
    """Plays; ``configure`` and ``counters`` are those of ``tb.dma.control.Control``."""

    def __init__(self, dut: Any, requesters: int) -> None:
        self.dut, self.requesters, self.rng = dut, requesters, Random(1)
        asks = [f"req_{name}" for name in (*REQUEST, "valid", "ready")]
        data = [f"{end}_axis_mem_t{name}" for end in "sm" for name in ("data", "keep", "last", "valid", "ready")]
        done = ["m_axis_mem_tuser", "done_valid", "done_ready", "done_id", "done_code"]
        self.vectors = {name: Vector(getattr(dut, name), requesters) for name in (*asks, *data, *done)}
        self._clear(DmaModel(Config(requesters=requesters)))
        cocotb.start_soon(self._run())

    def _clear(self, model: DmaModel) -> None:
        count = self.requesters
        self.model = model
        self.asked: list[deque[Request]] = [deque() for _ in range(count)]
        self.frames: list[deque[bytes]] = [deque() for _ in range(count)]
        self.partial = [b""] * count
        self.beats: deque[Beat] = deque()
        self.leaving: tuple[int, MemoryRequest] | None = None
        self.turn = 0
        self.coming: list[Beat] = []
        self.giving: list[Gave | None] = [None] * count
        self.ending: list[deque[Ended]] = [deque() for _ in range(count)]

    async def configure(self, config: Config, regions: Regions) -> None:
        self._clear(DmaModel(config, regions))

    async def counters(self) -> dict[str, int]:
        return {name: self.model.counters[name] for name in COUNTERS}

    async def held(self) -> tuple[int, int]:
        resting = sum(until > self.model.now for until, _ in self.model.resting.values())
        lines = sum(self.model.lines_held(index) for index in range(self.requesters))
        return len(self.model.open) + resting, lines

    async def _run(self) -> None:
        edge = RisingEdge(self.dut.clk)
        driven = ("req_ready", "s_axis_mem_tready", "done_valid", "done_id", "done_code")
        given = [f"m_axis_mem_t{name}" for name in ("data", "keep", "last", "valid", "user")]
        sampled = [name for name in self.vectors if name not in (*driven, *given)]
        self.dut.m_tlp_valid.value = 0
        for name in (*driven, *given):
            self.vectors[name].drive()
        await edge
        while True:
            await edge
            reset = str(self.dut.rst.value) == "1"
            self.ns = (cycle(self.dut.clk)) * CORE_PS // 1000
            if reset:
                self._clear(DmaModel(self.model.config, self.model.regions))
                for name in (*driven, *given):
                    self._put(name, [0] * self.requesters)
                self.dut.m_tlp_valid.value = 0
            else:
                for name in sampled:
                    self.vectors[name].sample()
                self._step()
                live = [len(self.model._live[n]) + len(asked) for n, asked in enumerate(self.asked)]
                self._put("req_ready", [int(count < MOST_REQUESTS) for count in live])
                self._put("s_axis_mem_tready", [1] * self.requesters)
            for name in (*driven, *given):
                self.vectors[name].drive()

    def _put(self, name: str, values: list[int]) -> None:
        vector = self.vectors[name]
        vector.changed = vector.changed or vector.values != values
        vector.values = list(values)

    def _bit(self, name: str, index: int) -> bool:
        return self.vectors[name].seen(index) == "1"

    def _step(self) -> None:
        self.model.advance(self.ns)
        self._limits()
        for index in range(self.requesters):
            self._take(index)
        self._complete()
        self._send()
        for index in range(self.requesters):
            self._give(index)
        held = self.giving
        self._put("m_axis_mem_tvalid", [int(beat is not None) for beat in held])
        self._put("m_axis_mem_tdata", [int.from_bytes(beat.data, "little") if beat else 0 for beat in held])
        self._put("m_axis_mem_tkeep", [(1 << len(beat.data)) - 1 if beat else 0 for beat in held])
        self._put("m_axis_mem_tlast", [int(beat.last) if beat else 0 for beat in held])
        self._put("m_axis_mem_tuser", [int(beat.bad) if beat else 0 for beat in held])
        for index in range(self.requesters):
            self._end(index)
        ends = [queue[0] if queue else None for queue in self.ending]
        self._put("done_valid", [int(end is not None) for end in ends])
        self._put("done_id", [end.id if end else 0 for end in ends])
        self._put("done_code", [end.code if end else 0 for end in ends])

    # What a fault can change: tb/dma/broken.py.

    gate = True

    def completes(self, completion: Completion) -> None:
        self.model.complete(completion, self.ns)

    def asked_for(self, request: Request) -> Request:
        return request

    def sends(self, tlp: MemoryRequest) -> MemoryRequest:
        return tlp

    def gives(self, beat: Gave) -> Gave:
        return beat

    def ends(self, end: Ended) -> list[Ended]:
        return [end]

    def _limits(self) -> None:
        limits: dict[str, int | None] = {}
        for kind in ("ph", "pd", "nph", "npd"):
            infinite = str(getattr(self.dut, f"fc_{kind}_infinite").value)
            limit = str(getattr(self.dut, f"fc_{kind}_limit").value)
            limits[kind] = None if infinite == "1" or not self.gate else int(limit, 2)
        play(self.model, Limits(self.ns, limits))

    def _take(self, index: int) -> None:
        if self._bit("s_axis_mem_tvalid", index) and self.vectors["s_axis_mem_tready"].values[index]:
            keep = self.vectors["s_axis_mem_tkeep"].seen(index).count("1")
            text = self.vectors["s_axis_mem_tdata"].seen(index)[128 - 8 * keep :]
            self.partial[index] += int(text, 2).to_bytes(keep, "little")
            if self._bit("s_axis_mem_tlast", index):
                self.frames[index].append(self.partial[index])
                self.partial[index] = b""
        if self._bit("req_valid", index) and self.vectors["req_ready"].values[index]:
            fields = {name: int(self.vectors[f"req_{name}"].seen(index), 2) for name in REQUEST}
            flags = {name: bool(fields[name]) for name, bits in REQUEST.items() if bits == 1}
            self.asked[index].append(Request(requester=index, **{**fields, **flags}))  # type: ignore[arg-type]
        waiting = self.asked[index]
        while waiting and (not waiting[0].write or not waiting[0].len or self.frames[index]):
            request = waiting.popleft()
            if request.write and request.len:
                object.__setattr__(request, "data", self.frames[index].popleft())
            self.model.submit(self.asked_for(request))

    def _complete(self) -> None:
        dut = self.dut
        if str(dut.s_tlp_valid.value) != "1":
            return
        keep = int(str(dut.s_tlp_keep.value), 2)
        sop = str(dut.s_tlp_sop.value) == "1"
        kept = 32 * keep.bit_length()
        text = str(dut.s_tlp_data.value)[512 - kept :]
        eop = str(dut.s_tlp_eop.value) == "1"
        hdr = int(str(dut.s_tlp_hdr.value), 2) if sop else 0
        self.coming.append(Beat(sop, eop, hdr, int(text or "0", 2), keep))
        if eop:
            beats, self.coming = self.coming, []
            try:
                tlp = from_beats(beats)
            except TlpError:
                tlp = MemoryRequest(write=False, address=0, length=1, first_be=0, last_be=0)
            if isinstance(tlp, Completion):
                self.completes(tlp)
            else:
                self.model.counters.update(["completions", "unexpected"])

    def _send(self) -> None:
        dut = self.dut
        if self.beats and str(dut.m_tlp_ready.value) == "1" and str(dut.m_tlp_valid.value) == "1":
            self.beats.popleft()
            if not self.beats:
                assert self.leaving is not None
                self.model.send(*self.leaving, self.ns)
        if not self.beats:
            may = list(self.model.may_send(next(self.model.free_tags(), None)))
            if may:
                self.turn += 1
                mine = [one for one in may if one[0] == self.turn % self.requesters]
                self.leaving = self.rng.choice(mine or may)
                self.beats.extend(beats_of(self.sends(self.leaving[1])))
        dut.m_tlp_valid.value = int(bool(self.beats))
        if self.beats and self.leaving:
            beat = self.beats[0]
            dut.m_tlp_requester.value = self.leaving[0]
            dut.m_tlp_sop.value, dut.m_tlp_eop.value = int(beat.sop), int(beat.eop)
            dut.m_tlp_hdr.value, dut.m_tlp_data.value, dut.m_tlp_keep.value = beat.hdr, beat.data, beat.keep

    def _give(self, index: int) -> None:
        if self.giving[index] is not None and self._bit("m_axis_mem_tready", index):
            self.giving[index] = None
        if self.giving[index] is None:
            beat = self.model.next_beat(index)
            if beat is not None:
                self.model.give(index, beat.data, beat.last, beat.bad, self.ns)
                self.giving[index] = self.gives(beat)

    def _end(self, index: int) -> None:
        if self.ending[index] and self._bit("done_ready", index):
            self.ending[index].popleft()
        if not self.ending[index] and self.giving[index] is None:
            for owner, request_id, code in self.model.may_end():
                if owner == index:
                    self.ending[index].extend(self.ends(Ended(self.ns, owner, request_id, code)))
                    self.model.end(owner, request_id, code, self.ns)
                    return
