"""``nicloop vectors``: published vectors through the RTL, and files that are wrong or damaged.

Sweep:    the files of Wycheproof and NIST CAVP, all of the package cryptography-vectors among them; vectors of Linux,
          GmSSL, Botan and PSP through the same bench; each way to damage a file, cut at each of its bytes
Stimulus: the files; small ones written here
Checks:   each vector that the engine can run is right by its file alone; counts of those and of the others by reason; a
          wrong vector is named with what was due; exit codes; one line and no traceback
Timing:   none
"""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import cryptography_vectors
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from models.gcm import CipherKind, Command, GcmModel, Key, Part, seal
from tb import build, cli
from tb.build import Design
from tb.gcm import commands, vectors
from tb.gcm.designs import player_design
from tb.gcm.player import PROGRESS
from tb.gcm.vector_files import Vector, VectorFileError, read_vectors
from tb.gcm.vectors import run_vectors
from tb.toolchain import ROOT, ToolError
from tests.gcm.bulk import Packets, chain, check
from tests.gcm.published import FILES, published, vectors_of

NIST = Path(cryptography_vectors.__file__).parent / "ciphers" / "AES" / "GCM"


def nicloop(*arguments: Any) -> Result:
    return CliRunner().invoke(cli.app, ["vectors", *map(str, arguments)])


def rows(result: Result) -> list[list[str]]:
    """Cells of the table, by two blanks and more."""
    return [re.split(r" {2,}", line.strip()) for line in result.stdout.splitlines() if re.search(r"  \d", line)]


# ------------------------------------------------------------------------------------------------ published vectors


def test_files_of_wycheproof_and_nist_pass(material: Path, verilator: str) -> None:
    folder = material / "01_aes_gcm"
    files = [*sorted(folder.glob("nist_*.rsp")), *sorted(folder.glob("wycheproof_*.json"))]
    result = nicloop(*files)
    assert result.exit_code == 0, result.output
    table = rows(result)
    assert ["nist_gcmDecrypt256_iv96_t128.rsp", "AES-256, IV 96, tag 128, decrypt", "375", "375", "0"] in table
    assert ["key of 192 bits (the engine: 128, 256)", "64", "64"] in table
    assert table[-1] == ["4 files", "1441", "883", "0", "558"]
    assert "962 packets through the RTL" in result.stdout


def test_the_whole_set_of_nist_passes(verilator: str) -> None:
    """47,250 vectors: those with an IV of 96 bits, a key of 128 or 256 and, to decrypt, a tag that the engine knows."""
    result = nicloop(*sorted(NIST.glob("*.rsp")))
    assert result.exit_code == 0, result.output
    assert rows(result)[-1] == ["6 files", "47250", "7500", "0", "39750"]


def test_symmetric_errors_show_against_third_parties_ciphertext(material: Path, verilator: str) -> None:
    """scapy#552: a wrong counter block or salt that encrypt and decrypt agree on. Linux, GmSSL, Botan, PSP captures."""
    found = published(material / "01_aes_gcm")
    assert len(found) == sum(FILES.values())
    verdict = run_vectors(found, player_design(), seed=1)
    assert not verdict.failures
    assert verdict.passed == len([vector for vector in found if not vector.misfit]) > 30
    assert {vector.cipher for vector in found if not vector.misfit} == set(CipherKind)


def test_a_stream_with_the_tag_behind_it_is_split_at_every_byte(
    material: Path, simulate: Callable[..., Any], seed: int
) -> None:
    """GmSSL's vector of a decryption that counted the tag as text, and those of RFC 8998 and GB/T 36624."""
    packets: Packets = []
    for vector in vectors_of(material / "01_aes_gcm", "gmssl_sm4_gcm.json"):
        assert vector.plaintext is not None
        key = Key(vector.cipher, vector.key)
        for cut in range(len(vector.ciphertext) + 1):
            part = Part(Command(0, vector.iv, decrypt=True), vector.aad, vector.ciphertext, vector.tag)
            pieces = chain(key, part, [cut])
            packets += pieces
            # The model is as right as the file says.
            texts = [GcmModel.process(key, piece) for _, piece in pieces]
            assert b"".join(text.text for text in texts) == vector.plaintext
            assert not texts[-1].bad
    check(simulate, packets, seed)


