"""The rules of the house: where things lie, who may import whom, what every Verilog file and test module opens with.

Sweep:    every block, every Python module, every Verilog file, every test module
Stimulus: the repository itself
Checks:   docs/architecture.md section 1 and the rules of docs/add_a_block.md
Timing:   none
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from models import meta
from tb.toolchain import ROOT

BLOCKS = sorted(path.name for path in (ROOT / "rtl").iterdir() if path.is_dir())
VERILOG = sorted((ROOT / "rtl").rglob("*.v"))
MODELS = sorted((ROOT / "models").rglob("*.py"))
MODELLED = sorted({*BLOCKS, *({path.stem for path in MODELS} & {path.stem for path in (ROOT / "docs").glob("*.md")})})
"""Blocks that have a model: a block's page and its model come before its RTL."""
TEST_MODULES = sorted((ROOT / "tests").rglob("test_*.py"))
THIRD_PARTY_OF_MODELS = {"numpy", "cryptography"}
SHARED_MODELS = {"config", "frames", "meta", "port_map", "registers"}
"""Modules of models/ that every block's model may import."""
COMPOSING = {"config", "nic"}
"""What may import blocks: the port's model is made of theirs, and its configuration holds what they are given."""
PARTS = ("Sweep:", "Stimulus:", "Checks:", "Timing:")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> Iterator[str]:
    """Dotted names of all modules that a file imports, at any depth of it."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}:{node.lineno}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def missing_places(root: Path, block: str) -> list[str]:
    """The places of a block that do not exist. A model is a module or a package."""
    places = [f"rtl/{block}", f"tb/{block}/__init__.py", f"tests/{block}", f"docs/{block}.md"]
    if not (root / f"models/{block}").is_dir():
        places.append(f"models/{block}.py")
    return [place for place in places if not (root / place).exists()]


def block_of(module: str) -> str:
    """The block of a module of models/, which is called ``<block>`` or ``<block>_<part>``; else the module itself."""
    return next((block for block in MODELLED if module == block or module.startswith(f"{block}_")), module)


def forbidden_imports(path: Path) -> list[str]:
    """What a module of models/ imports and may not: all but the standard library, numpy, cryptography, its own."""
    own = block_of(path.relative_to(ROOT / "models").parts[0].removesuffix(".py"))
    allowed = SHARED_MODELS | {own} | ({"gcm"} if own in ("ipsec", "tls") else set())
    wrong = []
    for module in imports(path):
        top, _, rest = module.partition(".")
        if top == "models":
            if own not in COMPOSING and block_of(rest.split(".")[0]) not in allowed:
                wrong.append(module)
        elif top not in sys.stdlib_module_names and top not in THIRD_PARTY_OF_MODELS:
            wrong.append(module)
    return wrong


def verilog_faults(stem: str, text: str) -> list[str]:
    """What is wrong with a Verilog file by the rules for all of them."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    lines = [line.strip() for line in code.splitlines() if line.strip()]
    modules = re.findall(r"^\s*module\s+(\w+)", code, re.MULTILINE)
    faults = [] if modules == [stem] else [f"holds {modules or 'no module'}, not the one module {stem}"]
    if [line.replace(" / ", "/") for line in lines[:3]] != ["`resetall", "`timescale 1ns/1ps", "`default_nettype none"]:
        faults.append("does not begin with `resetall, `timescale 1ns/1ps, `default_nettype none")
    if lines[-1:] != ["`resetall"]:
        faults.append("does not end with `resetall")
    if not text.lstrip().startswith(("//", "/*")) and not re.match(r"\s*(`\w+[^\n]*\s+)+(//|/\*)", text):
        faults.append("has no header comment")
    return faults


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_stands_under_its_name_in_every_folder(block):
    assert missing_places(ROOT, block) == []


def test_a_block_that_lacks_a_folder_is_found(tmp_path):
    (tmp_path / "rtl/mac").mkdir(parents=True)
    assert missing_places(tmp_path, "mac") == ["tb/mac/__init__.py", "tests/mac", "docs/mac.md", "models/mac.py"]


@pytest.mark.parametrize("path", MODELS, ids=name)
def test_a_model_imports_nothing_but_the_standard_library_numpy_cryptography_and_its_own(path):
    assert forbidden_imports(path) == []


def test_scapy_cocotb_and_the_testbench_are_found_in_a_model(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    model = tmp_path / "models" / "mac.py"
    model.parent.mkdir()
    model.write_text(
        "import scapy.all, struct, numpy\nfrom tb import build\nfrom models import gcm, meta\nimport cocotb\n"
    )
    assert forbidden_imports(model) == ["scapy.all", "tb.build", "models.gcm", "cocotb"]


def test_the_testbench_does_not_import_tests():
    wrong = [
        name(path) for path in (ROOT / "tb").rglob("*.py") if any(m.split(".")[0] == "tests" for m in imports(path))
    ]
    assert wrong == []


@pytest.mark.parametrize("path", VERILOG, ids=name)
def test_a_verilog_file_holds_one_module_of_its_name_between_resets_of_the_compiler(path):
    assert verilog_faults(path.stem, path.read_text()) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("module good", "module other", "holds ['other']"),
        ("`default_nettype none\n", "", "does not begin with"),
        ("endmodule\n`resetall\n", "endmodule\n", "does not end with"),
        ("// what it does\n", "", "has no header comment"),
        ("endmodule\n", "endmodule\nmodule second; endmodule\n", "holds ['good', 'second']"),
    ],
)
def test_a_fault_of_a_verilog_file_is_found(old, new, said):
    good = "// what it does\n`resetall\n`timescale 1ns/1ps\n`default_nettype none\nmodule good;\nendmodule\n`resetall\n"
    assert verilog_faults("good", good) == []
    assert [said in fault for fault in verilog_faults("good", good.replace(old, new))] == [True]


def test_rtl_holds_verilog_headers_register_descriptions_generators_and_nothing_else():
    suffixes = {".v", ".vh", ".rdl", ".py"}
    assert [name(path) for path in (ROOT / "rtl").glob("*/*") if path.is_file() and path.suffix not in suffixes] == []


@pytest.mark.parametrize("path", TEST_MODULES, ids=name)
def test_a_test_module_opens_with_what_sweep_stimulus_checks_and_timing(path):
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    assert [part for part in PARTS if f"\n{part}" not in text] == []


def test_the_metadata_header_is_generated_from_the_model():
    assert (ROOT / "rtl/lib/meta.vh").read_text() == meta.verilog_header(), "run `make generate`"


def test_the_register_files_are_generated_from_their_descriptions():
    done = subprocess.run(
        [sys.executable, "-m", "tb.registers", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
