"""
Run the commands on mutated inputs, and record findings.

    python tests/fuzz --kind relay-text --count 1000 --seed 0
"""

import os
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])  # for the tests' helper modules
os.environ.setdefault("XRELAY_ROUNDS", "4")  # of all seeds


def main() -> int:
    """Run the command; return 1 if there are findings."""
    from fuzz.campaign import fuzz, write
    from fuzz.kinds import KINDS
    from fuzz.worker import Worker

    parser = ArgumentParser(prog="python tests/fuzz", description=main.__doc__)
    parser.add_argument("--kind", choices=KINDS, action="append", help="may be repeated (all)")
    parser.add_argument("--count", type=int, default=1000, help="inputs of each kind (1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input (0)")
    parser.add_argument("--folder", type=Path, help="where findings are written to")
    parser.add_argument("--input", type=Path, help="check this file only, and say what happens")
    options = parser.parse_args()
    kinds = [KINDS[name] for name in options.kind or KINDS]
    if options.input is not None:
        worker = Worker()
        verdict = worker.check(kinds[0].name, options.input.read_bytes())
        worker.close()
        print(f"{verdict.outcome} {verdict.cause}\n{verdict.detail}".strip())
        return verdict.outcome == "finding"
    folder = options.folder or Path(tempfile.gettempdir()) / "xrelay-fuzz"
    found, worker = 0, Worker()
    for kind in kinds:
        summary = fuzz(kind, options.count, worker, options.seed, options.first)
        print(summary, flush=True)
        for cause, finding in summary.findings.items():
            print(f"  {cause} ({finding.count})")
        write(summary, kind, folder)
        found += len(summary.findings)
    worker.close()
    if found:
        print(f"{found} causes: see {folder}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
