"""Rule files of the ACL, and ``nicloop acl check``.

Sweep:    every key of a TOML file and every field of a ClassBench line, right and wrong; files that fit and don't
Stimulus: small files written here; a set of the material through the command
Checks:   the rules that come out; one line with file, line or rule, key and what is accepted; exit codes
Timing:   none
"""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest
from hypothesis import given
from typer.testing import CliRunner, Result

from models.acl import Actions, Masked, Range, Rule, RuleSet
from models.acl_file import AclFileError, parse_classbench, parse_toml, read_rules, rule_set_to_toml
from models.acl_meter import MeterRates
from tb.cli import app
from tests.acl.strategies import RULE_SETS

WHOLE = """
default = "deny"

[[meter]]
cir = 1000000
pir = 2000000
cbs = 3000
pbs = 4000
yellow_dscp = 12

[[rule]]
name = "everything"
inner = true
ethertype = 0x0800
vlan = 100
pcp = 7
ip = 4
src = "10.0.0.0/8"
dst = "10.0.0.1/255.0.0.255"
protocol = "tcp"
src_port = "1000-2000"
dst_port = 80
tcp_flags = "S/SA"
dscp = 46
ecn = 1
fragment = false
port = 1
decrypted = true
sa = 4095
queue = 3
mirror = 4
redirect = 1
priority = 2
mark_dscp = 10
meter = 0
protect = 9

[[rule]]
dst = "2001:db8::1"
action = "deny"

[[rule]]
protocol = "0x10/0xfe"
icmp_type = 8
icmp_code = "0/0x0f"
tcp_flags = "0x02/0x12"
bth_opcode = "0x04"
dest_qp = 0xffffff

[[rule]]
src = "0.0.0.0/0"
src_port = "7"
protocol = 17

[[rule]]
"""


def test_toml_has_every_condition_and_action_by_name() -> None:
    rule_set = parse_toml(WHOLE, "x.toml")
    everything = Rule(
        name="everything",
        inner=True,
        ethertype=0x0800,
        vlan=100,
        pcp=7,
        ip=4,
        src=Masked(10 << 24, 0xFF << 24),
        dst=Masked(10 << 24 | 1, 0xFF0000FF),
        protocol=Masked(6, 0xFF),
        src_port=Range(1000, 2000),
        dst_port=Range(80, 80),
        tcp_flags=Masked(0x02, 0x12),
        dscp=46,
        ecn=1,
        fragment=False,
        port=1,
        decrypted=True,
        sa=4095,
        actions=Actions(True, 3, 4, 1, 2, 10, 0, 9),
    )
    host = Masked(int(ipaddress.IPv6Address("2001:db8::1")), (1 << 128) - 1)
    third = Rule(
        protocol=Masked(0x10, 0xFE),
        icmp_type=Masked(8, 0xFF),
        icmp_code=Masked(0, 0x0F),
        tcp_flags=Masked(0x02, 0x12),
        bth_opcode=Masked(4, 0xFF),
        dest_qp=0xFFFFFF,
    )
    assert rule_set == RuleSet(
        (
            everything,
            Rule(ip=6, dst=host, actions=Actions(permit=False)),
            third,
            Rule(ip=4, src_port=Range(7, 7), protocol=Masked(17, 0xFF)),
            Rule(),
        ),
        False,
        (MeterRates(1000000, 2000000, 3000, 4000, 12),),
    )
    assert parse_toml("", "x.toml") == RuleSet()


@given(RULE_SETS)
def test_a_rule_set_survives_its_own_file(rule_set: RuleSet) -> None:
    assert parse_toml(rule_set_to_toml(rule_set), "x.toml") == rule_set


def test_a_file_that_is_read_and_written_and_read_is_the_same_set() -> None:
    for rule_set in (parse_toml(WHOLE, "x.toml"), parse_classbench(LINE, "set")):
        assert parse_toml(rule_set_to_toml(rule_set), "x.toml") == rule_set