# --------------------------------------------------------------------------------------------------- files made here


def some(rng: Random, count: int, cipher: CipherKind = CipherKind.AES) -> list[Vector]:
    """Right vectors with keys of 128 bits."""
    made = []
    for number in range(count):
        key, iv = Key(cipher, rng.randbytes(16)), rng.randbytes(12)
        aad, text = rng.randbytes(rng.randint(0, 20)), rng.randbytes(rng.randint(1, 40))
        ciphertext, tag = seal(key, iv, aad, text)
        parts = (key.data, iv, aad, text, ciphertext, tag)
        made.append(Vector("", str(number), cipher, *parts, encrypt=True, decrypt=True))
    return made


def wycheproof(made: list[Vector], algorithm: str = "AES-GCM") -> dict[str, Any]:
    """A file of these vectors as Wycheproof has it."""
    tests = [
        {
            "tcId": int(vector.name),
            "key": vector.key.hex(),
            "iv": vector.iv.hex(),
            "aad": vector.aad.hex(),
            "msg": (vector.plaintext or b"").hex(),
            "ct": vector.ciphertext.hex(),
            "tag": vector.tag.hex(),
            "result": "valid" if vector.valid else "invalid",
        }
        for vector in made
    ]
    return {"algorithm": algorithm, "numberOfTests": len(tests), "testGroups": [{"tests": tests}]}


def cavp(made: list[Vector], decrypt: bool) -> str:
    """A file of these vectors as CAVP has it."""
    lines = ["# CAVS 14.0", ""]
    for vector in made:
        plaintext = (vector.plaintext or b"").hex()
        sizes = {
            "Keylen": vector.key,
            "IVlen": vector.iv,
            "PTlen": vector.ciphertext,
            "AADlen": vector.aad,
            "Taglen": vector.tag,
        }
        lines += [*(f"[{name} = {8 * len(value)}]" for name, value in sizes.items()), "", f"Count = {vector.name}"]
        lines += [f"Key = {vector.key.hex()}", f"IV = {vector.iv.hex()}"]
        if decrypt:
            end = f"PT = {plaintext}" if vector.valid else "FAIL"
            lines += [f"CT = {vector.ciphertext.hex()}", f"AAD = {vector.aad.hex()}", f"Tag = {vector.tag.hex()}", end]
        else:
            lines += [f"PT = {plaintext}", f"AAD = {vector.aad.hex()}"]
            lines += [f"CT = {vector.ciphertext.hex()}", f"Tag = {vector.tag.hex()}"]
        lines.append("")
    return "\n".join(lines)


def flipped(data: bytes, at: int = 0) -> bytes:
    return bytes(octet ^ (index == at) for index, octet in enumerate(data))


