"""Bounds of named dims: checked on entry by the machine and the evaluator, and kept by passes."""

import numpy as np
import pytest
from helpers.machine.disassemble import disassemble
from helpers.programs.programs import parse
from xdsl.dialects import func

from xrelay.dialects.relay.language.dims_attributes import DIM_BOUNDS, dim_bounds
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.operators.named_dims import Bounds
from xrelay.passes.eliminate_dead_code import drop_parameters
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError, ReportingContext
from xrelay.runtime.errors import MachineError
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.listing import listing
from xrelay.runtime.program.program import Function, Param, Program, TensorSpec
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import UNIVERSE, named_pipelines

PROGRAM = """
func.func @main(%x: tensor<?x4xf32> {relay.dims = ["n", 4]}) -> tensor<?x4xf32>
    attributes {relay.dim_bounds = {n = [2, 8]}} {
  %y = relay.exp %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}
"""


def machine() -> Machine:
    module = parse(PROGRAM)
    for step in build("vm", UNIVERSE.all_passes, named_pipelines):
        step.run.apply(ReportingContext(), module)
    program = assemble(module)
    assert dict(program.functions[0].dim_bounds) == {"n": Bounds(2, 8)}
    again = assemble(disassemble(program))
    assert again.functions == program.functions
    assert "where n from 2 to 8" in listing(program)
    return Machine(program)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_sizes_within_the_bounds_are_accepted(n: int):
    x = np.ones((n, 4), np.float32)
    (y,) = machine().run("main", x)
    np.testing.assert_allclose(y, np.exp(x))
    np.testing.assert_allclose(np.asarray(evaluate(parse(PROGRAM), [x])[0]), np.exp(x))


@pytest.mark.parametrize("n", [0, 1, 9])
def test_sizes_beyond_the_bounds_are_an_error(n: int):
    x = np.ones((n, 4), np.float32)
    message = rf"main: parameter 'x' has dim 0 \(n\) of {n}, but n must be from 2 to 8"
    with pytest.raises(MachineError, match=message):
        machine().run("main", x)
    with pytest.raises(PassError, match=message):
        evaluate(parse(PROGRAM), [x])


def test_a_lower_bound_alone():
    module = parse(PROGRAM.replace("[2, 8]", "[2]"))
    evaluate(module, [np.ones((900, 4), np.float32)])
    with pytest.raises(PassError, match="of 1, but n must be at least 2"):
        evaluate(module, [np.ones((1, 4), np.float32)])


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"m": Bounds(1, 2)}, "main: no dim is named 'm', which has bounds"),
        ({"n": Bounds(3, 2)}, "main: 'n' cannot be at least 0 and from 3 to 2"),
        ({"n": Bounds(-1, None)}, "main: 'n' cannot be at least 0 and at least -1"),
    ],
)
def test_a_program_with_wrong_bounds_is_an_error(bounds: dict[str, Bounds], message: str):
    param = Param("x", TensorSpec("float32", (None,)), 0, ("n",))
    function = Function("main", (param,), 1, (vm.Ret(0),), (), bounds)
    with pytest.raises(MachineError, match=message):
        Machine(Program((function,)))


def test_bounds_of_a_parameter_that_is_dropped_go_with_it():
    module = parse(
        """
        func.func private @f(%x: tensor<?xf32> {relay.dims = ["n"]},
                             %y: tensor<?xf32> {relay.dims = ["m"]}) -> tensor<?xf32>
            attributes {relay.dim_bounds = {n = [1, 8], m = [2]}} {
          func.return %y : tensor<?xf32>
        }
        """
    )
    function = next(iter(module.ops))
    assert isinstance(function, func.FuncOp)
    drop_parameters(function, [0], [])
    module.verify()
    assert dim_bounds(function) == {"m": Bounds(2, None)}
    assert DIM_BOUNDS in function.attributes
