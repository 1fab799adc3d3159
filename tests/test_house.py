"""The house keeps its shape: who imports whom, what is packaged, what every part has."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from kernel_references import REFERENCES
from operator_cases import GENERATORS
from operator_samples import SAMPLES
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition

from xrelay.dialects.interfaces import DeviceRule, Fusible, InferTypes
from xrelay.dialects.relay import OPERATORS
from xrelay.operators import SIGNATURES
from xrelay.runtime.kernels import KERNELS
from xrelay.tools.registry import DIALECTS, PASSES, UNIVERSE, pass_info

ROOT = Path(__file__).parent.parent
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

MAY_IMPORT = {
    "operators": ("operators",),
    "dialects": ("dialects", "operators"),
    "passes": ("passes", "dialects", "runtime.kernels"),
    "passes.planning": ("passes.planning",),
    "lowering": ("lowering", "passes", "dialects", "runtime"),
    "runtime": ("runtime", "operators"),
    "frontends": ("frontends", "dialects", "operators"),
    "tools": ("tools", "frontends", "lowering", "passes", "dialects", "runtime"),
}
"""What a room may import of ours; the longest name that fits a module counts."""

NEVER = {
    "operators": ("xdsl", "numpy", "onnx", "safetensors"),
    "dialects": ("numpy", "onnx", "safetensors"),  # start-up time
    "passes.planning": ("xdsl", "safetensors", "onnx"),
    "runtime": ("xdsl", "onnx"),
}
"""What a room may not import of others'."""

STAGES = ("relay", "planned", "fused", "lowered", "manifest", "memory-planned", "bytecode")
ROOMS = ("operators", "dialects", "passes", "lowering", "runtime", "frontends", "tools")
MODULES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


class Imported(NamedTuple):
    """One import: the dotted name, and whether it is of ours."""

    name: str
    ours: bool
    line: int


def imports(module: Path) -> Iterator[Imported]:
    """Everything that `module` imports, at its top or inside functions."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Imported(alias.name, False, node.lineno)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield Imported(node.module or "", False, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = module.parents[node.level - 1].relative_to(ROOT).parts
            inside = (*base, *(node.module or "").split("."))
            for alias in node.names:
                name = ".".join(part for part in (*inside, alias.name) if part)
                yield Imported(name, True, node.lineno)


def fits(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


def rule_of(module: Path, rules: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The row of `rules` for `module`, that of the innermost room."""
    name = ".".join(module.relative_to(ROOT).with_suffix("").parts)
    rooms = [room for room in rules if fits(name, room)]
    return rules[max(rooms, key=len)] if rooms else ()


every_module = pytest.mark.parametrize(
    "module", MODULES, ids=[str(path.relative_to(ROOT)) for path in MODULES]
)


@every_module
def test_imports_go_down(module: Path):
    allowed = rule_of(module, MAY_IMPORT)
    wrong = [i for i in imports(module) if i.ours and not any(fits(i.name, r) for r in allowed)]
    assert not wrong, f"may import {', '.join(allowed)}"


@every_module
def test_rooms_keep_out_what_they_do_not_need(module: Path):
    never = rule_of(module, NEVER)
    assert not [i for i in imports(module) if not i.ours and any(fits(i.name, n) for n in never)]


@every_module
def test_imports_of_ours_are_relative(module: Path):
    assert not [i for i in imports(module) if not i.ours and fits(i.name, "xrelay")]


def test_the_import_check_sees_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    module = tmp_path / "passes" / "analysis" / "some.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "from ...tools import opt\ndef f():\n  from .. import fuse_ops\nimport xdsl.ir"
    )
    assert list(imports(module)) == [
        Imported("tools.opt", True, 1),
        Imported("xdsl.ir", False, 4),
        Imported("passes.fuse_ops", True, 3),
    ]


