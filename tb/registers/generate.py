"""Everything that comes from the SystemRDL sources (and the metadata header), as text by file.

Each ``rtl/<block>/<name>.rdl`` gives ``<name>_regs.v`` beside it, except ``rtl/nic/port.rdl``, the map of a whole port:
it gives ``models/port_map.py``, the C header, the manual and the pyuvm register model. The first three kinds are
committed (:func:`committed`), the last two are made in ``sim_build/registers`` (:func:`make_local`).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from systemrdl.node import AddrmapNode, FieldNode, RegNode
from systemrdl.rdltypes.builtin_enums import AccessType, OnReadType, OnWriteType

from models.meta import verilog_header
from models.registers import Access, Field, Register, RegisterMap
from tb.registers.exporter import export
from tb.registers.source import RdlError, elaborate, where
from tb.toolchain import ROOT, SIM_BUILD

__all__ = ["LOCAL", "PORT_RDL", "PORT_SIZE", "committed", "make_local", "make_uvm_model", "map_of", "stale"]

PORT_RDL = ROOT / "rtl" / "nic" / "port.rdl"
PORT_SIZE = 1 << 20
"""Bytes of addresses of one port."""
LOCAL = SIM_BUILD / "registers"
"""Where the manual (``html/index.html``) and the pyuvm model (``port_ral.py``) are made."""


def _access(node: FieldNode) -> Access:
    if node.get_property("singlepulse"):
        return Access.PULSE
    if node.get_property("onread") is OnReadType.rclr:
        return Access.RCLR
    if node.get_property("onwrite") is OnWriteType.woclr:
        return Access.W1C
    return {AccessType.rw: Access.RW, AccessType.r: Access.RO, AccessType.w: Access.WO}[node.get_property("sw")]


def _field(node: FieldNode) -> Field:
    driven = node.get_property("hw") is AccessType.w and not node.get_property("strap", default=False)
    moved = bool(node.get_property("counter") or node.get_property("hwset"))
    reset = node.get_property("reset")
    if reset is not None and not isinstance(reset, int):
        raise RdlError(f"{where(node, 'reset')}: {node.get_path()}: the reset value must be a number")
    return Field(node.inst_name, int(node.low), int(node.width), _access(node), reset, driven or moved, _doc(node))


def _doc(node: FieldNode | RegNode) -> str:
    return " ".join((node.get_property("desc") or "").split())


def map_of(top: AddrmapNode, size: int) -> RegisterMap:
    """The map of an elaborated addrmap of ``size`` bytes, names relative to it. RdlError: what a map cannot hold."""
    registers = []
    for node in top.descendants(unroll=False):
        if not isinstance(node, RegNode):
            continue
        name = node.get_path(array_suffix="[{index:d}]", empty_array_suffix="").partition(".")[2]
        stride, count = 0, 1
        if node.is_array:
            if len(node.array_dimensions or []) != 1 or not isinstance(node.array_stride, int):
                raise RdlError(f"{where(node)}: {node.get_path()}: arrays have one dimension")
            stride, count = node.array_stride, int(node.n_elements)
        address = node.raw_absolute_address - top.raw_absolute_address
        fields = tuple(_field(item) for item in node.fields())
        registers.append(Register(name, address, int(node.get_property("regwidth")), fields, _doc(node), count, stride))
    registers.sort(key=lambda register: register.address)
    return RegisterMap(top.inst_name, size, tuple(registers))


def _literal(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _map_text(registers: RegisterMap) -> str:
    lines = [
        "# Generated from rtl/nic/port.rdl by `make generate`: do not edit.",
        "# fmt: off",
        "# ruff: noqa: E501",
        '"""The register map of one port (types: models/registers.py)."""',
        "",
        "from models.registers import Access, Field, Register, RegisterMap",
        "",
        '__all__ = ["PORT"]',
        "",
        f"PORT = RegisterMap({_literal(registers.name)}, {registers.size:#x}, (",
    ]
    for register in registers.registers:
        lines.append(f"    Register({_literal(register.name)}, {register.address:#07x}, {register.width}, (")
        for item in register.fields:
            reset = "None" if item.reset is None else f"{item.reset:#x}"
            lines.append(
                f"        Field({_literal(item.name)}, {item.low}, {item.width}, Access.{item.access.name}, {reset}, "
                f"{item.volatile}, {_literal(item.doc)}),"
            )
        array = f", {register.count}, {register.stride}" if register.is_array else ""
        lines.append(f"    ), {_literal(register.doc)}{array}),")
    lines.append("))")
    return "\n".join(lines) + "\n"


def _c_header(top: AddrmapNode) -> str:
    from peakrdl_cheader.c_standards import CStandard
    from peakrdl_cheader.exporter import CHeaderExporter

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nicloop_regs.h"
        CHeaderExporter().export(
            top,
            path=str(path),
            std=CStandard.gnu99,
            generate_bitfields=False,
            bitfield_order_ltoh=False,
            # Names by place ("PORT__MAC_RX__ID__STATE_bm"): the slots differ in one reset value, and so in their types
            reuse_typedefs=False,
            wide_reg_subword_size=32,
            explode_top=False,
            instantiate=False,
            inst_offset=0,
            testcase=False,
        )
        return "// Generated from rtl/nic/port.rdl by `make generate`: do not edit.\n" + path.read_text()


def committed() -> dict[Path, str]:
    """Every generated file that is committed, with its text. RdlError: a source is wrong."""
    files = {ROOT / "rtl" / "lib" / "meta.vh": verilog_header()}
    for source in sorted(ROOT.glob("rtl/*/*.rdl")):
        if source != PORT_RDL:
            files[source.with_name(f"{source.stem}_regs.v")] = export(source)
    top = elaborate(PORT_RDL)
    files[ROOT / "models" / "port_map.py"] = _map_text(map_of(top, PORT_SIZE))
    files[ROOT / "docs" / "registers" / "nicloop_regs.h"] = _c_header(top)
    return files


def stale() -> Iterator[Path]:
    """The committed files that are not what their sources give."""
    for path, text in committed().items():
        if not path.exists() or path.read_text() != text:
            yield path


def make_uvm_model(source: Path, path: Path) -> None:
    """The pyuvm register model of the addrmap in ``source``, as a Python module at ``path``."""
    from peakrdl_pyuvm.exporter import PyUVMExporter  # type: ignore[import-untyped]

    path.parent.mkdir(parents=True, exist_ok=True)
    PyUVMExporter().export(elaborate(source), str(path))


def make_local(folder: Path = LOCAL) -> None:
    """The manual and the pyuvm register model of a port."""
    from peakrdl_html import HTMLExporter  # type: ignore[import-untyped]

    make_uvm_model(PORT_RDL, folder / "port_ral.py")
    shutil.rmtree(folder / "html", ignore_errors=True)
    HTMLExporter().export(elaborate(PORT_RDL), str(folder / "html"))
