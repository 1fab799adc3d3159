"""
Record the greatest errors of operators that are not exact, at every level.

    python tests/record_numbers.py [COUNT]       writes tests/helpers/numbers/observed.csv

`docs/reference/numbers.md` shows them; COUNT is how many random numbers each is applied to.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from helpers.numbers import number_bounds
from helpers.numbers.number_levels import LEVELS
from helpers.numbers.number_rows import rows

COUNT = 1 << 16
"""With so many, all numbers of float16 are operands of operators of one operand."""


def main(argv: Sequence[str]) -> int:
    """Write the record; return 1 if an error exceeds its bound, which is reported."""
    count = int(argv[0]) if argv else COUNT
    rounded = [row for row in rows() if row.bound is not None]
    errors = {row: dict.fromkeys(LEVELS, 0.0) for row in rounded}
    with TemporaryDirectory() as folder:
        levels = {name: make(rounded, Path(folder)) for name, make in LEVELS.items()}
        for row in rounded:
            print(row.id, file=sys.stderr)
            for operands in row.operands(count):
                exact = row.reference(operands)
                for name, level in levels.items():
                    found = row.errors(level.run(row, operands), exact)
                    errors[row][name] = max(errors[row][name], float(np.max(found, initial=0)))
    path = Path(number_bounds.__file__).with_name("observed.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("operator", "dtype", *LEVELS))
        for row in sorted(rounded, key=lambda row: (row.name, row.dtype)):
            worst = (f"{error:.3g}" for error in errors[row].values())
            writer.writerow((row.name, row.dtype, *worst))
    beyond = [row.id for row in rounded if max(errors[row].values()) > (row.bound or 0)]
    print(*(f"beyond its bound: {name}" for name in beyond), sep="\n")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
