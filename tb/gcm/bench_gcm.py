"""Bench of ``gcm``: packets of every kind against the golden model, keys that change, parts, back-pressure, resets."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from itertools import pairwise
from typing import Any

import cocotb
from cocotb.task import Task

from models.gcm import (
    BLOCK,
    COMMAND_CYCLES,
    KEY_WAIT_CYCLES,
    TAG_BYTES,
    Command,
    Part,
    blocks,
    key_cycles,
    latency_cycles,
    packet_cycles,
)
from tb.gcm.env import KINDS, PORTS, Done, GcmEnv, test
from tb.lib import cover
from tb.lib.pause import PAUSES

__all__: list[str] = []

seen_reset = cover.point("gcm.reset", ["idle", "key", "aad", "text", "out"])


def mixed(env: GcmEnv, count: int, longest: int = 100) -> list[Part]:
    """Packets of random keys and lengths; some of their tags are wrong."""
    parts = []
    for _ in range(count):
        rng = env.rng
        size = rng.choice(TAG_BYTES)
        flip = rng.randrange(128) if rng.random() < 0.2 else None
        short = rng.random() < 0.3
        aad, text = (rng.randint(0, 17 if short else longest) for _ in range(2))
        parts.append(env.part(aad=aad, text=text, tag_bytes=size, flip=flip))
    return parts


@test
async def packets_of_all_kinds_in_any_order_are_as_the_model_says(env: GcmEnv) -> None:
    await env.fill(24)
    parts = mixed(env, 150)
    # An order in which each kind follows each other, whatever the rest drew.
    parts += [env.part(slot, 8, 40) for slot in (0, 0, 1, 1, 2, 2, 0, 2, 1, 0)]
    assert len(await env.run(parts)) == len(parts)


@test
async def every_length_of_aad_and_of_text_up_to_130(env: GcmEnv) -> None:
    """wolfSSL#10439 (AAD of 16, 32, 48 bytes) and its mirror, text that is no multiple of 16, are among them."""
    await env.fill(12)
    parts = []
    for size in range(131):
        for decrypt in (False, True):
            other = env.rng.choice((0, env.rng.randint(1, 48)))
            parts += [env.part(aad=size, text=other, decrypt=decrypt), env.part(aad=other, text=size, decrypt=decrypt)]
    env.rng.shuffle(parts)
    await env.run(parts)


@test
async def aad_of_whole_blocks_hashes_no_block_more(env: GcmEnv) -> None:
    """wolfSSL#10439, #2123: lengths at a block's edge, for both fields."""
    await env.fill(3)
    sizes = (0, 1, 15, 16, 17, 32, 48, 64)
    await env.run(
        env.part(slot, aad, text, decrypt=decrypt)
        for slot in range(3)
        for aad in sizes
        for text in (0, 1, 15, 16, 17, 31, 32, 33)
        for decrypt in (False, True)
    )


@test
async def long_packets(env: GcmEnv) -> None:
    """Frames of a network, and AAD of 65,535 bytes."""
    await env.fill(3)
    for slot in range(3):
        await env.run(env.part(slot, 12, size) for size in (1440, 1500, 4099, 9216))
    await env.run([env.part(0, 65535, 20), env.part(1, 255, 0), env.part(1, 256, 16)])


@test
async def each_bit_of_the_tag_counts_up_to_its_length_and_none_behind(env: GcmEnv) -> None:
    """128 rejects of 128 wrong bits, AES and SM4; of a tag of 8 or 12 bytes those that it has."""
    await env.fill(3)
    for slot in range(3):
        for size in TAG_BYTES:
            bits = range(128) if slot != 1 else range(0, 128, 7)
            done = await env.run(env.part(slot, 3, 5, decrypt=True, tag_bytes=size, flip=bit) for bit in bits)
            assert [one.result.bad for one in done] == [bit < 8 * size for bit in bits]


@test
async def a_wrong_bit_in_each_byte_of_the_tag_is_refused(env: GcmEnv) -> None:
    """AArch64cryptolib#5: a verdict that looks at no byte accepts everything."""
    await env.fill(3)
    for aad, text in ((8, 0), (8, 16), (8, 30), (0, 0)):
        for slot in range(3):
            done = await env.run(
                env.part(slot, aad, text, decrypt=True, flip=8 * octet + env.rng.randrange(8)) for octet in range(16)
            )
            assert [one.result.bad for one in done] == [True] * 16
            assert not (await env.run([env.part(slot, aad, text, decrypt=True)]))[0].result.bad


