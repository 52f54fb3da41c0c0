"""SA files: Wireshark's ``esp_sa`` table and TOML. docs/ipsec.md says what they hold.

Whatever is wrong is an ``SaFileError`` of one line: file, line or SA, key, what is there, what is accepted.
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never

from models.ipsec_sa import KEY_BYTES, Cipher, Df, Mode, Natt, Sa
from models.ipsec_window import LARGEST_WINDOW, SMALLEST_WINDOW

__all__ = ["FileSa", "SaFileError", "parse_esp_sa", "parse_toml", "read_sas", "sas_of_tables", "sas_to_toml"]


class SaFileError(Exception):
    """An SA file is wrong. The text is one line for the person who wrote it."""


@dataclass(frozen=True)
class FileSa:
    """An SA of a file: which directions are to have it, and what it is called."""

    sa: Sa
    rx: bool = True
    tx: bool = True
    name: str = ""


def read_sas(path: str | Path) -> list[FileSa]:
    """The SAs of a file: TOML if its name ends with .toml, else Wireshark's table. SaFileError: it can't be read, or is
    wrong."""
    name = str(path) if str(path).isprintable() else repr(str(path))
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SaFileError(f"{name}: byte {error.start} is no UTF-8; accepted: text, TOML or esp_sa") from error
    except (OSError, ValueError) as error:
        # A name with a zero byte is a ValueError.
        raise SaFileError(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    return parse_toml(text, name) if name.lower().endswith(".toml") else parse_esp_sa(text, name)


def _shown(value: object) -> str:
    """A value as it stands in a message, not too long and in one line."""
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Wrong(Exception):
    """A key isn't accepted."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(f"{key}: {text}")
        self.key, self.text = key, text


def _refuse(key: str, value: object, accepted: str) -> Never:
    raise _Wrong(key, f"{_shown(value)}; accepted: {accepted}")


def _address(key: str, value: object, version: int | None = None) -> tuple[int, int]:
    """Version and number of an address."""
    accepted = {4: "an IPv4 address", 6: "an IPv6 address"}.get(version or 0, "an IPv4 or IPv6 address")
    try:
        found = ipaddress.ip_address(value) if isinstance(value, str) else _refuse(key, value, accepted)
    except ValueError:
        _refuse(key, value, accepted)
    if (version and found.version != version) or getattr(found, "scope_id", None):
        _refuse(key, value, accepted)
    return found.version, int(found)


def _key_and_salt(key: str, digits: str, lengths: tuple[int, ...]) -> tuple[bytes, bytes]:
    """A key of one of these lengths and its salt. What is wrong never shows the key itself."""
    accepted = f"hex of {' or '.join(str(length + 4) for length in lengths)} bytes, key and salt"
    digits = digits.removeprefix("0x").removeprefix("0X")
    if not re.fullmatch(r"[0-9a-fA-F]*", digits) or len(digits) % 2:
        raise _Wrong(key, f"{len(digits)} characters that aren't pairs of hex digits; accepted: {accepted}")
    raw = bytes.fromhex(digits)
    if len(raw) - 4 not in lengths:
        raise _Wrong(key, f"{len(raw)} bytes; accepted: {accepted}")
    return raw[:-4], raw[-4:]


# Wireshark


_NULL = "NULL"
_UNCHECKED = {f"ANY {8 * tag} bit authentication [no checking]": tag for tag in (8, 12, 16)}
_GCM = {f"AES-GCM with {tag} octet ICV [RFC4106]": tag for tag in (8, 12, 16)}
_GCM_ANY = "AES-GCM [RFC4106]"
_OTHERS = (
    _NULL,
    "TripleDES-CBC [RFC2451]",
    "AES-CBC [RFC3602]",
    "AES-CTR [RFC3686]",
    "DES-CBC [RFC2405]",
    "CAST5-CBC [RFC2144]",
    "BLOWFISH-CBC [RFC2451]",
    "TWOFISH-CBC",
    "AES-GCM with IIV and 16 octet ICV [RFC4106 & RFC8750]",
    "ChaCha20 with Poly1305 [RFC7634]",
    "ChaCha20 with Poly1305 and IIV [RFC7634 & RFC8750]",
)
_VERSIONS = {"IPv4": 4, "IPv6": 6, "Any": None}
_LINE = re.compile(r'"[^"]*"(?:\s*,\s*"[^"]*")*')
_NAMES = (
    "protocol",
    "source",
    "destination",
    "SPI",
    "encryption",
    "encryption key",
    "authentication",
    "authentication key",
    "SN length",
    "SN upper",
)


