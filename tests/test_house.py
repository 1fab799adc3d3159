"""The structure of the repository: imports, packaging, and the facets of every part."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Container, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest
from helpers.documentation.operator_page import line_counts
from helpers.documentation.sources import syntax
from helpers.operators import inferring, tvm_attributes
from helpers.operators.kernel_references import REFERENCES
from helpers.operators.numpy_functions import SHAPES
from helpers.operators.operator_cases import GENERATORS
from helpers.operators.operator_samples import SAMPLES
from helpers.programs.every_case import every
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition

from xrelay.dialects import qnn
from xrelay.dialects.interfaces import DeviceRule, Fusible, InferTypes
from xrelay.dialects.relay import OPERATORS
from xrelay.frontends.relay_text import text_reader, tvm_operators
from xrelay.lowering.linalg import rule_registry
from xrelay.operators.all_rules import MEANINGS, RULES
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.program.components import components
from xrelay.tools.registry import DIALECTS, PASSES, UNIVERSE, pass_info

pytestmark = pytest.mark.ci  # rules for sources, like those of ruff

ROOT = Path(__file__).parent.parent
RELAY_TEXT = (ROOT / "docs" / "relay_text.md").read_text(encoding="utf-8")
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

MAY_IMPORT = {
    "operators": ("operators",),
    "dialects": ("dialects", "operators"),
    "dialects.bytecode": (
        *("dialects", "operators"),
        *("runtime.program.instructions", "runtime.program.instruction_table"),
    ),
    "passes": (
        *("passes", "dialects", "operators", "planning"),
        *("runtime.kernels", "runtime.errors", "runtime.plain_text"),
        *("runtime.calls.input_bindings", "runtime.calls.input_values"),
        *("runtime.program.components", "runtime.program.data_types", "runtime.program.program"),
        *(
            "runtime.program.dtypes",
            "runtime.memory",
            "runtime.weights.derived_weights",
            "runtime.weights.weight_formulas",
        ),
    ),
    "planning": ("planning", *(f"operators.{name}" for name in ("intervals", "orders", "records"))),
    "lowering": ("lowering", "passes", "dialects", "operators", "runtime"),
    "runtime": ("runtime", "operators", "planning"),
    "frontends": (
        *("frontends", "dialects", "operators"),
        *("runtime.errors", "runtime.files", "runtime.kernels", "runtime.memory"),
        "runtime.entry_points",
        *("runtime.calls.input_bindings", "runtime.calls.input_values"),
        "runtime.weights.tensor_file",
    ),
    "frontends.relay_text": (
        *("frontends", "dialects", "operators"),
        *(
            "passes.infer_types",
            "passes.functions.captures",
            "passes.functions.calls",
            "passes.functions.symbols",
            "passes.lambda_lift",
            "passes.make_kernels",
            "passes.rename_written_tensors",
            "passes.support.diagnostics",
        ),
        *("runtime.errors", "runtime.files", "runtime.weights.tensor_file"),
    ),
    "tools": (
        *("tools", "frontends", "lowering", "passes", "planning", "dialects", "operators"),
        "runtime",
    ),
    "xrelay": ("tools", "runtime"),
}
"""The rooms that a room may import; the longest name that matches a module applies."""

NEVER = {
    "operators": ("xdsl", "numpy", "onnx", "safetensors"),
    "dialects": ("numpy", "onnx", "safetensors"),  # start-up time
    "planning": ("xdsl", "safetensors", "onnx"),
    "runtime": ("xdsl", "onnx"),
    "runtime.program.instructions": ("xdsl", "onnx", "numpy", "safetensors"),  # read by dialects
    "runtime.program.instruction_table": ("xdsl", "onnx", "numpy", "safetensors"),
    "xrelay": ("safetensors",),
}
"""The third-party packages that a room must not import."""

STAGES = (
    *("relay", "planned", "fused", "lowered", "manifest", "memory-planned", "expanded"),
    "bytecode",
)
ROOMS = ("operators", "dialects", "planning", "passes", "lowering", "runtime", "frontends", "tools")
TOP = ROOT / "xrelay" / "__init__.py"
"""The package itself; beside it are links to the rooms, as Python sees them."""
MODULES = [TOP, *(path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))]


class Imported(NamedTuple):
    """An import: its dotted name, and whether it is internal."""

    name: str
    ours: bool
    line: int


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements inside `node`: not the expressions, which are most of a tree."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            yield child
            yield from statements(child)


@cache
def imports(module: Path) -> list[Imported]:
    """Return everything that `module` imports, at its top or inside functions."""
    found: list[Imported] = []
    for node in statements(syntax(module)):
        if isinstance(node, ast.Import):
            found += [Imported(alias.name, False, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.append(Imported(node.module or "", False, node.lineno))
        elif isinstance(node, ast.ImportFrom):
            base = module.parents[node.level - 1].relative_to(ROOT).parts if module != TOP else ()
            inside = (*base, *(node.module or "").split("."))
            for alias in node.names:
                name = ".".join(part for part in (*inside, alias.name) if part)
                found.append(Imported(name, True, node.lineno))
    return found


def fits(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


def rule_of(module: Path, rules: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The row of `rules` for the innermost room of `module`."""
    name = ".".join(module.relative_to(ROOT).with_suffix("").parts)
    rooms = [room for room in rules if fits(name, room)]
    return rules[max(rooms, key=len)] if rooms else ()


