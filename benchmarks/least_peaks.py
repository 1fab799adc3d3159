"""
Find the least peak of real models in stripes, and try `peak=` on both sides of it.

    python benchmarks/least_peaks.py [--only rapidocr] [--works 1.0] [--rows rows.jsonl] [--table]

The models are those of `real_models.py` with convolutions, their open dims bound; the options are
the same. `whole` is planned without stripes, `least` the least peak with a ratio of work, in bytes.
It *holds* if `peak=` 1 % below it is refused with that number, and a model compiled for 1 % above
computes what onnxruntime does, up to a thousandth of the greatest number (four, its spacing, of
float16); its plan, with gaps, is `planned`. With `--native`, channels are last. `s` is CPU time.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, cast

import onnx
from below_the_bound import planned_by
from helpers.onnx.onnx_models import onnxruntime_session
from real_models import (
    Array,
    Model,
    bound_sizes,
    error_of,
    feeds_of,
    is_small,
    measure_each,
    parser_for,
)
from results import Facts

import xrelay


def operators(graph: onnx.GraphProto) -> Iterator[str]:
    """Yield the types of nodes, also of those in branches and bodies."""
    for node in graph.node:
        yield node.op_type
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from operators(inner)


@dataclass(frozen=True, eq=False)
class Compiler:
    """A model, compiled with what options of the pipeline."""

    path: Path
    options: str
    bound: Mapping[str, Any]

    def compiled(self, limits: str) -> xrelay.Executable:
        compile = cast("Callable[..., xrelay.Executable]", xrelay.compile)
        return compile(self.path, pipeline=f"vm{{{self.options} {limits}}}", **self.bound)

    def within(self, peak: int, work: float) -> xrelay.Executable | int:
        """Compile for a peak; return the least one, or that of the plan, if that is the error."""
        try:
            return self.compiled(f"peak={peak} work={work}")
        except xrelay.Error as error:
            least = re.search(r"(?:least is|plan has) (\d+)", str(error))
            if least is None:
                raise
            return int(least[1])


def results_of(program: xrelay.Executable, arguments: Sequence[Array]) -> Sequence[Array]:
    results: Any = program(*arguments)
    return cast("Sequence[Array]", results if isinstance(results, tuple) else (results,))


def held(
    compiler: Compiler, work: float, arguments: Sequence[Array], expected: Sequence[Array]
) -> Facts:
    """Find the least peak with this work, and try both sides of it."""
    least = 0
    while isinstance(program := compiler.within(least * 101 // 100 + 1, work), int):
        assert program > least, "each function has a least of its own; errors name higher ones"
        least = program
    below = compiler.within(least * 99 // 100, work)
    error = error_of(results_of(program, arguments), expected)
    return {
        f"least, {work}": least,
        f"planned, {work}": planned_by(program),
        f"holds, {work}": below == least and is_small(error, expected),
        f"error, {work}": f"{error:.0e}",
    }


def measured(model: Model, path: Path, options: str, works: Sequence[float]) -> Facts | None:
    """Try one model; None if it has no convolutions."""
    proto = cast(Any, onnx).load(path)
    if not any(name.startswith("Conv") for name in operators(proto.graph)):
        return None
    feeds = feeds_of(model, proto)
    expected = onnxruntime_session(proto, threads=1).run(None, feeds)
    arguments = [array for name, array in feeds.items() if name not in model.constants]
    compiler, started = Compiler(path, options, bound_sizes(model, proto)), process_time()
    row: dict[str, object] = {}
    try:
        row["whole"] = planned_by(compiler.compiled(""))
        for work in works:
            row |= held(compiler, work, arguments, expected)
    except xrelay.Error as error:
        row["error"] = str(error).partition("error: ")[2].partition("\n")[0]
    return {**row, "s": round(process_time() - started)}


def main() -> None:
    parser = parser_for(__doc__ or "")
    parser.add_argument("--native", action="store_true", help="channels last")
    parser.add_argument("--works", default="1.0,1.15", help="ratios of work")
    options = parser.parse_args()
    layout = "kernels=native" if options.native else ""
    works = [float(work) for work in options.works.split(",")]
    measure_each(options, lambda model, path: measured(model, path, layout, works))


if __name__ == "__main__":
    main()
