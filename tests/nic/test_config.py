"""NicConfig: one TOML file that describes a programmed NIC.

Sweep:    every key with values inside, at and beyond its limits and of every other TOML type; any text as a file
Stimulus: hand-written files, rule files beside them; hypothesis for round trips and for text that is no configuration
Checks:   errors name the file, the key by its dotted path and what is accepted; defaults are reset values
Timing:   none
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.acl import Actions, Masked, Range, Rule, RuleSet
from models.acl_file import read_rules
from models.acl_meter import MeterRates
from models.config import (
    ACL_SIDES,
    KEYS,
    MAX_FRAME,
    MIN_FRAME,
    PARSER_CODES,
    SECTIONS,
    ConfigError,
    NicConfig,
    ParserConfig,
    PortConfig,
)
from models.port_map import PORT
from tests.acl.strategies import RULE_SETS

NAMES = st.sets(st.sampled_from(list(PARSER_CODES))).map(tuple)
PORT_VALUES = st.builds(
    PortConfig,
    rx_enable=st.booleans(),
    tx_enable=st.booleans(),
    max_frame=st.integers(MIN_FRAME, MAX_FRAME),
    time_increment_ns=st.integers(1, (1 << 40) - 1).map(lambda units: units / 2**32),
    parser=st.builds(ParserConfig, drop_rx=NAMES, drop_tx=NAMES),
    acl_rx=st.none() | RULE_SETS,
    acl_tx=st.none() | RULE_SETS,
)
CONFIGS = st.builds(lambda a, b: NicConfig((a, b)), PORT_VALUES, PORT_VALUES)


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "nic.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_the_defaults_are_the_reset_values_of_the_registers() -> None:
    assert NicConfig() == NicConfig.default()
    for port in NicConfig.default().ports:
        assert port.registers() == {name: PORT[name].reset for name in port.registers()}
    sections = {name: kind() for name, (kind, _) in SECTIONS.items()}
    rules = {f"acl_{side}": None for side in ACL_SIDES}
    left_out = {"ipsec": None}
    assert {key.name: key.default for key in KEYS} | sections | rules | left_out == vars(PortConfig())
    for name, (_, keys) in SECTIONS.items():
        assert {key.name: key.default for key in keys} == vars(sections[name])


def test_an_empty_file_is_the_default(tmp_path: Path) -> None:
    assert NicConfig.load(write(tmp_path, "")) == NicConfig.default()


def test_keys_of_one_port_leave_the_other_and_the_other_keys_alone(tmp_path: Path) -> None:
    loaded = NicConfig.load(write(tmp_path, "[port.1]\nmax_frame = 1514\ntx_enable = false\n"))
    assert loaded == NicConfig((PortConfig(), PortConfig(max_frame=1514, tx_enable=False)))
    assert loaded.ports[1].registers() == {
        "nic.max_frame": 1514,
        "nic.time_increment": 4 << 32,
        "parser_rx.drop": 0,
        "parser_tx.drop": 0,
        "nic.control": 1,
    }
    assert list(loaded.ports[1].registers())[-1] == "nic.control"


def test_the_parsers_drop_what_the_file_names(tmp_path: Path) -> None:
    loaded = NicConfig.load(
        write(tmp_path, '[port.0.parser]\ndrop_rx = ["too_deep", "l2_truncated"]\ndrop_tx = ["l3_beyond_frame"]\n')
    )
    assert loaded == NicConfig().with_port(
        0, parser=ParserConfig(drop_rx=("l2_truncated", "too_deep"), drop_tx=("l3_beyond_frame",))
    )
    registers = loaded.ports[0].registers()
    assert (registers["parser_rx.drop"], registers["parser_tx.drop"]) == (1 << 0 | 1 << 5, 1 << 12)
    assert loaded.ports[1] == PortConfig()


@given(CONFIGS)
def test_a_configuration_survives_its_own_file(config: NicConfig) -> None:
    assert NicConfig.parse(config.to_toml()) == config


RULES_TOML = """
default = "deny"

[[meter]]
cir = 1000
pir = 2000
cbs = 300
pbs = 400