@test
async def tags_of_8_12_and_16_bytes_stand_side_by_side(env: GcmEnv) -> None:
    """scapy#4903: a length that is ignored."""
    await env.fill(3)
    cases = [(size, bit) for size in TAG_BYTES for bit in (None, 8 * size - 1, 8 * size) if bit != 128]
    for _ in range(4):
        env.rng.shuffle(cases)
        done = await env.run(env.part(decrypt=True, tag_bytes=size, flip=bit) for size, bit in cases)
        assert [one.result.bad for one in done] == [bit == 8 * size - 1 for size, bit in cases]


@test
async def any_other_tag_length_is_taken_as_16(env: GcmEnv) -> None:
    await env.fill(2)
    sizes = [size for size in range(32) if size not in TAG_BYTES]
    done = await env.run(env.part(0, decrypt=True, tag_bytes=size, flip=bit) for size in sizes for bit in (None, 127))
    assert [one.result.bad for one in done] == [False, True] * len(sizes)


@test
async def text_or_aad_that_was_changed_is_refused(env: GcmEnv) -> None:
    """A bit of AAD, IV or ciphertext, a byte more and a byte less."""
    await env.fill(3)
    parts = []
    for slot in range(3):
        part = env.part(slot, 21, 37, decrypt=True)
        for at in range(0, 21, 5):
            parts.append(Part(part.command, flipped(part.aad, at), part.text, part.tag))
        for at in range(0, 37, 6):
            parts.append(Part(part.command, part.aad, flipped(part.text, at), part.tag))
        parts.append(Part(Command(slot, flipped(part.command.iv, 11), True), part.aad, part.text, part.tag))
        parts.append(Part(part.command, part.aad + b"\0", part.text, part.tag))
        parts.append(Part(part.command, part.aad, part.text[:-1], part.tag))
        parts.append(Part(part.command, part.aad, part.text + b"\0", part.tag))
    assert all(one.result.bad for one in await env.run(parts))


def flipped(data: bytes, at: int) -> bytes:
    return bytes(octet ^ (1 if index == at else 0) for index, octet in enumerate(data))


# ------------------------------------------------------------------------------------------------------------- keys


@test
async def a_slot_without_a_key_gives_zeros_and_says_so(env: GcmEnv) -> None:
    """Never written, erased, and between packets that have one; written again it is as new."""
    await env.fill(6)
    for slot in (1, 3, 5):
        env.write(slot, None)
    await env.written()
    absent = (1, 3, 5, 6, env.slots - 1)
    parts = [
        env.part(slot, aad, text, decrypt=bool(text & 1))
        for aad, text in ((0, 0), (0, 33), (8, 48), (20, 0))
        for slot in (0, 1, 2, 3, 4, 5, 6, env.slots - 1)
    ]
    done = await env.run(parts)
    assert [one.result.no_key for one in done] == [part.command.key in absent for part in parts]
    for slot in (1, 3, 5):
        env.write(slot, env.key())
    await env.written()
    done = await env.run(env.part(slot, 8, 48) for slot in range(6))
    assert not any(one.result.bad for one in done)


@test
async def a_key_of_sm4_is_none_in_an_engine_without_it(env: GcmEnv) -> None:
    """Parameter SM4_EN; the keys of AES around it are as they were."""
    for slot in range(6):
        env.write(slot, env.key("SM4" if slot % 2 else "AES-128"))
    await env.written()
    done = await env.run(env.part(slot, 8, size) for size in (0, 40) for slot in range(6))
    assert [one.result.no_key for one in done] == [bool(slot % 2) and not env.sm4 for slot in range(6)] * 2


@test
async def every_slot_of_the_table_holds_its_own_key(env: GcmEnv) -> None:
    await env.fill()
    slots = list(range(env.slots))
    env.rng.shuffle(slots)
    done = await env.run(env.part(slot, 8, 16) for slot in slots)
    assert not any(one.result.bad for one in done)


