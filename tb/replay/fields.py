"""What the headers of frames say, for a filter and for records: the parser's model over a batch of any frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.frames import Batch
from models.meta import Code
from models.parser_batch import parse_batch

__all__ = ["Columns", "header_fields"]

Columns = dict[str, NDArray[Any]]


def header_fields(batch: Batch) -> Columns:
    """As ``models.parser_batch.parse_batch``, n entries a column; a frame without a byte is ``L2_TRUNCATED`` and all
    else of it 0."""
    there = np.flatnonzero(batch.lengths)
    if len(there) == len(batch):
        return parse_batch(batch)
    columns = {}
    for name, values in parse_batch(batch.select(there)).items():
        column = np.zeros((len(batch), *values.shape[1:]), values.dtype)
        column[there] = values
        columns[name] = column
    columns["parse_code"][batch.lengths == 0] = Code.L2_TRUNCATED
    return columns
