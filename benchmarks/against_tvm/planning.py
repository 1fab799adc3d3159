"""
Plan random programs with TVM and with `plan-devices`, and compare.

    python benchmarks/against_tvm/planning.py --tvm PYTHON [--programs 500] [--size 8] [--seed 0]

For each program that both plan, compares the devices of all parameters and results and the number
of copies, and checks that TVM accepts our plan, as Relay text, unchanged. Prints counts as JSON,
and the seeds of programs that differ to stderr.
"""

import json
import sys
from collections import Counter
from random import Random

from ours import canonical, copies, plan, read, signatures
from tvm_process import Tvm, arguments
from tvm_programs import Program
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.passes.support.diagnostics import PassError


def planned(text: str) -> ModuleOp | None:
    """Return our plan, if there is one."""
    try:
        return plan(read(text))
    except PassError:
        return None


def differences(tvm: Tvm, ours: ModuleOp, theirs: str) -> list[str]:
    """Return the first difference between two plans of a program, or None."""
    other = plan(read(theirs))
    found: list[str] = []
    if signatures(ours) != signatures(other):
        found.append("signatures differ")
    elif copies(ours) != copies(other):
        found.append("numbers of copies differ")
    text = module_text(ours)
    again = tvm.ask("plan", text)
    if "error" in again:
        found.append("our plan is refused")
    elif canonical(plan(read(again["text"]))) != canonical(plan(read(text))):
        found.append("our plan is planned differently")
    return found


def main() -> None:
    """Count agreements and differences."""
    parser = arguments("Plan random programs with TVM and with plan-devices, and compare.")
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tvm = Tvm(given.tvm)
    counts: Counter[str] = Counter()
    for seed in range(given.seed, given.seed + given.programs):
        rng = Random(seed)
        text = Program(rng, given.size, rng.choice((0.05, 0.1, 0.2))).text
        ours, theirs = planned(text), tvm.ask("plan", text)
        who = {(True, True): "both plan", (True, False): "only we plan"}
        who |= {(False, True): "only TVM plans", (False, False): "neither plans"}
        counts[who[ours is not None, "text" in theirs]] += 1
        if ours is None or "text" not in theirs:
            continue
        found = differences(tvm, ours, theirs["text"])
        counts.update(found or ["the same"])
        for difference in found:
            print(f"seed {seed}: {difference}", file=sys.stderr)
    print(json.dumps(counts, indent=2))


if __name__ == "__main__":
    main()
