"""
Measure the time from an ONNX file to a program that can be called.

    python benchmarks/onnx_compile.py [--only squeezenet,encoder] [--rounds 5] [--table]

The networks are those of ONNX's tests with random weights (`tests/helpers/onnx/onnx_models.py`),
and a transformer encoder of 12 layers with open dims (`tests/helpers/programs/transformer.py`). A
figure is the least CPU time of `xrelay.compile` in a process that has compiled the model before,
and of `xrelay.parse`, which is part of it. Progress goes to stderr, JSON (or Markdown with
`--table`) to stdout.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from cpu_times import least
from helpers.onnx.onnx_models import light_network
from helpers.programs.transformer import encoder
from onnx import ModelProto
from results import Facts, parser_of, write_results

import xrelay

NETWORKS = ("squeezenet", "resnet50", "densenet121", "shufflenet", "encoder")


def model_of(name: str) -> ModelProto:
    """Return a network by its name."""
    return encoder(12, 12, 768) if name == "encoder" else light_network(name).model


def measure(name: str, rounds: int, folder: Path) -> Facts:
    """Measure one network."""
    path = folder / f"{name}.onnx"
    path.write_bytes(model_of(name).SerializeToString())
    calls = (lambda: xrelay.parse(path), lambda: xrelay.compile(path))
    read, compiled = least(calls, rounds)
    print(f"{name}: {compiled:.0f} ms", file=sys.stderr)
    return {"network": name, "read, ms": round(read, 1), "runnable, ms": round(compiled, 1)}


def main() -> None:
    parser = parser_of("From ONNX to a program that can be called.", 5, NETWORKS)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        results = [measure(name, options.rounds, Path(folder)) for name in options.only]
    write_results(results, options.table)


if __name__ == "__main__":
    main()
