"""SystemRDL to a register file in plain Verilog-2005, for Verilator, Icarus and yosys alike.

``export(path)`` turns the addrmap that is named like the file into the text of the module ``<name>_regs``, with the
register port and the hardware ports of docs/architecture.md, section 4. What the module does with each kind of
register is written in docs/registers.md. Anything that this exporter cannot do is an RdlError that names file and line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from systemrdl.node import AddrmapNode, FieldNode, MemNode, Node, RegfileNode, RegNode
from systemrdl.rdltypes.builtin_enums import AccessType, OnReadType, OnWriteType

from tb.registers.source import RdlError, elaborate, where

__all__ = ["ADDRESS_BITS", "BUS_BITS", "export", "export_node"]

BUS_BITS = 32
"""Width of the register port's data."""
ADDRESS_BITS = 14
"""Width of the register port's byte address: one instance takes 16 KiB."""

_DOCUMENTATION = {"name", "desc", "encode"}
_FIELD_PROPERTIES = _DOCUMENTATION | {
    "sw", "hw", "reset", "rclr", "woclr", "onread", "onwrite", "hwset", "singlepulse", "counter", "incrwidth",
    "incrsaturate", "saturate", "strap", "fieldwidth",
}  # fmt: skip
_REGISTER_PROPERTIES = _DOCUMENTATION | {"regwidth", "accesswidth"}
_GROUP_PROPERTIES = _DOCUMENTATION | {"littleendian", "lsb0", "alignment", "addressing"}

_KEYWORDS = frozenset(
    """always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config deassign default defparam
    design disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive endspecify endtable
    endtask event for force forever fork function generate genvar highz0 highz1 if ifnone incdir include initial inout
    input instance integer join large liblist library localparam macromodule medium module nand negedge nmos nor
    noshowcancelled not notif0 notif1 or output parameter pmos posedge primitive pull0 pull1 pulldown pullup
    pulsestyle_onevent pulsestyle_ondetect rcmos real realtime reg release repeat rnmos rpmos rtran rtranif0 rtranif1
    scalared showcancelled signed small specify specparam strong0 strong1 supply0 supply1 table task time tran tranif0
    tranif1 tri tri0 tri1 triand trior trireg unsigned use uwire vectored wait wand weak0 weak1 while wire wor xnor
    xor""".split()  # noqa: SIM905 - a paragraph of words reads better than a list of them
)


class Kind(Enum):
    """What a field is in hardware."""

    CONSTANT = "constant"
    INPUT = "driven by hardware"
    STORAGE = "written by software"
    STICKY = "set by hardware"
    PULSE = "one cycle when software writes 1"
    COUNTER = "counts what hardware adds"


@dataclass
class _Field:
    node: FieldNode
    register: _Register
    kind: Kind
    reset: int
    output: bool
    readable: bool
    rclr: bool
    incr_width: int = 0
    saturate: bool = False

    @property
    def low(self) -> int:
        return int(self.node.low)

    @property
    def width(self) -> int:
        return int(self.node.width)

    @property
    def name(self) -> str:
        return f"{self.register.name}_{self.node.inst_name}"

    @property
    def what(self) -> str:
        """Its kind in words, for comments."""
        if self.rclr:
            return f"{self.kind.value}, cleared by a read"
        return f"{self.kind.value}, cleared by writing 1" if self.kind is Kind.STICKY else self.kind.value

    @property
    def signal(self) -> str:
        """Name of what software reads."""
        if self.kind is Kind.INPUT:
            return f"{self.name}_in"
        return f"{self.name}_reg"

    @property
    def volatile(self) -> bool:
        """Whether hardware can change it between the two reads of a 64-bit register."""
        if self.kind is Kind.INPUT:
            return not self.node.get_property("strap", default=False)
        return self.kind in (Kind.STICKY, Kind.COUNTER)

    def slice(self, low: int, high: int) -> str:
        """Bits ``high:low`` of the field (counted from its own bit 0) as an expression."""
        if self.kind is Kind.CONSTANT:
            return _number(self.reset >> low, high - low + 1)
        return _select(self.signal, self.width, low, high)


