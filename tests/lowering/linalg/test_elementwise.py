"""Elementwise operators as compiled linalg, against independent references."""

from pathlib import Path

import pytest
from native_kernels import check_cases
from operator_cases import case

from xrelay.lowering.linalg import activation, binary, creation, unary

NAMES = sorted(
    name.removeprefix("relay.")
    for table in (activation, binary, creation, unary)
    for name in table.RULES
)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_operators_compute_what_they_mean(dynamic: bool, tmp_path: Path):
    """Each operator with each element type, of any shape."""
    numbers = range(1, 24, 4) if dynamic else range(0, 24, 2)
    check_cases([case(name, n) for name in NAMES for n in numbers], tmp_path, dynamic=dynamic)
