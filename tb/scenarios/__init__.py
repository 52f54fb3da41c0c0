"""Scenarios: coroutines that await nothing but a target's own methods, so that any target runs them unchanged.

Importing this package registers all of them; a new module of scenarios is imported here.
"""

from tb.scenarios import parser as _parser
from tb.scenarios import port as _port
from tb.scenarios.base import (
    REGISTRY,
    BadParameter,
    Needs,
    Params,
    Scenario,
    ScenarioFailed,
    check,
    find,
    scenario,
)

__all__ = ["REGISTRY", "BadParameter", "Needs", "Params", "Scenario", "ScenarioFailed", "check", "find", "scenario"]

_PACKAGES = (_port, _parser)