def offences(wrong: Callable[[Path, Imported], bool]) -> list[str]:
    """Return the imports in all modules for which `wrong` holds, as `file:line: name`."""
    return [
        f"{module.relative_to(ROOT)}:{i.line}: {i.name}"
        for module in MODULES
        for i in imports(module)
        if wrong(module, i)
    ]


def test_imports_go_down():
    def goes_up(module: Path, imported: Imported) -> bool:
        allowed = rule_of(module, MAY_IMPORT)
        return imported.ours and not any(fits(imported.name, room) for room in allowed)

    assert offences(goes_up) == []


def test_rooms_keep_out_what_they_do_not_need():
    def is_kept_out(module: Path, imported: Imported) -> bool:
        never = rule_of(module, NEVER)
        return not imported.ours and any(fits(imported.name, name) for name in never)

    assert offences(is_kept_out) == []


ON_THE_PUBLIC_API = (ROOT / "frontends" / "onnx" / "backend.py",)
"""Modules that import the package as its users do."""


def test_imports_of_ours_are_relative():
    def is_absolute(module: Path, imported: Imported) -> bool:
        users = imported.name == "xrelay" and module in ON_THE_PUBLIC_API
        return not imported.ours and fits(imported.name, "xrelay") and not users

    assert offences(is_absolute) == []


def arrows() -> dict[str, list[str]]:
    """The modules that each module imports; a name from a package counts as the package."""
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in MODULES}
    found: dict[str, list[str]] = {}
    for name, path in names.items():
        targets = (i.name for i in imports(path) if i.ours)
        modules = (t if t in names else t.rpartition(".")[0] for t in targets)
        found[name] = sorted({m for m in modules if m in names and m != name})
    return found


def circles(graph: dict[str, list[str]]) -> list[list[str]]:
    """The sets of two or more mutually reachable modules."""
    return [sorted(together) for together in components(graph) if len(together) > 1]


def test_the_product_uses_its_modules():
    """Others are in the tests, but for what plug-ins use."""
    graph = arrows()
    used = {target for targets in graph.values() for target in targets}
    used |= {where.partition(":")[0] for where in PASSES.values()}
    documents = [ROOT / "pyproject.toml", *(ROOT / "docs").glob("*.md")]
    texts = {path: path.read_text(encoding="utf-8") for path in (*MODULES, *documents)}
    unused = [
        name
        for name in graph
        if name not in used and not name.endswith("__init__")
        if not any(
            name in text
            for path, text in texts.items()
            if path != ROOT / f"{name.replace('.', '/')}.py"
        )
    ]
    assert unused == []


def test_no_imports_in_circles():
    """Imports for type checking and inside functions count, too."""
    assert circles(arrows()) == []


def test_circles_are_found():
    graph = {"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}
    assert circles(graph) == [["b", "c"]]


def test_the_import_check_sees_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    module = tmp_path / "passes" / "analysis" / "some.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "from ...tools import opt\ndef f():\n  from .. import fuse_ops\nimport xdsl.ir"
    )
    assert imports(module) == [
        Imported("tools.opt", True, 1),
        Imported("passes.fuse_ops", True, 3),
        Imported("xdsl.ir", False, 4),
    ]


