"""Bench of ``dma``: the cases in which other people's DMA engines failed, each by its issue."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from models.dma import Came, Code, Ended, Gave, Sent
from models.dma_region import Region, Regions
from models.dma_split import SIZES
from tb.dma.bench_dma import fill_tags
from tb.dma.completer import BAR, HOST, Lie
from tb.dma.env import CONFIG, DmaEnv, test
from tb.dma.layout import ALL, DEVICE

__all__: list[str] = []


@test
async def an_aligned_read_of_4096_bytes_at_mrrs_4096_is_one_tlp(env: DmaEnv) -> None:
    """verilog-pcie#35: a second one, as the lengths were compared modulo 4096."""
    for mrrs in SIZES:
        await env.begin(replace(CONFIG, mrrs=mrrs))
        for length, more in ((4095, 0), (4096, 0), (4097, 1)):
            before = len(env.sent())
            await env.run([env.read(0, 0, length)])
            assert len(env.sent()) - before == 4096 // mrrs + more


@test
async def no_tlp_crosses_4_kib_from_ff0_to_fff(env: DmaEnv) -> None:
    """verilog-axi#12, libtlp#5, tapa#159."""
    await env.begin(replace(CONFIG, mps=4096, mrrs=4096))
    lengths = (*range(1, 20), 31, 32, 33, 63, 64, 4096)
    pairs = list(product(range(0xFF0, 0x1000), lengths))
    env.rng.shuffle(pairs)
    requests = [env.read(n % 2, offset, length) for n, (offset, length) in enumerate(pairs[:120])]
    requests += [env.write(n % 2, offset, length) for n, (offset, length) in enumerate(pairs[120:240])]
    await env.run(requests)
    for _, tlp in env.sent():
        assert tlp.address % 4096 + 4 * tlp.length <= 4096, tlp


@test
async def a_read_whose_completion_comes_10_us_late_is_done_behind_it(env: DmaEnv) -> None:
    """litepcie#185, #179: the end told when the request was sent, or before the data."""
    await env.begin(targets=(replace(HOST, read_ns=10_000, jitter_ns=0), BAR))
    env.ask([env.read(0, 100, 64), env.read(1, 60, 300)])
    await env.finish()
    came = {requester: max(env.cycles_of(Came)) for requester in (0, 1)}
    for requester in (0, 1):
        (end,) = env.cycles_of(Ended, requester)
        assert end >= 2500 and max(env.cycles_of(Gave, requester)) <= end
        assert min(env.cycles_of(Gave, requester)) >= 2500
    assert came[0] <= max(env.cycles_of(Ended))


@test
async def completions_of_one_beat_in_each_cycle_are_all_taken(env: DmaEnv) -> None:
    """litepcie#126: start and end of a TLP in one beat of 512 bits, and another right behind it."""
    await env.begin(replace(CONFIG, timeout_ns=100_000), gap_ns=0)
    env.host.held = True
    env.ask(env.read(n % 2, 64 * n, 64) for n in range(200))
    await env.settled(lambda: env.host.reads < 150)
    env.host.held = False
    await env.finish()
    cycles = env.cycles_of(Came)
    assert any(cycles[n + 20] - cycles[n] == 20 for n in range(len(cycles) - 20)), "never 20 in a row"


@test
async def split_completions_from_3c_have_the_lower_address_of_their_first_byte(env: DmaEnv) -> None:
    """pcileech-fpga#203: 0 in all but the first; at a multiple of 128 that is right, at one of 64 it is a fault."""
    for seed in range(12):
        await env.begin()
        rule = env.lie(Lie.ZERO_ADDRESS, 0, 1 + seed % 3)
        codes = await env.run([env.read(0, 0x3C, 256), env.read(0, 0x3C, 256)])
        assert codes == [Code.BAD_ADDRESS if rule.told else Code.OK, Code.OK]


@test
async def the_first_bytes_of_every_short_read_and_write_are_there(env: DmaEnv) -> None:
    """verilog-pcie#46, corundum#191: the first 62 bytes 0, a wrong segment."""
    requests = []
    for length in range(1, 67):
        requests += [env.read(length % 2, 62 + length, length), env.write(length % 2, 130 * length + 62, length)]
    await env.run(requests)


@test
async def reads_of_64_bytes_and_more_end_under_split_completions(env: DmaEnv) -> None:
    """verilog-pcie#24: the status of reads from 0x40 on never came."""
    codes = await env.run(env.read(n % 2, 0x20 + n, length) for n, length in enumerate((0x3F, 0x40, 0x41, 0x80, 0x100)))
    assert codes == [Code.OK] * 5
    assert len(env.cycles_of(Came)) > len(env.sent())


@test
async def failed_reads_leak_no_tag(env: DmaEnv) -> None:
    """litepcie#166: the tag of an UR or CA never came back, and the engine stood still."""
    await env.begin(replace(CONFIG, tags=32, timeout_ns=200_000), whole=True)
    for n in range(100):
        env.lie(Lie.UR if n % 2 else Lie.CA, n)
    codes = await env.run(env.read(n % 2, 64 * n, 64) for n in range(100))
    assert codes.count(Code.UNSUPPORTED) == codes.count(Code.ABORTED) == 50
    await fill_tags(env, 32)


