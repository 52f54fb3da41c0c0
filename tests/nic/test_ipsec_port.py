"""IPsec in the port's model: frames that change or end in the middle of the pipelines.

Sweep:    transport and tunnel mode, IPv4, IPv6; clear and protected frames in turns; wrong tags, replays, no SA; rules
Stimulus: ESP that is made here byte by byte, UDP in the clear
Checks:   bytes, codes, metadata and counters against what the frames were made of; Scapy decrypts what was encrypted;
          plays in one and in two; a check that finds what was changed
Timing:   cycles of frames alone against docs/ipsec.md and docs/architecture.md
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scapy.all import ESP, IP, raw
from scapy.layers.ipsec import SecurityAssociation

from models.acl import Actions, Masked, Rule, RuleSet
from models.config import ConfigError, IpsecConfig, NicConfig
from models.frames import Batch, Edge
from models.ipsec_sa import Cipher, Mode, Sa
from models.meta import Code, field_of
from models.nic import NicPortModel
from models.parser import ParserModel
from models.port_map import PORT
from tb.ipsec.frames import HERE, KEY, SALT, SPI, THERE, address, datagram, esp, ethernet, ipv4, sa, trailer
from tb.targets.program import writes

CLEAR = ethernet(ipv4(datagram(bytes(30))))


def port(rx: tuple[Sa, ...] = (), tx: tuple[Sa, ...] = (), **values: object) -> NicConfig:
    return NicConfig().with_port(0, ipsec=IpsecConfig(rx, tx), **values)  # type: ignore[arg-type]


def protected(number: int, size: int = 40, tunnel: bool = True) -> tuple[bytes, bytes]:
    """A frame of ESP from THERE to HERE, and what must come of it."""
    inner = ipv4(datagram(bytes(i & 255 for i in range(size))), src="10.0.0.1", dst="10.0.0.2")
    if tunnel:
        return ethernet(ipv4(esp(trailer(inner, 4), number), 50)), ethernet(inner)
    packet = datagram(bytes(i & 255 for i in range(size)))
    return ethernet(ipv4(esp(trailer(packet, 17), number), 50)), ethernet(ipv4(packet))


def received() -> Sa:
    return sa(mode=Mode.EITHER, dst=address(HERE))


def sent(**changes: object) -> Sa:
    return sa(mode=Mode.TUNNEL, src=address(HERE), dst=address(THERE), **changes)


def to_all(number: int = 0) -> RuleSet:
    return RuleSet((Rule(name="all", ip=4, actions=Actions(protect=number)),))


def test_protected_frames_come_out_in_the_clear_in_their_order_between_others() -> None:
    made = [protected(n + 1, 10 * n, n % 2 == 0) for n in range(6)]
    frames = [frame for pair in made for frame in (pair[0], CLEAR)]
    model = NicPortModel(port((received(),)))
    outcome = model.play(Batch.of(frames))
    assert outcome.code.tolist() == [Code.DELIVERED] * 12
    assert outcome.source.tolist() == list(range(12))
    assert list(outcome.frames) == [frame for pair in made for frame in (pair[1], CLEAR)]
    assert field_of(outcome.meta, "decrypted").tolist() == [1, 0] * 6
    for j, frame in enumerate(outcome.frames):
        # parser_inner has read what came out.
        own = ParserModel().parse(frame)
        for name in ("l3_length", "protocol", "src_port", "l4_offset", "l3_payload_offset", "spi"):
            assert field_of(outcome.meta[j : j + 1], name)[0] == getattr(own, name), name
        assert outcome.user[j] == own.user
    counters = {name: value for name, value in model.counters.items() if "ipsec_rx" in name and value}
    text = sum(
        len(trailer(ipv4(datagram(bytes(10 * n))) if n % 2 == 0 else datagram(bytes(10 * n)), 4)) for n in range(6)
    )
    assert counters == {
        "ipsec_rx.frames": 12,
        "ipsec_rx.passed": 6,
        "ipsec_rx.secured": 6,
        "ipsec_rx.secured_bytes": text,
    }
    assert model.counters["parser_inner.frames"] == model.counters["parser_rx.frames"] == 12
    assert model.counters["rx_bytes_in"] == sum(map(len, frames))
    assert model.counters["rx_bytes_out"] == sum(map(len, outcome.frames))
    assert NicPortModel(port((received(),))).check(Batch.of(frames), outcome) == []


def test_what_ends_in_the_slot_is_seen_by_nothing_behind_it() -> None:
    good, _ = protected(1)
    bad = good[:-1] + bytes([good[-1] ^ 1])
    unknown = good.replace(SPI.to_bytes(4, "big"), (SPI + 1).to_bytes(4, "big"))
    frames = [good, bad, good, unknown, CLEAR]
    model = NicPortModel(port((received(),), acl_rx=RuleSet((Rule(ip=4),))))
    outcome = model.play(Batch.of(frames))
    names = [Code(code).name for code in outcome.code]
    # The number was seen, so the wrong tag isn't even looked at.
    assert names == ["DELIVERED", "IPSEC_REPLAY", "IPSEC_REPLAY", "DELIVERED", "DELIVERED"]
    assert outcome.source.tolist() == [0, 3, 4]
    counted = model.counters
    assert (counted["ipsec_rx.ipsec_replay"], counted["ipsec_rx.left_no_sa"]) == (2, 1)
    assert (counted["parser_inner.frames"], counted["acl_rx.judged"], counted["acl_rx.unjudged"]) == (3, 3, 0)
    assert counted["rx_disposition.IPSEC_REPLAY"] == 2
    assert counted["acl_rx.rule[0].frames"] == 3
    assert counted["acl_rx.rule[0].bytes"] == sum(map(len, outcome.frames))
    assert NicPortModel(port((received(),), acl_rx=RuleSet((Rule(ip=4),)))).check(Batch.of(frames), outcome) == []


def test_a_wrong_tag_ends_the_frame_and_spends_no_number() -> None:
    good, clear = protected(1)
    bad = good[:-1] + bytes([good[-1] ^ 1])
    outcome = NicPortModel(port((received(),))).play(Batch.of([bad, good]))
    assert outcome.code.tolist() == [Code.IPSEC_BAD_TAG, Code.DELIVERED]
    assert list(outcome.frames) == [clear]


def test_rules_see_what_was_decrypted_and_by_which_sa() -> None:
    rules = RuleSet(
        (
            Rule(name="esp", decrypted=True, sa=1, actions=Actions(queue=7)),
            Rule(name="clear", decrypted=False, actions=Actions(permit=False)),
        )
    )
    other = replace(received(), spi=SPI + 9)
    frame, clear = protected(1)
    outcome = NicPortModel(port((other, received()), acl_rx=rules)).play(Batch.of([frame, CLEAR]))
    assert outcome.code.tolist() == [Code.DELIVERED, Code.ACL_DENIED]
    assert (list(outcome.frames), outcome.frames.queue.tolist()) == ([clear], [7])


def test_a_mirror_copies_what_was_decrypted() -> None:
    frame, clear = protected(1)
    config = port((received(),), acl_rx=RuleSet((Rule(ip=4, actions=Actions(mirror=3)),)))
    outcome = NicPortModel(config).play(Batch.of([frame]))
    assert list(outcome.frames) == [clear, clear]
    assert NicPortModel(config).check(Batch.of([frame]), outcome) == []


@pytest.mark.parametrize("mark", [None, 10])
def test_scapy_decrypts_what_rules_protect_and_the_rest_leaves_in_the_clear(mark: int | None) -> None:
    theirs = SecurityAssociation(
        ESP, spi=SPI, crypt_algo="AES-GCM", crypt_key=KEY + SALT, tunnel_header=IP(src=HERE, dst=THERE)
    )
    chosen = Masked(address("10.0.0.2"), 0xFFFFFFFF)
    rules = RuleSet((Rule(ip=4, dst=chosen, actions=Actions(protect=0, mark_dscp=mark)),))
    packets = [ipv4(datagram(bytes(n)), src="10.0.0.1", dst="10.0.0.2") for n in range(0, 60, 7)]
    frames = [frame for packet in packets for frame in (ethernet(packet), CLEAR)]
    model = NicPortModel(port(tx=(sent(),), acl_tx=rules))
    batch = Batch.of(frames, edge=Edge.HOST)
    outcome = model.play(batch)
    assert outcome.source.tolist() == list(range(len(frames)))
    out = list(outcome.frames)
    assert out[1::2] == [CLEAR] * len(packets)
    for number, (frame, packet) in enumerate(zip(out[::2], packets, strict=True), 1):
        found = IP(frame[14:])
        assert found[ESP].seq == number
        wanted = bytearray(packet)
        if mark is not None:
            changed = IP(packet)
            changed.tos, changed.chksum = mark << 2 | changed.tos & 3, None
            wanted = bytearray(raw(IP(raw(changed))))
        assert raw(theirs.decrypt(found)) == bytes(wanted)
    assert model.counters["ipsec_tx.secured"] == model.counters["ipsec_tx.passed"] == len(packets)
    assert model.counters["tx_bytes_out"] == sum(map(len, out))
    assert NicPortModel(port(tx=(sent(),), acl_tx=rules)).check(batch, outcome) == []


def test_nothing_that_is_to_be_protected_leaves_without_an_sa() -> None:
    outcome = NicPortModel(port(tx=(sent(),), acl_tx=to_all(1))).play(Batch.of([CLEAR], edge=Edge.HOST))
    assert outcome.code.tolist() == [Code.IPSEC_NO_SA]
    assert len(outcome.frames) == 0


def test_what_frames_did_to_an_sa_stays_for_the_next_play_and_a_check_moves_nothing() -> None:
    frame, _ = protected(1)
    config, batch = port((received(),), (sent(),), acl_tx=to_all()), Batch.of([frame])
    device, checker = NicPortModel(config), NicPortModel(config)
    first, between = device.play(batch), dict(device.counters)
    second = device.play(batch)
    assert (first.code.tolist(), second.code.tolist()) == ([Code.DELIVERED], [Code.IPSEC_REPLAY])
    for _ in range(2):
        assert checker.check(batch, first) == []
    checker.commit(batch, first)
    assert checker.check(batch, first) == []
    assert checker.check(batch, second, between) == []
    tx = [device.play(Batch.of([CLEAR], edge=Edge.HOST)) for _ in range(2)]
    numbers = [IP(outcome.frames.frame(0)[14:])[ESP].seq for outcome in tx]
    assert numbers == [1, 2]


def test_a_check_finds_a_byte_a_code_a_cycle_and_a_counter_that_differ() -> None:
    frame, _ = protected(1)
    config, batch = port((received(),)), Batch.of([frame, CLEAR])
    outcome = NicPortModel(config).play(batch)

    def found(**changes: object) -> set[str]:
        wrong = replace(outcome, **changes)  # type: ignore[arg-type]
        return {mismatch.what.split(" ")[0] for mismatch in NicPortModel(config).check(batch, wrong)}

    data = outcome.frames.data.copy()
    data[20] ^= 1
    assert "byte" in found(frames=replace(outcome.frames, data=data))
    assert "code" in found(code=np.array([Code.IPSEC_BAD_TAG, Code.DELIVERED], np.uint8))
    later = outcome.first_out + 1
    assert "first_out" in found(first_out=later, last_out=outcome.last_out + 1, latency_cycles=later - outcome.first_in)
    for name in ("ipsec_rx.secured", "ipsec_rx.ipsec_replay", "parser_inner.frames"):
        assert "counter" in found(counters=outcome.counters | {name: outcome.counters[name] + 1})


@pytest.mark.parametrize("size", [0, 1, 18, 200, 1400])
def test_the_latency_of_a_frame_alone_is_that_of_the_pages(size: int) -> None:
    """docs/architecture.md, section 4, and docs/ipsec.md, Time."""
    clear = ethernet(ipv4(datagram(bytes(size))))
    beats, parse = -(-len(clear) // 16), ParserModel().parse(clear).latency_cycles
    model = NicPortModel(port((received(),), (sent(),), acl_tx=to_all()))
    assert model.latency_cycles(Edge.WIRE, clear) == beats + 25 + parse + 2 + (parse - 1)
    assert NicPortModel(port(tx=(sent(),))).latency_cycles(Edge.HOST, clear) == beats + 22 + parse + 2
    frame, inner = protected(1, size)
    come, leave = -(-len(frame) // 16), -(-len(inner) // 16)
    text = len(frame) - (14 + 20 + 16) - 16
    blocks, header = -(-text // 16), 14 + 20
    command = max(15, (header + 15) // 16 + 2)
    given = max(command + blocks + 2, come - 1 + 4, (header + 31) // 16 + 3 + blocks)
    verdict = given + 28
    outer, behind = ParserModel().parse(frame).latency_cycles, ParserModel().parse(inner).latency_cycles
    # Entry 2, parser_rx, pfc_rx 1, ipsec_rx, parser_inner, roce_icrc 1, acl_rx 13, the buffer and five registers.
    assert model.latency_cycles(Edge.WIRE, frame) == 2 + outer + 1 + verdict + 3 + behind + 1 + 13 + leave - 1 + 2 + 5


def test_frames_right_behind_each_other_keep_their_order_in_time_too() -> None:
    """A frame in the clear behind a protected one waits for it: both leave back to back."""
    model = NicPortModel(port((received(),)))
    frame, _ = protected(1, 1000)
    batch = Batch.of([frame, CLEAR])
    outcome = NicPortModel(port((received(),))).play(batch)
    alone = int(outcome.latency_cycles[0])
    first_in = np.array([0, int(batch.beats[0])])
    first_out = np.array([alone, alone + int(outcome.frames.beats[0])])
    last_out = first_out + outcome.frames.beats - 1
    close = replace(
        outcome,
        first_in=first_in,
        last_in=first_in + batch.beats - 1,
        first_out=first_out,
        last_out=last_out,
        latency_cycles=first_out - first_in,
        cycles=int(last_out[-1]) + 1,
        meta=outcome.meta[:0],
    )
    assert model.check_timing(batch, close) == []


def test_a_play_with_a_reset_is_refused() -> None:
    model = NicPortModel(port((received(),)))
    outcome = model.play(Batch.of([CLEAR]))
    with pytest.raises(ValueError, match="resets"):
        model.check(Batch.of([CLEAR]), replace(outcome, resets=np.array([3])))


# -- configuration -----------------------------------------------------------------------------------------------------


def test_a_port_with_sas_survives_its_own_file() -> None:
    some = sent(esn=True, window=128, sequence=1 << 63, dscp=0, ecn_compat=True, ttl=0, mtu=1400, hard_bytes=1 << 63)
    other = Sa(spi=7, cipher=Cipher.OTHER, ipv6=True, dst=1, mode=Mode.EITHER, window=0)
    config = NicConfig().with_port(1, ipsec=IpsecConfig((received(), other), (some,), True, False, True, 1500))
    assert NicConfig.parse(config.to_toml()) == config


TABLE = (
    '[[port.0.ipsec.{side}.sa]]\nspi = 300\nsrc = "10.0.0.1"\ndst = "10.0.0.2"\ncipher = "aes-128-gcm"\nkey = "{key}"\n'
)
KEY_TEXT = (KEY + SALT).hex()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[port.0.ipsec]\nrx = 3\n", r"^port\.0\.ipsec\.rx: 3 is a whole number; accepted: the name of an SA file"),
        ("[port.0.ipsec]\nup = 3\n", r"^port\.0\.ipsec\.up: no such key; accepted: drop_no_sa, .*, rx, tx$"),
        ("[port.0.ipsec]\nmax_packet = 60\n", r"^port\.0\.ipsec\.max_packet: 60 is out of range"),
        (TABLE.format(side="rx", key="00"), r"^port\.0\.ipsec\.rx: rx: sa 0: key: 1 bytes; accepted: hex of 20 bytes"),
        (TABLE.format(side="rx", key=KEY_TEXT) * 2, r"^port\.0\.ipsec\.rx: SAs 0 and 1 have the same SPI 0x12c"),
        (
            TABLE.format(side="tx", key=KEY_TEXT) + 'direction = "rx"\n',
            r'^port\.0\.ipsec\.tx: none of 1 SAs is for tx; accepted: direction "tx" or "both"$',
        ),
    ],
)
def test_a_section_that_is_wrong_is_told_by_its_path(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        NicConfig.parse(text)


def test_sas_of_a_file_go_to_the_side_that_they_are_for(tmp_path) -> None:
    tables = "".join(
        f'[[sa]]\ndirection = "{way}"\nspi = {spi}\nsrc = "10.0.0.1"\ndst = "10.0.0.2"\ncipher = "aes-128-gcm"\n'
        f'key = "{KEY_TEXT}"\n'
        for way, spi in (("rx", 256), ("tx", 257), ("both", 258))
    )
    (tmp_path / "sas.toml").write_text(tables)
    (tmp_path / "nic.toml").write_text('[port.0.ipsec]\nrx = "sas.toml"\ntx = "sas.toml"\ndrop_no_sa = true\n')
    ipsec = NicConfig.load(tmp_path / "nic.toml").ports[0].ipsec
    assert ipsec is not None
    assert [one.spi for one in ipsec.rx] == [256, 258]
    assert [one.spi for one in ipsec.tx] == [257, 258]
    assert ipsec.drop_no_sa and not ipsec.drop_cipher


def test_a_port_is_programmed_with_its_sas_first_and_each_is_whole_before_its_command() -> None:
    config = port((received(), replace(received(), spi=SPI + 1)), (sent(),))
    done = [(PORT.find(where), value) for where, value in writes(config)]
    names = [f"{found[0].name}+{found[1]}" for found, _ in done if found is not None]
    commands = [i for i, name in enumerate(names) if name.endswith(".command+0") and name.startswith("ipsec")]
    assert [names[i] for i in commands] == ["ipsec_rx.command+0"] * 2 + ["ipsec_tx.command+0"]
    assert [done[i][1] for i in commands] == [1, 1 | 1 << 16, 1]
    per_sa = (commands[1] - commands[0], commands[2] - commands[1])
    assert per_sa[0] == per_sa[1] == commands[0] + 1
    held = dict(zip(names[: commands[0]], (value for _, value in done), strict=False))
    assert held["ipsec_rx.spi+0"] == SPI and held["ipsec_rx.dst[0]+0"] == address(HERE)
    assert held["ipsec_rx.key[0]+0"] == int.from_bytes(KEY[:4], "little")
    form = PORT["ipsec_rx.form"].decode(held["ipsec_rx.form+0"])
    assert (form["mode"], form["cipher"], form["tag"], form["window"]) == (2, 0, 2, 2)
    assert names[-1] == "nic.control+0" and "ipsec_rx.control+0" in names and "ipsec_tx.max_packet+0" in names
    plain = [PORT.find(where) for where, _ in writes(NicConfig())]
    assert not any(found is not None and found[0].name.startswith(("ipsec", "parser_inner")) for found in plain)
