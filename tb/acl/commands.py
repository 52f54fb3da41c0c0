"""``nicloop acl``: what can be done with rule files."""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from models.acl import RuleSet, name_of
from models.acl_check import ENGINE, empty_rules, kinds_of_rules, misfits, shadowed_rules
from models.acl_file import AclFileError, read_rules

__all__ = ["acl"]

acl = typer.Typer(no_args_is_help=True, help="Rule files of the ACL.")


@acl.callback()
def _group() -> None:
    """Keeps ``check`` a command of its own while it is the only one."""


@acl.command()
def check(
    file: Annotated[str, typer.Argument(help="TOML where the name ends with .toml, else a ClassBench filter set.")],
    rules: Annotated[int, typer.Option(min=1, help="Rules that the engine has room for.")] = ENGINE["rules"],
    ipv6: Annotated[bool, typer.Option(help="The engine has keys for IPv6, or hasn't.")] = True,
    strict: Annotated[bool, typer.Option("--strict", help="End with 1 if a rule is shadowed or empty.")] = False,
) -> None:
    """Say what a rule file holds, whether it fits the engine, and which of its rules no frame can reach."""
    try:
        rule_set = read_rules(file)
    except AclFileError as error:
        _end_with_2([str(error)])
    typer.echo(f"{file}: {_summary(rule_set)}")
    kinds = kinds_of_rules(rule_set.rules)
    if kinds:
        typer.echo(f"  {', '.join(f'{kind} {count}' for kind, count in kinds.items())}")
    unreached = _unreached(rule_set)
    for line in unreached:
        typer.echo(f"  {line}")
    if not unreached:
        typer.echo("  no rule is shadowed or empty")
    reasons = misfits(rule_set.rules, len(rule_set.meters), ENGINE | {"rules": rules, "ipv6": int(ipv6)})
    if reasons:
        _end_with_2([f"{file}: doesn't fit: {reason}" for reason in reasons])
    typer.echo(f"  fits: {len(rule_set.rules)} of {_many(rules, 'rule')}")
    if strict and unreached:
        raise typer.Exit(1)


def _end_with_2(messages: list[str]) -> NoReturn:
    for message in messages:
        typer.echo(f"nicloop: {message}", err=True)
    raise typer.Exit(2)


def _summary(rule_set: RuleSet) -> str:
    parts = [_many(len(rule_set.rules), "rule"), f"default {'permit' if rule_set.default_permit else 'deny'}"]
    if rule_set.meters:
        parts.append(_many(len(rule_set.meters), "meter"))
    return ", ".join(parts)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _unreached(rule_set: RuleSet) -> list[str]:
    """A line for each rule that no frame can reach, in the rules' order."""
    rules = rule_set.rules
    lines = {index: f"{name_of(rules, index)} is empty: no frame can match it" for index in empty_rules(rules)}
    for index, earlier in shadowed_rules(rules).items():
        lines[index] = f"{name_of(rules, index)} is shadowed by {name_of(rules, earlier)}"
    return [lines[index] for index in sorted(lines)]
