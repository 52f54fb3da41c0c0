"""Faults of a device, each one change of ``Double``, and the test of the bench that must see it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from models.dma import Code, Config, Ended, Gave, Request
from models.dma_region import Regions
from models.dma_split import Part
from models.dma_tlp import Attr, Completion, MemoryRequest
from tb.dma.double import Double

__all__ = ["BREAKS", "Break", "device"]


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Break:
    """bench, test: who sees it; said: a word of what it says. The functions change what the device takes or gives."""

    bench: str
    test: str
    said: str
    config: Callable[[Config], Config] = _same
    regions: Callable[[Regions], Regions] = _same
    request: Callable[[Request], Request] = _same
    tlp: Callable[[MemoryRequest], MemoryRequest] = _same
    beat: Callable[[Gave], Gave] = _same
    end: Callable[[Ended], Ended] = _same
    twice: bool = False
    """Each end is told twice."""
    no_gate: bool = False
    """All credits are infinite."""
    no_rest: bool = False
    """A broken tag is free at once."""
    leak: bool = False
    """The tag of a read that failed never comes back."""
    uncounted: str = ""
    """A counter that doesn't move."""


def _wrong_bit(tlp: MemoryRequest) -> MemoryRequest:
    if not tlp.data:
        return tlp
    at = max(at for at, enabled in enumerate(tlp.enabled()) if enabled)
    return replace(tlp, data=tlp.data[:at] + bytes((tlp.data[at] ^ 1,)) + tlp.data[at + 1 :])


def _one_stretch(regions: Regions) -> Regions:
    """A page beside a page, whatever the table says."""
    pages = dict(regions.pages)
    for region in regions.regions.values():
        for n in range(1, region.length // region.page_size):
            pages[region.first + n] = pages[region.first] + n * region.page_size
    return Regions(regions.regions.values(), pages, regions.size)


def _ro_flush(tlp: MemoryRequest) -> MemoryRequest:
    return tlp if tlp.write or tlp.first_be else replace(tlp, attr=tlp.attr | Attr.RO)


PROTECTION = "each_fault_of_protection_has_its_code_sends_nothing_and_harms_no_other_request"
BREAKS = {
    "a flush that isn't sent": Break(
        "bench_dma",
        "a_flushed_write_is_seen_in_the_gpu_when_it_is_done",
        "is to be sent now",
        request=lambda request: replace(request, flush=False),
    ),
    "a fence that isn't kept": Break(
        "bench_dma",
        "a_fence_waits_for_all_earlier_requests_and_holds_back_the_later_ones",
        "is to be sent now",
        request=lambda request: replace(request, fence=False),
    ),
    "a wrong bit in the last byte of a write": Break(
        "bench_field", "the_first_bytes_of_every_short_read_and_write_are_there", "payload differs", tlp=_wrong_bit
    ),
    "byte enables that are all set": Break(
        "bench_field",
        "the_first_bytes_of_every_short_read_and_write_are_there",
        "first_be",
        tlp=lambda tlp: replace(tlp, first_be=15),
    ),
    "RO on a flush": Break("bench_dma", "attributes_are_what_request_target_and_control_say", "attr", tlp=_ro_flush),
    "a wrong bit in read data": Break(
        "bench_field",
        "the_first_bytes_of_every_short_read_and_write_are_there",
        "bytes 0 to",
        beat=lambda beat: beat._replace(data=bytes((beat.data[0] ^ 0x80,)) + beat.data[1:]),
    ),
    "a fault that is told as ok": Break(
        "bench_dma", PROTECTION, "code 0, not", end=lambda end: end._replace(code=Code.OK)
    ),
    "remote requests with local rights": Break(
        "bench_dma",
        "each_right_allows_what_it_says_and_nothing_else",
        "is to be sent now",
        request=lambda request: replace(request, remote=False),
    ),
    "an end that is told twice": Break(
        "bench_field", "each_request_is_done_once_however_done_ready_toggles", "is the next to be done", twice=True
    ),
    "credits that are not looked at": Break(
        "bench_dma", "a_kind_without_credits_waits_and_holds_up_no_other", "credit", no_gate=True
    ),
    "a timeout of twice its time": Break(
        "bench_dma",
        "a_timeout_is_seen_at_its_time_and_at_most_1024_cycles_later",
        "cycles after the TLP left",
        config=lambda config: replace(config, timeout_ns=2 * config.timeout_ns),
    ),
    "a broken tag that doesn't rest": Break(
        "bench_faults",
        "a_tag_is_free_at_once_behind_a_status_and_rests_behind_what_is_broken",
        "rests until",
        no_rest=True,
    ),
    "a failed read that leaks its tag": Break(
        "bench_field", "failed_reads_leak_no_tag", "nothing moves any more", leak=True
    ),
    "MPS that isn't the host's": Break(
        "bench_field",
        "no_write_is_larger_than_the_mps_that_is_set_whatever_it_was_before",
        "length",
        config=lambda config: replace(config, mps=512),
    ),
    "MRRS that isn't the host's": Break(
        "bench_field",
        "an_aligned_read_of_4096_bytes_at_mrrs_4096_is_one_tlp",
        "length",
        config=lambda config: replace(config, mrrs=512),
    ),
    "pages that are taken for one stretch": Break(
        "bench_field", "pages_of_2_mib_need_not_follow_each_other_on_the_bus", "address", regions=_one_stretch
    ),
    "RCB that isn't looked at": Break(
        "bench_faults",
        "a_tag_is_free_at_once_behind_a_status_and_rests_behind_what_is_broken",
        "have come",
        config=lambda config: replace(config, rcb=4),
    ),
    "a completion that isn't counted": Break(
        "bench_field", "reads_of_64_bytes_and_more_end_under_split_completions", "completions", uncounted="completions"
    ),
    "a physical requester that isn't": Break(
        "bench_dma",
        "a_physical_requester_asks_for_bus_addresses_with_key_0_alone",
        "a bad end of a read without a fault",
        config=lambda config: replace(config, physical=frozenset()),
    ),
}


class Broken(Double):
    """A device with one fault."""

    def __init__(self, dut: Any, requesters: int, fault: Break) -> None:
        self.fault = fault
        super().__init__(dut, requesters)

    async def configure(self, config: Config, regions: Regions) -> None:
        await super().configure(self.fault.config(config), self.fault.regions(regions))

    async def counters(self) -> dict[str, int]:
        values = await super().counters()
        return {name: 0 if name == self.fault.uncounted else value for name, value in values.items()}

    def _step(self) -> None:
        super()._step()
        if self.fault.no_rest:
            self.model.resting.clear()

    def completes(self, completion: Completion) -> None:
        super().completes(completion)
        if self.fault.leak and completion.status:
            self.model.resting[completion.tag] = float("inf"), Part(0, 0)

    def asked_for(self, request: Request) -> Request:
        return self.fault.request(request)

    def sends(self, tlp: MemoryRequest) -> MemoryRequest:
        return self.fault.tlp(tlp)

    def gives(self, beat: Gave) -> Gave:
        return beat if beat.bad else self.fault.beat(beat)

    def ends(self, end: Ended) -> list[Ended]:
        return [self.fault.end(end)] * (1 + self.fault.twice)

    @property
    def gate(self) -> bool:
        return not self.fault.no_gate


def device(dut: Any, requesters: int) -> Double:
    """What plays on the pins: the fault's name is in the environment."""
    name = os.environ.get("NICLOOP_DMA_BREAK")
    return Broken(dut, requesters, BREAKS[name]) if name else Double(dut, requesters)
