"""
ONNX's own test cases: those that convert compute the right values at level relay, and every
third one in the VM, too.

`converted_cases.txt` lists the cases that must convert. All other cases are unsupported: each
must be rejected with an `OnnxError`, unless its values are right.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from onnx_models import Array
from onnx_suite import Case, collect_cases
from xdsl.context import Context

from xrelay.frontends.onnx import OnnxError
from xrelay.frontends.onnx.importer import Conversion, convert_model
from xrelay.lowering.assemble import assemble
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.verifier import verify
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.memory import Memory
from xrelay.runtime.machine import Machine
from xrelay.tools.pipeline import build
from xrelay.tools.registry import UNIVERSE, named_pipelines

VM = build("vm", UNIVERSE.all_passes, named_pipelines)
CONVERTED = (Path(__file__).parent / "converted_cases.txt").read_text().split()


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return collect_cases()


def convert(case: Case) -> tuple[Case, Conversion]:
    """Convert the case, making as few of its inputs as possible initializers."""
    count = len(case.data[0][0])
    for first in (count, min(1, count), 0):
        bound = case if first == count else case.with_initializers(first)
        try:
            return bound, convert_model(bound.model, case.name)
        except OnnxError as error:
            if first == 0 or "computed at run time" not in error.message:
                raise
    raise AssertionError("the last try returns or raises")


def check_numbers(case: Case, run: Callable[[list[Array]], Sequence[Array]]) -> None:
    """Check that `run` computes the case's outputs from its inputs."""
    for inputs, outputs in case.data:
        with np.errstate(all="ignore"):  # some cases are about infinities and NaN
            actual = run(inputs)
        assert len(actual) == len(outputs)
        for a, e in zip(actual, outputs, strict=True):
            assert a.shape == e.shape
            assert a.dtype == e.dtype
            atol = 1e-3 if e.dtype == np.float16 else case.atol
            np.testing.assert_allclose(a.astype(np.float64), e.astype(np.float64), case.rtol, atol)


def check_at_relay(case: Case, conversion: Conversion) -> None:
    check_numbers(case, lambda x: evaluate(conversion.module, x, conversion.params))


def check_in_the_vm(case: Case, conversion: Conversion) -> None:
    for step in VM:
        step.run.apply(Context(), conversion.module)
    machine = Machine(
        assemble(conversion.module), conversion.params, KERNELS, memory=Memory(poison=True)
    )
    check_numbers(case, lambda x: machine.run("main", *x))


@pytest.mark.parametrize("name", CONVERTED)
def test_case(name: str, cases: dict[str, Case]):
    if name not in cases:
        pytest.skip("this version of the onnx package does not have the case")
    case, conversion = convert(cases[name])
    verify(conversion.module)
    check_at_relay(case, conversion)
    if name in CONVERTED[::3]:
        check_in_the_vm(case, conversion)


def test_most_cases_are_there(cases: dict[str, Case]):
    """The skip above may apply to a few unstable cases, not to all."""
    assert sum(name in cases for name in CONVERTED) > 0.9 * len(CONVERTED)


def test_other_cases_are_refused(cases: dict[str, Case]):
    expected = set(CONVERTED)
    for case in cases.values():
        if case.name in expected:
            continue
        try:
            bound, conversion = convert(case)
        except OnnxError:
            continue
        check_at_relay(bound, conversion)


if __name__ == "__main__":  # PYTHONPATH=tests python …/test_suite.py > …/converted_cases.txt
    for case in collect_cases().values():
        try:
            check_at_relay(*convert(case))
        except OnnxError:
            continue
        print(case.name)
