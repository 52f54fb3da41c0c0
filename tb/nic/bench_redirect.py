"""Bench of ``nic_port`` with ACLs that mirror and redirect: the books of `tb.nic.redirect` on an engine."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from random import Random

import cocotb
from cocotb.handle import HierarchyObject

from models.frames import Edge, Outcome
from tb.nic.redirect import Rig, plays
from tb.targets.agents import AgentsEngine
from tb.targets.bfm import BfmEngine
from tb.targets.cocotb import CocotbTarget

__all__: list[str] = []

SEED = int(os.environ.get("NICLOOP_SEED", "1"))
COUNT = int(os.environ.get("NICLOOP_FRAMES", "60"))
PROFILES = os.environ.get("NICLOOP_PROFILES", "none").split(",")


@cocotb.test()
async def the_books_close_under_back_pressure_and_resets(dut: HierarchyObject) -> None:
    """Leaves the outcomes in ``$NICLOOP_RECORD``, where that is set."""
    four_state = "icarus" in cocotb.SIM_NAME.lower()
    frame_bfm = os.environ.get("NICLOOP_ENGINE") == "bfm"
    engine = BfmEngine(dut, SEED) if frame_bfm else AgentsEngine(dut, SEED, undefined=four_state)
    target = CocotbTarget(engine)
    await target.start()
    rig = Rig(target)
    await rig.start()
    outcomes: list[Outcome] = []
    for play in plays(Random(SEED), COUNT, PROFILES):
        outcomes.append(await rig.play(*play))
    assert rig.copies, "nothing was mirrored"
    assert any((outcome.frames.edge == Edge.WIRE).any() for outcome in outcomes)
    if folder := os.environ.get("NICLOOP_RECORD"):
        (Path(folder) / "outcomes.pickle").write_bytes(pickle.dumps(outcomes))
