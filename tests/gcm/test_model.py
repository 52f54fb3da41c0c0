"""The golden model of the GCM engine against published vectors and OpenSSL.

Sweep:    both ciphers, both key sizes, lengths of AAD and text, lengths of the tag, a stop at every byte
Stimulus: Wycheproof, NIST CAVP, Linux testmgr, GmSSL, Botan, PSP captures; hypothesis
Checks:   text, tag and verdict against the files; GHASH against Linux's vectors and, with the parts, against OpenSSL's
          tags; the state word's fields; what comes out without a key
Timing:   cycles of a packet by the page's formula
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from hypothesis import given, settings
from hypothesis import strategies as st

from models.gcm import (
    BLOCK,
    STATE_BITS,
    TAG_BYTES,
    CipherKind,
    Command,
    GcmModel,
    Key,
    Part,
    Result,
    State,
    blocks,
    ghash,
    hash_subkey,
    packet_cycles,
    seal,
)
from tb.gcm.vector_files import Vector, read_vectors
from tb.gcm.vectors import packets_of
from tests.gcm.published import FILES, ghash_vectors, vectors_of

FOLDER = "01_aes_gcm"
READABLE = {
    "nist_gcmDecrypt256_iv96_t128.rsp": (375, 375),
    "nist_gcmEncryptExtIV128_iv96_t128.rsp": (375, 375),
    "nist_gcmEncryptExtIV192_iv96_t128.rsp": (375, 0),
    "wycheproof_aes_gcm_test.json": (316, 133),
}
"""By file, its vectors and those that the engine can run."""
KEYS = st.one_of(
    st.builds(Key, st.just(CipherKind.AES), st.binary(min_size=16, max_size=16)),
    st.builds(Key, st.just(CipherKind.AES), st.binary(min_size=32, max_size=32)),
    st.builds(Key, st.just(CipherKind.SM4), st.binary(min_size=16, max_size=16)),
)
IVS = st.binary(min_size=12, max_size=12)


def run(key: Key | None, part: Part) -> Result:
    model = GcmModel()
    model.write(part.command.key, key)
    return model.run(part)


def parts_of(iv: bytes, aad: bytes, text: bytes, tag: bytes, decrypt: bool, cuts: list[int], key: Key) -> list[Result]:
    """Results of a packet that stops at these places of its text."""
    results: list[Result] = []
    state = None
    for at, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        last = len(results) == len(cuts)
        command = Command(0, iv, decrypt, save=not last, resume=state)
        results.append(run(key, Part(command, b"" if results else aad, text[at:end], tag)))
        state = results[-1].state
        # What the state word holds is enough to go on.
        if state is not None:
            state = State.of(state.word())
    return results


def check(vectors: list[Vector]) -> int:
    """Each vector that the engine can run; how many packets."""
    packets = packets_of(vectors)
    for vector, decrypt, key, part in packets:
        result = run(key, part)
        where = f"{vector.file} {vector.name}"
        if decrypt and not vector.valid:
            assert result.bad, where
            continue
        assert (result.bad, result.no_key) == (False, False), where
        assert result.text == (vector.plaintext if decrypt else vector.ciphertext), where
        if not decrypt:
            assert result.tag[: len(vector.tag)] == vector.tag, where
    return len(packets)


@pytest.mark.parametrize("file", READABLE)
def test_files_of_wycheproof_and_nist(material: Path, file: str) -> None:
    vectors = list(read_vectors(material / FOLDER / file))
    fit = [vector for vector in vectors if not vector.misfit]
    assert (len(vectors), len(fit)) == READABLE[file]
    assert check(fit) == len(fit) + sum(vector.encrypt and vector.decrypt and vector.valid for vector in fit)


@pytest.mark.parametrize("file", FILES)
def test_files_of_linux_gmssl_botan_and_psp(material: Path, file: str) -> None:
    vectors = vectors_of(material / FOLDER, file)
    assert len(vectors) == FILES[file]
    assert check(vectors) >= len([vector for vector in vectors if not vector.misfit])


def test_ghash_is_that_of_linux(material: Path) -> None:
    vectors = list(ghash_vectors(material / FOLDER))
    assert len(vectors) == 6
    for h, data, digest in vectors:
        assert ghash(h, data) == digest
        assert ghash(h, data[16:], ghash(h, data[:16])) == digest


@given(KEYS, IVS, st.binary(max_size=70), st.binary(max_size=100), st.booleans(), st.data())
@settings(max_examples=200)
def test_parts_give_what_openssl_gives_for_the_whole(
    key: Key, iv: bytes, aad: bytes, text: bytes, decrypt: bool, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    ciphertext, tag = seal(key, iv, aad, text)
    whole = run(key, Part(Command(0, iv, decrypt), aad, ciphertext if decrypt else text, tag))
    results = parts_of(iv, aad, ciphertext if decrypt else text, tag, decrypt, cuts, key)
    assert b"".join(result.text for result in results) == whole.text == (text if decrypt else ciphertext)
    assert results[-1].bad is whole.bad is False
    assert results[-1].tag == whole.tag == (bytes(BLOCK) if decrypt else tag)
    assert all(result.tag == bytes(BLOCK) for result in results[:-1])


@given(KEYS, IVS, st.binary(max_size=40), st.binary(max_size=40), st.sampled_from(TAG_BYTES), st.integers(0, 127))
def test_a_wrong_bit_of_the_tag_is_refused_and_what_lies_behind_the_tag_is_not_looked_at(
    key: Key, iv: bytes, aad: bytes, text: bytes, size: int, bit: int
) -> None:
    ciphertext, tag = seal(key, iv, aad, text)
    wrong = bytearray(tag)
    wrong[bit // 8] ^= 1 << bit % 8
    for cuts in ([], [len(text) // 2]):
        state = None
        if cuts:
            state = run(key, Part(Command(0, iv, True, save=True), aad, ciphertext[: cuts[0]])).state
            aad, ciphertext = b"", ciphertext[cuts[0] :]
        result = run(key, Part(Command(0, iv, True, size, resume=state), aad, ciphertext, bytes(wrong)))
        assert result.bad == (bit < 8 * size)
        assert result.text == text[cuts[0] if cuts else 0 :], "the text is out before the verdict is known"
        assert result.tag == bytes(BLOCK)


@given(st.integers(0, 31).filter(lambda size: size not in TAG_BYTES), st.integers(0, 15))
def test_any_other_tag_length_is_taken_as_16(size: int, at: int) -> None:
    key, iv = Key(CipherKind.AES, bytes(16)), bytes(12)
    ciphertext, tag = seal(key, iv, b"", b"text")
    wrong = bytes(octet ^ (index == at) for index, octet in enumerate(tag))
    assert not run(key, Part(Command(0, iv, True, size), b"", ciphertext, tag)).bad
    assert run(key, Part(Command(0, iv, True, size), b"", ciphertext, wrong)).bad


@pytest.mark.parametrize("decrypt", [False, True])
@pytest.mark.parametrize("save", [False, True])
def test_without_a_key_everything_out_is_0_and_bad(decrypt: bool, save: bool) -> None:
    result = run(None, Part(Command(3, bytes(12), decrypt, save=save), b"aad", b"text"))
    assert result == Result(bytes(4), bad=True, no_key=True)
    assert result.tag == bytes(16) and result.state is None


def test_a_slot_that_was_erased_has_no_key_and_the_others_keep_theirs() -> None:
    model = GcmModel(4)
    keys = [Key(CipherKind.AES, bytes([slot]) * 16) for slot in range(4)]
    for slot, key in enumerate(keys):
        model.write(slot, key)
    model.write(2, None)
    for slot, key in enumerate(keys):
        result = model.run(Part(Command(slot, bytes(12)), b"", b"x"))
        assert result.no_key == (slot == 2)
        assert slot == 2 or (result.text, result.tag) == seal(key, bytes(12), b"", b"x")


def test_an_engine_without_sm4_has_no_key_where_one_of_sm4_stands() -> None:
    model = GcmModel(2, sm4=False)
    model.write(0, Key(CipherKind.SM4, bytes(16)))
    model.write(1, Key(CipherKind.AES, bytes(16)))
    assert model.run(Part(Command(0, bytes(12)))).no_key
    assert not model.run(Part(Command(1, bytes(12)))).no_key


def test_a_state_word_has_its_fields_in_their_places() -> None:
    state = State(bytes(range(16)), b"abc", 0x1234, 2**36 - 29)
    word = state.word()
    assert word < 1 << STATE_BITS
    assert (word & 2**128 - 1).to_bytes(16, "little") == bytes(range(16))
    assert (word >> 128 & 2**128 - 1).to_bytes(16, "little") == b"abc".ljust(16, b"\0")
    assert (word >> 256 & 0xFFFF, word >> 272) == (0x1234, 2**36 - 29)
    assert State.of(word) == state


def test_a_part_goes_on_near_the_longest_text() -> None:
    """The counter of the last block is 2^32 - 1, and its lengths have all their bits."""
    key, iv, at = Key(CipherKind.AES, bytes(16)), bytes(range(12)), 2**36 - 48
    result = run(key, Part(Command(0, iv, resume=State(bytes(16), b"", 65535, at)), b"", bytes(16)))
    h = hash_subkey(key)
    lengths = (8 * 65535).to_bytes(8, "big") + (8 * (2**36 - 32)).to_bytes(8, "big")
    counters = [iv + number.to_bytes(4, "big") for number in (2**32 - 1, 1)]
    last, first = (run_block(key, counter) for counter in counters)
    assert result.text == last
    assert result.tag == bytes(x ^ y for x, y in zip(ghash(h, last + lengths), first, strict=True))


def run_block(key: Key, block: bytes) -> bytes:
    return Cipher(key.algorithm(), modes.ECB()).encryptor().update(block)


@pytest.mark.parametrize(("cipher", "size"), [(CipherKind.AES, 24), (CipherKind.AES, 0), (CipherKind.SM4, 32)])
def test_a_key_of_another_length_is_refused(cipher: CipherKind, size: int) -> None:
    with pytest.raises(ValueError, match=f"a key of {size} bytes; accepted of {cipher.name}: 16"):
        Key(cipher, bytes(size))


def test_cycles_of_a_packet_are_those_of_the_page(seed: int) -> None:
    rng = Random(seed)
    for aad, text, cycles in ((12, 48, 5), (8, 48, 5), (0, 0, 1), (0, 16, 2), (16, 0, 2), (17, 33, 6), (13, 1500, 96)):
        assert packet_cycles(Part(Command(0, bytes(12)), bytes(aad), bytes(text))) == cycles
        saved = Part(Command(0, bytes(12), save=True), bytes(aad), bytes(text))
        assert packet_cycles(saved) == max(cycles - 1, 1)
    at_lane_9 = Command(0, bytes(12), resume=State(rest=bytes(9), text_bytes=25))
    assert [packet_cycles(Part(at_lane_9, b"", bytes(size))) for size in (0, 7, 8, 23, 24)] == [2, 2, 3, 3, 4]
    for _ in range(100):
        aad, text = rng.randint(1, 100), rng.randint(0, 100)
        part = Part(Command(0, bytes(12)), bytes(aad), bytes(text))
        assert packet_cycles(part) == blocks(aad) + blocks(text) + 1