@test
async def a_byte_count_that_lies_retires_nothing_early_and_wedges_nothing(env: DmaEnv) -> None:
    """litepcie#178: an early last count freed the tag for another read; a huge one stood still."""
    await env.begin(replace(CONFIG, tags=32, timeout_ns=20_000))
    told = 0
    for n in range(10):
        env.host.rules.clear()
        rules = [env.lie(Lie.EARLY_COUNT, env.host.reads), env.lie(Lie.BYTE_COUNT, env.host.reads + 1)]
        await env.run(env.read(0, 0, 500) for _ in range(3))
        told += sum(rule.told for rule in rules)
        ends = [code for _, code in env.scoreboard.codes[3 * n :]]
        assert ends == [Code.BAD_COUNT if rule.told else Code.OK for rule in rules] + [Code.OK]
    assert told > 15


@test
async def a_free_tag_does_not_free_the_lines_of_data_that_were_not_given(env: DmaEnv) -> None:
    """litepcie#173: reads whose data had not been taken were overtaken by new ones, in a circle."""
    # Two TLPs a request, as a requester may have no more than 128 of them: of a line each, which fill the buffer; of
    # two lines and one, which leave one free that is too little for the next.
    for offset, length, most in ((4096 - 32, 64, 256), (4096 - 96, 128, 170)):
        await env.begin(replace(CONFIG, timeout_ns=200_000))
        env.wires.data_pause[0] = iter(lambda: False, True)
        env.ask(env.read(0, 4096 * (n % 5) + offset, length) for n in range(150))
        env.ask(env.read(1, 64 * n, 64) for n in range(100))
        await env.settled(lambda: sum(one.requester == 1 for one, _ in env.scoreboard.codes) < 100)
        await env.wires.cycles(600)
        assert len(env.sent(0)) == most, "the reads of a requester whose data nobody takes"
        env.wires.data_pause[0] = None
        assert set(await env.finish()) == {Code.OK}


@test
async def a_read_of_12_kib_has_one_tlast(env: DmaEnv) -> None:
    """Coyote#141: one at each 4 KiB."""
    await env.run([env.read(0, 8, 12288), env.read(1, 0, 4096 * 3)])
    ends = [event.requester for event in env.scoreboard.log if isinstance(event, Gave) and event.last]
    assert sorted(ends) == [0, 1]


@test
async def each_request_is_done_once_however_done_ready_toggles(env: DmaEnv) -> None:
    """Coyote#78: a done of two cycles counted twice."""
    for name in ("gap", "one_in", "after_valid", "random"):
        env.pause("done", name)
        await env.begin()
        await env.run(
            [env.read(n % 2, 64 * n, 16) for n in range(20)] + [env.write(n % 2, 64 * n, 16) for n in range(20)]
        )
        assert len(env.cycles_of(Ended)) == 40


@test
async def a_read_and_a_write_in_the_same_cycle_keep_their_own_fields(env: DmaEnv) -> None:
    """Coyote PR#73: the write's command had the read's address and length."""
    requests = []
    for n in range(16):
        first = env.read(0, 0x111 + 64 * n, 77 + n, ro=n % 2 == 0)
        second = env.write(1, 0x888 + 256 * n, 199 - n, DEVICE, ro=n % 2 == 1, flush=n % 4 == 0)
        requests += [first, second]
    await env.run(requests)


@test
async def pages_of_2_mib_need_not_follow_each_other_on_the_bus(env: DmaEnv) -> None:
    """Coyote#191: a huge page taken for a contiguous stretch behind its end."""
    size = 2 << 20
    table = {0: 7 * size, 1: 3 * size, 2: 1 << 34}
    region = Region(key=0x501, base=5 * size, length=3 * size, rights=ALL, page_size=size, first=0)
    await env.begin(regions=Regions([region], table))
    cases = [(size - 300, 600), (size - 1, 2), (2 * size - 256, 512), (4096 * 5 - 30, 9000), (size + 4095, 4098)]
    for write in (False, True):
        ask = env.write if write else env.read
        await env.run(ask(0, 0, length, key=0x501, addr=region.base + at) for at, length in cases)


@test
async def no_write_is_larger_than_the_mps_that_is_set_whatever_it_was_before(env: DmaEnv) -> None:
    """aws-fpga#656: host and device had each its own idea of MPS."""
    for mps in (4096, 128, 512, 256):
        await env.begin(replace(CONFIG, mps=mps))
        await env.run([env.write(0, 1, 4500), env.write(1, 64, 700), env.read(0, 0, 5000)])
        assert max(4 * tlp.length for _, tlp in env.sent(write=True)) <= mps
        assert max(4 * tlp.length for _, tlp in env.sent(write=False)) == CONFIG.mrrs


@test
async def a_write_to_the_gpu_is_not_done_before_its_data_are_seen(env: DmaEnv) -> None:
    """torchcomms#2373, verilog-pcie#64: an end told when the last TLP had left."""
    await env.begin(targets=(HOST, replace(BAR, write_ns=4000)))
    for n in range(4):
        request = env.write(n % 2, 700 * n, 650, DEVICE, flush=True)
        env.ask([request])
        await env.done(request)
        assert not env.hidden()
    await env.finish()


@test
async def a_request_that_goes_on_over_many_tlps_stops_at_no_8_kib(env: DmaEnv) -> None:
    """Coyote#86, #71: writes stopped at 8 KiB, reads over 4 KiB stood still."""
    await env.begin(replace(CONFIG, mps=128, mrrs=128))
    codes = await env.run([env.write(0, 100, 20_000), env.read(1, 100, 20_000)])
    assert codes == [Code.OK, Code.OK]
    assert sum(isinstance(event, Sent) for event in env.scoreboard.log) > 310
