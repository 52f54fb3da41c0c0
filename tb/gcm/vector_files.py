"""Files of published test vectors: Wycheproof's JSON (AES-GCM, GMAC, SM4-GCM) and NIST CAVP's ``gcm*.rsp``."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from models.gcm import BLOCK, MOST_AAD, TAG_BYTES, CipherKind

__all__ = ["Misfit", "Vector", "VectorFileError", "read_vectors"]

IV_BYTES = 12


class VectorFileError(Exception):
    """A file that can't be read as vectors: the message names the file, the place and what to do."""


class Misfit(NamedTuple):
    """Why the engine can't run a vector: what is wrong, with a place for the length that is."""

    kind: str
    length: int


@dataclass(frozen=True, slots=True)
class Vector:
    """A published vector. name: as its file has it (``tcId 3``, ``Count 4, line 812``). plaintext: None where the file
    says only that it must be refused. encrypt, decrypt: what the vector is for. valid: the tag is right."""

    file: str
    name: str
    cipher: CipherKind
    key: bytes
    iv: bytes
    aad: bytes
    plaintext: bytes | None
    ciphertext: bytes
    tag: bytes
    encrypt: bool
    decrypt: bool
    valid: bool = True

    @property
    def group(self) -> str:
        """What it has in common with its neighbours in a table."""
        decrypt = self.decrypt and len(self.tag) in TAG_BYTES
        way = "both ways" if self.encrypt and decrypt else "encrypt" if self.encrypt else "decrypt"
        size = "" if self.cipher is CipherKind.SM4 else f"-{8 * len(self.key)}"
        return f"{self.cipher.name}{size}, IV {8 * len(self.iv)}, tag {8 * len(self.tag)}, {way}"

    @property
    def ways(self) -> tuple[bool, ...]:
        """The directions, decrypt or not, in which the engine can run it: encrypted, any tag is the first bytes of the
        whole one."""
        encrypt = (False,) if self.encrypt and self.valid and 0 < len(self.tag) <= BLOCK else ()
        decrypt = (True,) if self.decrypt and len(self.tag) in TAG_BYTES else ()
        return encrypt + decrypt

    @property
    def misfit(self) -> Misfit | None:
        """Why the engine can't run it; None: it can."""
        if len(self.iv) != IV_BYTES:
            return Misfit("IV of {} bits (the engine: 96)", 8 * len(self.iv))
        lengths = (16, 32) if self.cipher is CipherKind.AES else (16,)
        if len(self.key) not in lengths:
            accepted = ", ".join(str(8 * length) for length in lengths)
            return Misfit(f"key of {{}} bits (the engine: {accepted})", 8 * len(self.key))
        if len(self.aad) > MOST_AAD:
            return Misfit(f"AAD of {{}} bytes (the engine: {MOST_AAD} at most)", len(self.aad))
        return None if self.ways else Misfit("tag of {} bits (the engine: 64, 96, 128)", 8 * len(self.tag))


def read_vectors(path: str | Path) -> Iterator[Vector]:
    """The vectors of a file, in its order, up to what is wrong with it.

    VectorFileError: it can't be opened, is damaged, or holds something else.
    """
    name = str(path) if str(path).isprintable() else repr(str(path))
    try:
        content = Path(path).read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise VectorFileError(f"{name}: {error.strerror}: name a Wycheproof .json or a NIST CAVP .rsp file") from error
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise VectorFileError(f"{name}: line {line}: byte {content[error.start]:#04x} is no text: {_AGAIN}") from error
    start = text.lstrip()
    is_json = start[:1] in ("{", "[") and not _HEADER.match(start)
    number = 0
    for vector in _wycheproof(name, text) if is_json else _cavp(name, text):
        number += 1
        yield vector
    if not number:
        raise VectorFileError(f"{name}: holds no vectors: name a Wycheproof .json or a NIST CAVP .rsp file")


_AGAIN = "the file is damaged, fetch it again"

# ------------------------------------------------------------------------------------------------------- Wycheproof

_ALGORITHMS = {"AES-GCM": CipherKind.AES, "AES-GMAC": CipherKind.AES, "SM4-GCM": CipherKind.SM4}


def _wycheproof(name: str, text: str) -> Iterator[Vector]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise VectorFileError(f"{name}: line {error.lineno}, column {error.colno}: {error.msg}: {_AGAIN}") from error
    except (ValueError, RecursionError) as error:
        raise VectorFileError(f"{name}: a number of thousands of digits, or nested too deep: {_AGAIN}") from error
    algorithm = content.get("algorithm") if isinstance(content, dict) else None
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        known = ", ".join(_ALGORITHMS)
        raise VectorFileError(f"{name}: algorithm is {algorithm!r}: name a Wycheproof file of {known}")
    groups = content.get("testGroups")
    for at, group in enumerate(_list(name, "testGroups", groups)):
        where = f"testGroups[{at}]"
        if not isinstance(group, dict):
            raise VectorFileError(f"{name}: {where} is no object: {_AGAIN}")
        for index, test in enumerate(_list(name, f"{where}.tests", group.get("tests"))):
            if not isinstance(test, dict) or not isinstance(test.get("tcId"), int):
                raise VectorFileError(f"{name}: {where}.tests[{index}] has no tcId: {_AGAIN}")
            yield _wycheproof_vector(name, algorithm, test)


