"""cocotb tests of ``nic_port`` in its pyuvm environment (``tb.nic.env``): launched by tests/nic/test_port.py."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge
from cocotb.types import Logic
from pyuvm import uvm_root, uvm_test

from models.config import NicConfig, ParserConfig
from models.frames import Batch, Edge, Outcome, bad_mark
from models.meta import FIRST_DROP, Code
from models.nic import NicPortModel
from models.port_map import PORT
from tb.lib.axis import AxisFrame
from tb.lib.clock import wait_cycles
from tb.lib.pause import PAUSES
from tb.nic.env import INLETS, OUTLETS, PortEnv, seed
from tb.nic.traffic import MALFORMED
from tb.targets.base import UnmappedAddress
from tb.targets.engine import DIRECTIONS
from tb.targets.program import writes

__all__: list[str] = []

_ONE = Logic("1")
BOUNDARIES = (60, 61, 63, 64, 65, 80, 96, 127, 128, 129, 1513, 1514, 1515)
Body = Callable[[PortEnv], Awaitable[None]]


class _PortTest(uvm_test):
    """Builds the environment and runs the body of one cocotb test in it."""

    bench_dut: HierarchyObject
    bench_env: type[PortEnv]
    bench_body: Body
    bench_name: str

    def build_phase(self) -> None:
        self.env = self.bench_env("env", self, self.bench_dut, Random(f"{seed()} {self.bench_name}"))

    async def run_phase(self) -> None:
        self.raise_objection()
        await type(self).bench_body(self.env)
        self.drop_objection()


def test_in(env: type[PortEnv]) -> Callable[[Body], object]:
    """Makes of a body, which takes an environment of that kind, a cocotb test of its name."""

    def made(body: Body) -> object:
        async def run(dut: HierarchyObject) -> None:
            members = {
                "bench_dut": dut,
                "bench_env": env,
                "bench_body": staticmethod(body),
                "bench_name": body.__name__,
            }
            kind = type(f"{body.__name__}_uvm", (_PortTest,), members)
            await uvm_root().run_test(kind)

        run.__name__ = run.__qualname__ = body.__name__
        run.__doc__ = body.__doc__
        return cocotb.test(timeout_time=4, timeout_unit="ms")(run)

    return made


test = test_in(PortEnv)


def random_frames(env: PortEnv, count: int, longest: int = 300) -> list:
    """``count`` frames of random lengths, boundaries among them, some of them bad."""
    frames = []
    for _ in range(count):
        length = env.rng.choice(BOUNDARIES[:10]) if env.rng.random() < 0.3 else env.rng.randint(60, longest)
        bad = bad_mark(env.rng.choice((0, Code.BAD_FRAME, Code.OVERSIZE))) if env.rng.random() < 0.1 else 0
        frames.append(env.frame(length, bad=bad, queue=env.rng.randrange(256)))
    return frames


def codes(batch: Batch, outcome: Outcome, edge: Edge) -> list[int]:
    """Codes of the frames of one edge, in order."""
    return outcome.code[batch.edge == edge].tolist()


@test
async def random_traffic_under_every_pause_generator_is_as_the_model_says(env: PortEnv) -> None:
    await env.start()
    for generator in PAUSES:
        for stream in (*INLETS.values(), *OUTLETS.values()):
            env.pause(stream, generator)
        for edge in Edge:
            env.send(edge, random_frames(env, 16))
        await env.finish()


@test
async def random_pairs_of_pauses_change_nothing_but_cycles(env: PortEnv) -> None:
    await env.start()
    for _ in range(4):
        for stream in (*INLETS.values(), *OUTLETS.values()):
            env.pause(stream, env.rng.choice(list(PAUSES)))
        for edge in Edge:
            env.send(edge, random_frames(env, 12, longest=1600))
        await env.finish()


@test
async def an_isolated_frame_has_the_latency_that_the_model_states(env: PortEnv) -> None:
    await env.start()
    model = NicPortModel()
    for length in (1, 16, 17, 48, 49, *BOUNDARIES, 9596):
        for edge in Edge:
            frame = env.frame(length)
            env.send(edge, [frame])
            _, outcome = await env.finish()
            expected = model.latency_cycles(edge, frame.data)
            took = int(outcome.latency_cycles[0])
            assert took == expected, f"{length} bytes, {DIRECTIONS[edge]}: {took} cycles, must be {expected}"


@test
async def a_malformed_frame_is_delivered_or_dropped_as_its_parser_is_told(env: PortEnv) -> None:
    """Each kind alone and among whole frames; the two directions are told different things."""
    names = [code.name.lower() for code in MALFORMED]
    await env.start()
    for drop_rx, drop_tx in (((), names), (names, ()), (names[::2], names[1::3])):
        parser = ParserConfig(drop_rx=tuple(drop_rx), drop_tx=tuple(drop_tx))
        env.config = NicConfig().with_port(parser=parser)
        for address, value in writes(env.config):
            await env.axil.write(address, value)
        for edge, policy in ((Edge.WIRE, drop_rx), (Edge.HOST, drop_tx)):
            whole = [AxisFrame(env.rng.randbytes(12) + b"\x88\xb5" + bytes(60)) for _ in MALFORMED]
            frames = [AxisFrame(data) for data in MALFORMED.values()]
            env.send(edge, [frame for pair in zip(frames, whole, strict=True) for frame in pair])
            batch, outcome = await env.finish()
            wanted = [code if code.name.lower() in policy else Code.DELIVERED for code in MALFORMED]
            assert codes(batch, outcome, edge)[::2] == wanted
            assert set(codes(batch, outcome, edge)[1::2]) == {Code.DELIVERED}


@test
async def back_to_back_frames_of_each_length_come_out_without_a_bubble(env: PortEnv) -> None:
    await env.start()
    for length in (48, 49, 60, 64, 65, 80, 81, 128, 200):
        for edge in Edge:
            data = env.frame(length).data
            env.send(edge, [AxisFrame(data) for _ in range(12)])
            batch, outcome = await env.finish()
            gaps = outcome.first_out[1:] - outcome.last_out[:-1]
            spent = max(4, -(-length // 16))
            assert set(gaps.tolist()) == {spent - -(-length // 16) + 1}, (
                f"{length} bytes, {DIRECTIONS[edge]}: gaps {gaps}"
            )
            assert len(batch) == 12


@test
async def a_reset_in_mid_frame_loses_only_what_was_in_the_port(env: PortEnv) -> None:
    """Resets while a frame enters or leaves on either direction; traffic after each is whole again."""
    await env.start()
    dut = env.dut
    for where, stream in (
        ("rx_in", "s_axis_wire"),
        ("tx_in", "s_axis_host"),
        ("rx_out", "m_axis_host"),
        ("tx_out", "m_axis_wire"),
        ("idle", ""),
    ):
        for _ in range(2):
            for edge in Edge:
                env.send(edge, random_frames(env, 6))
            if stream:
                await _mid_frame(dut, stream, env.rng)
            else:
                await env.drain()
                await wait_cycles(dut.clk, 20)
            await env.reset(where)
            for edge in Edge:
                env.send(edge, random_frames(env, 3))
            await env.finish()


async def _mid_frame(dut: HierarchyObject, stream: str, rng: Random) -> None:
    """Return right after a beat of ``stream`` that isn't its frame's last, of a random frame."""
    valid, ready, last = (getattr(dut, f"{stream}_{name}") for name in ("tvalid", "tready", "tlast"))
    beats = rng.randint(3, 30)
    for _ in range(5000):
        await RisingEdge(dut.clk)
        if valid.value == _ONE and ready.value == _ONE:
            beats -= 1
            if beats <= 0 and last.value != _ONE:
                return
    raise AssertionError(f"{stream}: no frame to be cut")


@test
async def a_bad_frame_is_dropped_with_its_reason_and_its_neighbours_pass(env: PortEnv) -> None:
    await env.start()
    for edge in Edge:
        reasons = [0, *(int(code) for code in Code if code >= FIRST_DROP)]
        frames = []
        for reason in reasons:
            frames += [env.frame(env.rng.randint(60, 200), bad=bad_mark(reason)), env.frame(100)]
        env.send(edge, frames)
        batch, outcome = await env.finish()
        wanted = [code for reason in reasons for code in (reason or int(Code.BAD_FRAME), int(Code.DELIVERED))]
        assert codes(batch, outcome, edge) == wanted


@test
async def a_frame_above_max_frame_ends_as_oversize_and_the_next_passes(env: PortEnv) -> None:
    config = NicConfig()
    await env.start(replace(config, ports=tuple(replace(port, max_frame=512) for port in config.ports)))
    lengths = [511, 512, 513, 60, 527, 528, 529, 600, 2000, 60, 512]
    for edge in Edge:
        frames = [env.frame(length) for length in lengths]
        frames.append(env.frame(700, bad=bad_mark()))
        env.send(edge, frames)
        batch, outcome = await env.finish()
        wanted = [int(Code.OVERSIZE if length > 512 else Code.DELIVERED) for length in [*lengths, 700]]
        assert codes(batch, outcome, edge) == wanted


@test
async def a_direction_that_is_disabled_drops_its_frames_and_leaves_the_other_alone(env: PortEnv) -> None:
    control = PORT["nic.control"].address
    for disabled in Edge:
        ports = tuple(
            replace(port, rx_enable=disabled != Edge.WIRE, tx_enable=disabled != Edge.HOST)
            for port in NicConfig().ports
        )
        if disabled == Edge.WIRE:
            await env.start(NicConfig(ports))
        else:
            env.config = NicConfig(ports)
            await env.axil.write(control, 0b01)
        for edge in Edge:
            frames = [env.frame(env.rng.randint(60, 200)) for _ in range(6)]
            frames += [env.frame(90, bad=bad_mark()), env.frame(9700)]
            env.send(edge, frames)
        batch, outcome = await env.finish()
        assert set(codes(batch, outcome, disabled)) == {Code.PORT_DISABLED}
        assert codes(batch, outcome, disabled.opposite)[:6] == [Code.DELIVERED] * 6
        env.config = NicConfig()
        await env.axil.write(control, 0b11)
        env.send(disabled, [env.frame(64)])
        batch, outcome = await env.finish()
        assert codes(batch, outcome, disabled) == [Code.DELIVERED]


@test
async def a_stalled_host_overflows_rx_buffer_and_no_frame_is_lost_without_a_word(env: PortEnv) -> None:
    """More than the buffer holds, in beats and in frames; the model finds each drop justified by what it held."""
    await env.start()
    for lengths in ([1514] * 30, [60] * 300):
        env.outlets[Edge.WIRE].bus.pause = iter(lambda: False, True)
        env.send(Edge.WIRE, [env.frame(length) for length in lengths])
        while env.inlets[Edge.WIRE].bus.pending or env.scoreboard.frames > env.scoreboard.entered(Edge.WIRE):
            await wait_cycles(env.dut.clk, 50)
        env.pause("m_axis_host", "none")
        batch, outcome = await env.finish()
        full = codes(batch, outcome, Edge.WIRE).count(Code.RX_BUFFER_FULL)
        assert 0 < full < len(lengths), f"{full} of {len(lengths)} frames found the buffer full"
    peak = await env.axil.read(PORT["rx_buffer.peak"].address)
    assert 2048 - 95 <= peak <= 2048, f"rx_buffer peaked at {peak} of 2048 beats"


@test
async def a_stalled_wire_pushes_back_on_the_host_and_loses_nothing(env: PortEnv) -> None:
    """Until tx_sched and the frames that wait in acl_tx fill 3,072 beats."""
    await env.start()
    env.outlets[Edge.HOST].bus.pause = iter(lambda: False, True)
    env.send(Edge.HOST, [env.frame(1514) for _ in range(36)])
    ready = env.dut.s_axis_host_tready
    waited = 0
    while waited < 200:
        await RisingEdge(env.dut.clk)
        waited = 0 if ready.value == _ONE else waited + 1
    env.coverage.stall("s_axis_host")
    env.pause("m_axis_wire", "none")
    batch, outcome = await env.finish()
    assert set(codes(batch, outcome, Edge.HOST)) == {Code.DELIVERED}


@test
async def the_wire_edge_waits_only_for_frames_below_four_beats(env: PortEnv) -> None:
    """Nothing behind `rx_buffer` pushes back on the wire; a frame of one to three beats takes four cycles."""
    await env.start()
    env.pause("m_axis_host", "one_in")
    low = 0
    ready, valid = env.dut.s_axis_wire_tready, env.dut.s_axis_wire_tvalid
    for length, stalls in ((60, False), (200, False), (20, True)):
        env.send(Edge.WIRE, [env.frame(length) for _ in range(20)])
        low = 0
        while env.scoreboard.entered(Edge.WIRE) < env.scoreboard.frames:
            await RisingEdge(env.dut.clk)
            low += valid.value == _ONE and ready.value != _ONE
        assert bool(low) == stalls, f"{length} bytes: tready was low in {low} cycles"
        if stalls:
            env.coverage.stall("s_axis_wire")
        await env.finish()


@test
async def registers_answer_right_under_traffic(env: PortEnv) -> None:
    """Identification, scratch and counters while frames pass; an address without a register gives an error."""
    await env.start()
    for stream in OUTLETS.values():
        env.pause(stream, "random")
    for edge in Edge:
        env.send(edge, random_frames(env, 40, longest=600))
    scratch, frames_in = PORT["nic.scratch"].address, 0
    while env.scoreboard.open > 4:
        word = env.rng.getrandbits(32)
        await env.axil.write(scratch, word)
        assert await env.axil.read(scratch) == word
        for name in PORT.instances:
            register = PORT[f"{name}.id"]
            assert await env.axil.read(register.address) == NicPortModel().read(register.address)
        counted = await env.read64("nic.rx_frames_in")
        assert counted >= frames_in
        frames_in = counted
        for access in (env.axil.read(0x7_4000), env.axil.write(0xF_0000, 1)):
            try:
                await access
            except UnmappedAddress:
                continue
            raise AssertionError("an address without a register gave no error")
    await env.finish()


@test
async def counters_equal_the_dispositions_over_many_plays(env: PortEnv) -> None:
    """`finish` compares every counter with the sum of what the monitors saw, from play to play."""
    await env.start()
    total = np.zeros(2, np.int64)
    for _ in range(4):
        for edge in Edge:
            count = env.rng.randint(1, 12)
            total[edge] += count
            env.send(edge, random_frames(env, count))
        await env.finish()
    for edge, way in DIRECTIONS.items():
        ends = [await env.read64(f"nic.{way}_disposition[{int(code)}]") for code in Code]
        assert sum(ends) == total[edge] == await env.read64(f"nic.{way}_frames_in")


@test
async def every_length_from_1_to_200_passes_in_both_directions(env: PortEnv) -> None:
    await env.start()
    lengths = list(range(1, 201))
    env.rng.shuffle(lengths)
    for edge in Edge:
        env.send(edge, [env.frame(length, queue=length) for length in lengths])
    batch, outcome = await env.finish()
    assert set(outcome.code.tolist()) == {Code.DELIVERED}
    assert len(batch) == 400
    assert env.gapless.frames >= 200
    assert all(checker.frames >= 200 for checker in env.checkers.values())


@test
async def lengths_around_each_boundary_and_the_longest_frame_pass(env: PortEnv) -> None:
    await env.start()
    for edge in Edge:
        lengths = [1513, 1514, 1515, 1518, 1519, 4095, 4096, 4097, 9014, 9595, 9596, 9597, 60]
        env.send(edge, [env.frame(length) for length in lengths])
        batch, outcome = await env.finish()
        wanted = [int(Code.OVERSIZE if length > 9596 else Code.DELIVERED) for length in lengths]
        assert codes(batch, outcome, edge) == wanted
