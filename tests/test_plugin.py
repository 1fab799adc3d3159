"""
The plug-in of `docs/plugins.md`, built from the page's files, behaves as the page says.

Each file on the page is written to a folder, which is on the path of a separate process together
with the metadata that pip would write; `.ci/run` installs the package with pip.
"""

import os
import re
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest
from documents import (
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
from inferring import context
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.attributes import plain_attributes
from xrelay.dialects.relay import properties
from xrelay.dialects.relay.incomplete import AnyTensor
from xrelay.dialects.relay.operator import Operator
from xrelay.runtime.tensor_file import write_tensors
from xrelay.tools import opt
from xrelay.tools import run as run_tool
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
    """Except two: the tree of files, and the command that installs them."""
    others = [b for b in BLOCKS if b.file is None and b.language != "console"]
    assert [block.language for block in others] == ["text", "sh"], [b.line for b in others]
    tree, command = others
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


# -------------------------------------------------------------------- the plug-in


def test_kernels_import_no_xdsl(plugin: Plugin):
    code = f"import sys; sys.modules['xdsl'] = None; import {PACKAGE}.kernels"
    subprocess.run([sys.executable, "-c", code], env=plugin.env, check=True, timeout=60)


def test_passes_are_listed(run: Run, plugin: Plugin):
    listed = run(plugin, "xrelay-opt", "--list-passes").out
    assert "demo-fold-scales                Fold a multiplication" in listed


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


def test_without_the_plugin_its_operators_are_unknown():
    command = [str(Path(SCRIPTS) / "xrelay-opt"), str(EXAMPLE / "program.mlir")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "demo.as_rows" in done.stderr
    assert "Traceback" not in done.stderr
