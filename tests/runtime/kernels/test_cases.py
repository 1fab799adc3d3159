"""
Every kernel against its reference, on random operands and attributes.

To rerun a single failing case: `check(case("add", 17))`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.numbers.number_bounds import operators
from helpers.operators.inferring import OPERATORS
from helpers.operators.kernel_results import compare, garbage
from helpers.operators.operator_cases import Case, case, other_elements
from helpers.programs.random_settings import rounds

from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.checked import Reuse
from xrelay.runtime.program.program import spec_of

COMPARED = frozenset(operators())


def cases(name: str) -> Iterator[Case]:
    """
    The cases of an operator: the more attributes, the more cases.

    Those whose numbers `tests/test_numbers.py` compares have a few, for their shapes.
    """
    attributes = OPERATORS[name].get_irdl_definition().properties
    count = 24 if name in COMPARED else 60
    return (case(name, number) for number in range(rounds(count + 15 * len(attributes))))


def bound(case: Case, ins: Sequence[Any], outs: Sequence[Any]) -> Any:
    """Bind the kernel of a case to arrays; return a no-op if no result has elements."""
    if not any(out.size for out in outs):
        return lambda: None
    return KERNELS[f"relay.{case.name}"](case.attrs, ins, outs)


def check(case: Case) -> None:
    """Run a case's kernel, and compare its results with the reference."""
    ins, outs = [x.copy() for x in case.operands], [garbage(spec) for spec in case.results]
    run = bound(case, ins, outs)
    run()
    compare(case, ins, outs)
    for array, before in zip(ins, case.operands, strict=True):
        assert array.tobytes() == before.tobytes(), "an operand was written to"

    for array, other in zip(ins, other_elements(case), strict=True):
        array[...] = other
    for out, spec in zip(outs, case.results, strict=True):
        out[...] = garbage(spec)
    run()  # again, on other elements than at bind time
    compare(case, ins, outs)


def check_in_place(case: Case) -> None:
    """Run an elementwise kernel in place on each operand that its registration allows."""
    out = garbage(case.results[0])
    bound(case, case.operands, [out])()
    reuse = KERNELS[f"relay.{case.name}"].reuse
    for place, operand in enumerate(case.operands):
        if not reuse.overwrites(spec_of(operand), spec_of(out)):
            continue
        ins = [x.copy() for x in case.operands]
        over = ins[place].view(out.dtype)
        bound(case, ins, [over])()
        np.testing.assert_array_equal(over, out, f"over operand {place}")


@pytest.mark.parametrize("name", OPERATORS)
def test_a_kernel_computes_what_its_operator_means(name: str):
    """Test elementwise kernels in place, too."""
    for this in cases(name):
        try:
            with np.errstate(all="ignore"):
                check(this)
                if KERNELS[f"relay.{name}"].reuse in (Reuse.ELEMENTWISE, Reuse.SAME_SIZE):
                    check_in_place(this)
        except Exception as error:
            raise AssertionError(f"{this}\n{error}") from error
