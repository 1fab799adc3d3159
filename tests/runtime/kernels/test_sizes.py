"""Kernels whose sizes are operands: results must fit the sizes of each run."""

from typing import Any

import numpy as np
import pytest
from helpers.operators.inferring import attributes
from helpers.operators.operator_cases import Case, case

from xrelay.operators.all_rules import RULES
from xrelay.operators.signature import SignatureError, Tensor
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.checked import call_on

NAMES = [name.removeprefix("relay.") for name, rule in RULES.items() if rule.size_operands]


def shapes(case: Case, ins: list[Any]) -> list[tuple[Any, ...]] | None:
    """The shapes of the results on `ins`; None if the rule rejects them."""
    name = f"relay.{case.name}"
    try:
        results: list[Tensor] = list(RULES[name](call_on(name, case.attrs, ins)))
    except SignatureError:
        return None
    return [tensor.dims for tensor in results]


def test_the_operators_are_those_with_sizes():
    assert {"dyn.reshape", "dyn.strided_slice", "dyn.topk", "arange"} <= {*NAMES}
    assert "argwhere" not in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_sizes_that_do_not_fit_change_nothing(name: str):
    refused = 0
    for number in range(40):
        this = case(name, number)
        for i in RULES[f"relay.{name}"].size_operands:
            ins = [x.copy() for x in this.operands]
            outs = [np.full(shape, 0x55, dtype) for shape, dtype in this.results]
            if not any(out.size for out in outs) or not ins[i].size:
                continue
            run = KERNELS[f"relay.{name}"](this.attrs, ins, outs)
            ins[i].reshape(-1)[-1] += 1  # after the kernel is bound
            if shapes(this, ins) == [shape for shape, _ in this.results]:
                run()
                continue
            refused += 1
            with pytest.raises(SignatureError):
                run()
            assert all((out == np.array(0x55, out.dtype)).all() for out in outs)
    assert refused


def test_the_error_names_both_shapes():
    x, sizes = np.zeros((2, 3), np.float32), np.array([3, 2])
    y = np.zeros((3, 2), np.float32)
    run = KERNELS["relay.dyn.reshape"](attributes("dyn.reshape"), [x, sizes], [y])
    run()
    sizes[:] = 6, 1
    message = (
        "the result of relay.dyn.reshape is tensor<6x1xf32>, but is declared as tensor<3x2xf32>"
    )
    with pytest.raises(SignatureError, match=message):
        run()


def test_argwhere_of_another_number_of_elements():
    x, y = np.array([1, 0, 2]), np.zeros((2, 1), np.int32)
    run = KERNELS["relay.argwhere"]({}, [x], [y])
    run()
    assert y.tolist() == [[0], [2]]
    x[:] = 1
    with pytest.raises(ValueError, match="3 elements are not 0, but the result has 2 rows"):
        run()
    assert y.tolist() == [[0], [2]]


@pytest.mark.parametrize("sizes", [(2**62, 4), (-1, 4), (2**63 - 1, 2**63 - 1)])
def test_huge_and_negative_sizes(sizes: tuple[int, int]):
    y = np.zeros((2, 4), np.float32)
    given = np.array([2, 4])
    run = KERNELS["relay.dyn.zeros"]({"dtype": "float32"}, [given], [y])
    given[:] = sizes
    with pytest.raises(SignatureError):
        run()