def parse_esp_sa(text: str, name: str) -> list[FileSa]:
    """Wireshark's table ``esp_sa``: an SA a line, 8 or 10 fields in double quotes. SaFileError: a line is wrong."""
    sas = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                sas.append(_record(line.strip()))
            except _Wrong as wrong:
                raise SaFileError(f"{name}:{number}: {wrong}") from wrong
    if not sas:
        raise SaFileError(f"{name}: no SA is in it; accepted: lines of Wireshark's table esp_sa")
    return sas


def _record(line: str) -> FileSa:
    values = [_unescaped(value) for value in re.findall(r'"([^"]*)"', line)]
    if not _LINE.fullmatch(line) or len(values) not in (8, 10):
        # The line has keys in it, so it isn't shown.
        raise _Wrong("line", f"{len(values)} fields in double quotes; accepted: 8 or 10, with commas between")
    given = dict(zip(_NAMES, values, strict=False))
    if given["protocol"] not in _VERSIONS:
        _refuse("protocol", given["protocol"], ", ".join(_VERSIONS))
    version, dst = _address("destination", given["destination"], _VERSIONS[given["protocol"]])
    if not re.fullmatch(r"[0-9a-fA-F:.*/]+", given["source"]):
        _refuse("source", given["source"], "an address, or one with *")
    cipher, key, salt, tag = _encryption(given)
    esn, upper = _numbers(given)
    return FileSa(
        Sa(
            spi=_spi(given["SPI"]),
            cipher=cipher,
            key=key,
            salt=salt,
            mode=Mode.EITHER,
            natt=Natt.EITHER,
            esn=esn,
            tag=tag,
            ipv6=version == 6,
            dst=dst,
            window=LARGEST_WINDOW if esn else 0,
            # The numbers from here on, and the window before, have the high half that is given.
            sequence=upper << 32 | LARGEST_WINDOW - 1 if esn else 0,
        ),
        tx=False,
    )