@pytest.mark.parametrize(
    "package", ["xrelay.operators", "xrelay.passes.planning", "xrelay.runtime"]
)
def test_runs_without_a_compiler(package: str):
    """All modules of the package import where xDSL does not exist."""
    source = ROOT.joinpath(*package.split(".")[1:])
    names = [
        ".".join((package, *path.relative_to(source).with_suffix("").parts))
        for path in sorted(source.rglob("*.py"))
        if path.name != "__init__.py"
    ]
    assert names
    code = f"""
import importlib, sys
sys.modules["xdsl"] = None  # whoever imports it gets an error
for name in {names!r}:
    importlib.import_module(name)
assert not [name for name in sys.modules if name.startswith("xdsl.")]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# -------------------------------------------------------------------- packaging


def test_wheel_lists_every_package():
    found = {
        ".".join(("xrelay", *init.parent.relative_to(ROOT).parts))
        for room in ROOMS
        for init in (ROOT / room).rglob("__init__.py")
    }
    assert set(CONFIG["tool"]["setuptools"]["packages"]) == found


def test_every_folder_with_modules_is_a_package():
    folders = {path.parent for path in MODULES}
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


def test_every_room_is_mapped_typed_and_linked():
    assert CONFIG["tool"]["setuptools"]["package-dir"] == {f"xrelay.{r}": r for r in ROOMS}
    for room in ROOMS:
        assert (ROOT / room / "py.typed").exists()
        assert (ROOT / ".links" / "xrelay" / room).resolve() == ROOT / room


@pytest.mark.parametrize("target", CONFIG["project"]["scripts"].values())
def test_commands_exist(target: str):
    module, _, function = target.partition(":")
    assert callable(getattr(import_module(module), function))


# -------------------------------------------------------------------- operators

every_operator = pytest.mark.parametrize("operator", OPERATORS, ids=[op.name for op in OPERATORS])


def missing_facets(operator: type[Operation]) -> list[str]:
    """What an operator lacks of what each must have."""
    traits = tuple(operator.traits)
    sampled = {f"relay.{sample.name}" for sample in SAMPLES}
    bare = operator.name.removeprefix("relay.")
    facets = {
        "a docstring": bool(operator.__dict__.get("__doc__")),
        "a type rule": any(isinstance(trait, InferTypes) for trait in traits),
        "a signature": operator.name in SIGNATURES,
        "a fusion kind": any(isinstance(trait, Fusible) for trait in traits),
        "a device rule": any(isinstance(trait, DeviceRule) for trait in traits),
        "a NumPy kernel": operator.name in KERNELS,
        "a sample in tests/operator_samples.py": operator.name in sampled,
        "random cases in tests/operator_cases.py": bare in GENERATORS,
        "a reference in tests/kernel_references.py": bare in REFERENCES,
    }
    return [name for name, there in facets.items() if not there]


@every_operator
def test_operators_have_every_facet(operator: type[Operation]):
    assert not missing_facets(operator)


def test_signatures_and_kernels_are_of_operators():
    names = {operator.name for operator in OPERATORS}
    assert set(SIGNATURES) == names
    assert set(KERNELS) == names


def test_missing_facets_are_listed():
    @irdl_op_definition
    class BareOp(IRDLOperation):
        name = "relay.bare"

    assert len(missing_facets(BareOp)) == 9


# ----------------------------------------------------------- dialects and passes


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_are_registered_under_their_names(name: str):
    dialect = UNIVERSE.all_dialects[name]()
    assert dialect.name == name
    documented = [*dialect.operations, *dialect.attributes]
    assert not [cls.name for cls in documented if not cls.__dict__.get("__doc__")]


every_pass = pytest.mark.parametrize("name", PASSES)


@every_pass
def test_passes_are_named_after_their_files(name: str):
    cls = UNIVERSE.all_passes[name]()
    assert cls.name == name
    assert cls.__module__.rpartition(".")[2] == name.replace("-", "_")
    assert cls.__name__ == "".join(part.capitalize() for part in name.split("-")) + "Pass"


@every_pass
def test_passes_say_what_they_do(name: str):
    """In a sentence for `--list-passes`, and by a picture or the stages they are about."""
    cls = UNIVERSE.all_passes[name]()
    assert pass_info(name, cls).description.endswith(".")
    doc = f"{import_module(cls.__module__).__doc__}\n{cls.__doc__}"
    assert "->" in doc or any(f"stage={stage}" in doc or f"`{stage}`" in doc for stage in STAGES)


@every_pass
def test_passes_have_golden_tests(name: str):
    found = [*ROOT.glob(f"lit_tests/*/{name}.mlir"), *ROOT.glob(f"lit_tests/*/{name}/*.mlir")]
    assert found