@test
async def keys_change_under_traffic_between_two_commands(env: GcmEnv) -> None:
    """Written, written again and erased while packets use them; a packet keeps the key that its command took."""
    await env.fill(8)
    for _ in range(120):
        env.write(env.rng.randrange(8), env.key() if env.rng.random() < 0.75 else None)
        for slot in env.rng.sample(range(8), 3):
            env.send([env.part(slot, env.rng.randint(0, 20), env.rng.randint(0, 50))])
        await env.wires.cycles(env.rng.randint(0, 30))
    await env.finish()


@test
async def a_key_acts_on_the_commands_from_its_end_on(env: GcmEnv) -> None:
    """One slot, a command every other cycle, and keys as fast as they are taken: the scoreboard knows which packet must
    have which key."""
    await env.fill(1)
    used = set()
    for pause in ("none", "random", "gap"):
        env.pause("command", pause)
        env.send(env.part(0, 0, 0, decrypt=False) for _ in range(150))
        for index in range(20):
            env.write(0, env.key() if index % 5 != 4 else None)
        used |= {one.key for one in await env.finish()}
        env.write(0, env.key())
        await env.written()
    assert len(used) > 12, f"packets met {len(used)} keys"


# ------------------------------------------------------------------------------------------------- pauses and parts


@test
async def every_pause_generator_on_every_port(env: GcmEnv) -> None:
    await env.fill(9)
    for port in PORTS:
        for generator in PAUSES:
            env.pause(port, generator)
            for _ in range(2):
                env.write(env.rng.randrange(9), env.key())
            await env.run(mixed(env, 8))
        env.pause(port, "none")
    assert env.wires.stalls


@test
async def random_pauses_on_all_ports_at_once(env: GcmEnv) -> None:
    await env.fill(9)
    for _ in range(12):
        for port in PORTS:
            env.pause(port, env.rng.choice(list(PAUSES)))
        env.write(env.rng.randrange(9), env.key())
        await env.run(mixed(env, 10))


@test
async def a_packet_stops_and_goes_on_at_every_byte(env: GcmEnv) -> None:
    """Both directions, all kinds, with AAD and without; several streams take turns."""
    await env.fill(6)
    for size, aad in ((35, 20), (32, 0), (17, 5)):
        streams = []
        for cut in range(size + 1):
            part = env.part(None, aad, size, flip=env.rng.choice((None, None, 77)))
            streams.append(env.stream(part, [cut]))
        await turns(env, streams)
        await env.finish()


@test
async def a_packet_in_many_parts_of_any_length(env: GcmEnv) -> None:
    """Empty parts among them, first, in the middle and last; tags of all lengths; pauses."""
    await env.fill(6)
    for port in PORTS:
        env.pause(port, "random")
    streams = []
    for _ in range(60):
        size = env.rng.randint(0, 70)
        cuts = sorted(env.rng.randint(0, size) for _ in range(env.rng.randint(1, 6)))
        flip = env.rng.choice((None, 3))
        part = env.part(None, env.rng.choice((0, 0, 7, 16, 33)), size, tag_bytes=env.rng.choice(TAG_BYTES), flip=flip)
        streams.append(env.stream(part, cuts))
    await turns(env, streams)
    await env.finish()


@test
async def a_stream_whose_first_part_is_empty_takes_turns_with_another(env: GcmEnv) -> None:
    """caliptra-sw#2302, optee_os#8012: a saved state without AAD, and without anything, is right and hangs nothing."""
    await env.fill(3)
    for aad, other in ((0, 0), (0, 12), (16, 0)):
        for decrypt in (False, True):
            first = env.part(0, aad, 33, decrypt=decrypt)
            second = env.part(1, other, 50, decrypt=decrypt)
            third = env.part(2, aad, 0, decrypt=decrypt)
            await turns(env, [env.stream(first, [0, 0, 16]), env.stream(second, [5, 5]), env.stream(third, [0])])
            await env.finish()


@test
async def a_part_goes_on_at_any_place_of_a_long_stream(env: GcmEnv) -> None:
    """States that no bench has the time to reach: counters and lengths keep all their bits."""
    await env.fill(3)
    for slot in range(3):
        # Counters around each power of 2^8, lengths around 2^32, and the end of the longest text.
        edges = [(2**bits - 3) * 16 + lane for bits in (8, 16, 24, 28) for lane in (0, 5)]
        for at in (*edges, 2**32 - 16, 2**35 - 3, 2**36 - 96):
            part = env.part(slot, 0, 40)
            await env.run([env.resumed(part, at)])
            await env.run([env.resumed(part, at, save=True)])