@dataclass
class _Register:
    node: RegNode
    name: str
    address: int
    bits: int
    external: bool
    count: int = 1
    fields: list[_Field] = field(default_factory=list)

    @property
    def words(self) -> int:
        return self.bits // BUS_BITS

    @property
    def writable(self) -> bool:
        return bool(self.node.has_sw_writable)

    @property
    def storage(self) -> list[_Field]:
        return [item for item in self.fields if item.kind is Kind.STORAGE]

    @property
    def latched(self) -> bool:
        """Whether a read of the low word must keep the high word for the read that follows."""
        return (
            not self.external
            and self.words == 2
            and any(item.volatile and item.low + item.width > BUS_BITS for item in self.fields)
        )

    def segments(self, word: int) -> Iterator[tuple[_Field, int, int, int]]:
        """Parts of fields in a word, from bit 0 up: field, low and high bit within it, low bit within the word."""
        base = word * BUS_BITS
        for item in self.fields:
            low, high = max(item.low, base), min(item.low + item.width, base + BUS_BITS) - 1
            if low <= high:
                yield item, low - item.low, high - item.low, low - base

    def word(self, word: int) -> str:
        """What software reads of a word, as an expression of 32 bits."""
        parts, top = [], 0
        for item, low, high, at in self.segments(word):
            if not item.readable:
                continue
            if at > top:
                parts.append(f"{at - top}'d0")
            parts.append(item.slice(low, high))
            top = at + high - low + 1
        if top < BUS_BITS:
            parts.append(f"{BUS_BITS - top}'d0")
        return parts[0] if len(parts) == 1 else "{" + ", ".join(reversed(parts)) + "}"


def _number(value: int, width: int) -> str:
    value &= (1 << width) - 1
    return f"{width}'h{value:x}"


def _select(signal: str, width: int, low: int, high: int) -> str:
    if low == 0 and high == width - 1:
        return signal
    return f"{signal}[{low}]" if low == high else f"{signal}[{high}:{low}]"


def _range(width: int) -> str:
    return f"[{width - 1}:0]" if width > 1 else ""


def _check_properties(node: Node, allowed: set[str]) -> None:
    for name in node.list_properties():
        if name in allowed:
            continue
        value = node.get_property(name)
        if value is False or value is None:
            continue
        raise RdlError(f"{where(node, name)}: property {name} of {node.get_path()} is not supported by the exporter")


