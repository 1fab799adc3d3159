"""Operators that are not elementwise as compiled linalg, against independent references."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.native.check_kernels import check_cases
from helpers.operators.operator_cases import Case, case
from helpers.programs.random_settings import rounds, share

from xrelay.lowering.linalg.rule_registry import RULES
from xrelay.lowering.linalg.rules import creation
from xrelay.operators.all_rules import MEANINGS
from xrelay.operators.meaning.forms import Elementwise

ELEMENTWISE = {
    *(name for name, meaning in MEANINGS.items() if isinstance(meaning, Elementwise)),
    *creation.RULES,
}
NAMES = sorted(name.removeprefix("relay.") for name in RULES if name not in ELEMENTWISE)


def some_cases(count: int, first: int) -> Iterator[Case]:
    """Yield the rounds of `count` cases of each operator, more of those of the most attributes."""
    for name in NAMES:
        times = 3 if "2d" in name else 1
        yield from (case(name, first + n) for n in range(rounds(times * count)))


ATTRIBUTES = {
    "abs": (9,),
    "floor_divide": (11,),
    "image.resize2d": (7, 14, 17, 18),
    "nn.gelu": (9,),
    "nn.layer_norm": (17,),
    "nn.leaky_relu": (18,),
    "nn.pad": (3, 14),
    "nn.upsampling": (3,),
    "power": (9,),
}
"""Cases of attributes and element types that have code of their own: no sample omits them."""


def test_attributes_with_code_of_their_own(tmp_path: Path):
    check_cases([case(name, n) for name in ATTRIBUTES for n in ATTRIBUTES[name]], tmp_path)


def test_scales_of_dims_known_at_run_time(tmp_path: Path):
    check_cases([case("nn.upsampling", 3)], tmp_path, dynamic=1.0)


def test_operators_compute_what_they_mean(tmp_path: Path):
    check_cases(some_cases(2, 0), tmp_path)


@pytest.mark.parametrize("hidden", share([0.5, 1.0], 2))
def test_dims_may_be_known_at_run_time_only(hidden: float, tmp_path: Path):
    check_cases(some_cases(1, 20), tmp_path, dynamic=hidden)