@test
async def a_stream_without_a_key_gives_zeros_and_no_state(env: GcmEnv) -> None:
    """Its key was erased in mid-stream."""
    await env.fill(2)
    part = env.part(0, 9, 40, decrypt=False)
    first = await env.run_part(Part(Command(0, part.command.iv, save=True), part.aad, part.text[:21]))
    assert first is not None and first.result.state is not None
    await env.finish()
    env.write(0, None)
    await env.written()
    for save in (True, False):
        command = Command(0, part.command.iv, save=save, resume=first.result.state)
        (done,) = await env.run([Part(command, b"", part.text[21:])])
        assert done.result.no_key


@test
async def everything_at_once(env: GcmEnv) -> None:
    """Whole packets and parts of streams take turns while keys come and go and every port pauses as it likes."""
    await env.fill(10)
    for _ in range(6):
        for port in PORTS:
            env.pause(port, env.rng.choice(list(PAUSES)))
        streams = []
        for _ in range(12):
            size = env.rng.randint(0, 60)
            cuts = sorted(env.rng.randint(0, size) for _ in range(env.rng.randint(0, 3)))
            part = env.part(None, env.rng.randint(0, 30), size, flip=env.rng.choice((None, None, 5)))
            streams.append(env.stream(part, cuts))
        writes = cocotb.start_soon(write_keys(env, 12))
        await turns(env, streams)
        await writes
        await env.finish()


async def write_keys(env: GcmEnv, count: int) -> None:
    """Random writes and some erasures, at any time."""
    for _ in range(count):
        env.write(env.rng.randrange(2, 10), env.key() if env.rng.random() < 0.8 else None)
        await env.wires.cycles(env.rng.randint(0, 90))


async def turns(env: GcmEnv, streams: list[Coroutine[Any, Any, None]], together: int = 6) -> None:
    """Run streams, several at once; a part of each goes in when its last one is out."""
    while streams:
        tasks = [cocotb.start_soon(stream) for stream in streams[:together]]
        del streams[:together]
        for task in tasks:
            await task


# ------------------------------------------------------------------------------------------------------------ reset


@test
async def reset_at_any_time_leaves_nothing_behind(env: GcmEnv) -> None:
    """In each of the first cycles of traffic; there is then no key, and packets with new ones are right."""
    slots = (0, 1, 2, env.slots - 1)
    for delay in (*range(0, 12), *range(12, 60, 5)):
        await new_keys(env, slots)
        env.pause("out", "none" if delay % 3 else "one_in")
        env.write(1, env.key())
        env.send(env.part(slot, 40, 60) for slot in (*slots, 0))
        await env.wires.cycles(delay)
        seen_reset(env.under_way())
        await env.reset(1 + delay % 3)
        env.pause("out", "none")
        done = await env.run(env.part(slot, 20, 20) for slot in slots)
        assert all(one.result.no_key for one in done)
        await new_keys(env, slots)
        done = await env.run(env.part(slot, 20, 20) for slot in slots)
        assert not any(one.result.bad for one in done)
    seen_reset(env.under_way())
    await env.reset()
    env.write(0, env.key())
    await env.wires.cycles(4)
    seen_reset(env.under_way())
    await env.reset()
    await env.fill(2)
    await env.run([env.part()])


async def new_keys(env: GcmEnv, slots: tuple[int, ...]) -> None:
    for slot in slots:
        env.write(slot, env.key())
    await env.written()


@test
async def what_is_offered_before_ready_waits(env: GcmEnv) -> None:
    """Keys, commands and data right behind a reset: none is lost while the key table is cleared."""
    for cycles in (1, 5):
        await env.reset(cycles, wait=False)
        for slot in range(3):
            env.write(slot, env.key())
        env.send([env.part(7, 4, 20)])
        await env.finish()
        done = await env.run(env.part(slot, 4, 20) for slot in range(3))
        assert not any(one.result.bad for one in done)