@pytest.mark.parametrize("package", ["xrelay.operators", "xrelay.planning", "xrelay.runtime"])
def test_runs_without_a_compiler(package: str):
    """Import all modules of the package in an environment without xDSL."""
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


# -------------------------------------------------------------------- rooms


FILES_OF_A_FOLDER = 15

FAMILIES = (
    *("operators", "dialects/relay", "runtime/kernels", "lowering/linalg", "lowering/linalg/rules"),
    "frontends/onnx/operators",
)
"""Folders with a file for each family of operators, and a few that these share."""

INDEXES = (*FAMILIES, "passes", "lowering", "lowering/native/kernels")
"""Folders whose files are all of one kind, under one rule of naming, so that there may be many."""


def sources(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.py") if path.name != "__init__.py"]


def test_a_folder_shows_what_it_is_about():
    folders = {module.parent for module in MODULES if module != TOP}
    folders |= {path.parent for path in (ROOT / "tests" / "helpers").rglob("*.py")}
    names = {folder: str(folder.relative_to(ROOT)) for folder in folders}
    long = {
        names[folder]: len(sources(folder))
        for folder in folders
        if names[folder] not in INDEXES and len(sources(folder)) > FILES_OF_A_FOLDER
    }
    assert long == {}


LINES_OF_A_FILE = 450

LONG = {
    "dialects/foreign/missing_ops.py": "an index: the ops that xDSL lacks",
    "dialects/memory/pack.py": "a pack is checked together with its slices",
    "dialects/xdsl_extras/xdsl_internals.py": "the one file to check when xDSL is upgraded",
    "frontends/onnx/convert/importer.py": "one class: a graph, node by node",
    "frontends/relay_text/text/expression_grammar.py": "one class: a method for each rule",
    "operators/orders.py": "one class: what orders of slices decide",
    "operators/sizes/algebra.py": "one class: the normal form of each operation on sizes",
    "passes/memory_report/read.py": "one class: a walk over the ops of a program",
    "passes/sizes/reader.py": "one class: a method for each op that computes sizes",
    "runtime/machine/recording.py": "one class: a method for each instruction",
    "runtime/program/instructions.py": "an index: the instructions",
    "runtime/templates/tracer.py": "one class: a method for each instruction",
}
"""Files that may be longer, each with the reason."""


def test_product_files_are_short():
    lengths = {
        str(module.relative_to(ROOT)): module.read_text(encoding="utf-8").count("\n")
        for module in MODULES
    }
    long = {name for name, length in lengths.items() if length > LINES_OF_A_FILE}
    assert long == set(LONG)


def test_every_room_is_in_the_table_of_contributing():
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| room |")[2]
    cells = [row.split("|")[1] for row in table.partition("\n\n")[0].splitlines() if "`" in row]
    listed = {name for cell in cells for name in re.findall(r"`([\w/]+)/`", cell)}
    rooms = {str(module.parent.relative_to(ROOT)) for module in MODULES if module != TOP}
    others = {"tests", "lit_tests", "examples", "benchmarks", "docs"}
    assert listed == rooms | others


def test_a_file_name_means_one_thing():
    """A family of operators has one name in all rooms, and so have the errors of a room."""
    places: dict[str, list[str]] = {}
    for module in MODULES:
        if module.name not in ("__init__.py", "errors.py"):
            places.setdefault(module.stem, []).append(str(module.parent.relative_to(ROOT)))
    twice = {
        name: folders
        for name, folders in places.items()
        if len(folders) > 1 and not set(folders) <= set(FAMILIES)
    }
    assert twice == {}


def test_index_folders_of_passes_hold_passes():
    """One pass a file, named after it; beside them the pipelines that name them."""
    files = {where.partition(":")[0].replace(".", "/") for where in PASSES.values()}
    found = {
        str(path.relative_to(ROOT).with_suffix(""))
        for room in ("passes", "lowering", "lowering/native/kernels")
        for path in sources(ROOT / room)
    }
    assert found == files | {"lowering/pipelines"}


def classes() -> Iterator[tuple[Path, ast.ClassDef]]:
    for module in MODULES:
        for node in statements(syntax(module)):
            if isinstance(node, ast.ClassDef):
                yield module, node


def names_in(node: ast.AST) -> list[str]:
    return [
        inner.id if isinstance(inner, ast.Name) else inner.attr
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name | ast.Attribute)
    ]


