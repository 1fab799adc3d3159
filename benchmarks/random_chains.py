"""
Compute random chains in stripes at every level, in the machine and as machine code.

    python benchmarks/random_chains.py [--first 0] [--count 1000] [--batch 25] --rows rows.jsonl

The chain without stripes is compared with references that are not ours, and the stripes with it:
after each pass, in the machine, and as machine code. Dead bytes are overwritten. An error is
relative to the greatest finite number, and a fault is what failed. `s` is CPU time, of tools too: a
chain's part of its batch, which is one library. Chains that are in `--rows` are not drawn again.
"""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
from helpers.machine.in_machine import run_passes
from helpers.native.compiled_programs import referenced
from helpers.native.native_programs import NativeBatch
from helpers.programs.agreement import Array, Outcome, agree, evaluated
from helpers.programs.random_chains import chain_in_stripes

from xrelay.lowering.native.build import settings
from xrelay.lowering.pipelines import PLAN, AotPipeline, VmPipeline

MOST = 1e-5
"""The error up to which results are equal."""
STRATEGIES = ("greedy-by-size", "best-fit", "first-fit", "greedy-by-breadth")
"""The planning strategies that chains take in turns; every plan is checked."""
CHECKED = "verify-memory-plan,overwrite-dead-bytes"

Row = dict[str, Any]


def error_of(found: Outcome, expected: Array) -> float:
    """Return the greatest difference, relative to the greatest finite number that is expected."""
    assert not isinstance(found, str), found
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=MOST * scale)
    with np.errstate(invalid="ignore"):
        return float(np.nanmax(np.abs(found[0] - expected), initial=0) / scale)


def pipelines(number: int) -> tuple[str, str]:
    """Return the passes for the machine, and those for machine code."""
    plan = f"plan-memory{{in-place=false strategy={STRATEGIES[number % len(STRATEGIES)]}}}"
    vm = VmPipeline().text.replace(PLAN, plan).replace("expand-packs", f"{CHECKED},expand-packs")
    aot = AotPipeline().text.partition(",plan-memory")[0]
    return vm, f"{aot},{plan},{CHECKED},verify-stage{{stage=memory-planned}}"


@dataclass
class Chain:
    """A chain of a number, with stripes; and its row of results."""

    number: int
    row: Row = field(default_factory=Row)
    index: int | None = None
    """That of its machine code."""

    def __post_init__(self) -> None:
        self.row |= {"number": self.number, "stripes": ""}
        if (drawn := chain_in_stripes(self.number)) is None:
            return
        self.whole, self.tiled, self.argument, what = drawn
        self.row["stripes"] = what.partition(" of ModuleOp")[0]
        outcome = evaluated(self.whole, [self.argument])
        assert not isinstance(outcome, str), f"{outcome}\n{self.whole}"
        (self.expected,) = outcome

    def check(self, what: str, run: Callable[[], Outcome]) -> None:
        """Note the error of a result; or what failed."""
        try:
            self.row[what] = error_of(run(), self.expected)
        except Exception as error:
            self.row["fault"] = f"{what}: {type(error).__name__}: {error}"

    def in_machine(self) -> Outcome:
        (found,) = agree(self.tiled.clone(), pipelines(self.number)[0], [[self.argument]])
        return found

    def compute(self, batch: NativeBatch) -> None:
        """Compute all but machine code, which is added to `batch`."""
        self.check("untiled", lambda: referenced(self.whole, [self.argument]))
        try:
            run_passes(self.tiled, "tile-for-memory")
            self.index = batch.add(self.tiled.clone(), pipelines(self.number)[1])
        except Exception as error:
            self.row["fault"] = f"lowering: {type(error).__name__}: {error}"
        self.check("machine", self.in_machine)


def computed(numbers: Sequence[int]) -> Sequence[Row]:
    """Compute the chains of these numbers, those that are machine code in one library."""
    batch, chains = NativeBatch(), [Chain(number) for number in numbers]
    for chain in chains:
        if chain.row["stripes"]:
            chain.compute(batch)
    with TemporaryDirectory() as folder:
        batch.build(Path(folder))
        for chain in chains:
            if (index := chain.index) is not None:
                chain.check("native", lambda c=chain, i=index: batch.run(i, [c.argument]))
    return [chain.row for chain in chains]


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=25)
    parser.add_argument("--rows", type=Path, required=True, help="results, a line each")
    options = parser.parse_args()
    setattr(settings, "LEVEL", 0)  # nothing is timed
    setattr(settings.Settings, "seconds", 1200.0)  # other programs may run beside
    path: Path = options.rows
    lines = path.read_text().splitlines() if path.exists() else []
    done: set[int] = {json.loads(line)["number"] for line in lines}
    numbers = [n for n in range(options.first, options.first + options.count) if n not in done]
    for start in range(0, len(numbers), options.batch):
        part, before = numbers[start : start + options.batch], sum(os.times()[:4])
        rows = computed(part)
        seconds = round((sum(os.times()[:4]) - before) / len(part), 2)
        with path.open("a") as file:
            file.writelines(json.dumps({**row, "s": seconds}) + "\n" for row in rows)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    faults = [row["number"] for row in rows if "fault" in row]
    chains = sum("native" in row for row in rows)
    print(f"{chains} chains of {len(rows)} draws; faults: {faults or 'none'}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
