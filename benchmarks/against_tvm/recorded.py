"""
Read and run all that a TVM recorded, without a TVM, and count what came of it.

    python benchmarks/against_tvm/recorded.py FOLDER [--only census,values,plan_devices,networks]
        [--suite any,onnx] [--sample 100] [--native] [--list-reasons] [--list unequal]
        [--json] [--write README.md]

FOLDER has a folder for each kind of record. A program that fails, ends its process, or takes longer
than `--seconds` is counted as such. Counts go to stdout; with `--list VERDICT`, the records of that
verdict to stderr, or those whose reason contains the text. `--write README.md` replaces the tables
of the file, those of programs compiled to machine code with `--native`.
"""

import json
import os
import re
import sys
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent))

from records import KINDS, Outcome, Record, check, records
from results import Facts, table
from workers import in_processes

SEEN = "read", "ran", "equal"
"""Stages of a record; each includes those before."""
_PROGRAM = '#[version = "0.0.5"]\ndef @main() { 1f }'
_CPU = {"device_type": 1}
WARM_UP: Mapping[str, object] = {
    **dict.fromkeys(("text", "input", "planned"), _PROGRAM),
    **dict.fromkeys(("default", "host"), _CPU),
    **{"entry": "main", "inputs": [], "output": {"dtype": "float32", "shape": [], "data": ""}},
}
UNKNOWN = "unknown operator or constructor "
FAULTS = "unequal", "refused", "failed", "lost"


@dataclass
class Counts:
    """The outcomes of one kind of record."""

    total: int = 0
    reached: Counter[str] = field(default_factory=Counter[str])
    verdicts: Counter[str] = field(default_factory=Counter[str])
    reasons: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter[str]))

    def add(self, outcome: Outcome) -> None:
        """Count an outcome."""
        self.total += 1
        self.verdicts[outcome.verdict] += 1
        stage = outcome.verdict if outcome.verdict in SEEN else outcome.reached
        self.reached.update(SEEN[: SEEN.index(stage) + 1] if stage in SEEN else ())
        if outcome.reason:
            self.reasons[outcome.verdict][outcome.reason] += 1

    def facts(self, kind: str) -> Facts:
        """Return the counts as a row of a table."""
        ran = {} if kind == "census" else {stage: self.reached[stage] for stage in SEEN[1:]}
        return {
            "": kind.replace("_", " "),
            "records": self.total,
            "read": self.reached["read"],
            **dict.fromkeys(SEEN[1:], ""),
            **ran,
            **{verdict: self.verdicts[verdict] for verdict in FAULTS},
        }


def main() -> None:
    """Print the counts."""
    parser = ArgumentParser(description="Count what came of the programs that TVM recorded.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=",".join(KINDS), help="kinds of records")
    parser.add_argument("--suite", default="", help="suites, by default all")
    parser.add_argument("--sample", type=int, help="a random sample of so many of each kind")
    parser.add_argument("--native", action="store_true", help="compile to machine code")
    parser.add_argument("--seconds", type=float, default=60, help="time limit for a program")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--list-reasons", action="store_true", help="all, not the 15 most frequent")
    parser.add_argument("--list", metavar="TEXT", help="records of a verdict, or with this reason")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace its tables")
    options = parser.parse_args()
    kinds = options.only.split(",")
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        parser.error(f"unknown kind {unknown[0]} (known: {', '.join(KINDS)})")
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    section = f"recorded{', natively' * options.native}"
    if options.write and section not in _sections(options.write):
        parser.error(
            f"{options.write} has no section <!-- {section}: begin --> … <!-- {section}: end -->"
        )
    suites = [suite for suite in str(options.suite).split(",") if suite]

    target = "native{cache=off cpu=native}" if options.native else "machine"

    def chosen() -> Generator[Record]:
        for kind in kinds:
            of_kind = records(options.folder, kind, suites, target)
            if options.sample is None:
                yield from of_kind
            else:
                everything = list(of_kind)
                count = min(options.sample, len(everything))
                yield from Random(0).sample(everything, count)

    counts = {kind: Counts() for kind in kinds}

    def lost(reason: str) -> Outcome:
        return Outcome("lost", reason)

    for kind in {*kinds} - {"networks"}:  # what they import is not part of a time limit
        check(Record(kind, "warm-up", 0, WARM_UP, target))
    outcomes = in_processes(check, chosen(), options.processes, options.seconds, lost)
    for done, (record, outcome) in enumerate(outcomes, 1):
        counts[record.kind].add(outcome)
        if options.list and (outcome.verdict == options.list or options.list in outcome.reason):
            test = record.data.get("test", "")
            print(f"{record} {test}: {outcome.verdict}: {outcome.reason}", file=sys.stderr)
        if done % 500 == 0:
            print(f"{done} programs", file=sys.stderr)
    if options.json:
        print(json.dumps({k: _as_json(c) for k, c in counts.items()}, indent=1))
        return
    text = _tables(counts, None if options.list_reasons or options.write else 15)
    if options.write:
        _replace(options.write, section, text)
    else:
        print(text)


_SECTION = re.compile(r"(<!-- ([^:]+): begin -->\n)(.*?)(<!-- \2: end -->)", re.DOTALL)


def _sections(file: Path) -> list[str]:
    """Return the names of the parts of a file that are generated."""
    return [m[2] for m in _SECTION.finditer(file.read_text(encoding="utf-8"))]


def _replace(file: Path, section: str, text: str) -> None:
    """Replace a generated part of a file."""
    contents = file.read_text(encoding="utf-8")
    file.write_text(
        _SECTION.sub(lambda m: f"{m[1]}{text}\n{m[4]}" if m[2] == section else m[0], contents),
        encoding="utf-8",
    )


def _as_json(counts: Counts) -> Mapping[str, object]:
    return {
        "records": counts.total,
        **counts.reached,
        "verdicts": counts.verdicts,
        "reasons": {verdict: dict(r.most_common()) for verdict, r in counts.reasons.items()},
    }


def _tables(counts: Mapping[str, Counts], most: int | None) -> str:
    parts = [table([of_kind.facts(kind) for kind, of_kind in counts.items()])]
    others: Counter[str] = Counter()
    for kind, of_kind in counts.items():
        refusals = of_kind.reasons["refused"]
        missing = {
            reason.removeprefix(UNKNOWN): count
            for reason, count in refusals.most_common()
            if reason.startswith(UNKNOWN)
        }
        if missing:
            names = ", ".join(f"`{name}` {count:,}" for name, count in [*missing.items()][:most])
            more = ", …" * (most is not None and len(missing) > most)
            programs = f"{len(missing)}, in {sum(missing.values()):,} of {kind.replace('_', ' ')}"
            parts.append(f"Missing operators ({programs}): {names}{more}.")
        others.update(
            f"{verdict}: {reason}"
            for verdict, reasons in of_kind.reasons.items()
            for reason in reasons.elements()
            if not reason.startswith(UNKNOWN)
        )
    rows: list[Facts] = [
        {"other reasons": _code(reason), **_by_kind(counts, *reason.split(": ", 1))}
        for reason, _ in others.most_common(most)
    ]
    return "\n\n".join([*parts, *([table(rows)] if rows else [])])


def _code(text: str) -> str:
    return f"`{text.replace('`', '').replace('|', chr(92) + '|')}`"


def _by_kind(counts: Mapping[str, Counts], verdict: str, reason: str) -> Facts:
    return {
        kind.replace("_", " "): of_kind.reasons[verdict][reason] or ""
        for kind, of_kind in counts.items()
    }


if __name__ == "__main__":
    main()
