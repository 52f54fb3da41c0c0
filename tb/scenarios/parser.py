"""Scenarios of the parser: what becomes of malformed frames."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from models.config import ParserConfig
from models.frames import Batch
from models.meta import Code
from tb.nic.traffic import MALFORMED
from tb.scenarios.base import Params, check, scenario
from tb.scenarios.port import BOTH, codes, judged
from tb.targets.base import Target, edge_name
from tb.targets.engine import DIRECTIONS
from tb.targets.program import read64

__all__ = ["malformed"]


@scenario()
async def malformed(target: Target, params: Params) -> dict[str, Any]:
    """A malformed frame is delivered or dropped as the configuration says, and named and counted either way."""
    names = {code: code.name.lower() for code in MALFORMED}
    whole = params.frame(64)
    frames = [frame for bad in MALFORMED.values() for frame in (bad, whole)]
    config = params.config
    policies = ((), tuple(names.values()), tuple(sorted(params.random.sample(sorted(names.values()), 5))))
    dropped = 0
    for policy in policies:
        parser = ParserConfig(drop_rx=policy, drop_tx=policy)
        params.config = replace(config, ports=tuple(replace(port, parser=parser) for port in config.ports))
        await target.configure(params.config)
        outcome = None
        for edge in BOTH:
            outcome = await judged(target, params, Batch.of(frames, edge=edge), outcome)
            ends = codes(outcome)
            for code, end in zip(MALFORMED, ends[::2], strict=True):
                wanted = code if names[code] in policy else Code.DELIVERED
                check(end == wanted, f"{names[code]} from {edge_name(edge)}: code {end}, must be {wanted.name}")
                counted = await read64(target, f"parser_{DIRECTIONS[edge]}.{names[code]}")
                check(counted == 1, f"parser_{DIRECTIONS[edge]}.{names[code]} reads {counted}, must be 1")
            check(set(ends[1::2]) == {Code.DELIVERED}, f"whole frames from {edge_name(edge)}: codes {ends[1::2]}")
            dropped += len(policy)
    return {"codes": len(MALFORMED), "dropped": dropped}
