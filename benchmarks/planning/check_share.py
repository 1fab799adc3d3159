"""
Measure the share that `verify-memory-plan` has in the time of `vm`, with one, two and three orders.

    python benchmarks/planning/check_share.py                                 # JSON
    python benchmarks/planning/check_share.py --table                         # Markdown
    python benchmarks/planning/check_share.py --table model.onnx program.mlir # these alone

CPU time, without verification of the IR after each pass, the least of `--rounds` runs of each pass.
The programs are the networks of ONNX's tests with known and with open dims, encoders, the examples,
and the programs of `compile.py`. A pack of unknown sizes is given more orders than it needs: its
own upside down, and its slices one after the other. It needs the tests' requirements (`onnx`).
"""

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import onnx
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.dialects import memory
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.pipelines import VmPipeline
from xrelay.operators.orders import On, Orders
from xrelay.passes.support.changes import CompositePass, apply_pass
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.process import settings
from xrelay.tools.registry import named_pipelines

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")]

from compile import UNIVERSE, context, read
from compile_programs import PROGRAMS
from helpers.onnx.onnx_models import LIGHT_MODELS, light_network, open_dims
from helpers.programs.transformer import encoder
from results import write_results

Facts = dict[str, object]
EXAMPLES = Path(__file__).parents[2] / "examples"
ORDERS = (1, 2, 3)


def network(name: str, is_open: bool) -> ModuleOp:
    """Return a network of ONNX's tests."""
    found = light_network(name)
    if is_open:
        open_dims(found)
    return convert_model(found.model, name).module


def encoder_of(layers: int, length: int | str) -> ModuleOp:
    """Return a narrow encoder of sequences of `length`."""
    model = encoder(layers, 12, 48, None, positions=2048, dims=(1, length))
    return convert_model(model, "encoder").module


def of_file(path: Path) -> ModuleOp:
    """Return the program of a file."""
    if path.suffix == ".onnx":
        return convert_model(onnx.load_model_from_string(path.read_bytes()), path.name).module
    return read(path.read_text(encoding="utf-8"))


def programs() -> Iterator[tuple[str, Callable[[], ModuleOp]]]:
    """Yield the programs to measure by name."""
    for name in LIGHT_MODELS:
        yield name, partial(network, name, False)
    for name in LIGHT_MODELS:
        yield f"{name}, open dims", partial(network, name, True)
    for layers in (2, 12):
        for length in (128, "n"):
            yield f"encoder, {layers} layers, {length}", partial(encoder_of, layers, length)
    for path in sorted(EXAMPLES.glob("*.mlir")):
        yield path.name, partial(of_file, path)
    for name, text in PROGRAMS.items():
        yield f"{name} 300", lambda text=text: read(text(300))


def steps() -> Iterator[ModulePass]:
    """Yield the passes of `vm`, the parts of composite ones."""
    for step in build(VmPipeline().text, UNIVERSE.all_passes, named_pipelines):
        yield from step.run.steps() if isinstance(step.run, CompositePass) else (step.run,)


def many_orders(packing: memory.Packing) -> list[On]:
    """Return the orders of a pack, the first one upside down, and slices one after the other."""
    orders = packing.orders
    assert orders is not None, "an ordered pack"
    above: list[list[int]] = [[] for _ in packing.slices]
    for i, under in enumerate(orders.on[0]):
        for j in under:
            above[j].append(i)
    stacked = Orders.one_after_the_other(packing.alignment, orders.count, packing.rows)
    return [*orders.on, tuple(map(tuple, above)), *stacked.on]


def seconds(run: Callable[[], object]) -> float:
    """Return the CPU time of `run`."""
    gc.collect()
    start = time.process_time()
    run()
    return time.process_time() - start


def measured_run(module: ModuleOp, spent: dict[str, list[float]]) -> None:
    """Run the passes of `vm`, and add the seconds of each, and of the check with more orders."""
    ctx = context()
    for k, step in enumerate(steps()):
        if isinstance(step, VerifyMemoryPlanPass):
            packs = [memory.Packing(op) for op in walk(module) if isinstance(op, memory.PackOp)]
            ordered = {packing.op: many_orders(packing) for packing in packs if packing.orders}
            for count in reversed(ORDERS) if ordered else ():
                for pack, orders in ordered.items():
                    packing = memory.Packing(pack)
                    for op in packing.slices:
                        op.lie_on([])
                    packing.order(orders[:count])
                spent.setdefault(str(count), []).append(seconds(lambda: step.apply(ctx, module)))
            if not ordered:
                spent.setdefault("1", []).append(seconds(lambda: step.apply(ctx, module)))
        else:
            run = partial(apply_pass, step, ctx, module)
            spent.setdefault(f"{step.name}, {k}", []).append(seconds(run))


def measure(name: str, module: ModuleOp, rounds: int) -> Facts:
    """Measure one program."""
    spent: dict[str, list[float]] = {}
    for _ in range(rounds):
        measured_run(module.clone(), spent)
    least = {step: min(times) for step, times in spent.items()}
    checks = [least.pop(str(count), None) for count in ORDERS]
    others = sum(least.values())
    shares: Facts = {
        f"{count} order{'s' * (count > 1)}, %": round(100 * check / (others + check), 1)
        for count, check in zip(ORDERS, checks, strict=True)
        if check is not None
    }
    facts = {"program": name, "vm, ms": round(1000 * (others + (checks[0] or 0))), **shares}
    print(*facts.values(), file=sys.stderr)
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="ONNX models and IR")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="Markdown instead of JSON")
    options = parser.parse_args()
    chosen = [(path.name, partial(of_file, path)) for path in options.files] or programs()
    with settings():
        results = [measure(name, make(), options.rounds) for name, make in chosen]
    write_results(results, options.table)


if __name__ == "__main__":
    main()
