"""Published vectors that lie in files of their own formats: Linux, GmSSL, Botan, PSP captures."""

from __future__ import annotations

import gzip
import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from models.gcm import CipherKind
from tb.gcm.vector_files import Vector

__all__ = ["FILES", "ghash_vectors", "published", "vectors_of"]

FILES = {
    "linux_testmgr_aes_gcm.json": 13,
    "linux_testmgr_sm4_gcm_rfc8998.json": 1,
    "gmssl_sm4_gcm.json": 4,
    "botan_gcm.vec": 50,
    "scapy__psp_v4_encrypt_transport_crypt_off_128.pcap.gz": 1,
    "scapy__psp_v4_encrypt_transport_crypt_off_128_vc.pcap.gz": 1,
    "scapy__psp_v4_encrypt_transport_crypt_off_256.pcap.gz": 1,
}
"""Vectors by file; of Botan's those of AES and SM4."""


def _vector(
    file: str, name: str, cipher: CipherKind, key: str, iv: str, aad: str, plaintext: str, ciphertext: str, tag: str
) -> Vector:
    octets = bytes.fromhex
    parts = octets(key), octets(iv), octets(aad), octets(plaintext), octets(ciphertext), octets(tag)
    return Vector(file, name, cipher, *parts, encrypt=True, decrypt=True)


def _json(folder: Path, file: str) -> list[dict[str, Any]]:
    vectors: list[dict[str, Any]] = json.loads((folder / file).read_text())["vectors"]
    return vectors


def ghash_vectors(folder: Path) -> Iterator[tuple[bytes, bytes, bytes]]:
    """H, data and digest of Linux."""
    for entry in _json(folder, "linux_testmgr_ghash.json"):
        yield bytes.fromhex(entry["H"]), bytes.fromhex(entry["data"]), bytes.fromhex(entry["digest"])


def _linux(folder: Path, file: str) -> Iterator[Vector]:
    cipher = CipherKind.SM4 if "sm4" in file else CipherKind.AES
    for index, entry in enumerate(_json(folder, file)):
        size = len(entry["pt"])
        ciphertext, tag = entry["ct_tag"][:size], entry["ct_tag"][size:]
        yield _vector(file, str(index), cipher, entry["key"], entry["iv"], entry["aad"], entry["pt"], ciphertext, tag)


def _gmssl(folder: Path, file: str) -> Iterator[Vector]:
    for entry in _json(folder, file):
        fields = (entry[name] for name in ("key", "iv", "aad", "in", "out", "tag"))
        yield _vector(file, entry["name"], CipherKind.SM4, *fields)


def _botan(folder: Path, file: str) -> Iterator[Vector]:
    cipher, tag_bytes, fields = None, 16, dict[str, str]()
    for line in (folder / file).read_text().splitlines():
        if header := re.fullmatch(r"\[(\w+?)(?:-\d+)?/GCM(?:\((\d+)\))?\]", line):
            cipher = {"AES": CipherKind.AES, "SM4": CipherKind.SM4}.get(header[1])
            tag_bytes = int(header[2] or 16)
        elif field := re.fullmatch(r"(\w+)\s*=\s*(\w*)", line):
            fields[field[1]] = field[2]
            if field[1] == "Out":
                if cipher is not None:
                    at = len(field[2]) - 2 * tag_bytes
                    yield _vector(
                        file, fields["Key"], cipher, fields["Key"], fields["Nonce"], fields.get("AD", ""),
                        fields["In"], field[2][:at], field[2][at:],
                    )  # fmt: skip
                fields = {}


def _frames(path: Path) -> Iterator[bytes]:
    content = gzip.decompress(path.read_bytes())
    at = 24
    while at < len(content):
        (size,) = struct.unpack_from("<I", content, at + 8)
        yield content[at + 16 : at + 16 + size]
        at += 16 + size


def _psp(folder: Path, file: str) -> Iterator[Vector]:
    """PSP transport: 16 bytes of header and what the crypt offset leaves clear are AAD, the tag ends the packet. What
    was encrypted is the end of the clear capture's frame."""
    keys = json.loads((folder / "psp_keys.json").read_text())
    key = keys["key_256" if "256" in file else "key_128"]
    clear = _frames(folder / "scapy__psp_v4_cleartext.pcap.gz")
    for index, frame in enumerate(_frames(folder / file)):
        psp = frame[14 + 20 + 8 :]
        at = 16 + 4 * (psp[2] & 0x3F)
        aad, sealed, tag = psp[:at], psp[at:-16], psp[-16:]
        plaintext = next(clear)[-len(sealed) :]
        parts = (part.hex() for part in (psp[4:16], aad, plaintext, sealed, tag))
        yield _vector(file, str(index), CipherKind.AES, key, *parts)


def vectors_of(folder: Path, file: str) -> list[Vector]:
    """The vectors of one of ``FILES``."""
    if file.startswith("scapy__psp"):
        return list(_psp(folder, file))
    return list({"linux": _linux, "gmssl": _gmssl, "botan": _botan}[file.split("_")[0]](folder, file))


def published(folder: Path) -> list[Vector]:
    """All of them."""
    return [vector for file in FILES for vector in vectors_of(folder, file)]