def _field(node: FieldNode, register: _Register) -> _Field:
    """Classify a field. RdlError: a combination that has no hardware here."""
    _check_properties(node, _FIELD_PROPERTIES)
    path, sw, hw = node.get_path(), node.get_property("sw"), node.get_property("hw")
    reset, onread, onwrite = node.get_property("reset"), node.get_property("onread"), node.get_property("onwrite")

    def fail(reason: str, name: str | None = None) -> RdlError:
        return RdlError(f"{where(node, name)}: {path}: {reason}")

    if reset is not None and not isinstance(reset, int):
        raise fail("the reset value must be a number", "reset")
    if onread not in (None, OnReadType.rclr):
        raise fail(f"onread = {onread.name} is not supported (rclr is)", "onread")
    if onwrite not in (None, OnWriteType.woclr):
        raise fail(f"onwrite = {onwrite.name} is not supported (woclr is)", "onwrite")
    if sw not in (AccessType.rw, AccessType.r, AccessType.w):
        raise fail(f"sw = {sw.name} is not supported (rw, r and w are)", "sw")
    strap = bool(node.get_property("strap", default=False))
    if strap and (sw is not AccessType.r or hw is not AccessType.w or reset is None):
        raise fail("a strap needs sw = r, hw = w and the value that it reads as its reset", "strap")

    rclr, counter, hwset = onread is OnReadType.rclr, node.get_property("counter"), node.get_property("hwset")
    pulse = node.get_property("singlepulse")
    output = hw is AccessType.r
    kind: Kind
    if counter:
        kind = Kind.COUNTER
        if sw is not AccessType.r or onwrite is not None or hwset or pulse:
            raise fail("a counter needs sw = r, and takes neither onwrite nor hwset nor singlepulse", "counter")
    elif hwset:
        kind = Kind.STICKY
        if node.width != 1:
            raise fail("hwset is supported on fields of one bit", "hwset")
        if pulse or (onwrite is OnWriteType.woclr) == rclr:
            raise fail("hwset needs either onwrite = woclr or onread = rclr", "hwset")
        if rclr and sw is not AccessType.r:
            raise fail("onread = rclr needs sw = r", "sw")
    elif rclr or onwrite is not None:
        raise fail("onread = rclr needs counter or hwset, onwrite = woclr needs hwset")
    elif pulse:
        kind = Kind.PULSE
        if sw is AccessType.r or not output or reset != 0:
            raise fail("singlepulse needs sw = rw or w, hw = r and reset 0", "singlepulse")
    elif sw is not AccessType.r:
        kind = Kind.STORAGE
    elif hw is AccessType.w:
        kind = Kind.INPUT
        if reset is not None and not strap:
            raise fail("a field that hardware drives has no reset value, unless it is a strap", "reset")
    else:
        kind = Kind.CONSTANT
        if hw is not AccessType.na:
            raise fail(f"sw = r needs hw = w (driven by hardware) or hw = na (a constant), not {hw.name}", "hw")
    if kind is not Kind.INPUT:
        if hw not in (AccessType.r, AccessType.na):
            raise fail(f"hw = {hw.name} is not supported here (r: the field is an output; na: it is not)", "hw")
        if reset is None:
            raise fail("needs a reset value")
    if register.words == 2 and kind in (Kind.STICKY, Kind.PULSE) and not rclr:
        raise fail("write-one-to-clear and singlepulse are not supported in a 64-bit register")
    incr_width = 0
    if kind is Kind.COUNTER:
        incr_width = int(node.get_property("incrwidth") or 1)
        if incr_width > node.width:
            raise fail("incrwidth is above the counter's own width", "incrwidth")
        if node.get_property("incrsaturate") not in (True, False):
            raise fail("incrsaturate is supported as true: the counter stays at all ones", "incrsaturate")
    return _Field(
        node,
        register,
        kind,
        int(reset or 0),
        output,
        readable=sw is not AccessType.w and kind is not Kind.PULSE,
        rclr=rclr,
        incr_width=incr_width,
        saturate=bool(node.get_property("incrsaturate")) if kind is Kind.COUNTER else False,
    )


