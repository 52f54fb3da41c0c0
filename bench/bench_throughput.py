"""cocotb side of the throughput bench: frames of one length back to back through both directions of nic_port at once.

Leaves ``throughput.json`` in the run's folder: for each length and direction the cycles from one frame's end to the
next one's, at the input and at the output, as {cycles: how often}.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from numpy.typing import NDArray

from tb.native.bfm import PORT_PATHS, start_port
from tb.native.harness import meta_words

LENGTHS = (1, 16, 17, 32, 33, 48, 49, *range(60, 201), 1514, 9014)
"""Those below 60 are no Ethernet frames; they show that a frame takes four cycles at least."""


def _frames(rng: np.random.Generator, count: int, length: int) -> NDArray[np.uint8]:
    """Frames of one length: UDP over IPv4 as far as it fits, with random payload. The parser holds frames of one kind
    equally long; where kinds change, the first beats out may be further apart once."""
    frames = rng.integers(0, 256, (count, length), dtype=np.uint8)
    total, udp = max(length - 14, 28).to_bytes(2, "big"), max(length - 34, 8).to_bytes(2, "big")
    header = bytes(12) + b"\x08\x00\x45\x00" + total + bytes(4) + b"\x40\x11" + bytes(10)
    header += b"\x30\x39\x00\x35" + udp + bytes(2)
    frames[:, : len(header)] = np.frombuffer(header, np.uint8)[:length]
    return frames.reshape(-1)


@cocotb.test()
async def frames_per_cycle(dut: Any) -> None:
    harness, bfm = await start_port(dut)
    rng = np.random.default_rng(int(os.environ.get("NICLOOP_SEED", "1")))
    found: dict[str, dict[str, Any]] = {}
    for length in LENGTHS:
        frames = 600 if length <= 200 else 40
        offset = np.arange(frames + 1, dtype=np.int64) * length
        data = {name: _frames(rng, frames, length) for name in PORT_PATHS}
        queue = meta_words(queue=np.arange(frames) % 256)
        harness.push("wire", data["rx"], offset)
        harness.push("host", data["tx"], offset, meta=queue)
        result = await bfm.play()
        found[str(length)] = {}
        for name, (source, sink, _) in PORT_PATHS.items():
            assert np.array_equal(result.sinks[sink].data, data[name]), f"{name}, {length} B: bytes differ"
            # Frames of fewer than four beats are taken faster until the registers at the entry are full.
            ends = {"in": result.sources[source].last[4:], "out": result.sinks[sink].last}
            found[str(length)][name] = {side: Counter(np.diff(cycles).tolist()) for side, cycles in ends.items()}
    (Path(os.environ["NICLOOP_RUN_DIR"]) / "throughput.json").write_text(json.dumps(found))
    harness.close()
