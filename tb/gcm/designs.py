"""The designs of block ``gcm``: the engine alone, its ciphers, and the engine in ``tops/gcm_player.v``."""

from __future__ import annotations

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["cipher_design", "engine_design", "player_design"]

_RTL = ROOT / "rtl" / "gcm"
_INCLUDES = (ROOT / "rtl" / "lib", _RTL)


def engine_design(**parameters: int) -> Design:
    """``gcm`` as the top. parameters: of the module."""
    sources = sorted(_RTL.glob("*.v"), key=lambda path: (path.stem == "gcm", path.stem))
    return Design("gcm/gcm", "gcm", tuple(sources), parameters, includes=_INCLUDES)


def cipher_design(module: str) -> Design:
    """A cipher alone: ``gcm_aes`` or ``gcm_sm4``."""
    return Design(f"gcm/{module}", module, (_RTL / f"{module}_round.v", _RTL / f"{module}.v"), includes=_INCLUDES)


def player_design(**parameters: int) -> Design:
    """``gcm`` with files on its ports."""
    top = ROOT / "tb" / "gcm" / "tops" / "gcm_player.v"
    return Design("gcm/gcm_player", "gcm_player", (*sorted(_RTL.glob("*.v")), top), parameters, includes=_INCLUDES)
