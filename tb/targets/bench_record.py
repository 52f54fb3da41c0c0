"""A cocotb test that records plays: ``plays.pickle`` of the folder ``$NICLOOP_RECORD`` on the frame BFM."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import cocotb
from cocotb.handle import HierarchyObject

from tb.targets.bfm import BfmEngine
from tb.targets.cocotb import CocotbTarget
from tb.targets.recorded import record

__all__: list[str] = []


@cocotb.test()
async def plays_are_recorded(dut: HierarchyObject) -> None:
    """Leaves ``outcomes.pickle`` in the folder."""
    folder = Path(os.environ["NICLOOP_RECORD"])
    target = CocotbTarget(BfmEngine(dut, int(os.environ["NICLOOP_SEED"])))
    await target.start()
    plays = pickle.loads((folder / "plays.pickle").read_bytes())
    (folder / "outcomes.pickle").write_bytes(pickle.dumps(await record(target, plays)))