def test_vectors_that_are_wrong_are_named_with_what_was_due(tmp_path: Path, verilator: str, seed: int) -> None:
    """Each field of each kind of file: the vector is wrong there, and so it fails."""
    made = some(Random(seed), 8)
    encrypt, decrypt, both = (tmp_path / name for name in ("enc.rsp", "dec.rsp", "both.json"))
    made[1] = replace(made[1], ciphertext=flipped(made[1].ciphertext))
    made[3] = replace(made[3], tag=flipped(made[3].tag, 15))
    encrypt.write_text(cavp(made, decrypt=False))
    made[1] = replace(made[1], valid=False)
    made[5] = replace(made[5], plaintext=flipped(made[5].plaintext or b""))
    made[6] = replace(made[6], valid=False)
    decrypt.write_text(cavp(made, decrypt=True))
    both.write_text(json.dumps(wycheproof(made)))
    result = nicloop(encrypt, decrypt, both, "--show", 6)
    assert result.exit_code == 1
    lines = [line for line in result.stdout.splitlines() if line.startswith(str(tmp_path))]
    assert [re.sub(r"(expected|got) [0-9a-f]{6,}", r"\1 …", line[len(str(tmp_path)) + 1 :]) for line in lines] == [
        "enc.rsp: AES-128, IV 96, tag 128, encrypt: Count 1, line 23: encrypt: text: from byte 0: expected …, got …",
        "enc.rsp: AES-128, IV 96, tag 128, encrypt: Count 3, line 51: encrypt: tag: expected …, got …",
        "dec.rsp: AES-128, IV 96, tag 128, decrypt: Count 3, line 51: decrypt: expected good, got bad",
        "dec.rsp: AES-128, IV 96, tag 128, decrypt: Count 5, line 79: decrypt: text: from byte 0: expected …, got …",
        "dec.rsp: AES-128, IV 96, tag 128, decrypt: Count 6, line 93: decrypt: expected to be refused, got good",
        "both.json: AES-128, IV 96, tag 128, both ways: tcId 3: encrypt: tag: expected …, got …",
    ]
    assert made[3].tag.hex() in lines[1] and flipped(made[3].tag, 15).hex() in lines[1]
    assert "and 2 more failures (--show 8 names them)" in result.stdout
    assert rows(result)[-1] == ["3 files", "24", "16", "8", "0"]


def test_gmac_and_sm4_files_of_wycheproof_are_run(tmp_path: Path, verilator: str, seed: int) -> None:
    rng = Random(seed)
    gmac, sm4 = tmp_path / "gmac.json", tmp_path / "sm4.json"
    content = wycheproof(some(rng, 1), "AES-GMAC")
    (test,) = content["testGroups"][0]["tests"]
    _, tag = seal(Key(CipherKind.AES, bytes.fromhex(test["key"])), bytes.fromhex(test["iv"]), b"said", b"")
    test.update(msg=b"said".hex(), tag=tag.hex())
    del test["ct"], test["aad"]
    gmac.write_text(json.dumps(content))
    sm4.write_text(json.dumps(wycheproof(some(rng, 3, CipherKind.SM4), "SM4-GCM")))
    result = nicloop(gmac, sm4)
    assert result.exit_code == 0, result.output
    assert rows(result) == [
        ["gmac.json", "AES-128, IV 96, tag 128, both ways", "1", "1", "0"],
        ["sm4.json", "SM4, IV 96, tag 128, both ways", "3", "3", "0"],
        ["2 files", "4", "4", "0", "0"],
    ]


def test_a_text_longer_than_the_bench_would_wait_is_run(tmp_path: Path, verilator: str, seed: int) -> None:
    """A packet of 13,750 beats: for as many cycles no packet ends, and the engine doesn't stand still."""
    rng = Random(seed)
    (vector,) = some(rng, 1)
    text = rng.randbytes(220_000)
    ciphertext, tag = seal(Key(vector.cipher, vector.key), vector.iv, vector.aad, text)
    file = tmp_path / "long.json"
    file.write_text(json.dumps(wycheproof([replace(vector, plaintext=text, ciphertext=ciphertext, tag=tag)])))
    result = nicloop(file)
    assert result.exit_code == 0, result.output


def test_vectors_of_another_kind_are_left_out_and_the_reason_is_said(tmp_path: Path, seed: int) -> None:
    """None is left: nothing was checked, and that is no success."""
    (vector,) = some(Random(seed), 1)
    odd = [
        replace(vector, name="1", iv=vector.iv + b"\0"),
        replace(vector, name="2", key=bytes(24)),
        replace(vector, name="3", tag=vector.tag[:13], valid=False),
        replace(vector, name="4", iv=b""),
        replace(vector, name="5", aad=bytes(65536)),
    ]
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(wycheproof(odd)))
    result = nicloop(file)
    assert result.exit_code == 2
    assert result.stderr == "nicloop: nothing was checked: no vector is one that the engine can run\n"
    assert [row[-3:] for row in rows(result)[:-1]] == [
        ["IV of 0, 104 bits (the engine: 96)", "2", "2"],
        ["key of 192 bits (the engine: 128, 256)", "1", "1"],
        ["tag of 104 bits (the engine: 64, 96, 128)", "1", "1"],
        ["AAD of 65536 bytes (the engine: 65535 at most)", "1", "1"],
    ]