def test_rules_that_no_file_may_hold_are_not_written() -> None:
    for rule, text in (
        (Rule("web", actions=Actions(permit=False, queue=1)), "rule 1: queue: a denied frame goes nowhere"),
        (Rule(inner=True, dest_qp=1), "rule 1: dest_qp: no BTH is read in a tunnel"),
        (Rule("a\nb"), r"rule 1: name: 'a\\nb'; accepted: text of one line"),
        (Rule(ip=4, src=Masked(0, 0)), "rule 1: an address of length 0"),
    ):
        with pytest.raises(ValueError, match=text):
            rule_set_to_toml(RuleSet((Rule(), rule)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vlan = 4096", "x.toml:4: rule 0 (web): vlan: 4096; accepted: a number from 0 to 4095"),
        ("vlan = true", "vlan: true; accepted: a number from 0 to 4095"),
        ("pcp = -1", "pcp: -1; accepted: a number from 0 to 7"),
        ('ethertype = "ip"', "ethertype: 'ip'; accepted: a number from 0 to 65535"),
        ("ip = 5", "ip: 5; accepted: 4, 6"),
        ("inner = 1", "inner: 1; accepted: true, false"),
        ('src = "10.0.0.0/33"', "src: '10.0.0.0/33'; accepted: an address, a prefix (10.0.0.0/8, fe80::/10)"),
        ('src = "10.0.0.1/8"', "src: '10.0.0.1/8' has bits outside its mask; accepted: 10.0.0.0/8"),
        ('src = "10.0.0.0/ffff::"', "src: '10.0.0.0/ffff::'; accepted: an address"),
        ("src = 7", "src: 7; accepted: an address"),
        ('src = "10.0.0.1"\ndst = "fe80::1"', "x.toml:5: rule 0 (web): dst: 'fe80::1' is IPv6 and the"),
        ('ip = 6\nsrc = "10.0.0.1"', "src: '10.0.0.1' is IPv4 and the rule asks for IPv6"),
        ('dst_port = "2000-1000"', "dst_port: '2000-1000' is an empty range; accepted: a port from 0 to 65535"),
        ("dst_port = 65536", "dst_port: 65536; accepted: a port from 0 to 65535, or \"first-last\""),
        ('dst_port = "80-"', "dst_port: '80-'; accepted: a port"),
        ("dst_port = [80]", "dst_port: [80]; accepted: a port"),
        ('protocol = "sctp"', "protocol: 'sctp'; accepted: tcp, udp, icmp, icmpv6, esp, gre, a number, or 0x02/0x12"),
        ("protocol = 256", "protocol: 256; accepted"),
        ('tcp_flags = "S/A"', "tcp_flags: 'S/A' has bits outside its mask; accepted: a value within its mask"),
        ('tcp_flags = "X/X"', "tcp_flags: 'X/X'; accepted: S/SA (those of FSRPAUECN that are set, of which)"),
        ('tcp_flags = "1/2/3"', "tcp_flags: '1/2/3'; accepted"),
        ("icmp_type = 256", "icmp_type: 256; accepted: a number, or 0x02/0x12 (value/mask), each from 0 to 255"),
        ("icmp_code = 1.5", "icmp_code: 1.5; accepted"),
        ("fragment = 0", "fragment: 0; accepted: true, false"),
        ("dest_qp = 0x1000000", "dest_qp: 16777216; accepted: a number from 0 to 16777215"),
        ("inner = true\ndest_qp = 1", "dest_qp: no BTH is read in a tunnel; accepted: rules without inner"),
        ('action = "drop"', "action: 'drop'; accepted: permit, deny"),
        ("queue = 256", "queue: 256; accepted: a number from 0 to 255"),
        ("mark_dscp = 64", "mark_dscp: 64; accepted: a number from 0 to 63"),
        ("meter = 1", "meter: there is no meter 1; accepted: 0 to 0"),
        ('action = "deny"\nqueue = 1', "queue: a denied frame goes nowhere; accepted with action deny: mirror"),
        ("colour = 1", "colour: no such key; accepted: name, inner, ethertype"),
        ('"a\\nb" = 1', "x.toml:2: rule 0 (web): 'a\\nb': no such key"),
    ],
)  # fmt: skip
def test_a_wrong_key_of_a_rule_is_one_line_with_its_place_and_what_is_accepted(text: str, message: str) -> None:
    with pytest.raises(AclFileError) as error:
        parse_toml(f'\n[[rule]]\nname = "web"\n{text}\n[[meter]]\ncir=1\npir=1\ncbs=1\npbs=1\n', "x.toml")
    assert message in str(error.value)
    assert str(error.value).startswith("x.toml:") and "rule 0 (web): " in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("default = 1", "x.toml:1: default: 1; accepted: permit, deny"),
        ("\n[[rules]]\n", "x.toml:2: rules: no such key; accepted: default, meter, rule"),
        ("[rule]\n", "x.toml:1: rule: accepted: tables, each begun with [[rule]]"),
        ("rule = 3\n", "x.toml:1: rule: accepted: tables"),
        ("[[rule]]\nsrc = \n", "x.toml: no TOML: Invalid value (at line 2, column 7)"),
        ("[[rule]]\nvlan = 1\nvlan = 2\n", "x.toml: no TOML: Cannot overwrite a value (at line 3"),
        ('[[rule]]\n[[rule]]\nname = "a\\nb"\n', "x.toml:3: rule 1: name: 'a\\nb'; accepted: text of one line"),
        ("[[rule]]\nmeter = 0\n", "x.toml:2: rule 0: meter: there is no meter 0; accepted: none, since the file has"),
        ("[[meter]]\ncir = 1\npir = 1\ncbs = 1\n", "x.toml:1: meter 0: pbs: missing; a meter needs cir, pir, cbs, pbs"),
        ("[[meter]]\nrate = 1\n", "x.toml:2: meter 0: rate: no such key; accepted: cir, pir, cbs, pbs, yellow_dscp"),
        ("[[meter]]\ncir = 1.5\npir = 1\ncbs = 1\npbs = 1\n", "x.toml:2: meter 0: cir: 1.5; accepted: a whole number"),
        ("[[meter]]\ncir = 2\npir = 1\ncbs = 1\npbs = 1\n", "x.toml:3: meter 0: pir: 1 is below cir 2; accepted: cir"),
        ("[[meter]]\ncir = 2\npir = 2\ncbs = 0\npbs = 1\n", "x.toml:4: meter 0: cbs: 0; accepted: 1 to 4294967295"),
        ("[[meter]]\ncir=2\npir=2\ncbs=1\npbs=1\nyellow_dscp=64", "x.toml:6: meter 0: yellow_dscp: 64; accepted"),
        ("rule = [{vlan = 1}, {vlan = 5000}]\n", "x.toml: rule 1: vlan: 5000; accepted: a number from 0 to 4095"),
        ('default = """\n[[rule]]\n"""\n[[rule]]\n', "x.toml:1: default: '[[rule]]\\n'; accepted: permit, deny"),
        ('[[rule]]\nname = \'\'\'\n[[rule]]\'\'\'\n[[rule]]\npcp = 8\n', "x.toml: rule 1: pcp: 8; accepted"),
        (f"default = {'9' * 5000}", "x.toml: no TOML: "),
        (f"default = {'[' * 20000}", "x.toml: no TOML: "),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_line_with_its_place_and_what_is_accepted(text: str, message: str) -> None:
    with pytest.raises(AclFileError) as error:
        parse_toml(text, "x.toml")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