@test
async def idle_is_0_from_a_command_or_a_key_to_its_end(env: GcmEnv) -> None:
    await env.fill(3)
    await env.finish()
    for slot in range(3):
        for aad, text in ((0, 0), (8, 48)):
            task = cocotb.start_soon(env.run([env.part(slot, aad, text)]))
            idle = await watch_idle(env, task)
            assert not any(idle), f"idle is 1 in {idle.index(True)} of {len(idle)} cycles under way"
    for kind in KINDS:
        env.write(0, env.key(kind))
        task = cocotb.start_soon(env.written())
        idle = await watch_idle(env, task, key=True)
        assert not any(idle), f"idle is 1 in {idle.index(True)} of {len(idle)} cycles of a key"


async def watch_idle(env: GcmEnv, task: Task[Any], *, key: bool = False) -> list[bool]:
    """``idle`` in each cycle between the handshake of the first thing that goes in and the last that comes out."""
    idle = []
    while not task.done():
        await env.wires.cycles(1)
        under_way = bool(env.scoreboard.writes) if key else env.scoreboard.open > 0
        if under_way:
            idle.append(str(env.dut.idle.value) == "1")
    # The first value is that of the handshake's own cycle, which the engine can't know of.
    assert len(idle) > 2, "nothing was under way"
    return idle[1:]


# ------------------------------------------------------------------------------------------------------------- time


def checked_rate(done: list[Done], due: int, what: str) -> None:
    """Packets that are alike leave and enter every ``due`` cycles, once the first ones have filled the engine."""
    for name in ("last_out", "last_in"):
        gaps = [getattr(b, name) - getattr(a, name) for a, b in pairwise(done)][4:]
        assert set(gaps) == {due}, f"{what}: {name} every {sorted(set(gaps))} cycles, due {due}"


@test
async def packets_take_the_cycles_of_the_page_in_a_row(env: GcmEnv) -> None:
    """Each size, kind and direction, a key of its own for each packet: 5 for one block of AAD and three of text."""
    for kind in KINDS if env.sm4 else KINDS[:2]:
        for slot in range(24):
            env.write(slot, env.key(kind))
        await env.written()
        for decrypt in (False, True):
            for aad in (0, 1, 2, 3):
                for text in (0, 1, 2, 3, 4, 7):
                    parts = [
                        env.part(
                            slot, max(aad * BLOCK - slot % 15, 0), max(text * BLOCK - slot % 9, 0), decrypt=decrypt
                        )
                        for slot in range(24)
                    ]
                    done = await env.run(parts)
                    checked_rate(done, aad + text + 1, f"{kind}, decrypt {decrypt}, {aad} of AAD, {text} of text")


@test
async def parts_that_are_saved_take_no_cycle_for_their_lengths(env: GcmEnv) -> None:
    for kind in KINDS:
        for slot in range(24):
            env.write(slot, env.key(kind))
        await env.written()
        for aad in (0, 1, 2):
            for text in (0, 1, 2, 5):
                parts = [env.part(slot, aad * BLOCK, text * BLOCK) for slot in range(24)]
                saved = [replace(part, command=replace(part.command, save=True)) for part in parts]
                checked_rate(await env.run(saved), max(aad + text, 1), f"{kind}, {aad} of AAD, {text} of text")


@test
async def packets_of_esp_take_five_cycles_whatever_their_key(env: GcmEnv) -> None:
    """46 bytes inside of ESP: 8 or 12 bytes of AAD, 48 of text."""
    for slot in range(64):
        env.write(slot, env.key(KINDS[slot % 2]))
    await env.written()
    for decrypt in (False, True):
        parts = [env.part(slot, 8 + 4 * (slot % 2), 48, decrypt=decrypt, tag_bytes=16) for slot in range(64)]
        checked_rate(await env.run(parts), 5, "decrypt" if decrypt else "encrypt")


@test
async def packets_of_any_lengths_take_the_sum_of_their_cycles(env: GcmEnv) -> None:
    """No bubble between packets that differ in lengths, direction, key and cipher: a change of cipher costs nothing."""
    for slot in range(32):
        env.write(slot, env.key(KINDS[slot % 3]))
    await env.written()
    for _ in range(3):
        sizes = [(env.rng.choice((0, env.rng.randint(1, 60))), env.rng.randint(0, 90)) for _ in range(80)]
        parts = [env.part(None, aad, text) for aad, text in sizes]
        # Behind SM4, AES leaves as late as SM4 would; so the first and the last are of SM4.
        done = await env.run([env.part(2, 16, 16), *parts, env.part(2, 16, 16)])
        due = sum(packet_cycles(one.part) for one in done[1:])
        for name in ("last_in", "last_out"):
            took = getattr(done[-1], name) - getattr(done[0], name)
            assert took == due, f"{len(done)} packets took {took} cycles by {name}, due {due}"