SPLIT_CLASSES = 0
"""The number of classes that are split over files: may only fall."""


def split_classes() -> list[str]:
    """The classes that exist to be the base of one class, which is in another file."""
    defined: dict[str, list[Path]] = {}
    bases: dict[str, list[Path]] = {}
    uses: dict[str, set[Path]] = {}
    for module, node in classes():
        defined.setdefault(node.name, []).append(module)
        for base in node.bases:
            for name in names_in(base)[:1]:
                bases.setdefault(name, []).append(module)
    once = {
        name
        for name, modules in defined.items()
        if len(modules) == 1 and len(bases.get(name, [])) == 1 and bases[name] != modules
    }
    for module in MODULES:
        if once.isdisjoint(re.findall(r"\w+", module.read_text(encoding="utf-8"))):
            continue
        tree = syntax(module)
        bases_here = (b for n in ast.walk(tree) if isinstance(n, ast.ClassDef) for b in n.bases)
        in_bases = Counter(name for base in bases_here for name in names_in(base))
        for name, count in Counter(names_in(tree)).items():
            if count > in_bases[name]:
                uses.setdefault(name, set()).add(module)
    return sorted(name for name in once if not uses.get(name, set()) - set(defined[name]))


def test_classes_are_in_one_file():
    assert len(split_classes()) == SPLIT_CLASSES, split_classes()


CALLED_THROUGH_TYPE_CHECKING = 0
"""Imports `if TYPE_CHECKING` of classes whose methods are called: may only fall."""


def hidden_imports() -> list[str]:
    """Names of ours that are imported for type checking only, while their methods are called."""
    found: list[str] = []
    for module in MODULES:
        if "TYPE_CHECKING" not in module.read_text(encoding="utf-8"):
            continue
        tree = syntax(module)
        hidden = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in names_in(node.test)
            for inner in node.body
            if isinstance(inner, ast.ImportFrom) and inner.level
            for alias in inner.names
        }
        typed = {
            (arg.arg, name)
            for arg in ast.walk(tree)
            if isinstance(arg, ast.arg) and arg.annotation is not None
            for name in hidden & set(re.findall(r"\w+", ast.unparse(arg.annotation)))
        }
        called = {
            node.func.value.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        }
        found += sorted(
            {f"{module.relative_to(ROOT)}: {name}" for arg, name in typed if arg in called}
        )
    return found


def test_imports_are_not_hidden_from_the_check_of_circles():
    assert len(hidden_imports()) == CALLED_THROUGH_TYPE_CHECKING, hidden_imports()


# -------------------------------------------------------------------- packaging


def test_wheel_lists_every_package():
    found = {
        ".".join(("xrelay", *init.parent.relative_to(ROOT).parts))
        for room in ROOMS
        for init in (ROOT / room).rglob("__init__.py")
    }
    assert set(CONFIG["tool"]["setuptools"]["packages"]) == {"xrelay", *found}


def test_the_page_of_the_wheel_has_no_links_into_the_repository():
    text = (ROOT / CONFIG["project"]["readme"]).read_text(encoding="utf-8")
    assert "pip install" in text
    links = re.findall(r"\]\(([^)]*)\)|(?:href|src)=[\"']?([^\"' >]*)", text)
    assert not [link for pair in links for link in pair if link and "://" not in link]


def test_every_folder_with_modules_is_a_package():
    folders = {path.parent for path in MODULES}
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


def test_every_room_is_mapped_typed_and_linked():
    assert CONFIG["tool"]["setuptools"]["package-dir"] == {f"xrelay.{r}": r for r in ROOMS}
    for room in ROOMS:
        assert (ROOT / room / "py.typed").exists()
        assert (ROOT / "xrelay" / room).resolve() == ROOT / room
    assert (ROOT / "xrelay" / "py.typed").exists()


