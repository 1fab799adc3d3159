"""
The plug-in of `docs/plugins.md`, built from the page's files, behaves as the page says.

Each file on the page is written to a folder, which is on the path of a separate process together
with the metadata that pip would write; `.ci/run` installs the package with pip.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest
from helpers.documents import (
    ROOT,
    SCRIPTS,
    Shown,
    blocks,
    matches,
    printed_by,
    rows,
    shown_by,
    shown_commands,
)
from helpers.operators.inferring import context
from helpers.programs.random_settings import ROUNDS
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

import xrelay
from xrelay.dialects.attributes import plain_attributes
from xrelay.dialects.relay import properties
from xrelay.dialects.relay.incomplete import AnyTensor
from xrelay.dialects.relay.operator import Operator
from xrelay.runtime.weights.tensor_file import write_tensors
from xrelay.tools.opt import opt
from xrelay.tools.run import run as run_tool
from xrelay.tools.testing.lit_discovery import execute, find_tests
from xrelay.tools.testing.lit_format import InProcess

EXAMPLE = ROOT / "examples" / "plugin"
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
BLOCKS = list(blocks(PAGE))
FILES = {block.file: block.text for block in BLOCKS if block.file is not None}
PACKAGE = "xrelay_example_plugin"


Run: TypeAlias = Callable[..., "Ran"]


class Plugin(NamedTuple):
    """The folder of a plug-in, and the environment of a process that finds it."""

    folder: Path
    env: dict[str, str]


def install(folder: Path) -> Plugin:
    """Write the page's files to `folder`, with the metadata that pip would write."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    info = folder / "site" / f"{PACKAGE}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}"]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    lines.clear()
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    paths = os.pathsep.join((str(folder / "site"), str(folder)))
    return Plugin(folder, os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"})


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Plugin:
    return install(tmp_path_factory.mktemp("plugin"))


@contextmanager
def found(plugin: Plugin) -> Generator[None]:
    """Let this process find the plug-in in its folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(plugin.folder)
        patch.setattr(sys, "path", [*plugin.env["PYTHONPATH"].split(os.pathsep), *sys.path])
        patch.setattr(sys, "dont_write_bytecode", True)
        invalidate_caches()
        try:
            yield
        finally:
            for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
                del sys.modules[name]


class Ran(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a tool in this process, with the plug-in installed."""

    def run(plugin: Plugin, tool: str, *arguments: str | Path) -> Ran:
        main = {"xrelay-opt": opt.main, "xrelay-run": run_tool.main}[tool]
        capsys.readouterr()
        with found(plugin), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")  # kernels that are skipped
            status = main([*map(str, arguments)])
        captured = capsys.readouterr()
        err = "".join((str(captured.err), *(str(warning.message) for warning in warned)))
        return Ran(status, str(captured.out), err)

    return run


# -------------------------------------------------------------------- the page


def test_every_block_is_a_file_or_is_run():
    """
    Except four: a plug-in in one file and how it is used, the tree of files, and the command that
    installs them.
    """
    others = [b for b in BLOCKS if b.file is None and b.language != "console"]
    languages = ["python", "sh", "text", "sh"]
    assert [block.language for block in others] == languages, [b.line for b in others]
    one_file, _, tree, command = others  # tests/tools/test_plugin_files.py uses it
    assert one_file.text == (ROOT / "examples" / "one_file.py").read_text(encoding="utf-8")
    names = re.findall(r"[\w.-]+\.(?:py|toml|mlir)", tree.text)
    assert names == [Path(name).name for name in FILES]
    assert command.text == "pip install --editable .\n"


def test_the_example_is_the_page():
    files = {
        str(path.relative_to(EXAMPLE)): path.read_text(encoding="utf-8")
        for path in EXAMPLE.rglob("*")
        if path.suffix in (".py", ".toml", ".mlir") and "build" not in path.parts
    }
    more = {"ops.mlir", "levels.mlir", "invalid.mlir", "demo-fold-scales.mlir"}
    assert {**FILES, **{n: t for n, t in files.items() if Path(n).name in more}} == files


@pytest.mark.parametrize("shown", list(shown_commands(PAGE)), ids=lambda shown: shown.command)
def test_commands_print_what_is_shown(plugin: Plugin, shown: Shown):
    with found(plugin):
        printed = shown_by(shown.command, plugin.folder, plugin.env)
    assert matches(shown.output, printed), f"{shown.command}\nprints\n{printed}"


ATTRIBUTES = rows(PAGE, "in the class", "in the text", "in the kernel")


def test_every_kind_of_attribute_is_on_the_page():
    shown = {row[0].strip("`").partition(" = ")[2].partition("(")[0] for row in ATTRIBUTES}
    assert shown == {name for name in vars(properties) if name.endswith("_prop")}


@pytest.mark.parametrize("row", ATTRIBUTES, ids=lambda row: row[0])
def test_attributes_print_and_run_as_shown(row: list[str]):
    written, text, plain = (cell.strip("`") for cell in row)
    name, _, made_by = written.partition(" = ")
    fields = {"data": operand_def(AnyTensor), "result": result_def(AnyTensor)}
    fields[name] = eval(made_by, dict(vars(properties)))
    cls = irdl_op_definition(type("DemoOp", (Operator,), {"name": "demo.op", **fields}))

    def printed(attributes: str) -> tuple[str, dict[str, Any]]:
        """Print the op with these attributes; return the text and its kernel's `attrs`."""
        ctx = context()
        ctx.load_dialect(Dialect("demo", [cls], []))
        source = '%x = "test.op"() : () -> tensor<f32>'
        line = f"%y = demo.op %x {attributes} : (tensor<f32>) -> tensor<f32>"
        module = Parser(ctx, f"{source}\n{line}").parse_module()
        module.verify()
        op = module.body.block.last_op
        assert isinstance(op, Operator)
        found = re.search(r"demo.op %x (.*): \(", str(op))
        assert found is not None
        return found[1].strip(), plain_attributes(op)

    assert printed(text) == (text, eval(plain))
    if made_by.startswith("optional"):
        assert printed("") == ("", {})
    elif made_by.endswith("()"):
        with pytest.raises(VerifyException, match=name):
            printed("")
    else:
        shown, given = printed("")
        assert (shown, list(given)) == ("", [name])


STABLE = rows(PAGE, "module", "contents")


def test_stable_modules_have_what_is_listed():
    for modules, names in STABLE:
        module, *_ = re.findall(r"`([\w.]+)`", modules)
        for name in re.findall(r"`(\w+)`", names.partition(":")[0]):
            assert hasattr(import_module(module), name), f"{module} has no {name}"


def test_the_plug_in_imports_stable_modules_only():
    stable = {re.findall(r"`([\w.]+)`", modules)[0] for modules, _ in STABLE}
    families = {"xrelay.dialects.relay.elementwise"}  # "and the other families"
    used = {
        module
        for name, text in FILES.items()
        if name.endswith(".py")
        for module in re.findall(r"^from (xrelay\.[\w.]+) import", text, re.M)
    }
    assert used - families <= stable


PYRIGHT = {
    "typeCheckingMode": "strict",
    "enableExperimentalFeatures": True,
    "pythonVersion": "3.11",
}


@pytest.mark.skipif(ROUNDS < 4, reason="checks types: XRELAY_ROUNDS=4, as in CI")
def test_types_are_checked_as_in_an_editor(tmp_path: Path):
    """
    Of the page's package, and of one that imports all of the stable interface, and all that any
    page imports.

    For pyright, a package on the path is installed: what it does not export is private to it.
    """
    for name, text in FILES.items():
        if name.endswith(".py") and not name.startswith("lit_tests"):
            path = tmp_path / "plugin" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    imports = "".join(
        f"from {module} import {name} as {name}\n"
        for modules, names in STABLE
        for module in re.findall(r"`([\w.]+)`", modules)[:1]
        for name in re.findall(r"`(\w+)`", names.partition(":")[0])
    )
    (tmp_path / "plugin" / "stable.py").write_text(imports, encoding="utf-8")
    documented = {
        f"from {module} import {name.strip()} as {name.strip()}\n"
        for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.language == "python"
        for module, names in re.findall(r"^from (xrelay[\w.]*) import (.+)$", block.text, re.M)
        for name in names.split(",")
    }
    assert len(documented) > 30
    (tmp_path / "plugin" / "documented.py").write_text("".join(sorted(documented)))
    (tmp_path / "plugin" / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "xrelay").symlink_to(ROOT / "xrelay")
    command = [str(Path(SCRIPTS) / "pyright"), "--pythonpath", sys.executable]
    environment = {n: v for n, v in os.environ.items() if n != "XDG_CACHE_HOME"}  # it has a node
    done = subprocess.run(
        command,
        cwd=tmp_path / "plugin",
        env=environment | {"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("0 errors, 0 warnings")


MISTAKES: dict[str, tuple[str, str, str, str]] = {
    "`universe.py` cannot be imported": (
        *("universe.py", '"""The dialects', 'import nowhere\n"""The dialects'),
        "xrelay-opt swish.mlir",
    ),
    "it defines a name that is already defined": (
        *("universe.py", '{"demo": _demo}', '{"relay": _demo}'),
        "xrelay-opt swish.mlir",
    ),
    "`dialect.py` cannot be imported": (
        *("dialect.py", "from . import", "import nowhere\nfrom . import"),
        "xrelay-opt swish.mlir",
    ),
    "`kernels.py` cannot be imported": (
        *("kernels.py", "from . import", "import nowhere\nfrom . import"),
        "xrelay-run program.mlir --random-seed 0",
    ),
    "it defines a kernel that is already defined": (
        *("kernels.py", '"demo.min_max": ', '"relay.add": '),
        "xrelay-run program.mlir --random-seed 0",
    ),
    "an operator has no kernel": (
        *("kernels.py", '"demo.min_max": ', '"demo.other": '),
        "xrelay-run program.mlir --random-seed 0",
    ),
    "`lowerings.py` cannot be imported": (
        *("lowerings.py", "from .dialect", "import nowhere\nfrom .dialect"),
        "xrelay-opt tanh.mlir -p convert-relay-to-linalg",
    ),
    "a rule returns too few results": (
        *("rules.py", "return result, result", "return (result,)"),
        "xrelay-opt program.mlir",
    ),
    "a rule raises another error": (
        *("rules.py", "    if not data.dims:", "    1 // 0\n    if not data.dims:"),
        "xrelay-opt program.mlir",
    ),
    "a kernel fails when it is bound": (
        *("kernels.py", "    axes = ", "    1 // 0\n    axes = "),
        "xrelay-run program.mlir --random-seed 0",
    ),
    "a kernel fails when it runs": (
        *("kernels.py", "fold(np.minimum, x, axes, least, keep=False)", "lambda: 1 // 0"),
        "xrelay-run program.mlir --random-seed 0",
    ),
    "a pass raises another error": (
        *("expand_swish.py", "        types = ", "        1 // 0\n        types = "),
        "xrelay-opt swish.mlir -p demo-expand-swish",
    ),
    "a pass produces invalid IR": (
        *("expand_swish.py", "[sigmoid, product]", "[product]"),
        "xrelay-opt swish.mlir -p demo-expand-swish",
    ),
}
"""For each row of the page's table: a file, old and new text in it, and a command."""


def test_every_mistake_on_the_page_is_made():
    assert [mistake for mistake, _ in rows(PAGE, "mistake", "what you see")] == list(MISTAKES)


@pytest.mark.parametrize(("mistake", "seen"), rows(PAGE, "mistake", "what you see"))
def test_mistakes_are_shown_as_the_page_says(run: Run, tmp_path: Path, mistake: str, seen: str):
    name, old, new, command = MISTAKES[mistake]
    broken = install(tmp_path)
    path = tmp_path / PACKAGE / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert seen.strip("`") in run(broken, *command.split()).err


UNEXPECTED: list[tuple[str, list[str]]] = [
    ("a rule raises another error", []),
    ("a kernel fails when it is bound", []),
    ("a kernel fails when it runs", []),
    ("a kernel fails when it runs", ["--evaluate"]),
    ("a pass raises another error", []),
    ("a pass raises another error", ["--crash-reproducer=crash.mlir"]),
]


@pytest.mark.parametrize(("mistake", "options"), UNEXPECTED)
def test_an_unexpected_error_names_the_plug_in(
    run: Run, tmp_path: Path, mistake: str, options: list[str]
):
    name, old, new, command = MISTAKES[mistake]
    broken = install(tmp_path)
    path = tmp_path / PACKAGE / name
    path.write_text(path.read_text().replace(old, new, 1))
    ran = run(broken, *command.split(), *options)
    assert ran.status == 1
    assert "note: it was raised by plug-in 'demo' (package xrelay-example-plugin)" in ran.err
    assert "not your mistake" not in ran.err


def test_an_unexpected_error_of_an_executable_names_the_plug_in(run: Run, tmp_path: Path):
    name, old, new, _ = MISTAKES["a kernel fails when it runs"]
    broken = install(tmp_path)
    built = ("-p", "vm", "-t", "executable", "-o", "program.xrx")
    assert run(broken, "xrelay-opt", "program.mlir", *built).status == 0
    path = tmp_path / PACKAGE / name
    path.write_text(path.read_text().replace(old, new, 1))
    ran = run(broken, "xrelay-run", "program.xrx", "--random-seed", "0")
    assert ran.err.endswith(
        "\nnote: it was raised by plug-in 'demo' (package xrelay-example-plugin)\n"
    )


def test_an_expected_error_names_no_plug_in(run: Run, plugin: Plugin):
    ran = run(plugin, "xrelay-run", "swish.mlir", "--random-seed", "0")
    assert ran.status == 1
    assert "raised by" not in ran.err


# -------------------------------------------------------------------- the plug-in


def test_kernels_import_no_xdsl(plugin: Plugin):
    code = f"import sys; sys.modules['xdsl'] = None; import {PACKAGE}.kernels"
    subprocess.run([sys.executable, "-c", code], env=plugin.env, check=True, timeout=60)


def test_passes_are_listed(run: Run, plugin: Plugin):
    listed = run(plugin, "xrelay-opt", "--list-passes").out
    assert "demo-fold-scales                Fold a multiplication" in listed


@pytest.mark.ci
@pytest.mark.parametrize("tool", ["xrelay-opt", "xdsl-opt"])
def test_ours_and_the_plugins_passes_run_together(plugin: Plugin, tool: str):
    command = f"{tool} -p infer-types,demo-fold-scales,plan-devices program.mlir"
    text = printed_by(command, plugin.folder, plugin.env)
    assert "demo.scaled_tanh %y {scale = 1.500000e+00 : f64}" in text
    device = "#cpu0" if tool == "xrelay-opt" else "#relay.device<cpu:0>"
    assert f"-> tensor<6x4xf32, {device}>" in text


def test_the_view_is_no_kernel(run: Run, plugin: Plugin):
    text = run(plugin, "xrelay-opt", "-p", "vm", "program.mlir").out
    assert re.search(r"bytecode.reshape_tensor r\d+, r0 to \[6, 4\]", text)
    assert '"demo.as_rows"' not in text
    assert text.count("bytecode.alloc_storage") == 3  # for the results


@pytest.mark.parametrize("pipeline", ["vm", "demo-fold-scales,vm"])
def test_the_machine_computes_what_numpy_does(
    run: Run, plugin: Plugin, tmp_path: Path, pipeline: str
):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3, 4), dtype=np.float32)
    w = rng.standard_normal((5, 4), dtype=np.float32)
    np.savez(tmp_path / "in.npz", x=x, w=w)
    arguments = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert run(plugin, "xrelay-run", "program.mlir", *arguments, "--pipeline", pipeline)[::2] == (
        0,
        "",
    )
    y, least, greatest = np.load(tmp_path / "out.npz").values()
    expected = np.tanh(1.5 * (x.reshape(6, 4) @ w.T))
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(least, y.min(1))
    np.testing.assert_array_equal(greatest, y.max(1))


NATIVE: dict[str, str] = {
    "an operator without a linalg rule": """
        func.func @main(%x: tensor<6x5xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
          %a, %b = demo.min_max %x {axes = array<i64: 1>}
              : (tensor<6x5xf32>) -> (tensor<6xf32>, tensor<6xf32>)
          func.return %a, %b : tensor<6xf32>, tensor<6xf32>
        }""",
    "one without, fused with one of `relay`": """
        func.func @main(%x: tensor<6x5xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
          %y = relay.negative %x : (tensor<6x5xf32>) -> tensor<6x5xf32>
          %a, %b = demo.min_max %y {axes = array<i64: 1>}
              : (tensor<6x5xf32>) -> (tensor<6xf32>, tensor<6xf32>)
          func.return %a, %b : tensor<6xf32>, tensor<6xf32>
        }""",
    "an operator with a linalg rule": """
        func.func @main(%x: tensor<6x5xf32>) -> tensor<6x5xf32> {
          %y = demo.scaled_tanh %x {scale = 3.0} : (tensor<6x5xf32>) -> tensor<6x5xf32>
          func.return %y : tensor<6x5xf32>
        }""",
    "an operator with a meaning alone": """
        func.func @main(%x: tensor<6x5xf32>) -> tensor<6x5xf32> {
          %y = demo.squareplus %x {bend = 2.0} : (tensor<6x5xf32>) -> tensor<6x5xf32>
          func.return %y : tensor<6x5xf32>
        }""",
}


@pytest.mark.parametrize("program", NATIVE.values(), ids=NATIVE)
def test_native_programs_compute_what_numpy_does(
    run: Run,
    plugin: Plugin,
    tmp_path: Path,
    program: str,
):
    """As a library, and in the machine with native kernels."""
    x = np.random.default_rng(0).standard_normal((6, 5), dtype=np.float32)
    y = -x if "relay.negative" in program else x
    is_reduction = "demo.min_max" in program
    one = (x + np.sqrt(x * x + 2)) / 2 if "squareplus" in program else np.tanh(3 * x)
    expected = [y.min(1), y.max(1)] if is_reduction else [one]
    path, library = tmp_path / "program.mlir", tmp_path / "libprogram.so"
    path.write_text(program)
    np.savez(tmp_path / "in.npz", x=x)

    remark = "demo.min_max has no linalg rule" if is_reduction else ""
    built = run(
        plugin,
        "xrelay-opt",
        path,
        "-p",
        "aot",
        "-t",
        "native{cpu=native}",
        "-o",
        library,
        "--remarks",
    )
    assert (built.status, remark in built.err, "error" in built.err) == (0, True, False), built.err
    with found(plugin):
        results = xrelay.load(library)(x)
    for result, wanted in zip(results if is_reduction else [results], expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-6)

    arguments = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    ran = run(plugin, "xrelay-run", path, *arguments, "--kernels", "native")
    assert (ran.status, "error" in ran.err) == (0, False), ran.err
    for result, wanted in zip(np.load(tmp_path / "out.npz").values(), expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-6)


@pytest.mark.parametrize("axes", ["", "axes = array<i64: -1, 0>", "axes = array<i64>"])
def test_an_optional_attribute_may_be_absent(run: Run, plugin: Plugin, tmp_path: Path, axes: str):
    reduced = {"": None, "axes = array<i64>": ()}.get(axes, (2, 0))
    x = np.random.default_rng(0).standard_normal((2, 3, 4), dtype=np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    (tmp_path / "program.mlir").write_text(f"""
        func.func @main(%x: tensor<2x3x4xf32>) -> (!relay.incomplete, !relay.incomplete) {{
          %a, %b = demo.min_max %x {{{axes}}}
              : (tensor<2x3x4xf32>) -> (!relay.incomplete, !relay.incomplete)
          func.return %a, %b : !relay.incomplete, !relay.incomplete
        }}""")
    arguments = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert run(plugin, "xrelay-run", tmp_path / "program.mlir", *arguments)[::2] == (0, "")
    least, greatest = np.load(tmp_path / "out.npz").values()
    np.testing.assert_array_equal(least, x.min(reduced))
    np.testing.assert_array_equal(greatest, x.max(reduced))


def test_operators_of_linear_work_are_computed_with_the_weights(
    run: Run, plugin: Plugin, tmp_path: Path
):
    (tmp_path / "program.mlir").write_text("""
        module attributes {relay.params = "w.safetensors"} {
          func.func @main() -> (tensor<f32>, tensor<f32>) {
            %w = relay.param "w" : tensor<2x3xf32>
            %t = demo.scaled_tanh %w {scale = 1.5 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
            %a, %b = demo.min_max %t : (tensor<2x3xf32>) -> (tensor<f32>, tensor<f32>)
            func.return %a, %b : tensor<f32>, tensor<f32>
          }
        }""")
    w = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    write_tensors(tmp_path / "w.safetensors", {"w": w})
    text = run(plugin, "xrelay-opt", "-p", "fold-weights", tmp_path / "program.mlir").out
    assert "\"=demo.scaled_tanh('w', scale=1.5)\"" in text
    assert "= demo.scaled_tanh" not in text
    assert "demo.min_max" in text, "which takes more than linear work, as its rule does not say"
    arguments = ("--pipeline", "fold-weights,vm", "--outputs", tmp_path / "out.npz")
    assert run(plugin, "xrelay-run", tmp_path / "program.mlir", *arguments)[::2] == (0, "")
    least, greatest = np.load(tmp_path / "out.npz").values()
    np.testing.assert_allclose([least, greatest], np.tanh([-1.5, 1.5]), rtol=1e-6)


def test_swish_is_written_out(run: Run, plugin: Plugin, tmp_path: Path):
    x = np.linspace(-3, 3, 4, dtype=np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    arguments = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert run(
        plugin, "xrelay-run", "swish.mlir", *arguments, "--pipeline", "demo-expand-swish,vm"
    )[::2] == (0, "")
    (y,) = np.load(tmp_path / "out.npz").values()
    np.testing.assert_allclose(y, x / (1 + np.exp(-x)), rtol=1e-6)


@pytest.mark.parametrize("options", [(), ("--evaluate",)])
def test_relay_text_calls_an_operator_by_its_kernel(
    run: Run, plugin: Plugin, tmp_path: Path, options: tuple[str, ...]
):
    program = tmp_path / "program.relay"
    program.write_text("""#[version = "0.0.5"]
        def @main(%x: Tensor[(2, 3), float32]) {
          nn.relu(demo.scaled_tanh(%x, scale=1.5f) /* ty=Tensor[(2, 3), float32] */)
        }""")
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    np.savez(tmp_path / "in.npz", x=x)
    arguments = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz", *options)
    assert run(plugin, "xrelay-run", "--allow-unregistered-dialect", program, *arguments)[::2] == (
        0,
        "",
    )
    (y,) = np.load(tmp_path / "out.npz").values()
    np.testing.assert_allclose(y, np.maximum(np.tanh(1.5 * x), 0), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # lit's own shell leaves pipes
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # open
def test_lit_tests(plugin: Plugin):
    """In this process; `lit` itself is on the page."""
    tests = find_tests(EXAMPLE / "lit_tests")
    assert len(tests) == 5
    for test in tests:
        test.config.test_format = InProcess()
        test.config.environment["PYTHONPATH"] = plugin.env["PYTHONPATH"]
        with found(plugin):
            result = execute(test)
        assert result.code.name == "PASS", result.output


def test_reference_pages_are_made_as_the_documentation_says(plugin: Plugin):
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    *_, code = re.findall(r"```python\n(.*?)```", page, re.S)
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, env=plugin.env, capture_output=True, text=True, check=True)
    assert "# The `demo` dialect" in printed.stdout
    assert "| `scale` | an f64 float | `1.000000e+00 : f64` |" in printed.stdout


@pytest.mark.ci
def test_without_the_plugin_its_operators_are_unknown():
    command = [str(Path(SCRIPTS) / "xrelay-opt"), str(EXAMPLE / "program.mlir")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "demo.as_rows" in done.stderr
    assert "Traceback" not in done.stderr


# -------------------------------------------------------------------- an operator with effects

TICK = {
    "rules.py": """

@Rule.with_work(Work.LINEAR)
def tick(data: Tensor, *, number: int) -> Tensor:
    return data
""",
    "kernels.py": """

def tick(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    def run() -> None:
        with open("ticks", "a") as file:
            file.write(f"{attrs['number']} ")
        np.copyto(outs[0], ins[0])

    return run


KERNELS["demo.tick"] = CheckedKernel("demo.tick", rules.tick, tick)
""",
    "dialect.py": """

from xrelay.dialects.relay.properties import int_prop


@irdl_op_definition
class TickOp(Operator):
    name = "demo.tick"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    number = int_prop()

    traits = traits_def(
        InferTypes(typed(rules.tick)), SameDevice(), Fusible(FusionKind.ELEMWISE), ReshapesOnly()
    )


Demo = Dialect("demo", [ScaledTanhOp, AsRowsOp, MinMaxOp, SwishOp, TickOp], [])
""",
}
"""Additions to the files of the package: `demo.tick`, which records each run."""

TICKS = "10 0 1 1 8 2 3 4 5 6 7 "
"""The operators that the program runs, in its order; the first cannot run before the program."""

TICKING = """
func.func @main(%x: tensor<SIZExf32>) -> tensor<SIZExf32> {
  %c = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %before = demo.tick %x {number = 10} : (tensor<SIZExf32>) -> tensor<SIZExf32>
  %unused = demo.tick %c {number = 0} : (tensor<4xf32>) -> tensor<4xf32>
  %one = demo.tick %c {number = 1} : (tensor<4xf32>) -> tensor<4xf32>
  %same = demo.tick %c {number = 1} : (tensor<4xf32>) -> tensor<4xf32>
  %w = relay.param "w" : tensor<4xf32>
  %weight = demo.tick %w {number = 8} : (tensor<4xf32>) -> tensor<4xf32>
  %both = relay.add %one, %same : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = relay.add %both, %weight : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = relay.exp %x : (tensor<SIZExf32>) -> tensor<SIZExf32>
  %late = demo.tick %e {number = 2} : (tensor<SIZExf32>) -> tensor<SIZExf32>
  %called = func.call @unused(%x) : (tensor<SIZExf32>) -> tensor<SIZExf32>
  %true = relay.constant dense<true> : tensor<i1>
  %if = relay.if %true : tensor<i1> -> (tensor<SIZExf32>) {
    %t = demo.tick %x {number = 4} : (tensor<SIZExf32>) -> tensor<SIZExf32>
    relay.yield %t : tensor<SIZExf32>
  } else {
    %f = demo.tick %x {number = 9} : (tensor<SIZExf32>) -> tensor<SIZExf32>
    relay.yield %f : tensor<SIZExf32>
  }
  %a = demo.tick %e {number = 5} : (tensor<SIZExf32>) -> tensor<SIZExf32>
  %b = relay.add %a, %sum : (tensor<SIZExf32>, tensor<4xf32>) -> tensor<SIZExf32>
  %apart = demo.tick %x {number = 6} : (tensor<SIZExf32>) -> tensor<SIZExf32>
  %d = relay.tanh %b : (tensor<SIZExf32>) -> tensor<SIZExf32>
  %last = demo.tick %d {number = 7} : (tensor<SIZExf32>) -> tensor<SIZExf32>
  func.return %last : tensor<SIZExf32>
}
func.func private @unused(%x: tensor<SIZExf32>) -> tensor<SIZExf32> {
  %t = demo.tick %x {number = 3} : (tensor<SIZExf32>) -> tensor<SIZExf32>
  func.return %t : tensor<SIZExf32>
}
"""

REMOVALS = "cse,canonicalize,dce,eliminate-dead-code"
"""Passes that remove and merge ops, at any level."""

TICKING_RUNS: dict[str, tuple[str, ...]] = {
    "evaluate": ("--evaluate",),
    "vm": (),
    "vm{memory=none}": ("--pipeline", "vm{memory=none}"),
    "vm{memory=coalesce}": ("--pipeline", "vm{memory=coalesce}"),
    "native kernels": ("--kernels", "native"),
    "removals": ("--pipeline", f"{REMOVALS},vm"),
    "removals at every level": (
        "--pipeline",
        f"infer-types,simplify-inference,fold-constants,{REMOVALS},propagate-layout,"
        f"transpose-weights,pack-weights,fold-weights,plan-devices,{REMOVALS},lambda-lift,inline,"
        f"fuse-ops,{REMOVALS},outline-primitives,{REMOVALS},create-shape-functions,manifest-alloc,"
        f"simplify-shapes,{REMOVALS},remove-dead-writes,remove-unused-kernels,reorder-for-memory,"
        f"plan-memory,{REMOVALS},remove-dead-writes,expand-packs,lower-to-bytecode,allocate-registers",
    ),
}


@pytest.fixture(scope="module")
def ticking(tmp_path_factory: pytest.TempPathFactory) -> Plugin:
    """The page's package with `demo.tick`, which is not pure."""
    plugin = install(tmp_path_factory.mktemp("ticking"))
    for name, text in TICK.items():
        path = plugin.folder / PACKAGE / name
        path.write_text(path.read_text() + text)
    for name, size in (("static", "4"), ("open", "?")):
        (plugin.folder / f"{name}.mlir").write_text(TICKING.replace("SIZE", size))
    np.savez(plugin.folder / "in.npz", x=np.zeros(4, np.float32))
    return plugin


def ticks(plugin: Plugin) -> str:
    """Return the operators that have run since the last call."""
    path = plugin.folder / "ticks"
    text = path.read_text() if path.exists() else ""
    path.unlink(missing_ok=True)
    return text


@pytest.mark.parametrize(
    ("size", "options"),
    [*zip(cycle(["static", "open"]), TICKING_RUNS.values())],
    ids=TICKING_RUNS,
)
def test_an_operator_with_effects_runs_as_often_as_the_program_says(
    run: Run, ticking: Plugin, size: str, options: tuple[str, ...]
):
    ticks(ticking)
    arguments = ("--inputs", "in.npz", "--random-weights", *options)
    ran = run(ticking, "xrelay-run", f"{size}.mlir", *arguments)
    assert ran.status == 0, ran.err
    assert ticks(ticking) == TICKS


@pytest.mark.parametrize("size", ["static", "open"])
@pytest.mark.ci
def test_an_operator_with_effects_in_machine_code(run: Run, ticking: Plugin, size: str):
    ticks(ticking)
    library = f"lib{size}.so"
    built = run(
        ticking,
        "xrelay-opt",
        f"{size}.mlir",
        "-p",
        "aot",
        "-t",
        "native{cpu=native}",
        "-o",
        library,
        "--random-weights",
    )
    assert built.status == 0, built.err
    assert ticks(ticking) == ""
    with found(ticking):
        main = xrelay.load(f"./{library}")
        for _ in range(2):
            main(np.zeros(4, np.float32))
            assert ticks(ticking) == TICKS


def test_an_operator_with_effects_is_not_lost_in_linalg(run: Run, ticking: Plugin):
    ran = run(ticking, "xrelay-opt", "static.mlir", "-t", "linalg")
    assert ran.status == 1
    assert "static.mlir:4:13: error: demo.tick has no linalg" in ran.err


def test_an_operator_with_effects_is_called_from_relay_text(run: Run, ticking: Plugin):
    (ticking.folder / "text.relay").write_text("""#[version = "0.0.5"]
        def @main(%x: Tensor[(4), float32]) {
          let %a = demo.tick(%x, number=0) /* ty=Tensor[(4), float32] */;
          let %b = demo.tick(%x, number=1) /* ty=Tensor[(4), float32] */;
          let %c = demo.tick(%x, number=1) /* ty=Tensor[(4), float32] */;
          %b
        }""")
    ticks(ticking)
    arguments = ("--allow-unregistered-dialect", "--inputs", "in.npz")
    for options in ((), ("--evaluate",), ("--pipeline", f"{REMOVALS},vm")):
        ran = run(ticking, "xrelay-run", "text.relay", *arguments, *options)
        assert ran.status == 0, ran.err
        assert ticks(ticking) == "0 1 1 "
    ran = run(
        ticking,
        "xrelay-opt",
        "text.relay",
        "--allow-unregistered-dialect",
        "-p",
        f"infer-types,fuse-ops,outline-primitives,{REMOVALS}",
        "-o",
        "lowered.relay",
        "-t",
        "relay-text",
    )
    assert ran.status == 0, ran.err
    ran = run(
        ticking,
        "xrelay-run",
        "lowered.relay",
        *arguments,
        "--pipeline",
        f"{REMOVALS},plan-devices,create-shape-functions,manifest-alloc,remove-dead-writes,plan-memory,expand-packs,lower-to-bytecode,allocate-registers",
    )
    assert ran.status == 0, ran.err
    assert ticks(ticking) == "0 1 1 "


def test_an_operator_with_effects_keeps_its_layout(run: Run, ticking: Plugin):
    image, filters = "tensor<1x8x6x6xf32>", "tensor<8x8x3x3xf32>"
    signature = f"({image}, {filters}) -> {image}"
    (ticking.folder / "image.mlir").write_text(f"""
        func.func @main(%x: {image}) -> {image} {{
          %w = relay.param "w" : {filters}
          %a = relay.nn.conv2d %x, %w {{padding = array<i64: 1, 1, 1, 1>}} : {signature}
          %b = demo.tick %a {{number = 0}} : ({image}) -> {image}
          %c = relay.nn.relu %b : ({image}) -> {image}
          %d = relay.nn.conv2d %c, %w {{padding = array<i64: 1, 1, 1, 1>}} : {signature}
          func.return %d : {image}
        }}""")
    ran = run(ticking, "xrelay-opt", "image.mlir", "-p", "propagate-layout")
    assert f"{{number = 0 : i64}} : ({image}) -> {image}" in ran.out
    assert "relay.nn.relu" in ran.out
    assert "tensor<1x6x6x8xf32>" in ran.out
