"""
Compare real models with float64: the errors of compiled code, by level, and of onnxruntime.

    python benchmarks/exact_errors.py [--only ocr,pitch] [--folder FOLDER] [--inputs 3] --table

The models are those of `real_models.py` whose results differ from onnxruntime's by more than 1e-5,
with fixed sizes; with `--all`, those of all are compared with onnxruntime only. The exact results
are those of ONNX's reference, which computes the model with all its numbers as float64. An error is
the greatest difference of all inputs, relative to the greatest number of an output or 1e-3, as
there; *difference* is that of the newest level and onnxruntime.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
import onnx
from helpers.onnx.onnx_models import onnxruntime_session
from levels import as_list, by_level
from onnx import GraphProto, ModelProto, TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from real_models import Array, Model, bound_sizes, error_of, feeds_of, measure_each, parser_for
from results import Facts

import xrelay

FILES = (
    "nmp.onnx",
    "ppocrv5_det.onnx",
    "ppocrv5_rec.onnx",
    "ch_PP-OCRv4_det_infer.onnx",
    "PP-OCRv6_det_small.onnx",
    "PP-OCRv6_rec_small.onnx",
)


class BatchNormalization(OpRun):
    """With the mean and variance that it is given; before version 14, ONNX's uses the batch's."""

    op_domain = ""

    def _run(self, x: Array, scale: Array, shift: Array, mean: Array, variance: Array, **a: Any):
        factor = scale / np.sqrt(variance + a["epsilon"])
        shape = (1, -1, *[1] * (x.ndim - 2))
        return (x * factor.reshape(shape) + (shift - mean * factor).reshape(shape),)


def doubled(model: ModelProto) -> ModelProto:
    """Return a copy whose f32 numbers are f64."""
    model = onnx.ModelProto.FromString(model.SerializeToString())

    def double(tensor: TensorProto) -> None:
        if tensor.data_type == TensorProto.FLOAT:
            wide = numpy_helper.to_array(tensor).astype(np.float64)
            tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))

    def double_all(graph: GraphProto) -> None:
        for tensor in graph.initializer:
            double(tensor)
        for value in (*graph.input, *graph.output, *graph.value_info):
            if value.type.tensor_type.elem_type == TensorProto.FLOAT:
                value.type.tensor_type.elem_type = TensorProto.DOUBLE
        for node in graph.node:
            for attribute in node.attribute:
                double(attribute.t)
                double_all(attribute.g)
                if node.op_type == "Cast" and attribute.i == TensorProto.FLOAT:
                    attribute.i = TensorProto.DOUBLE

    double_all(model.graph)
    return model


def measured(model: Model, path: Path, inputs: int, folder: Path, is_exact: bool) -> Facts:
    """Return the errors of one model; if not `is_exact`, the differences from onnxruntime."""
    proto = cast(Any, onnx).load(path)
    exact: Any = is_exact and ReferenceEvaluator(doubled(proto), new_ops=[BatchNormalization])
    options = bound_sizes(model, proto)
    library = folder / f"lib{path.stem}.so"
    compiled: Any = xrelay.compile(path, target="native{cpu=levels}", **options)
    compiled.save(str(library))
    levels = by_level(library, "levels", lambda copy: xrelay.load(str(copy)))
    session = onnxruntime_session(proto, threads=1)
    errors = dict[str, float]()
    largest = 0.0
    for seed in range(inputs):
        feeds = feeds_of(model, proto, seed)
        wide = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in feeds.items()}
        theirs = session.run(None, feeds)
        expected = cast("Sequence[Array]", exact.run(None, wide) if exact else theirs)
        arrays = {name: array for name, array in feeds.items() if name not in model.constants}
        outputs = {name: as_list(code(**arrays)) for name, code in levels.items()}
        *_, newest = outputs.values()
        pairs = {name: (results, expected) for name, results in outputs.items()}
        if exact:
            pairs |= {"onnxruntime": (theirs, expected), "difference": (newest, theirs)}
        for name, (results, wanted) in pairs.items():
            errors[name] = max(errors.get(name, 0.0), error_of(results, wanted))
        largest = max(largest, *(float(np.abs(e).max(initial=0)) for e in expected))
    row = {"greatest number": f"{largest:.0e}"}
    return {**row, **{name: f"{error:.1e}" for name, error in errors.items()}}


def main() -> None:
    """Compare the models."""
    parser = parser_for("Compare real models with float64.")
    parser.add_argument("--inputs", type=int, default=3, help="the random inputs of a model")
    parser.add_argument("--all", action="store_true", help="compare all models with onnxruntime")
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:

        def measure(model: Model, path: Path) -> Facts | None:
            if model.file not in FILES and not options.all:
                return None
            return measured(model, path, options.inputs, Path(temporary), not options.all)

        measure_each(options, measure)


if __name__ == "__main__":
    main()