@pytest.mark.parametrize("target", CONFIG["project"]["scripts"].values())
def test_commands_exist(target: str):
    module, _, function = target.partition(":")
    assert callable(getattr(import_module(module), function))


# -------------------------------------------------------------------- docstrings

FOLDERS = {
    *ROOMS,
    *("analysis", "buffer_check", "bytes", "devices", "evaluation", "functions", "memory_report"),
    *("plan_check", "sizes", "support", "workspaces"),
}
"""Rooms, and folders of `passes`, from which texts name a module, such as `bytes.aliases`."""


def test_texts_name_modules_that_exist():
    parts = {path.relative_to(ROOT).with_suffix("").parts for path in MODULES}
    parts |= {module[:-1] for module in parts}
    endings = {module[-k:] for module in parts for k in range(2, len(module) + 1)}
    documents = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    stale = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (*MODULES, *documents)
        if path.name != "CHANGELOG.md"
        for name in re.findall(r"`(?:xrelay\.)?(\w+\.[\w.]+)`", path.read_text(encoding="utf-8"))
        if name.split(".")[0] in FOLDERS
        if not any(tuple(name.split(".")[:k]) in endings for k in range(2, name.count(".") + 2))
    ]
    assert stale == []


def docstrings(module: Path) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of `module`, also those of constants, each with its line."""
    for node in (syntax(module), *statements(syntax(module))):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        for statement in node.body:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.lineno, value.value


PRIVATE_ENGLISH = re.compile(
    r"(?<!there )\b(is|are) no (?!longer|more|less|later|earlier|limit)"
    r"|\A\s*(What|Who|Where|How|Whether) ",
    re.I,
)
"""Write "is not a tensor", and begin with a verb or a noun."""


def test_docstrings_are_in_plain_english():
    found = [
        f"{module.relative_to(ROOT)}:{line}: {match[0].strip()}"
        for module in MODULES
        for line, text in docstrings(module)
        if (match := PRIVATE_ENGLISH.search(text))
    ]
    assert found == []


# -------------------------------------------------------------------- operators


TABLES: dict[str, Container[str]] = {
    "a rule in RULES of a file in operators/": {name.removeprefix("relay.") for name in RULES},
    "a kernel in KERNELS of a file in runtime/kernels/": {
        name.removeprefix("relay.") for name in KERNELS
    },
    (
        "a linalg rule, or the reason why it has none in RUNTIME_ONLY of "
        "lowering/linalg/rule_registry.py"
    ): {
        name.removeprefix("relay.") for name in (*rule_registry.RULES, *rule_registry.RUNTIME_ONLY)
    },
    "a meaning, or the reason why it has none in OWN_CODE of operators/meaning/own_code.py": {
        name.removeprefix("relay.") for name in MEANINGS
    },
    "samples in tests/helpers/operators/operator_samples.py": {sample.name for sample in SAMPLES},
    "random cases in GENERATORS of tests/helpers/operators/operator_cases.py": GENERATORS,
    "a reference in REFERENCES of tests/helpers/operators/kernel_references.py": REFERENCES,
    "NumPy's shapes in SHAPES of tests/helpers/operators/numpy_functions.py": SHAPES,
    "its attributes in TVM, in ATTRIBUTES or OURS of tests/helpers/operators/tvm_attributes.py": {
        *tvm_attributes.ATTRIBUTES,
        *tvm_attributes.OURS,
    },
}
"""The tables that must list each operator, by its name without `relay.`."""


def missing_facets(operator: type[Operation]) -> list[str]:
    """Return the facets that an operator lacks, each with the file to add it to."""
    traits, name = tuple(operator.traits), operator.name.removeprefix("relay.")
    facets = {
        "a docstring of its class": bool(operator.__dict__.get("__doc__")),
        "a type rule: its class derives from RelayOperator": any(
            isinstance(trait, InferTypes) for trait in traits
        ),
        "a fusion kind: Fusible(FusionKind.…) in the traits of its class": any(
            isinstance(trait, Fusible) for trait in traits
        ),
        "a device rule: SameDevice() in the traits of its class": any(
            isinstance(trait, DeviceRule) for trait in traits
        ),
        **{table: name in names for table, names in TABLES.items()},
    }
    lacks = [facet for facet, there in facets.items() if not there]
    if name in tvm_attributes.OURS and f"`{name}`" not in RELAY_TEXT:
        lacks.append(
            "a row for what TVM does not have, in the table of operators of docs/relay_text.md"
        )
    if name in inferring.OPERATORS:
        lacks += [
            f"a Rule in RULES of frontends/relay_text/tvm_operators.py: {difference}"
            for difference in tvm_attributes.disagreements(name)
        ]
    return lacks


def test_operators_have_every_facet():
    lacks = [f"{op.name} lacks {facet}" for op in OPERATORS for facet in missing_facets(op)]
    assert not lacks, "\n".join(lacks)


def test_an_operator_costs_few_lines():
    assert median(line_counts().values()) <= 40


def test_tables_are_of_operators():
    names = {operator.name for operator in OPERATORS}
    assert set(rule_registry.RUNTIME_ONLY) == names - set(rule_registry.RULES)
    assert set(RULES) == names | set(qnn.BY_NAME)
    assert set(KERNELS) == names
    assert set(tvm_attributes.ATTRIBUTES) | set(tvm_attributes.OURS) == set(inferring.OPERATORS)


def test_missing_facets_are_listed_with_their_places():
    @irdl_op_definition
    class BareOp(IRDLOperation):
        name = "relay.bare"

    missing = missing_facets(BareOp)
    assert [facet for facet in missing if facet not in TABLES] == [
        "a docstring of its class",
        "a type rule: its class derives from RelayOperator",
        "a fusion kind: Fusible(FusionKind.…) in the traits of its class",
        "a device rule: SameDevice() in the traits of its class",
    ]
    assert set(TABLES) <= set(missing)
    places = re.findall(r"(?:in|of) ([\w/]+(?:/|\.py))", " ".join(missing))
    assert len(places) == len(TABLES)
    assert all((ROOT / place).exists() for place in places)


def test_defaults_that_differ_from_tvms_need_a_rule(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tvm_operators, "RULES", {})
    lacks = {op.name: missing_facets(op) for op in OPERATORS if missing_facets(op)}
    rule = "a Rule in RULES of frontends/relay_text/tvm_operators.py: "
    assert lacks["relay.nn.leaky_relu"] == [
        f"{rule}alpha is 0.05 when it is not given, in TVM 0.25"
    ]
    assert (
        f"{rule}transpose_b is True when it is not given, in TVM False"
        in (lacks["relay.nn.batch_matmul"])
    )


def test_attributes_that_tvm_does_not_have_are_listed(monkeypatch: pytest.MonkeyPatch):
    ours = {name: () if name == "nn.gelu" else keys for name, keys in tvm_attributes.OURS.items()}
    monkeypatch.setattr(tvm_attributes, "OURS", {**ours, "argmax": ()})
    lacks = [facet for op in OPERATORS for facet in missing_facets(op)]
    assert [facet.partition(": ")[2] for facet in lacks] == [
        "approximate is not an attribute in TVM",
        "dtype is not an attribute in TVM",
    ]


# ----------------------------------------------------------- dialects and passes


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_are_registered_under_their_names(name: str):
    dialect = UNIVERSE.all_dialects[name]()
    assert dialect.name == name
    documented = [*dialect.operations, *dialect.attributes]
    assert not [cls.name for cls in documented if not cls.__dict__.get("__doc__")]


every_pass = every("name", PASSES)


@every_pass
def test_passes_say_what_they_do(name: str):
    """Each pass has a sentence for `--list-passes`, and a picture or its stages."""
    cls = UNIVERSE.all_passes[name]()
    assert pass_info(name, cls).description.endswith(".")
    doc = f"{import_module(cls.__module__).__doc__}\n{cls.__doc__}"
    assert "->" in doc or any(f"stage={stage}" in doc or f"`{stage}`" in doc for stage in STAGES)


def test_relay_text_is_completed_by_passes():
    assert set(text_reader.OPENING) <= set(PASSES)


def test_passes_have_golden_tests():
    found = {path.stem for path in ROOT.glob("lit_tests/*/*.mlir")}
    found |= {path.parent.name for path in ROOT.glob("lit_tests/*/*/*.mlir")}
    assert [name for name in PASSES if name not in found] == []