def _unescaped(value: str) -> str:
    return re.sub(r"\\x([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), value)


def _spi(value: str) -> int:
    found = int(value, 0) if re.fullmatch(r"0[xX][0-9a-fA-F]+|[1-9][0-9]{0,9}", value) else 0
    if not 0 < found < 1 << 32:
        _refuse("SPI", value, "1 to 4294967295, 0x1 to 0xffffffff")
    return found


def _encryption(given: Mapping[str, str]) -> tuple[Cipher, bytes, bytes, int]:
    """Cipher, key, salt, bytes of the tag."""
    name, authentication = given["encryption"], given["authentication"]
    if name in _OTHERS:
        return Cipher.OTHER, b"", bytes(4), 16
    if name != _GCM_ANY and name not in _GCM:
        _refuse("encryption", name, ", ".join((*_GCM, _GCM_ANY, *_OTHERS)))
    if authentication != _NULL and authentication not in _UNCHECKED:
        _refuse("authentication", authentication, f"with AES-GCM: {', '.join((_NULL, *_UNCHECKED))}")
    tag = _GCM.get(name) or _UNCHECKED.get(authentication, 16)
    key, salt = _key_and_salt("encryption key", given["encryption key"], (16, 24, 32))
    if len(key) == 24:
        # AES-192, which the engine hasn't.
        return Cipher.OTHER, b"", bytes(4), 16
    return Cipher.AES_128_GCM if len(key) == 16 else Cipher.AES_256_GCM, key, salt, tag


def _numbers(given: Mapping[str, str]) -> tuple[bool, int]:
    """ESN or not, and the high half."""
    length, upper = given.get("SN length", "32-bit"), given.get("SN upper", "0")
    if length not in ("32-bit", "64-bit"):
        _refuse("SN length", length, "32-bit, 64-bit")
    if not re.fullmatch(r"(?:0[xX])?[0-9a-fA-F]{1,8}", upper):
        _refuse("SN upper", upper, "hex, 0 to ffffffff")
    return length == "64-bit", int(upper, 16)


# TOML


_CIPHERS = {
    "aes-128-gcm": Cipher.AES_128_GCM,
    "aes-256-gcm": Cipher.AES_256_GCM,
    "sm4-gcm": Cipher.SM4_GCM,
    "other": Cipher.OTHER,
}
_MODES = {"transport": Mode.TRANSPORT, "tunnel": Mode.TUNNEL, "either": Mode.EITHER}
_DIRECTIONS = {"rx": (True, False), "tx": (False, True), "both": (True, True)}
_DF = {"copy": Df.COPY, "clear": Df.CLEAR, "set": Df.SET}
_ECN = {"copy": False, "clear": True}
_MOST = (1 << 64) - 1

_Reader = Callable[[str, Any], Any]


def _whole(low: int, high: int) -> _Reader:
    def read(key: str, value: Any) -> int:
        hexadecimal = isinstance(value, str) and re.fullmatch(r"0[xX][0-9a-fA-F]+", value)
        number = int(value, 16) if hexadecimal else value
        if type(number) is not int or not low <= number <= high:
            _refuse(key, value, f"{low} to {high}")
        return int(number)

    return read


def _word(words: Mapping[str, Any], otherwise: _Reader | None = None, also: str = "") -> _Reader:
    def read(key: str, value: Any) -> Any:
        if isinstance(value, str) and value in words:
            return words[value]
        if otherwise is None or isinstance(value, str):
            _refuse(key, value, ", ".join((*words, also) if also else words))
        try:
            return otherwise(key, value)
        except _Wrong:
            _refuse(key, value, ", ".join((*words, also)))

    return read


def _truth(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        _refuse(key, value, "true, false")
    return value


def _natt(key: str, value: Any) -> Natt:
    if value == "either":
        return Natt.EITHER
    if not isinstance(value, bool):
        _refuse(key, value, "true, false, either")
    return Natt.YES if value else Natt.NO


def _window(key: str, value: Any) -> int:
    if type(value) is not int or value % SMALLEST_WINDOW or not 0 <= value <= LARGEST_WINDOW:
        _refuse(key, value, "0, or a multiple of 32 to 1024")
    return int(value)


def _tag(key: str, value: Any) -> int:
    if type(value) is not int or value not in (8, 12, 16):
        _refuse(key, value, "8, 12, 16")
    return int(value)


def _mtu(key: str, value: Any) -> int:
    if type(value) is not int or (value and not 68 <= value <= 65535):
        _refuse(key, value, "0, 68 to 65535")
    return int(value)


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        _refuse(key, value, "text")
    return value


_DIRECT: dict[str, _Reader] = {
    "spi": _whole(1, (1 << 32) - 1),
    "mode": _word(_MODES),
    "cipher": _word(_CIPHERS),
    "tag": _tag,
    "esn": _truth,
    "natt": _natt,
    "window": _window,
    "sequence": _whole(0, _MOST),
    **{f"{kind}_{what}": _whole(0, _MOST) for kind in ("soft", "hard") for what in ("packets", "bytes")},
    "src_port": _whole(1, 65535),
    "dst_port": _whole(1, 65535),
    "dscp": _word({"copy": None}, _whole(0, 63), "0 to 63"),
    "df": _word(_DF),
    "ttl": _word({"copy": 0}, _whole(1, 255), "1 to 255"),
    "flow_label": _whole(0, (1 << 20) - 1),
    "mtu": _mtu,
    "nat_delta": _whole(0, 65535),
}
"""Keys that are fields of ``Sa`` under the same name."""

_KEYS = ("name", "direction", "src", "dst", "key", "ecn", *_DIRECT)
_NEEDED = ("spi", "dst", "cipher")


def parse_toml(text: str, name: str) -> list[FileSa]:
    """The SAs of a TOML text. SaFileError: it isn't TOML, or something in it isn't accepted."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SaFileError(f"{name}: no TOML: {error}") from error
    return _tables(tables, text, name)


def sas_of_tables(tables: Mapping[str, Any], name: str) -> list[FileSa]:
    """As ``parse_toml``, of what tomllib makes of such a text, which stands in another one."""
    return _tables(tables, "", name)


def _tables(tables: Mapping[str, Any], text: str, name: str) -> list[FileSa]:
    for key in tables:
        if key != "sa":
            raise SaFileError(f"{_place(text, name, key)}: {_key(key)}: no such key; accepted: sa")
    found = tables.get("sa", [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise SaFileError(f"{_place(text, name, 'sa')}: sa: accepted: tables, each begun with [[sa]]")
    if not found:
        raise SaFileError(f"{name}: no SA is in it; accepted: tables, each begun with [[sa]]")
    sas = []
    for index, table in enumerate(found):
        try:
            sas.append(_sa(table))
        except _Wrong as wrong:
            called = table.get("name")
            of = f" ({called})" if isinstance(called, str) and called and called.isprintable() else ""
            place = _place(text, name, wrong.key, index, len(found))
            raise SaFileError(f"{place}: sa {index}{of}: {_key(wrong.key)}: {wrong.text}") from wrong
    return sas


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key) else _shown(key)


def _place(text: str, name: str, key: str, index: int | None = None, tables: int = 0) -> str:
    """File and line, from 1, of a key in a table, else of the table's head; the file alone where the text doesn't say
    it plainly."""
    lines = text.split("\n")
    heads = [number for number, line in enumerate(lines) if re.match(r"\s*\[\[\s*sa\s*\]\]", line)]
    first, last, found = 0, len(lines), 0
    if index is not None:
        if len(heads) != tables:
            return name
        first = found = heads[index] + 1
        last = next((n for n in range(first, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
    pattern = re.compile(rf"\s*(?:\[+\s*)?[\"']?{re.escape(key)}[\"']?\s*(?:=|\])")
    line = next((n + 1 for n in range(first, last) if pattern.match(lines[n])), found)
    return f"{name}:{line}" if line else name


def _sa(table: Mapping[str, Any]) -> FileSa:
    for key in table:
        if key not in _KEYS:
            raise _Wrong(key, f"no such key; accepted: {', '.join(_KEYS)}")
    for key in _NEEDED:
        if key not in table:
            raise _Wrong(key, "it is missing")
    fields = {key: read(key, table[key]) for key, read in _DIRECT.items() if key in table}
    rx, tx = _word(_DIRECTIONS)("direction", table.get("direction", "both"))
    version, fields["dst"] = _address("dst", table["dst"])
    fields["ipv6"] = version == 6
    if "src" in table:
        _, fields["src"] = _address("src", table["src"], version)
    fields["ecn_compat"] = _word(_ECN)("ecn", table.get("ecn", "copy"))
    _together(fields, tx, "src" in table)
    if "key" in table or fields["cipher"] is not Cipher.OTHER:
        fields["key"], fields["salt"] = _toml_key(table, fields["cipher"])
    return FileSa(Sa(**fields), rx, tx, _text("name", table.get("name", "")))


def _together(fields: Mapping[str, Any], tx: bool, src: bool) -> None:
    """Keys that only go with others."""
    esn, mode = fields.get("esn", False), fields.get("mode", Mode.TUNNEL)
    if not esn and fields.get("sequence", 0) >> 32:
        _refuse("sequence", fields["sequence"], "0 to 4294967295 without esn")
    if esn and fields.get("window") == 0:
        _refuse("window", 0, "with esn: a multiple of 32 to 1024")
    if tx and mode is Mode.EITHER:
        _refuse("mode", "either", "of an SA with direction rx; else transport, tunnel")
    if tx and fields.get("natt") is Natt.EITHER:
        _refuse("natt", "either", "of an SA with direction rx; else true, false")
    if tx and mode is Mode.TUNNEL and not src:
        raise _Wrong("src", "it is missing: in tunnel mode tx writes it")


def _toml_key(table: Mapping[str, Any], cipher: Cipher) -> tuple[bytes, bytes]:
    if cipher is Cipher.OTHER:
        raise _Wrong("key", "accepted: none with cipher other")
    if not isinstance(table.get("key"), str):
        raise _Wrong("key", f"accepted: hex of {KEY_BYTES[cipher] + 4} bytes, key and salt")
    return _key_and_salt("key", table["key"], (KEY_BYTES[cipher],))


def sas_to_toml(sas: Iterable[Sa], direction: str, prefix: str = "") -> str:
    """Text that ``parse_toml`` reads back to these SAs; ``direction``: "rx" or "tx"; ``prefix``: of the tables' names,
    with its dot."""
    return "\n".join(line for sa in sas for line in _lines(sa, direction, prefix))


def _lines(sa: Sa, direction: str, prefix: str) -> Iterator[str]:
    values: dict[str, Any] = {"direction": direction, "spi": sa.spi, "dst": _shown_address(sa.dst, sa.ipv6)}
    if direction == "tx" or sa.src:
        values["src"] = _shown_address(sa.src, sa.ipv6)
    values |= {"mode": _name_of(_MODES, sa.mode), "cipher": _name_of(_CIPHERS, sa.cipher), "tag": sa.tag, "esn": sa.esn}
    if sa.cipher is not Cipher.OTHER:
        values["key"] = (sa.key + sa.salt).hex()
    values["natt"] = "either" if sa.natt is Natt.EITHER else sa.natt is Natt.YES
    values |= {"dscp": "copy" if sa.dscp is None else sa.dscp, "ecn": _name_of(_ECN, sa.ecn_compat)}
    values |= {"df": _name_of(_DF, sa.df), "ttl": sa.ttl or "copy"}
    plain = ("window", "sequence", "soft_packets", "soft_bytes", "hard_packets", "hard_bytes", "src_port", "dst_port")
    values |= {key: getattr(sa, key) for key in (*plain, "flow_label", "mtu", "nat_delta")}
    yield f"[[{prefix}sa]]"
    for key, value in values.items():
        yield f"{key} = {_toml_value(value)}"
    yield ""


def _toml_value(value: str | int) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    # TOML's numbers have 63 bits; a larger one is text.
    return str(value) if value < 1 << 63 else f'"{value:#x}"'


def _shown_address(number: int, ipv6: bool) -> str:
    return str(ipaddress.IPv6Address(number) if ipv6 else ipaddress.IPv4Address(number))


def _name_of(words: Mapping[str, Any], value: Any) -> str:
    return next(name for name, meant in words.items() if meant == value)