def test_an_odd_tag_is_run_where_it_is_made_and_not_where_it_is_checked(seed: int) -> None:
    (vector,) = some(Random(seed), 1)
    odd = replace(vector, tag=vector.tag[:13])
    assert (odd.ways, odd.group) == ((False,), "AES-128, IV 96, tag 104, encrypt")
    assert replace(vector, tag=vector.tag[:12]).ways == (False, True)
    assert replace(vector, valid=False).ways == (True,)


RSP = """[Keylen = 128]
[IVlen = 96]
[PTlen = 8]
[AADlen = 0]
[Taglen = 32]

Count = 0
Key = 11754cd72aec309bf52f7687212e8957
IV = 3c819d9a9bed087615030b65
CT = a5
AAD =
Tag = 250327c6
FAIL

"""
JSON = json.dumps(wycheproof(some(Random(1), 2)), indent=1)
DAMAGED: dict[str, tuple[str, str]] = {
    "nothing": ("", "holds no vectors: name a Wycheproof .json or a NIST CAVP .rsp file"),
    "a header alone": (RSP[:28], "holds no vectors: name a Wycheproof .json or a NIST CAVP .rsp file"),
    "prose": ("Hello\n", "line 1: 'Hello': name a Wycheproof .json or a NIST CAVP .rsp file"),
    "another rsp": (
        RSP.replace("IV = ", "IW = "),
        "line 9: 'IW = 3c819d9a9bed087615030b65' is no part of a gcmEncryptExtIV or gcmDecrypt record",
    ),
    "no hex": (
        RSP.replace("CT = a5", "CT = ax"),
        "line 10: 'CT = ax': name a Wycheproof .json or a NIST CAVP .rsp file",
    ),
    "short field": (
        RSP.replace("250327c6", "250327"),
        "line 12: Tag has 24 bits, but [Taglen = 32]: the file is damaged, fetch it again",
    ),
    "no size": (
        RSP.replace("[AADlen = 0]\n", ""),
        "line 10: AAD has 0 bits, but [AADlen = missing]: the file is damaged, fetch it again",
    ),
    "no tag": (
        RSP.replace("Tag = 250327c6\n", ""),
        "line 7: Count = 0 has no Tag: the file is damaged, fetch it again",
    ),
    "no verdict": (RSP.replace("FAIL\n", ""), "line 7: Count = 0 has no PT: the file is damaged, fetch it again"),
    "twice": (
        RSP.replace("CT = a5\n", "CT = a5\nCT = a5\n"),
        "line 11: a second CT in Count = 0: the file is damaged, fetch it again",
    ),
    "no blank line": (
        RSP.replace("FAIL\n\n", "FAIL\nCount = 1\n"),
        "line 7: Count = 0 has no end: the file is damaged, fetch it again",
    ),
    "a header in a record": (
        RSP.replace("CT = a5\n", "[PTlen = 8]\n"),
        "line 7: Count = 0 has no end: the file is damaged, fetch it again",
    ),
    "half a byte": (
        RSP.replace("[PTlen = 8]", "[PTlen = 12]").replace("CT = a5", "CT = a5c"),
        "line 7: Count = 0: CT is 'a5c', not pairs of hexadecimal digits: the file is damaged, fetch it again",
    ),
    "a size of thousands of digits": (RSP + f"[Keylen = {'1' * 5000}]\n", "line 15: '[Keylen = 111"),
    "cut json": (JSON[:200], "line 11, column"),
    "a list": ("[1]", "algorithm is None: name a Wycheproof file of AES-GCM, AES-GMAC, SM4-GCM"),
    "another algorithm": (
        JSON.replace("AES-GCM", "AES-CCM"),
        "algorithm is 'AES-CCM': name a Wycheproof file of AES-GCM, AES-GMAC, SM4-GCM",
    ),
    "an algorithm that is a list": (
        JSON.replace('"AES-GCM"', "[]"),
        "algorithm is []: name a Wycheproof file of AES-GCM, AES-GMAC, SM4-GCM",
    ),
    "nested too deep": (
        "[" * 100_000,
        "a number of thousands of digits, or nested too deep: the file is damaged, fetch it again",
    ),
    "a number of thousands of digits": (
        JSON.replace('"tcId": 1', f'"tcId": {"1" * 5000}'),
        "a number of thousands of digits, or nested too deep: the file is damaged, fetch it again",
    ),
    "no groups": ('{"algorithm": "AES-GCM"}', "testGroups is missing or no list: the file is damaged, fetch it again"),
    "a group that is none": (
        '{"algorithm": "AES-GCM", "testGroups": [1]}',
        "testGroups[0] is no object: the file is damaged, fetch it again",
    ),
    "no tests": (
        '{"algorithm": "AES-GCM", "testGroups": [{}]}',
        "testGroups[0].tests is missing or no list: the file is damaged, fetch it again",
    ),
    "no tcId": (
        JSON.replace('"tcId": 1', '"tcId": null'),
        "testGroups[0].tests[1] has no tcId: the file is damaged, fetch it again",
    ),
    "no iv": (JSON.replace('"iv"', '"vi"'), "tcId 0: iv is missing: the file is damaged, fetch it again"),
    "odd hex": (
        re.sub(r'"tag": "..', '"tag": "0', JSON),
        "not pairs of hexadecimal digits: the file is damaged, fetch it again",
    ),
    "a number": (
        re.sub(r'"aad": "\w*"', '"aad": 12', JSON),
        "tcId 0: aad is '12', not pairs of hexadecimal digits: the file is damaged, fetch it again",
    ),
    "no result": (
        JSON.replace('"valid"', '"perhaps"'),
        "tcId 0: result is 'perhaps', not valid or invalid: the file is damaged, fetch it again",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_one_line_with_its_place(tmp_path: Path, name: str) -> None:
    text, said = DAMAGED[name]
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(VectorFileError) as error:
        list(read_vectors(file))
    assert str(error.value).startswith(f"{file}: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_text_is_one_line_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "file.rsp"
    file.write_bytes(b"# CAVS\n[Keylen = \xff128]\n")
    result = nicloop(file)
    said = f"nicloop: {file}: line 2: byte 0xff is no text: the file is damaged, fetch it again\n"
    assert (result.exit_code, result.stderr) == (2, said)


def test_the_mark_of_utf_8_and_ends_of_lines_of_two_bytes_are_read_over(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for text in (RSP, JSON):
        file.write_text(text)
        whole = list(read_vectors(file))
        file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
        assert whole and list(read_vectors(file)) == whole


def test_a_name_that_cannot_be_printed_is_quoted_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "a\nb\udcff"
    result = nicloop(file)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "/a\\nb\\udcff': No such file or directory" in result.stderr


def test_a_file_that_is_not_there_or_is_a_folder_is_one_line(tmp_path: Path) -> None:
    result = nicloop(tmp_path / "absent.rsp", tmp_path)
    remedy = "name a Wycheproof .json or a NIST CAVP .rsp file"
    assert (result.exit_code, result.stderr) == (
        2,
        f"nicloop: {tmp_path / 'absent.rsp'}: No such file or directory: {remedy}\n"
        f"nicloop: {tmp_path}: Is a directory: {remedy}\n",
    )


def test_a_file_that_was_cut_anywhere_is_read_up_to_there_or_refused(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "cut"
    for text in (cavp(some(Random(seed), 2), True), json.dumps(wycheproof(some(Random(seed), 2)))):
        whole = 0
        for end in range(len(text)):
            file.write_text(text[:end])
            found: list[Vector] = []
            try:
                found.extend(read_vectors(file))
                whole += 1
            except VectorFileError as error:
                assert str(error).startswith(f"{file}: "), end
            assert len(found) <= 2
        # Between two records and in the blank lines at the end nothing is missing that one could see.
        assert whole < 60


def test_vectors_before_the_damage_are_run_and_a_mismatch_counts_for_more(
    tmp_path: Path, verilator: str, seed: int
) -> None:
    made = some(Random(seed), 3)
    file = tmp_path / "cut.rsp"
    text = cavp(made, decrypt=True)
    file.write_text(text[: text.rindex("Tag")])
    result = nicloop(file)
    assert (result.exit_code, rows(result)[-1]) == (2, ["1 file", "2", "2", "0", "0"])
    assert "Count = 2 has no Tag" in result.stderr
    made[0] = replace(made[0], valid=False)
    text = cavp(made, decrypt=True)
    file.write_text(text[: text.rindex("Tag")])
    result = nicloop(file)
    assert (result.exit_code, rows(result)[-1]) == (1, ["1 file", "2", "1", "1", "0"])
    assert "Count = 2 has no Tag" in result.stderr


# ------------------------------------------------------------------------------------------------------ the machine


def test_a_missing_tool_is_exit_code_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ToolError("g++ is missing: apt-get install g++")

    file = tmp_path / "file.json"
    # Packets of its own: those of another test that runs meanwhile would lie in the same folder.
    file.write_text(json.dumps(wycheproof(some(Random(2), 1))))
    monkeypatch.setattr(vectors, "simulate", refuse)
    monkeypatch.setattr(cli, "guard", lambda: None)
    monkeypatch.setattr(sys, "argv", ["nicloop", "vectors", str(file)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3
    assert capsys.readouterr().err == "nicloop: g++ is missing: apt-get install g++\n"


def dead(tmp_path: Path) -> Design:
    """An engine with the ports of ``gcm`` that gets ready, takes keys and does nothing with them."""
    text = (ROOT / "rtl" / "gcm" / "gcm.v").read_text()
    header = text[re.search(r"^module gcm\b", text, re.MULTILINE).start() :]  # type: ignore[union-attr]
    header = re.sub(r"\boutput\s+reg\b", "output wire", header[: header.index(");") + 2])
    outputs = re.findall(r"output\s+wire\s*(?:\[[^\]]*\])?\s*(\w+)", header)
    lines = [f"assign {name} = {1 if name in ('ready', 'key_ready') else 0};" for name in outputs]
    file = tmp_path / "gcm.v"
    file.write_text("\n".join([header, *lines, "endmodule\n"]))
    return replace(player_design(), name="gcm/dead", sources=(file, player_design().sources[-1]))


def test_an_engine_that_stands_still_is_said_with_what_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verilator: str
) -> None:
    monkeypatch.setattr(build, "OBSERVERS", [])
    monkeypatch.setattr(commands, "player_design", lambda: dead(tmp_path))
    file = tmp_path / "file.json"
    file.write_text(JSON)
    result = nicloop(file)
    assert result.exit_code == 1
    said = "stuck after 0 keys, 0 beats in, 0 of 4 out: key_valid 0, key_ready 1, s_cmd_valid 0, s_cmd_ready 0, "
    assert said + "s_axis_tvalid 1, s_axis_tready 0, m_axis_tvalid 0" in result.stderr
    assert f"next to come out: {file}: tcId 0\n" in result.stderr
    assert "Traceback" not in result.output


def test_progress_is_shown_where_a_person_looks(tmp_path: Path) -> None:
    text = io.StringIO()
    run: Any = object()

    def work() -> Any:
        (tmp_path / PROGRESS).write_text('{"packets": 3}')
        limit = time.monotonic() + 60
        while "3/7" not in text.getvalue() and time.monotonic() < limit:
            time.sleep(0.05)
        return run

    assert commands._watched(Console(file=text, force_terminal=True, width=100))(work, tmp_path, 7) is run
    assert "3/7" in text.getvalue()
    assert commands._watched(Console(file=io.StringIO()))(lambda: run, tmp_path, 7) is run