@test
async def keys_are_written_at_no_cost_to_packets(env: GcmEnv) -> None:
    """Full rate goes on while keys of other slots are written."""
    for slot in range(24):
        env.write(slot, env.key(KINDS[slot % 2]))
    await env.written()
    for slot in range(32, 44):
        env.write(slot, env.key(KINDS[slot % 3]))
    done = await env.run(env.part(slot, 8, 48) for slot in range(24))
    checked_rate(done, 5, "with key writes")
    await env.written()


@test
async def a_key_is_done_under_full_load(env: GcmEnv) -> None:
    """Packets without AAD want a block of the cipher in every cycle; a key waits for 16 of them, then has its turn."""
    await env.fill(3)
    for size in (0, 48):
        env.send(env.part(slot % 3, 0, size) for slot in range(300 if size == 0 else 100))
        await env.wires.cycles(60)
        env.scoreboard.key_cycles.clear()
        keys = [env.key(kind) for kind in KINDS]
        for slot, key in enumerate(keys):
            env.write(slot + 3, key)
        await env.written()
        assert env.scoreboard.open, "the load ended before the keys did"
        for key, cycles in zip(keys, env.scoreboard.key_cycles, strict=True):
            assert key_cycles(key) <= cycles <= key_cycles(key) + KEY_WAIT_CYCLES, f"{key.cipher.name}: {cycles} cycles"
        await env.finish()


@test
async def a_key_takes_the_cycles_of_the_model(env: GcmEnv) -> None:
    """Written into an engine that holds nothing; an erasure too."""
    for key in (*(env.key(kind) for kind in KINDS), None) * 2:
        env.scoreboard.key_cycles.clear()
        env.write(5, key)
        await env.written()
        assert env.scoreboard.key_cycles == [key_cycles(key)], f"{key} took {env.scoreboard.key_cycles} cycles"
        await env.finish()


@test
async def the_end_of_a_stream_takes_its_open_block_and_its_lengths(env: GcmEnv) -> None:
    """Parts that go on in the middle of a block, with a few bytes, and with none."""
    await env.fill(2)
    for text in (0, 3, 11, 12, 40):
        for save in (False, True):
            parts = [env.resumed(env.part(1, 0, text), 21, save=save) for _ in range(24)]
            checked_rate(await env.run(parts), packet_cycles(parts[0]), f"{text} bytes from lane 5, saved {save}")


@test
async def a_packet_alone_has_the_latency_of_the_model(env: GcmEnv) -> None:
    """Every kind and shape, whole and saved; its beats are taken one a cycle, two cycles behind its command."""
    for slot, kind in enumerate(KINDS):
        env.write(slot, env.key(kind))
    await env.written()
    await env.finish()
    for slot in (0, 1, 2, 9):
        for aad in (0, 8, 16, 40):
            for text in (0, 5, 16, 17, 48, 90):
                for save in (False, True):
                    part = env.part(slot, aad, text)
                    (done,) = await env.run([replace(part, command=replace(part.command, save=save))])
                    check_latency(done)
    for text in (0, 3, 12, 40):
        for save in (False, True):
            for slot in (0, 2):
                (done,) = await env.run([env.resumed(env.part(slot, 0, text), 21, save=save)])
                check_latency(done)


def check_latency(done: Done) -> None:
    """Each cycle of a packet in an engine that held nothing."""
    part = done.part
    aad, beats = blocks(len(part.aad)), part.text_beats
    first, last = latency_cycles(done.key, part)
    last_in = done.first_in + max(aad + beats, 1) - 1
    first_in = done.first_in + aad if beats > 1 else last_in
    due = (done.command + COMMAND_CYCLES, last_in, first_in + first, last_in + last)
    got = (done.first_in, done.last_in, done.first_out, done.last_out)
    assert got == due, (
        f"slot {part.command.key}, {len(part.aad)} of AAD, {len(part.text)} of text, saved {part.command.save}: "
        f"first in, last in, first out, last out are {got}, due {due}; command in {done.command}"
    )
