"""cocotb tests of a ``nic_port`` that reads tunnels (PARSE_BYTES 256, TUNNEL_EN 1): launched by tests/nic/test_port.py.

``$NICLOOP_CAPTURES`` names the captures to be played, separated by colons.
"""

from __future__ import annotations

import os

from models.config import NicConfig, ParserConfig
from models.frames import Batch, Edge, Outcome
from models.meta import Code, pack
from models.nic import Mismatch, NicPortModel
from models.parser import ParserModel
from tb.lib.axis import AxisFrame
from tb.nic.bench_port import codes, test_in
from tb.nic.env import INLETS, OUTLETS, PortEnv
from tb.nic.traffic import MALFORMED, MALFORMED_TUNNELS
from tb.replay.capture import read_capture
from tb.targets.program import writes

__all__: list[str] = []

PARSE_BYTES = 256
CAPTURES = os.environ["NICLOOP_CAPTURES"].split(":")


class TunnelEnv(PortEnv):
    """The environment of a port that reads tunnels."""

    def check(self, batch: Batch, outcome: Outcome) -> list[Mismatch]:
        """The verdict of the model of such a port."""
        return NicPortModel(self.config, parse_bytes=PARSE_BYTES, tunnel=True).check(batch, outcome, self._before)


test = test_in(TunnelEnv)


@test
async def captures_of_tunnels_come_out_as_the_model_says(env: TunnelEnv) -> None:
    """Both directions, without gaps and with; what is inside stands in the metadata to the host."""
    await env.start()
    model = ParserModel(PARSE_BYTES, tunnel=True)
    data = [frame for path in CAPTURES for frame in read_capture(path).batch]
    tunnels = sum(model.parse(frame).tunnel_kind > 0 for frame in data)
    assert tunnels > len(data) // 2, f"{tunnels} of {len(data)} frames are tunnels"
    for generator in ("none", "random"):
        for stream in (*INLETS.values(), *OUTLETS.values()):
            env.pause(stream, generator)
        for edge in Edge:
            env.send(edge, [AxisFrame(frame, meta=pack({"queue": env.rng.randrange(256)})) for frame in data])
        batch, outcome = await env.finish()
        assert len(batch) == 2 * len(data) and set(outcome.code.tolist()) == {Code.DELIVERED}


@test
async def a_malformed_tunnel_is_delivered_or_dropped_as_its_parser_is_told(env: TunnelEnv) -> None:
    """A frame of every code, those of tunnels too, among whole ones; the two directions are told different things."""
    frames = MALFORMED | MALFORMED_TUNNELS
    names = [code.name.lower() for code in frames]
    own = [code.name.lower() for code in MALFORMED_TUNNELS]
    await env.start()
    for drop_rx, drop_tx in (((), names), (own, ()), ((), own)):
        env.config = NicConfig().with_port(parser=ParserConfig(drop_rx=tuple(drop_rx), drop_tx=tuple(drop_tx)))
        for address, value in writes(env.config):
            await env.axil.write(address, value)
        for edge, policy in ((Edge.WIRE, drop_rx), (Edge.HOST, drop_tx)):
            env.send(edge, [AxisFrame(data) for data in frames.values()])
            batch, outcome = await env.finish()
            wanted = [code if code.name.lower() in policy else Code.DELIVERED for code in frames]
            assert codes(batch, outcome, edge) == wanted