[[rule]]
name = "web"
dst = "10.0.0.0/8"
dst_port = "80-81"
meter = 0
"""
RULES_CLASSBENCH = "@10.0.0.0/8\t0.0.0.0/0\t0 : 65535\t80 : 80\t0x06/0xFF\n"


def test_rules_come_from_files_beside_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "nic"
    (folder / "sets").mkdir(parents=True)
    (folder / "rules.toml").write_text(RULES_TOML)
    (folder / "sets" / "acl1").write_text(RULES_CLASSBENCH)
    path = write(folder, '[port.0.acl]\nrx = "rules.toml"\n[port.1.acl]\ntx = "sets/acl1"\n')
    monkeypatch.chdir(tmp_path)
    loaded = NicConfig.load("nic/nic.toml")
    web = Rule(
        "web", ip=4, dst=Masked(10 << 24, 0xFF << 24), dst_port=Range(80, 81), actions=Actions(meter=0)
    )  # fmt: skip
    assert loaded.ports[0].acl_rx == RuleSet((web,), False, (MeterRates(1000, 2000, 300, 400),))
    assert loaded.ports[1].acl_tx == read_rules(folder / "sets" / "acl1")
    assert loaded.ports[0].acl_tx is loaded.ports[1].acl_rx is None
    assert loaded.ports[0].registers() == PortConfig().registers()
    # What it writes needs none of these files.
    text = NicConfig.load(path).to_toml()
    for file in (folder / "rules.toml", folder / "sets" / "acl1"):
        file.unlink()
    assert NicConfig.parse(text) == loaded


def test_a_wrong_rule_file_is_told_with_its_own_words_and_the_key(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    path = write(tmp_path, '[port.0.acl]\nrx = "rules.toml"\n')
    for text, told in (
        (None, "No such file or directory"),
        ("[[rule]]\nname = 'web'\nvlan = 4096\n", "rule 0 (web): vlan: 4096; accepted: a number from 0 to 4095"),
        ("[[rule]\n", "no TOML: "),
    ):
        if text is not None:
            rules.write_text(text)
        with pytest.raises(ConfigError) as caught:
            NicConfig.load(path)
        assert (caught.value.file, caught.value.key) == (str(path), "port.0.acl.rx")
        assert str(caught.value).startswith(f"{path}: port.0.acl.rx: {rules}:")
        assert told in str(caught.value)
    with pytest.raises(ConfigError, match="embedded null byte") as caught:
        NicConfig.load(write(tmp_path, 'port.0.acl.tx = "a\\u0000b"'))
    assert str(caught.value).isprintable()


def test_a_text_without_a_place_names_no_rule_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules.toml").write_text(RULES_TOML)
    monkeypatch.chdir(tmp_path)
    text = '[port.0.acl]\nrx = "rules.toml"\n'
    with pytest.raises(ConfigError, match=r"port\.0\.acl\.rx: 'rules\.toml' is a file.*accepted: tables"):
        NicConfig.parse(text)
    assert NicConfig.parse(text, tmp_path).ports[0].acl_rx == read_rules(tmp_path / "rules.toml")


@given(PORT_VALUES)
def test_the_register_values_fit_their_fields(port: PortConfig) -> None:
    for name, value in port.registers().items():
        assert value & ~PORT[name].mask() == 0
    assert port.registers()["nic.time_increment"] == port.time_increment_ns * 2**32
    assert port.registers()["nic.control"] == port.rx_enable + 2 * port.tx_enable


@pytest.mark.parametrize(
    ("text", "key", "problem", "accepted"),
    [
        ("port.0.max_frame = 59", "port.0.max_frame", "59 is out of range", "a whole number from 60 to 9596"),
        ("port.1.max_frame = 9597", "port.1.max_frame", "9597 is out of range", "a whole number from 60 to 9596"),
        ("port.0.max_frame = 1514.0", "port.0.max_frame", "1514.0 is a number", "a whole number from 60 to 9596"),
        ("port.0.max_frame = true", "port.0.max_frame", "true is a switch", "a whole number from 60 to 9596"),
        ("port.0.max_frame = '1514'", "port.0.max_frame", "'1514' is a string", "a whole number from 60 to 9596"),
        ("port.0.max_frame = [1514]", "port.0.max_frame", "[1514] is an array", "a whole number from 60 to 9596"),
        ("port.0.max_frame = 2024-01-01", "port.0.max_frame", "is a date or time", "a whole number from 60 to 9596"),
        ("port.0.rx_enable = 1", "port.0.rx_enable", "1 is a whole number", "true or false"),
        ("port.0.tx_enable = 'yes'", "port.0.tx_enable", "'yes' is a string", "true or false"),
        ("port.0.rx_enable.x = 1", "port.0.rx_enable", "is a table", "true or false"),
        ("port.0.time_increment_ns = 0", "port.0.time_increment_ns", "0 is out of range", "a number from 2.3"),
        ("port.0.time_increment_ns = 256", "port.0.time_increment_ns", "256 is out of range", "to 256"),
        ("port.0.time_increment_ns = nan", "port.0.time_increment_ns", "nan is out of range", "a number from 2.3"),
        ("port.0.time_increment_ns = inf", "port.0.time_increment_ns", "inf is out of range", "a number from 2.3"),
        ("port.0.time_increment_ns = true", "port.0.time_increment_ns", "true is a switch", "a number from 2.3"),
        ("port.0.mtu = 1500", "port.0.mtu", "no such key", "rx_enable, tx_enable, max_frame, time_increment_ns"),
        ("port.0.mtu = 1500", "port.0.mtu", "no such key", "time_increment_ns, parser"),
        ("port.0.parser = 1", "port.0.parser", "1 is a whole number", "a table"),
        ("port.0.parser.drop = []", "port.0.parser.drop", "no such key", "drop_rx, drop_tx"),
        ("port.0.parser.drop_rx = 'too_deep'", "port.0.parser.drop_rx", "'too_deep' is a string", "an array of any of"),
        ("port.0.parser.drop_rx = [37]", "port.0.parser.drop_rx", "37 in it is a whole number", "l2_truncated, l3_"),
        ("port.1.parser.drop_tx = ['deep']", "port.1.parser.drop_tx", "'deep' is no such name", "bad_ihl, bad_l3_"),
        ("port.1.parser.drop_tx = ['oversize']", "port.1.parser.drop_tx", "'oversize' is no such name", "l3_beyond_"),
        ("port.0.acl = 1", "port.0.acl", "1 is a whole number", "a table"),
        ("port.0.acl.egress = 'x'", "port.0.acl.egress", "no such key", "rx, tx"),
        ("port.1.acl.tx = 5", "port.1.acl.tx", "5 is a whole number", "the name of a rule file, or tables"),
        ("port.0.acl.rx = ['x.toml']", "port.0.acl.rx", "is an array", "the name of a rule file, or tables"),
        ("port.0.acl.rx.default = 'drop'", "port.0.acl.rx", "rules: default: 'drop'", "permit, deny"),
        ("[[port.0.acl.rx.rule]]\n[[port.0.acl.rx.rule]]\nvlan = 4096", "port.0.acl.rx", "rules: rule 1: vlan", "4095"),
        ("port.2.max_frame = 60", "port.2", "no such port", "port.0, port.1"),
        ("port.max_frame = 60", "port.max_frame", "no such port", "port.0, port.1"),
        ("port.0 = 5", "port.0", "5 is a whole number", "a table"),
        ("port = 5", "port", "5 is a whole number", "a table"),
        ("[[port]]\nmax_frame = 60", "port", "is an array", "a table"),
        ("name = 'x'", "name", "no such key", "port"),
    ],
)
def test_a_wrong_key_or_value_is_refused_with_file_key_and_what_is_accepted(
    tmp_path: Path, text: str, key: str, problem: str, accepted: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        NicConfig.load(path)
    assert caught.value.key == key
    assert str(caught.value).startswith(f"{path}: {key}: ")
    assert problem in str(caught.value)
    assert accepted in str(caught.value).partition("accepted: ")[2]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[port.0]\nmax_frame 1514\n", 2, 11),
        ("[port.0]\nmax_frame = \n", 2, 13),
        ("[port.0]\nmax_frame = 60\nmax_frame = 61\n", 3, 15),
        ("[port.0", 1, 8),
        ("[port.0]\nx = '", 2, 6),
        (b"[port.0]\n# caf\xe9\n", 2, 6),
    ],
)
def test_what_is_not_toml_is_refused_with_line_and_column(
    tmp_path: Path, text: str | bytes, line: int, column: int
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        NicConfig.load(path)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"{path}:{line}:{column}: ")


def test_a_file_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml: can't be read: No such file"):
        NicConfig.load(tmp_path / "absent.toml")
    with pytest.raises(ConfigError, match="can't be read: Is a directory"):
        NicConfig.load(tmp_path)

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(ConfigError, match="can't be read: Permission denied"):
        NicConfig.load(tmp_path / "nic.toml")


@given(
    st.text()
    | st.binary()
    | st.sampled_from(["[" * 5000, "a=" + "[" * 5000, "a.b.c=1\na.b=2", "port.0.max_frame=1e400"])
)
def test_any_text_is_a_configuration_or_a_config_error(text: str | bytes) -> None:
    try:
        assert isinstance(NicConfig.parse(text), NicConfig)
    except ConfigError as error:
        assert str(error)


def test_one_port_can_be_changed_in_a_copy() -> None:
    config = NicConfig()
    changed = config.with_port(1, max_frame=1000)
    assert changed.ports == (PortConfig(), PortConfig(max_frame=1000))
    assert config == NicConfig.default()
    assert config.with_port(max_frame=1000).ports[0].max_frame == 1000
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"max_frame": 1}, "port.0.max_frame"),
        ({"mtu": 1}, "port.0.mtu"),
        ({"parser": 1}, "port.0.parser"),
        ({"acl_rx": 1}, "acl.rx"),
    ]
    assert config.with_port(1, acl_tx=RuleSet()).ports[1].acl_tx == RuleSet()
    assert config.with_port(1, acl_tx=RuleSet()).with_port(1, acl_tx=None) == config
    for bad, key in wrong:
        with pytest.raises(ConfigError) as caught:
            config.with_port(0, **bad)
        assert caught.value.key == key
    with pytest.raises(ConfigError, match=r"port\.2: no such port; accepted: 0 to 1"):
        config.with_port(2, max_frame=60)


def test_a_configuration_made_in_python_is_checked_too() -> None:
    wrong: Any = "1514"
    with pytest.raises(ConfigError, match="max_frame: '1514' is a string"):
        PortConfig(max_frame=wrong)
    with pytest.raises(ConfigError, match="port: 1 ports; accepted: 2 ports"):
        NicConfig((PortConfig(),))


def test_a_time_increment_is_the_nearest_that_the_register_holds() -> None:
    assert PortConfig(time_increment_ns=2.56).time_increment == round(2.56 * 2**32)
    assert PortConfig(time_increment_ns=2.56) == PortConfig(time_increment_ns=round(2.56 * 2**32) / 2**32)
    assert PortConfig(time_increment_ns=4) == PortConfig()
