"""
Run every operator sample of the tests in TVM, and compare text, types and values.

    python benchmarks/against_tvm/operators.py --tvm PYTHON

Prints counts as JSON, and samples that differ or that TVM does not accept to stderr.
"""

import base64
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from ours import canonical, read
from tvm_process import Tvm, arguments

from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.passes.evaluation.evaluator import evaluate

TESTS = Path(__file__).parents[2] / "tests"
sys.path[:0] = [str(TESTS / folder) for folder in (".", "frontends/relay_text")]

from helpers.operators.operator_cases import DIVISIONS, Draw, moderate  # noqa: E402
from helpers.operators.operator_samples import SAMPLES  # noqa: E402
from test_printer_samples import program  # noqa: E402

TOLERANCE = {"float16": 3e-3, "float32": 1e-4, "float64": 1e-9}
POSITIVE = ("log", "log2", "log10", "sqrt", "rsqrt", "power", "nn.batch_norm")
INDICES = ("take", "gather", "embedding")


def encoded(array: Any) -> dict[str, Any]:
    """Encode an array as JSON."""
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"data": data, "dtype": str(array.dtype), "shape": list(array.shape)}


def decoded(value: Any) -> tuple[Any, ...]:
    """Decode the arrays of an answer."""
    if isinstance(value, list):
        parts: list[Any] = value
        return tuple(array for part in parts for array in decoded(part))
    data = base64.b64decode(value["data"])
    return (np.frombuffer(data, value["dtype"]).reshape(value["shape"]),)


def agree(ours: Any, theirs: Any) -> bool:
    """Test whether two arrays are equal up to rounding."""
    ours = np.asarray(ours)
    close = TOLERANCE.get(ours.dtype.name, 0)
    return ours.dtype == theirs.dtype and np.allclose(ours, theirs, close, close, equal_nan=True)


def operand(draw: Draw, shape: tuple[int, ...], name: str) -> Any:
    """Draw small values that both sides accept: positive if the operator needs that."""
    values = moderate(draw, shape, draw.dtype)
    if name in POSITIVE or (name in DIVISIONS and values.dtype.kind != "f"):
        values = (np.abs(values) + 1).astype(draw.dtype)
    return values


def main() -> None:
    """Count agreements and differences."""
    tvm = Tvm(arguments("Compare operators with TVM's.").parse_args().tvm)
    counts: Counter[str] = Counter()

    def note(sample: object, what: str) -> None:
        counts[what] += 1
        print(f"{sample}: {what}", file=sys.stderr)

    for sample in SAMPLES:
        module = program(sample)
        text = module_text(module)
        typed = tvm.ask("infer", text)
        if "error" in typed:
            note(sample, "TVM refuses the program")
            continue
        if canonical(read(typed["text"])) == canonical(read(text)):
            counts["TVM's text reads as the same IR"] += 1
        else:
            note(sample, "TVM's text reads as another IR")
        rng = np.random.default_rng(0)
        args = [operand(Draw(rng, dtype), shape, sample.name) for shape, dtype in sample.operands]
        if sample.name in INDICES:
            args[1] = np.abs(args[1]) % 2
        answer = tvm.ask("run", text, args=[encoded(arg) for arg in args])
        if "error" in answer:
            note(sample, "TVM cannot run the program")
            continue
        (value,) = evaluate(module, args)
        ours: tuple[Any, ...] = value if isinstance(value, tuple) else (value,)
        if all(map(agree, ours, decoded(answer["value"]))):
            counts["values agree"] += 1
        else:
            note(sample, "values differ")
    print(json.dumps(counts, indent=2))


if __name__ == "__main__":
    main()
