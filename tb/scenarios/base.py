"""What a scenario is made of: a name, what it needs of a target, its parameters, its checks."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from models.config import NicConfig
from models.frames import Edge
from tb.targets.base import Capabilities, FaultKind, Target

__all__ = [
    "REGISTRY",
    "BadParameter",
    "Needs",
    "Params",
    "Scenario",
    "ScenarioFailed",
    "check",
    "find",
    "scenario",
]


class ScenarioFailed(AssertionError):
    """The device did not do what the scenario expects."""


class BadParameter(ValueError):
    """A parameter that the scenario doesn't have, or a value that it can't take."""


def check(condition: bool, message: str) -> None:
    """Raise `ScenarioFailed` with ``message`` unless ``condition`` holds."""
    if not condition:
        raise ScenarioFailed(message)


@dataclass(frozen=True)
class Needs:
    """Capabilities without which a scenario can't be run."""

    edges: frozenset[Edge] = frozenset({Edge.WIRE, Edge.HOST})
    cycle_times: bool = False
    overlapping: bool = False
    faults: frozenset[FaultKind] = frozenset()
    memories: frozenset[str] = frozenset()
    ports: int = 1

    def lacking(self, has: Capabilities) -> str | None:
        """What ``has`` lacks, in words; None when nothing is lacking."""
        lacks = [f"edge {edge.name.lower()}" for edge in sorted(self.edges - has.edges)]
        lacks += ["exact cycle times"] if self.cycle_times and not has.cycle_times else []
        lacks += ["frames that follow each other closely"] if self.overlapping and not has.overlapping else []
        lacks += [f"fault {fault}" for fault in sorted(self.faults - has.faults)]
        lacks += [f"memory {name}" for name in sorted(self.memories - has.memories)]
        lacks += [f"{self.ports} ports"] if len(has.ports) < self.ports else []
        return ", ".join(lacks) or None


@dataclass
class Params(Mapping[str, Any]):
    """A run's parameters by name, its seed and its configuration."""

    values: dict[str, Any]
    seed: int = 0
    config: NicConfig = field(default_factory=NicConfig)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __iter__(self) -> Any:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def frame(self, length: int) -> bytes:
        """A frame of ``length`` bytes: broadcast, EtherType of local experiments, random payload."""
        return (b"\xff" * 6 + b"\x02\x00\x00\x00\x00\x01" + b"\x88\xb5" + self.random.randbytes(max(0, length - 14)))[
            :length
        ]


Coroutine = Callable[[Target, Params], Awaitable[dict[str, Any] | None]]


@dataclass(frozen=True)
class Scenario:
    """A registered coroutine; calling it runs it. It returns figures for the report, or None."""

    name: str
    doc: str
    coroutine: Coroutine
    needs: Needs
    defaults: Mapping[str, Any]

    def params(self, values: Mapping[str, Any], seed: int, config: NicConfig) -> Params:
        """Defaults overlaid with ``values`` (strings become what the default is). `BadParameter`: unknown or unfit."""
        merged = dict(self.defaults)
        for name, value in values.items():
            if name not in merged:
                known = ", ".join(sorted(merged)) or "none"
                raise BadParameter(f"scenario {self.name} has no parameter {name!r}; it has: {known}")
            kind = type(merged[name])
            try:
                merged[name] = kind(int(value, 0)) if kind is int and isinstance(value, str) else kind(value)
            except ValueError as error:
                raise BadParameter(f"scenario {self.name}: {name}={value!r} is not {kind.__name__}") from error
        return Params(merged, seed, config)

    async def __call__(self, target: Target, params: Params) -> dict[str, Any] | None:
        return await self.coroutine(target, params)


REGISTRY: dict[str, Scenario] = {}
"""All scenarios by name."""


def scenario(*, needs: Needs | None = None, **defaults: Any) -> Callable[[Coroutine], Coroutine]:
    """Register the coroutine under its own name; ``defaults`` are its parameters."""

    def register(coroutine: Coroutine) -> Coroutine:
        name = coroutine.__name__
        if name in REGISTRY:
            raise ValueError(f"two scenarios are called {name}")
        doc = (coroutine.__doc__ or "").strip().splitlines()
        REGISTRY[name] = Scenario(name, doc[0] if doc else "", coroutine, needs or Needs(), dict(defaults))
        return coroutine

    return register


def find(name: str) -> Scenario:
    """A scenario by name. `BadParameter`: there is none; the message lists what there is."""
    if name not in REGISTRY:
        raise BadParameter(f"no scenario {name!r}; there are: {', '.join(sorted(REGISTRY))}")
    return REGISTRY[name]
