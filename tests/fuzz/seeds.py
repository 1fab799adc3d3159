"""The inputs to mutate: valid programs, files and texts, and some invalid ones."""

import io
from base64 import b64encode
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
from helpers.onnx.onnx_models import Array
from helpers.onnx.onnx_small import model_of, node, random_array
from helpers.programs.compiled_files import compile_file
from helpers.programs.hinted_relay_programs import RelayProgram
from helpers.programs.random_settings import share
from helpers.relay.relay_corpus import PROGRAMS
from onnx import NodeProto
from safetensors.numpy import save

from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.support.diagnostics import PassError
from xrelay.runtime.program.program import Program
from xrelay.tools.opt import opt

from .executables import file_of, file_with_a_weight

ROOT = Path(__file__).parents[2]
_LONGEST = 4000
"""The maximum length of a seed: mutants of longer texts are slower and find nothing new."""


def _parts(folder: str) -> Iterator[str]:
    """Yield the parts of golden tests, without their comments."""
    for file in sorted((ROOT / "lit_tests" / folder).rglob("*.mlir")):
        for part in file.read_text().split("// -----"):
            lines = [line for line in part.splitlines() if not line.lstrip().startswith("//")]
            text = "\n".join(lines).strip()
            if 0 < len(text) < _LONGEST:
                yield text + "\n"


def _printed(text: str, *options: str) -> str | None:
    """Run `xrelay-opt` with `options` on `text`; return None if it is rejected."""
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            status = opt.main([file.name, *options])
    return None if status else out.getvalue()


LEVELS = ("relay", "planned", "fused", "lowered", "manifest", "bytecode")


DYNAMIC = """
func.func @main(%x: tensor<?x4xf32> {relay.dims = ["n", 4]}, %y: tensor<?x4xf32> {relay.dims = ["n", 4]}, %s: tensor<2xi64>) -> !relay.incomplete {
  %z = relay.add %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> !relay.incomplete
  %r = relay.dyn.reshape %z, %s : (!relay.incomplete, tensor<2xi64>) -> !relay.incomplete
  %e = relay.exp %r : (!relay.incomplete) -> !relay.incomplete
  %w = relay.argwhere %e : (!relay.incomplete) -> !relay.incomplete
  %t = relay.tuple %e, %w : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %t : !relay.incomplete
}
"""  # noqa: E501


@cache
def _relay_programs() -> list[str]:
    files = [ROOT / "examples" / "classifier.mlir"]
    folders = ("passes/fuse-ops", "passes/plan-devices", "passes/manifest-alloc", "lowering")
    texts = [*(file.read_text() for file in files), *(p for f in folders for p in _parts(f))]
    static = [
        text for text in share(texts[::3], 8) if _printed(text, "-p", "infer-types") is not None
    ]
    return [DYNAMIC, *static]


@cache
def _lowered(level: str) -> list[str]:
    """Return the programs after the passes to `level`."""
    if level == "relay":
        return _relay_programs()
    before = LEVELS[LEVELS.index(level) - 1]
    passes = VmPipeline().text.replace("fold-constants,", "")
    start, stop = (f"verify-stage{{stage={name}}}" for name in (before, level))
    passes = passes.partition(f"{start},")[2] or passes
    passes = passes[: passes.index(stop) + len(stop)]
    return [made for text in _lowered(before) if (made := _printed(text, "-p", passes))]