def _register(node: RegNode, prefix: str, base: int) -> Iterator[_Register]:
    """The register(s) of a node: one for an external array, one an element otherwise."""
    _check_properties(node, _REGISTER_PROPERTIES)
    path, bits = node.get_path(), int(node.get_property("regwidth"))
    if bits not in (32, 64) or int(node.get_property("accesswidth")) != BUS_BITS:
        raise RdlError(f"{where(node)}: {path}: regwidth must be 32 or 64 and accesswidth 32")
    if node.has_sw_writable and node.has_sw_readable is False and node.external:
        raise RdlError(f"{where(node)}: {path}: an external register must be readable")
    count = int(node.n_elements)
    stride = int(node.array_stride or 0) if node.is_array else bits // 8
    if node.is_array and len(node.array_dimensions or []) != 1:
        raise RdlError(f"{where(node)}: {path}: arrays have one dimension")
    address = base + int(node.raw_address_offset)
    if address % (bits // 8):
        raise RdlError(
            f"{where(node)}: {path}: address {address:#x} is not a multiple of the register's {bits // 8} bytes"
        )
    if node.external:
        size = count * stride
        if stride != bits // 8 or count & (count - 1) or address % size:
            raise RdlError(
                f"{where(node)}: {path}: an external array has a power of two of elements, no gaps, and stands at a "
                f"multiple of its size ({size:#x})"
            )
        register = _Register(node, prefix + node.inst_name, address, bits, True, count)
        yield register
        return
    for index in range(count):
        suffix = f"_{index}" if node.is_array else ""
        register = _Register(node, prefix + node.inst_name + suffix, address + index * stride, bits, False)
        register.fields = [_field(child, register) for child in node.fields()]
        if sum(item.kind is Kind.COUNTER for item in register.fields) > 1:
            raise RdlError(f"{where(node)}: {path}: a register holds at most one counter")
        yield register


def _registers(node: AddrmapNode | RegfileNode, prefix: str = "", base: int = 0) -> Iterator[_Register]:
    for child in node.children(unroll=False):
        if isinstance(child, RegNode):
            yield from _register(child, prefix, base)
        elif isinstance(child, RegfileNode) and not child.external:
            _check_properties(child, _GROUP_PROPERTIES)
            if child.is_array:
                raise RdlError(f"{where(child)}: {child.get_path()}: arrays of regfiles are not supported")
            yield from _registers(child, f"{prefix}{child.inst_name}_", base + int(child.raw_address_offset))
        else:
            what = "mem" if isinstance(child, MemNode) else child.component_type_name
            raise RdlError(f"{where(child)}: {child.get_path()}: {what} is not supported inside a register file")


@dataclass(frozen=True)
class _Port:
    direction: str
    width: int
    name: str


def _ports(register: _Register) -> Iterator[_Port]:
    """Hardware ports of a register, in the order of its fields."""
    name = register.name
    if register.external:
        yield _Port("output", 1, f"{name}_req")
        if register.writable:
            yield _Port("output", 1, f"{name}_write")
        if register.count > 1:
            yield _Port("output", register.count.bit_length() - 1, f"{name}_index")
        if register.words == 2:
            yield _Port("output", 1, f"{name}_word")
        if register.writable:
            yield _Port("output", BUS_BITS, f"{name}_wdata")
            yield _Port("output", BUS_BITS // 8, f"{name}_wstrb")
        yield _Port("input", 1, f"{name}_ack")
        yield _Port("input", BUS_BITS, f"{name}_rdata")
        return
    for item in register.fields:
        if item.kind is Kind.INPUT:
            yield _Port("input", item.width, f"{item.name}_in")
        elif item.kind is Kind.STICKY:
            yield _Port("input", 1, f"{item.name}_set")
        elif item.kind is Kind.COUNTER:
            yield _Port("input", item.incr_width, f"{name}_incr")
        if item.output:
            yield _Port("output", item.width, item.name)


_BUS_PORTS = (
    _Port("input", 1, "reg_req"),
    _Port("input", 1, "reg_write"),
    _Port("input", ADDRESS_BITS, "reg_addr"),
    _Port("input", BUS_BITS, "reg_wdata"),
    _Port("input", BUS_BITS // 8, "reg_wstrb"),
    _Port("output", 1, "reg_ack"),
    _Port("output", 1, "reg_error"),
    _Port("output", BUS_BITS, "reg_rdata"),
)
_OWN_NAMES = (
    "clk",
    "rst",
    "ack_reg",
    "error_reg",
    "rdata_reg",
    "bus_access",
    "bus_read",
    "bus_write",
    "bus_word",
    "bus_unused",
)


def _check_names(registers: list[_Register]) -> None:
    taken = {name: "the register port" for name in _OWN_NAMES} | {port.name: "the register port" for port in _BUS_PORTS}
    for register in registers:
        names = [port.name for port in _ports(register)] + [
            f"{register.name}_{part}" for part in ("high_reg", "held_reg", "held_strb_reg", "select")
        ]
        names += [item.signal for item in register.fields if item.kind not in (Kind.CONSTANT, Kind.INPUT)]
        names += [f"{item.name}_sum" for item in register.fields if item.saturate]
        for name in names:
            owner = taken.setdefault(name, register.node.get_path())
            if name in _KEYWORDS:
                raise RdlError(f"{where(register.node)}: {register.node.get_path()}: {name} is a Verilog keyword")
            if owner != register.node.get_path():
                raise RdlError(
                    f"{where(register.node)}: {register.node.get_path()}: the name {name} belongs to {owner} too"
                )


def _address(register: _Register, word: int = 0) -> str:
    return f"{ADDRESS_BITS - 2}'h{(register.address >> 2) + word:03x}"


def _hit(strobe: str, register: _Register, word: int = 0) -> str:
    return f"{strobe} && bus_word == {_address(register, word)}"


def _chunks(register: _Register, word: int) -> Iterator[tuple[int, _Field, int, int, int]]:
    """Stored bits of a word cut at bytes: byte lane, field, low and high bit in the field, low bit in the word."""
    for item, low, high, at in register.segments(word):
        if item.kind is not Kind.STORAGE:
            continue
        while low <= high:
            lane = at // 8
            length = min(high - low + 1, 8 * (lane + 1) - at)
            yield lane, item, low, low + length - 1, at
            low, at = low + length, at + length


def _assignments(register: _Register, word: int, strobe: str, data: str, indent: str) -> list[str]:
    lines = []
    for lane, item, low, high, at in _chunks(register, word):
        target = _select(item.signal, item.width, low, high)
        source = _select(data, BUS_BITS, at, at + high - low)
        lines.append(f"{indent}if ({strobe}[{lane}]) {target} <= {source};")
    return lines


def _storage(register: _Register) -> list[str]:
    """Fields that software writes and hardware only reads."""
    fields = register.storage
    if not fields:
        return []
    name, lines = register.name, [""]
    lines.append(f"// {name}")
    lines += [f"reg {_range(item.width)}{' ' if item.width > 1 else ''}{item.signal};" for item in fields]
    if register.words == 2:
        lines += [
            f"reg [31:0] {name}_held_reg;  // low word that waits for the high one",
            f"reg [3:0] {name}_held_strb_reg;  // and which of its bytes were ever written",
        ]
    lines += ["", "always @(posedge clk) begin"]
    if register.words == 1:
        lines.append(f"    if ({_hit('bus_write', register)}) begin")
        lines += _assignments(register, 0, "reg_wstrb", "reg_wdata", " " * 8)
        lines.append("    end")
    else:
        lines.append(f"    if ({_hit('bus_write', register)}) begin")
        for lane in range(4):
            byte = f"[{8 * lane + 7}:{8 * lane}]"
            lines.append(f"        if (reg_wstrb[{lane}]) {name}_held_reg{byte} <= reg_wdata{byte};")
        lines.append(f"        {name}_held_strb_reg <= {name}_held_strb_reg | reg_wstrb;")
        lines.append("    end")
        lines.append(f"    if ({_hit('bus_write', register, 1)}) begin")
        lines += _assignments(register, 0, f"{name}_held_strb_reg", f"{name}_held_reg", " " * 8)
        lines += _assignments(register, 1, "reg_wstrb", "reg_wdata", " " * 8)
        lines.append("    end")
    lines.append("    if (rst) begin")
    lines += [f"        {item.signal} <= {_number(item.reset, item.width)};" for item in fields]
    if register.words == 2:
        lines.append(f"        {name}_held_strb_reg <= 4'd0;")
    lines += ["    end", "end"]
    lines += [f"assign {item.name} = {item.signal};" for item in fields if item.output]
    return lines


def _event(item: _Field) -> list[str]:
    """A sticky bit, a pulse or a counter."""
    register, signal, lines = item.register, item.signal, [""]
    lines.append(f"// {register.name}.{item.node.inst_name}: {item.what}")
    lines.append(f"reg {_range(item.width)}{' ' if item.width > 1 else ''}{signal};")
    read = _hit("bus_read", register)
    written = _hit("bus_write", register)
    body: list[str] = []
    if item.kind is Kind.STICKY:
        bit, lane = item.low, item.low // 8
        clear = read if item.rclr else f"{written} && reg_wstrb[{lane}] && reg_wdata[{bit}]"
        body = [f"    if ({clear}) {signal} <= 1'b0;", f"    if ({item.name}_set) {signal} <= 1'b1;"]
    elif item.kind is Kind.PULSE:
        bit = item.low  # SystemRDL allows singlepulse on one bit
        body.append(f"    {signal} <= {written} && reg_wstrb[{bit // 8}] && reg_wdata[{bit}];")
    else:
        step = f"{register.name}_incr"
        pad = item.width - item.incr_width
        step = f"{{{pad}'d0, {step}}}" if pad else step
        old = f"({read} ? {_number(0, item.width)} : {signal})" if item.rclr else signal
        if item.saturate:
            total = f"{item.name}_sum"
            lines.append(f"wire [{item.width}:0] {total} = {{1'b0, {old}}} + {{1'b0, {step}}};")
            ones = f"{{{item.width}{{1'b1}}}}"
            body.append(
                f"    {signal} <= {total}[{item.width}] ? {ones} : {_select(total, item.width + 1, 0, item.width - 1)};"
            )
        else:
            body.append(f"    {signal} <= {old} + {step};")
    lines += [
        "",
        "always @(posedge clk) begin",
        *body,
        f"    if (rst) {signal} <= {_number(item.reset, item.width)};",
        "end",
    ]
    if item.output:
        lines.append(f"assign {item.name} = {signal};")
    return lines


def _latch(register: _Register) -> list[str]:
    if not register.latched:
        return []
    return [
        "",
        f"// {register.name}: high word as it was when the low one was read",
        f"reg [31:0] {register.name}_high_reg;",
        "",
        "always @(posedge clk) begin",
        f"    if ({_hit('bus_read', register)}) {register.name}_high_reg <= {register.word(1)};",
        "end",
    ]


def _external(register: _Register) -> list[str]:
    name, size = register.name, register.count * register.bits // 8
    low = size.bit_length() - 1
    word = 1 if register.words == 2 else 0
    lines = ["", f"// {name}: kept outside, {'read and written' if register.writable else 'read'} through its own port"]
    lines.append(
        f"wire {name}_select = reg_addr[13:{low}] == {ADDRESS_BITS - low}'h{register.address >> low:x};"
        if low < ADDRESS_BITS
        else f"wire {name}_select = 1'b1;"
    )
    lines.append(f"assign {name}_req = {'bus_access' if register.writable else 'bus_read'} && {name}_select;")
    if register.writable:
        lines.append(f"assign {name}_write = reg_write;")
    if register.count > 1:
        lines.append(f"assign {name}_index = {_select('reg_addr', ADDRESS_BITS, 2 + word, low - 1)};")
    if word:
        lines.append(f"assign {name}_word = reg_addr[2];")
    if register.writable:
        lines += [f"assign {name}_wdata = reg_wdata;", f"assign {name}_wstrb = reg_wstrb;"]
    return lines


def _response(registers: list[_Register]) -> list[str]:
    """The clocked process that answers: one cycle after the request, or after the acknowledge from outside."""
    lines = [
        "",
        "// answer",
        "always @(posedge clk) begin",
        "    ack_reg <= bus_access;",
        "    if (bus_access) begin",
        "        error_reg <= 1'b0;",
    ]
    lines.append("        case (bus_word)")
    for register in registers:
        if register.external:
            continue
        for word in range(register.words):
            value = f"{register.name}_high_reg" if word and register.latched else register.word(word)
            what = f"{register.name} (high)" if word else register.name
            lines.append(f"            {_address(register, word)}: rdata_reg <= {value};  // {what}")
    lines += [
        "            default: begin",
        "                error_reg <= 1'b1;",
        "                rdata_reg <= 32'd0;",
        "            end",
        "        endcase",
    ]
    for register in (item for item in registers if item.external):
        name = register.name
        lines.append(f"        if ({name}_select) begin")
        lines.append(f"            ack_reg <= {name}_ack{'' if register.writable else ' || reg_write'};")
        lines += ["            error_reg <= 1'b0;", f"            rdata_reg <= {name}_rdata;", "        end"]
    lines += ["    end", "    if (rst) ack_reg <= 1'b0;", "end"]
    return lines


def _table(registers: list[_Register]) -> list[str]:
    lines = []
    for register in registers:
        suffix = f"[{register.count}]" if register.count > 1 else ""
        outside = ", kept outside" if register.external else ""
        lines.append(f" *   {register.address:#06x} {register.name}{suffix}, {register.bits} bit{outside}")
        for item in register.fields:
            bits = f"{item.low + item.width - 1}:{item.low}" if item.width > 1 else f"{item.low}"
            lines.append(f" *          {bits:>5} {item.node.inst_name}: {item.what}")
    return lines


def export_node(node: AddrmapNode, source: str) -> str:
    """Verilog text of ``<addrmap>_regs``; ``source`` is the name of the ``.rdl`` for its header comment."""
    _check_properties(node, _GROUP_PROPERTIES)
    registers = sorted(_registers(node), key=lambda register: register.address)
    for register in registers:
        if register.address + register.count * register.bits // 8 > 1 << ADDRESS_BITS:
            path = register.node.get_path()
            raise RdlError(f"{where(register.node)}: {path}: beyond the instance's {1 << ADDRESS_BITS:#x} bytes")
    _check_names(registers)

    title = node.get_property("name") or node.inst_name
    out = [
        f"// Generated from {source} by `make generate`: do not edit.",
        "",
        "`resetall",
        "`timescale 1ns / 1ps",
        "`default_nettype none",
        "",
        "/*",
        f" * Registers: {title}",
        " *",
        " * Latency: reg_ack rises in the cycle after reg_req (a register kept outside: the cycle after its own ack).",
        " * A write has taken effect in the cycle of reg_ack. Throughput: one access every two cycles.",
        " * reg_error with reg_ack: no register at this address. A write to what software cannot write does nothing",
        " * and is no error. Rules of 64-bit registers: docs/registers.md. A 64-bit register kept outside gives its",
        " * words by `_word`, and latches word 1 itself when word 0 is read.",
        " *",
        *_table(registers),
        " */",
        f"module {node.inst_name}_regs (",
    ]
    groups: list[tuple[str, list[_Port]]] = [
        ("", [_Port("input", 1, "clk"), _Port("input", 1, "rst")]),
        ("register port", list(_BUS_PORTS)),
    ]
    groups += [
        (f"{register.name}{f'[{register.count}]' if register.count > 1 else ''} at {register.address:#06x}", ports)
        for register in registers
        if (ports := list(_ports(register)))
    ]
    last = groups[-1][1][-1]
    for title, ports in groups:
        if title:
            out += ["", f"    // {title}"]
        for port in ports:
            comma = "" if port is last else ","
            out.append(f"    {port.direction:<6} wire {_range(port.width):<7}{port.name}{comma}")
    out += [
        ");",
        "",
        "reg ack_reg;",
        "reg error_reg;",
        "reg [31:0] rdata_reg;",
        "",
        "assign reg_ack = ack_reg;",
        "assign reg_error = error_reg;",
        "assign reg_rdata = rdata_reg;",
        "",
        "// A request is held through the cycle of its acknowledge, in which it counts no more",
        "wire bus_access = reg_req && !ack_reg;",
    ]
    text = [line for register in registers for line in _storage(register)]
    for register in registers:
        for item in register.fields:
            if item.kind in (Kind.STICKY, Kind.PULSE, Kind.COUNTER):
                text += _event(item)
        text += _latch(register)
        if register.external:
            text += _external(register)
    text += _response(registers)
    body = "\n".join(text)
    if "bus_read" in body:
        out.append("wire bus_read = bus_access && !reg_write;")
    if "bus_write" in body:
        out.append("wire bus_write = bus_access && reg_write;")
    out.append("wire [11:0] bus_word = reg_addr[13:2];")
    # Bits that no register of this file needs
    unused = ["reg_addr[1:0]", "reg_write", "reg_wdata", "reg_wstrb"]
    unused += [f"{register.name}_held_reg" for register in registers if register.words == 2 and register.storage]
    out.append(f"wire bus_unused = &{{1'b0, {', '.join(unused)}}};")
    out += text
    out += ["", "endmodule", "", "`resetall"]
    return "\n".join(out) + "\n"


def export(path: Path, top: str | None = None) -> str:
    """Verilog text for the addrmap ``top`` (the file's stem when None) of ``path``. RdlError: file, line, reason."""
    node = elaborate(path, top)
    relative = os.path.relpath(path.resolve(), Path(__file__).resolve().parents[2])
    return export_node(node, relative if not relative.startswith("..") else path.name)
