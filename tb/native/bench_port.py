"""cocotb tests of nic_port_tb: the frame BFM around nic_port is wired right, and its monitors report each frame."""

from __future__ import annotations

import os
from typing import Any

import cocotb
import numpy as np

from models.meta import Code
from tb.native.bfm import PORT_PATHS, start_port
from tb.native.harness import meta_words

SEED = int(os.environ.get("NICLOOP_SEED", "1"))
LATENCY = {"rx": 28, "tx": 25}
"""Cycles beside the beats of a frame that is neither tagged nor IP, docs/architecture.md section 4."""
OTHER_TYPE = np.frombuffer(b"\x88\xb5", np.uint8)
LENGTHS = np.array([*range(60, 201), *range(1500, 1530), 9014])


@cocotb.test()
async def test_isolated_frames_take_the_latency_of_the_architecture(dut: Any) -> None:
    harness, bfm = await start_port(dut, SEED)
    rng = np.random.default_rng(SEED)
    n = len(LENGTHS)
    offset = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
    beats = -(-LENGTHS // 16)
    # Alone in the port: each one is offered long after the one before has left.
    earliest = harness.cycle + 10 + np.concatenate([[0], np.cumsum(2 * beats + 20)[:-1]])
    queue = rng.integers(0, 256, n)
    sent = {name: rng.integers(0, 256, offset[-1], dtype=np.uint8) for name in PORT_PATHS}
    for data in sent.values():
        data[offset[:-1, None] + [12, 13]] = OTHER_TYPE
    for name, (source, _, _) in PORT_PATHS.items():
        harness.push(source, sent[name], offset, meta=meta_words(queue=queue), earliest=earliest)
    result = await bfm.play()
    for name, (source, sink, _) in PORT_PATHS.items():
        taken, came, path = result.sources[source], result.sinks[sink], result.paths[name]
        assert np.array_equal(came.data, sent[name]) and np.array_equal(came.offset, offset), name
        assert not came.user.any(), name
        assert np.array_equal(taken.valid, earliest) and np.array_equal(taken.first, earliest), name
        assert (came.valid - taken.first - beats).tolist() == [LATENCY[name]] * n, name
        assert path.frame.tolist() == list(range(n)) and set(path.code.tolist()) == {Code.DELIVERED}, name
        assert path.seq.tolist() == list(range(n)), name
        assert len(path.entry_cycle) == n and (path.entry_cycle >= taken.first).all(), name
    assert result.paths["tx"].queue.tolist() == queue.tolist()


@cocotb.test()
async def test_bad_frames_end_with_their_reason_and_nothing_comes_out(dut: Any) -> None:
    harness, bfm = await start_port(dut, SEED)
    n, length = 40, 100
    offset = np.arange(n + 1, dtype=np.int64) * length
    data = np.arange(n * length).astype(np.uint8)
    # Every other frame is bad; every fourth one for a reason that it brings along.
    reason = np.where(np.arange(n) % 4 == 3, 33, 0)
    bad = np.arange(n) % 2
    user = (bad | reason << 1).astype(np.uint32)
    for edge in ("wire", "host"):
        harness.push(edge, data, offset, user=user)
    result = await bfm.play()
    expected = np.where(bad == 0, Code.DELIVERED, np.where(reason, reason, Code.BAD_FRAME))
    for name, (_, sink, _) in PORT_PATHS.items():
        path = result.paths[name]
        order = np.argsort(path.frame)
        assert path.code[order].tolist() == expected.tolist(), name
        assert np.array_equal(result.sinks[sink].data, data.reshape(n, length)[::2].ravel()), name