def _list(name: str, where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise VectorFileError(f"{name}: {where} is missing or no list: {_AGAIN}")
    return value


def _wycheproof_vector(name: str, algorithm: str, test: Mapping[str, Any]) -> Vector:
    tc_id = f"tcId {test['tcId']}"

    def octets(field: str) -> bytes:
        return _octets(test.get(field), f"{name}: {tc_id}: {field}")

    result = test.get("result")
    if result not in ("valid", "invalid", "acceptable"):
        raise VectorFileError(f"{name}: {tc_id}: result is {result!r}, not valid or invalid: {_AGAIN}")
    mac = algorithm == "AES-GMAC"
    return Vector(
        name,
        tc_id,
        _ALGORITHMS[algorithm],
        octets("key"),
        octets("iv"),
        octets("msg" if mac else "aad"),
        b"" if mac else octets("msg"),
        b"" if mac else octets("ct"),
        octets("tag"),
        encrypt=True,
        decrypt=True,
        valid=result != "invalid",
    )


def _octets(value: Any, where: str) -> bytes:
    if not isinstance(value, str) or not re.fullmatch(r"([0-9a-fA-F]{2})*", value):
        shown = "missing" if value is None else f"{str(value)[:40]!r}, not pairs of hexadecimal digits"
        raise VectorFileError(f"{where} is {shown}: {_AGAIN}")
    return bytes.fromhex(value)


# -------------------------------------------------------------------------------------------------------- NIST CAVP

_HEADER = re.compile(r"\[(\w+) = ([0-9]{1,9})\]")
_FIELD = re.compile(r"(\w+) = ?([0-9a-fA-F]*)")
_FIELDS = ("Key", "IV", "CT", "AAD", "Tag")
_SIZES = {"Key": "Keylen", "IV": "IVlen", "PT": "PTlen", "CT": "PTlen", "AAD": "AADlen", "Tag": "Taglen"}


def _cavp(name: str, text: str) -> Iterator[Vector]:
    """Records are told apart by their order: of a file to encrypt PT comes before CT, of one to decrypt it (or FAIL) is
    the last line."""
    sizes: dict[str, int] = {}
    record: dict[str, str] = {}
    start = 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        line = line.strip()
        where = f"{name}: line {number}"
        if header := _HEADER.fullmatch(line):
            if record:
                raise VectorFileError(f"{name}: line {start}: Count = {record['Count']} has no end: {_AGAIN}")
            sizes[header[1]] = int(header[2])
        elif line == "FAIL" and record:
            record["FAIL"] = ""
        elif field := _FIELD.fullmatch(line):
            if field[1] == "Count":
                if record:
                    raise VectorFileError(f"{name}: line {start}: Count = {record['Count']} has no end: {_AGAIN}")
                start = number
            elif not record or field[1] not in (*_FIELDS, "PT"):
                raise VectorFileError(f"{where}: {line[:60]!r} is no part of a gcmEncryptExtIV or gcmDecrypt record")
            elif field[1] in record:
                raise VectorFileError(f"{where}: a second {field[1]} in Count = {record['Count']}: {_AGAIN}")
            elif field[1] in _SIZES and sizes.get(_SIZES[field[1]]) != 4 * len(field[2]):
                said = f"[{_SIZES[field[1]]} = {sizes.get(_SIZES[field[1]], 'missing')}]"
                raise VectorFileError(f"{where}: {field[1]} has {4 * len(field[2])} bits, but {said}: {_AGAIN}")
            record[field[1]] = field[2]
        elif line and not line.startswith("#"):
            raise VectorFileError(f"{where}: {line[:60]!r}: name a Wycheproof .json or a NIST CAVP .rsp file")
        if record and not line:
            yield _cavp_vector(name, start, record)
            record = {}


def _cavp_vector(name: str, start: int, record: Mapping[str, str]) -> Vector:
    count = f"Count {record['Count']}, line {start}"
    refused = "FAIL" in record
    missing = [field for field in (*_FIELDS, *(() if refused else ("PT",))) if field not in record]
    if missing:
        raise VectorFileError(f"{name}: line {start}: Count = {record['Count']} has no {missing[0]}: {_AGAIN}")
    order = list(record)
    encrypt = not refused and order.index("PT") < order.index("CT")

    def octets(field: str) -> bytes:
        return _octets(record[field], f"{name}: line {start}: Count = {record['Count']}: {field}")

    key, iv, ciphertext, aad, tag = (octets(field) for field in _FIELDS)
    plaintext = None if refused else octets("PT")
    return Vector(
        name, count, CipherKind.AES, key, iv, aad, plaintext, ciphertext, tag, encrypt, not encrypt, not refused
    )