LINE = "@10.1.2.0/24\t0.0.0.0/0\t0 : 65535\t1024 : 2000\t0x06/0xFF\t0x0200/0x1200\t"


def test_a_classbench_line_permits_and_counts_what_its_fields_say() -> None:
    rule = Rule(
        ip=4,
        src=Masked(0x0A010200, 0xFFFFFF00),
        dst_port=Range(1024, 2000),
        protocol=Masked(6, 0xFF),
        tcp_flags=Masked(0x02, 0x12),
    )
    assert parse_classbench(f"# a set\n{LINE}\r\n\n", "x").rules == (rule,)
    five = "@10.1.2.0/24 0.0.0.0/0 0 : 65535 0 : 65535 0x01/0xFF"
    plain = Rule(ip=4, src=rule.src, protocol=Masked(1, 0xFF))
    assert parse_classbench(five, "x").rules == (plain,)
    assert parse_classbench(f"{five} 0x0303/0xffff", "x").rules == (
        Rule(ip=4, src=rule.src, protocol=Masked(1, 0xFF), icmp_type=Masked(3, 0xFF), icmp_code=Masked(3, 0xFF)),
    )
    assert parse_classbench(f"{five} 0x0800/0xff00", "x").rules[0].icmp_code is None
    wide = "@fe80::/10 ::1/128 7 : 7 0:65535 0x00/0x00 0x0000/0x0000"
    assert parse_classbench(wide, "x").rules == (
        Rule(ip=6, src=Masked(0xFE80 << 112, 0xFFC0 << 112), dst=Masked(1, (1 << 128) - 1), src_port=Range(7, 7)),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@", "", "x:2: '10.1.2.0/24"),
        ("1024 : 2000", "1024", "is no filter; accepted: @src/len dst/len lo : hi lo : hi 0xproto/0xmask"),
        ("1024 : 2000", "2000 : 1024", "x:2: dst_port: 2000 : 1024 is an empty range; accepted: lo : hi with lo <= hi"),
        ("0 : 65535", "0 : 65536", "x:2: src_port: 65536 is no port; accepted: 0 to 65535"),
        ("/24", "/33", "x:2: src: '10.1.2.0/33' is no prefix; accepted: 10.0.0.0/8, fe80::/10"),
        ("0.0.0.0/0", "300.0.0.0/0", "x:2: dst: '300.0.0.0/0' is no prefix"),
        ("0.0.0.0/0", "::/0", "x:2: src is IPv4 and dst is IPv6; accepted: both of one kind"),
        ("0x06/0xFF", "0x106/0xFF", "x:2: protocol: 0x106/0xFF has more than 8 bits; accepted: 0 to 0xff"),
        ("0x0200/0x1200", "0x10200/0x0", "x:2: flags: 0x10200/0x0 has more than 16 bits; accepted: 0 to 0xffff"),
        ("0x0200/0x1200", "0x0002/0x0012", "x:2: flags: mask 0x0012 with protocol 0x06/0xff; accepted: TCP's flags"),
        (
            "0x06/0xFF",
            "0x11/0xFF",
            "x:2: flags: mask 0x1200 with protocol 0x11/0xff; accepted: TCP's flags in the high",
        ),
        ("0x06/0xFF", "0x06/0xFE", "x:2: flags: mask 0x1200 with protocol 0x06/0xfe"),
    ],
)
def test_a_wrong_classbench_line_is_named_with_its_number(old: str, new: str, message: str) -> None:
    with pytest.raises(AclFileError) as error:
        parse_classbench(f"{LINE}\n{LINE.replace(old, new, 1)}\n{LINE}", "x")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_without_a_filter_is_refused() -> None:
    with pytest.raises(AclFileError, match=r"^x: no filter is in it; accepted: lines of @src/len"):
        parse_classbench("# nothing\n", "x")