@cache
def ir_seeds(level: str) -> list[bytes]:
    """Return programs at that level."""
    folders = {"planned": "dialects/device", "manifest": "dialects/memory"}
    own = share([*_parts(folders.get(level, f"dialects/{level}"))], 8)
    # Nine in ten are valid: mutants of an invalid one are mostly rejected for the same reason.
    wrong = [text for text in own if _printed(text) is None]
    own = [text for text in own if text not in wrong[len(own) // 10 :]]
    return [text.encode() for text in (*own, *_lowered(level)) if len(text) < _LONGEST]


RELAY_WORDS = [
    *("(", ")", "{", "}", "[", "]", ",", ";", "=", "=>", "->", "<", "+", "*", "-", ".0", ".7"),
    *("let", "fn", "if", "else", "match", "match?", "def", "type", "ref", "ref_read", "ref_write"),
    *("True", "1", "2f", "-1", "3i64", "1e999f", "99999999999999999999", '"a"', "axis=1"),
    *("%x", "%0", "%1", "@main", "@map", "add", "split", "concatenate", "reshape", "Cons", "Nil"),
    *("memory.alloc_storage", "memory.alloc_tensor", "memory.kill", "vm.invoke_tvm_op", "%t"),
    *("vm.reshape_tensor", "vm.shape_of", "call_lowered", "Primitive=1", "%f", "?", "'a'"),
    *("_", "float32", "Tensor[(4), float32]", "List[int32]", "meta[relay.Constant][0]", "/*", '"'),
]
"""Words with a meaning in Relay text."""


def relay_text_seeds() -> list[bytes]:
    folder = ROOT / "tests" / "frontends" / "relay_text" / "programs"
    files = [*folder.glob("*.relay"), *(ROOT / "examples").glob("*.relay")]
    texts = [
        *('#[version = "0.0.5"]\n' + p for p in PROGRAMS),
        *(f.read_text() for f in sorted(files)),
        *(RelayProgram(Random(i), is_open=True).text for i in range(8)),
    ]
    return [text.encode() for text in texts if len(text) < _LONGEST]


def json_seeds() -> list[bytes]:
    import json

    from helpers.relay.relay_json import saved_module

    data = ROOT / "tests" / "data" / "relay_text"
    return [json.dumps(saved_module()).encode(), (data / "generics.json").read_bytes()]


def onnx_seeds() -> list[bytes]:
    """Models with attributes, shapes and integer constants of many operators."""
    x, w = {"x": random_array(1, 4, 6, 6)}, {"w": random_array(4, 4, 3, 3)}
    windows = {"kernel_shape": [3, 3], "strides": [2, 1], "pads": [1, 0, 1, 2]}
    scales = {"s": np.array([1, 1, 2, 2], np.float32)}
    nodes: list[tuple[NodeProto, dict[str, Array], int]] = [
        (node("Conv", "x w", dilations=[1, 2], group=1, **windows), w, 13),
        (node("ConvTranspose", "x w", output_padding=[1, 0], **windows), w, 13),
        (node("AveragePool", "x", ceil_mode=1, count_include_pad=1, **windows), {}, 13),
        (node("MaxPool", "x", ceil_mode=1, **windows), {}, 13),
        (node("Resize", "x - s"), scales, 13),
        (node("Softmax", "x", axis=2), {}, 9),
        (node("Transpose", "x", perm=[0, 2, 3, 1]), {}, 13),
        (node("ReduceMean", "x", axes=[1, -1]), {}, 13),
        (node("Slice", "x", starts=[1, 0], ends=[3, 4], axes=[1, 2]), {}, 9),
        (node("Pad", "x", pads=[0, 0, 1, 1, 0, 0, 1, 1]), {}, 10),
        (node("Split", "x", "y z", axis=1, split=[1, 3]), {}, 11),
        (node("DepthToSpace", "x", blocksize=2), {}, 13),
        (node("Gemm", "a a", transB=1, alpha=0.5), {"a": random_array(2, 3)}, 13),
        (node("LayerNormalization", "x s", axis=-1), {"s": random_array(6)}, 17),
    ]  # fmt: skip
    integers: dict[str, tuple[str, list[int]]] = {
        "Reshape": ("x c", [0, -1]),
        "Expand": ("x c", [2, 4, 6, 6]),
        "Tile": ("x c", [1, 2, 1, 1]),
        "Gather": ("x c", [0, -1]),
        "ConstantOfShape": ("c", [2, 3]),
        "Unsqueeze": ("x c", [0, 3]),
        "Trilu": ("x c", [1]),
    }
    for op_type, (inputs, numbers) in integers.items():
        nodes.append((node(op_type, inputs), {"c": np.array(numbers, np.int64)}, 14))
    models = [model_of(n, x, constants, opset=opset) for n, constants, opset in nodes]
    return [model.SerializeToString() for model in models]


def csv_seeds() -> list[bytes]:
    rich = """id,lower,upper,size,alignment,gaps,offset,pools,arms,tie
a,0,9,8,4,2-4 6-7@0:2,16,slow fast,if:then inner:x,t
b,1,2,3,,,,,,
c,3,9,5,2,3-9,,fast,if:else,
d,0,4,8,,,,,,t
e,-2,2,7,,-2-2@0:3,40,,,
"""
    inclusive = "buffer_id,start,end,size,gaps\nx,0,3,4,1-2\ny,2,5,9,\nz,3,3,2,3-3@0:1\n"
    tied = (
        "id,tie,lower,upper,size,pools,offset\np,s,0,2,4,one,\nq,s,1,3,6,,0\nr,,1,4,2,one two,0\n"
    )
    small = (ROOT / "tests" / "data" / "planning" / "input.12.csv").read_text()
    return [text.encode() for text in (rich, inclusive, tied, small)]


def pipeline_seeds() -> list[bytes]:
    texts = [
        VmPipeline().text,
        "vm",
        "vm{memory=coalesce},cse",
        "infer-types,plan-devices{default=cuda:0 host=cpu:0 repair explain},share-device-copies",
        'infer-types,fuse-ops{level=2 max-size=4},plan-devices{targets="cpu:0,cuda:1"}',
        "fold-constants,infer-types,verify-stage{stage=planned}",
        "canonicalize,cse,dce",
    ]
    return [text.encode() for text in texts]


def npz_seeds() -> list[bytes]:
    files: list[bytes] = []
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for save_npz in (np.savez, np.savez_compressed):
        for array in (x, np.asfortranarray(x), x.astype(">f4"), x.astype(np.float64)):
            out = io.BytesIO()
            save_npz(out, x=array, b=np.array([True, False]))
            files.append(out.getvalue())
    return files


def safetensors_seeds() -> list[bytes]:
    w = np.arange(12, dtype=np.float32).reshape(4, 3)
    return [save({"w": w}), save({"w": w.astype(np.float16), "v": w}, {"format": "np"})]


def program_seeds() -> list[bytes]:
    """Return executables of small programs as text, to which edits are added."""
    return [b64encode(file_of(program)) for program in compiled_programs()]


def executable_seeds() -> list[bytes]:
    """Return executables of small programs, and of examples with data, closures and open dims."""
    files = [file_of(program) for program in compiled_programs()]
    files += [file_with_a_weight(), file_of(striped_program())]
    for name in ("lists.relay", "closures.relay", "dynamic.mlir"):
        path = str(ROOT / "examples" / name)
        loaded = compile_file(path, reads_memory=True)
        files.append(file_of(loaded.program, loaded.plans))
    return files


CONVOLUTION = """
  %{y} = relay.nn.conv2d %{x}, %w {{padding = array<i64: 1, 1, 1, 1>, data_layout = "NHWC", kernel_layout = "HWIO"}}
      : (tensor<1x24x6x4xf32>, tensor<3x3x4x4xf32>) -> tensor<1x24x6x4xf32>"""  # noqa: E501


def striped_program() -> Program:
    """Return a chain that is one loop: with rows that are clipped and filled, and turns."""
    import tempfile

    steps = "".join(CONVOLUTION.format(x=x, y=y) for x, y in ("xa", "ab", "bc"))
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(
            "func.func @main(%x: tensor<1x24x6x4xf32>) -> tensor<1x24x6x4xf32> {\n"
            f'%w = relay.param "w" : tensor<3x3x4x4xf32>{steps}\n'
            "func.return %c : tensor<1x24x6x4xf32>\n}\n"
        )
        file.flush()
        return compile_file(file.name, "vm{work=1.0 code=2}").program


@cache
def compiled_programs() -> list[Program]:
    """Return small compiled programs."""
    import tempfile

    found: list[Program] = []
    with tempfile.TemporaryDirectory() as folder:
        for text in ir_seeds("bytecode"):
            path = Path(folder) / "p.mlir"
            path.write_bytes(text)
            try:
                loaded = compile_file(str(path))
                program = loaded.program
            except PassError:  # those that golden tests expect to be rejected
                continue
            if program.functions:
                found.append(program)
    return found
