"""
The example plug-in, found through its entry points: its operators go all the way without us.

It is put on the path of a process of its own with the metadata that pip would write;
`.ci/run` installs it for real.
"""

import os
import re
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
PLUGIN = ROOT / "examples" / "plugin"
PROJECT = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SCRIPTS = Path(sysconfig.get_path("scripts"))


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that finds the plug-in."""
    site = tmp_path_factory.mktemp("site")
    info = site / "xrelay_example_plugin-0.1.0.dist-info"
    info.mkdir()
    name, version = PROJECT["name"], PROJECT["version"]
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines: list[str] = []
    for group, entries in PROJECT["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(site), str(PLUGIN)))}


def run(env: dict[str, str], tool: str, *arguments: str | Path) -> str:
    """What the tool prints; it must succeed."""
    command = [str(SCRIPTS / tool), *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    return done.stdout


def test_passes_are_listed(env: dict[str, str]):
    listed = run(env, "xrelay-opt", "--list-passes")
    assert "demo-fold-scales                Fold a multiplication" in listed


@pytest.mark.parametrize("tool", ["xrelay-opt", "xdsl-opt"])
def test_ours_and_the_plugins_passes_run_together(env: dict[str, str], tool: str):
    passes = "infer-types,demo-fold-scales,plan-devices"
    text = run(env, tool, "-p", passes, PLUGIN / "program.mlir")
    assert "demo.scaled_tanh %y {scale = 1.500000e+00 : f64}" in text
    assert "-> tensor<6x4xf32, #relay.device<cpu:0>>" in text


def test_the_view_is_no_kernel(env: dict[str, str]):
    text = run(env, "xrelay-opt", "-p", "vm", PLUGIN / "program.mlir")
    assert "bytecode.reshape_tensor r2, r0 to [6, 4]" in text
    assert '"demo.as_rows"' not in text
    assert text.count("bytecode.alloc_storage") == 1


@pytest.mark.parametrize("pipeline", ["vm", "demo-fold-scales,vm"])
def test_the_machine_computes_what_numpy_does(env: dict[str, str], tmp_path: Path, pipeline: str):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3, 4), dtype=np.float32)
    w = rng.standard_normal((5, 4), dtype=np.float32)
    np.savez(tmp_path / "in.npz", x=x, w=w)
    arguments = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    run(env, "xrelay-run", PLUGIN / "program.mlir", *arguments, "--pipeline", pipeline)
    (y,) = np.load(tmp_path / "out.npz").values()
    expected = np.tanh(1.5 * (x.reshape(6, 4) @ w.T))
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", [(), ("--evaluate",)])
def test_relay_text_calls_an_operator_by_its_kernel(
    env: dict[str, str], tmp_path: Path, options: tuple[str, ...]
):
    program = tmp_path / "program.relay"
    program.write_text("""#[version = "0.0.5"]
        def @main(%x: Tensor[(2, 3), float32]) {
          nn.relu(demo.scaled_tanh(%x, scale=1.5f) /* ty=Tensor[(2, 3), float32] */)
        }""")
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    np.savez(tmp_path / "in.npz", x=x)
    arguments = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz", *options)
    run(env, "xrelay-run", "--allow-unregistered-dialect", program, *arguments)
    (y,) = np.load(tmp_path / "out.npz").values()
    np.testing.assert_allclose(y, np.maximum(np.tanh(1.5 * x), 0), rtol=1e-6)


def test_lit_tests(env: dict[str, str]):
    run(env, "lit", "-q", PLUGIN / "lit_tests")


def test_without_the_plugin_its_operators_are_unknown():
    command = [str(SCRIPTS / "xrelay-opt"), str(PLUGIN / "program.mlir")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "demo.as_rows" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_manual_quotes_the_plugin():
    """Each line of code in docs/plugins.md stands in the package."""
    manual = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    sources = [*PLUGIN.glob("xrelay_example_plugin/*.py"), PLUGIN / "pyproject.toml"]
    known = {line for path in sources for line in path.read_text(encoding="utf-8").split("\n")}
    blocks = re.findall(r"```(?:python|toml)\n(.*?)```", manual, re.DOTALL)
    assert len(blocks) >= 5
    assert not [line for block in blocks for line in block.split("\n") if line not in known]