def test_what_a_file_is_goes_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.TOML").write_text('[[rule]]\nname = "\u00e4"\n', encoding="utf-8-sig")
    (tmp_path / "a").write_text(LINE)
    assert read_rules(tmp_path / "a.TOML").rules == (Rule("\u00e4"),)
    assert len(read_rules(str(tmp_path / "a")).rules) == 1
    (tmp_path / "b.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(AclFileError, match=r"b\.toml: byte 8 is no UTF-8; accepted: text, TOML or ClassBench"):
        read_rules(tmp_path / "b.toml")
    for path, reason in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(AclFileError, match=reason):
            read_rules(path)


# The command


def check(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["acl", "check", *map(str, arguments)])


SHADOWED = """
[[meter]]
cir = 8000
pir = 8000
cbs = 100
pbs = 100
[[rule]]
name = "all of it"
protocol = "tcp"
[[rule]]
ip = 6
dst_port = "1-2"
meter = 0
[[rule]]
protocol = "tcp"
tcp_flags = "S/SA"
action = "deny"
[[rule]]
name = "never"
protocol = "udp"
tcp_flags = "S/SA"
"""


def test_check_tells_what_is_there_and_what_no_frame_can_reach(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(SHADOWED)
    result = check(path)
    assert result.stdout.splitlines() == [
        f"{path}: 4 rules, default permit, 1 meter",
        "  IPv6 1, any frame 3, port range 1, TCP flags 2, deny 1, metered 1",
        "  rule 2 is shadowed by rule 0 (all of it)",
        "  rule 3 (never) is empty: no frame can match it",
        "  fits: 4 of 1024 rules",
    ]
    assert result.exit_code == 0
    assert check(path, "--strict").exit_code == 1
    assert check(path, "--strict").stdout == result.stdout


def test_check_of_rules_that_can_all_be_reached_says_so(tmp_path: Path) -> None:
    path = tmp_path / "set"
    path.write_text(LINE)
    result = check(path, "--strict", "--rules", 1)
    assert result.exit_code == 0
    assert "no rule is shadowed or empty" in result.stdout and "fits: 1 of 1 rule" in result.stdout
    empty = tmp_path / "empty.toml"
    empty.write_text("")
    assert check(empty, "--strict").stdout.splitlines()[0] == f"{empty}: 0 rules, default permit"


def test_check_of_rules_that_do_not_fit_says_how_many_and_why_and_ends_with_2(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(SHADOWED)
    result = check(path, "--rules", 3, "--no-ipv6")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"nicloop: {path}: doesn't fit: 4 rules, 1 more than the 3 that the engine has room for",
        f"nicloop: {path}: doesn't fit: 1 rule asks for IPv6 and the engine has no keys for it: rule 1",
    ]
    assert "rule 2 is shadowed" in result.stdout and "fits: " not in result.stdout


def test_check_of_a_wrong_or_missing_file_is_one_line_and_ends_with_2(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("[[rule]]\nvlan = 4096\n")
    for file, text in ((path, f"{path}:2: rule 0: vlan: 4096"), (tmp_path / "no", "No such file or directory")):
        result = check(file)
        assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
        assert text in result.stderr and result.stderr.startswith("nicloop: ")
    assert check(path, "--rules", 0).exit_code == 2


def test_check_of_a_published_set_tells_its_size(material: Path) -> None:
    result = check(material / "06_acl" / "ruleset_acl1_1k.rules")
    assert result.exit_code == 0
    assert "878 rules, default permit" in result.stdout and "IPv4 878" in result.stdout
    large = check(material / "06_acl" / "cutsplit_acl_1k.rules", "--rules", 1000)
    assert large.exit_code == 2
    assert "1016 rules, 16 more than the 1000 that the engine has room for" in large.stderr
