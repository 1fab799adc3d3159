"""Programs of dynamic shape give equal results at every level, at several shapes."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.programs.programs import context
from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_stage import VerifyStagePass
from xrelay.tools.registry import UNIVERSE
from xrelay.tools.text.parser import LocatingParser

LEVELS = {
    "relay": ("infer-types",),
    "planned": ("plan-devices",),
    "fused": ("lambda-lift", "fuse-ops"),
    "lowered": ("outline-primitives", "create-shape-functions"),
    "manifest": ("manifest-alloc", "remove-dead-writes", "remove-unused-kernels"),
}
"""The passes that lead to each level from the one before."""


@cache
def levels(text: str) -> dict[str, ModuleOp]:
    """Return the program at each level."""
    module = LocatingParser(context(), text, "dynamic.mlir").parse_module()
    found: dict[str, ModuleOp] = {}
    for level, passes in LEVELS.items():
        for name in passes:
            UNIVERSE.all_passes[name]()().apply(context(), module)
            verify(module)
        VerifyStagePass(level).apply(context(), module)  # pyright: ignore[reportArgumentType]
        found[level] = module.clone()
    return found


MLP = """
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) -> tensor<?xf32> {
  %w = relay.constant dense<0.5> : tensor<3x4xf32>
  %0 = relay.nn.dense %x, %w : (tensor<?x4xf32>, tensor<3x4xf32>) -> !relay.incomplete
  %1 = relay.add %0, %y : (!relay.incomplete, tensor<?x3xf32>) -> !relay.incomplete
  %2 = relay.nn.relu %1 : (!relay.incomplete) -> !relay.incomplete
  %3 = relay.reshape %2 {newshape = array<i64: -1>} : (!relay.incomplete) -> tensor<?xf32>
  func.return %3 : tensor<?xf32>
}
"""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("n", "m"), [(2, 2), (5, 1), (1, 3), (1, 1), (0, 0), (0, 1)])
def test_a_network_at_several_batch_sizes(level: str, n: int, m: int):
    rng = np.random.default_rng(n)
    x, y = (rng.standard_normal(s).astype(np.float32) for s in ((n, 4), (m, 3)))
    (found,) = evaluate(levels(MLP)[level], [x, y])
    wanted = np.maximum(x @ np.full((4, 3), 0.5, np.float32) + y, 0).reshape(-1)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_shapes_that_do_not_fit_are_an_error_at_the_operator(level: str):
    args: list[Any] = [np.zeros((2, 4), np.float32), np.zeros((3, 3), np.float32)]
    with pytest.raises(PassError, match="dims 2 and 3 at axis -2 do not broadcast together") as e:
        evaluate(levels(MLP)[level], args)
    assert e.value.location is not None
    assert e.value.location.line.data == 5


SHARED = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = relay.nn.softmax %0 : (tensor<?xf32>) -> tensor<?xf32>
  %2 = relay.add %1, %z : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %2 : tensor<?xf32>
}
"""


def test_an_error_in_a_shared_shape_function_names_the_call():
    """Both additions share a kernel, which is at the first one."""
    with pytest.raises(PassError, match="dims 3 and 2 at axis -1") as caught:
        evaluate(levels(SHARED)["manifest"], [np.zeros(n, np.float32) for n in (3, 3, 2)])
    error = caught.value
    assert error.location is not None
    assert error.location.line.data == 3
    (note,) = error.notes
    assert note.location is not None
    assert note.location.line.data == 5


DATA = """
func.func @main(%x: tensor<?xf32>, %s: tensor<2xi32>, %n: tensor<i32>, %m: tensor<?x?xi1>)
    -> (tensor<?x?xf32>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x?xf32>) {
  %a = relay.dyn.reshape %x, %s {allowzero = false}
    : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %zero = relay.constant dense<0> : tensor<i32>
  %two = relay.constant dense<2> : tensor<i32>
  %b = relay.arange %zero, %n, %two {dtype = i32}
    : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>
  %c = relay.argwhere %m : (tensor<?x?xi1>) -> tensor<?x2xi32>
  %d = relay.exp %a : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %a, %b, %c, %d : tensor<?x?xf32>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x?xf32>
}
"""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("size", "shape", "n"), [(6, (2, -1), 5), (4, (4, 1), 0), (0, (5, -1), -3)]
)
def test_shapes_that_depend_on_data(level: str, size: int, shape: tuple[int, int], n: int):
    x, m = np.arange(size, dtype=np.float32), np.eye(3, size) > 0
    a, b, c, d = evaluate(
        levels(DATA)[level], [x, np.array(shape, np.int32), np.array(n, np.int32), m]
    )
    np.testing.assert_array_equal(a, x.reshape(shape))
    np.testing.assert_array_equal(b, np.arange(0, n, 2))
    np.testing.assert_array_equal(c, np.argwhere(m))
    np.testing.assert_allclose(d, np.exp(x.reshape(shape)), rtol=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_data_that_describes_no_shape_is_an_error(level: str):
    args = [np.zeros(6, np.float32), np.array([4, -1], np.int32), np.array(1, np.int32)]
    with pytest.raises(PassError, match=r"cannot reshape a tensor of|does not divide"):
        evaluate(levels(DATA)[level], [*args, np.ones((1, 1), bool)])


STRUCTURES = """
relay.type_data @List<["A"]> [
  @Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)]
func.func @double(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<?xf32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %more = relay.greater %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %more : tensor<i1> -> (tensor<?xf32>) {
    %one = relay.constant dense<1> : tensor<i32>
    %less = relay.subtract %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %twice = relay.concatenate %x, %x {axis = 0} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %y = func.call @double(%twice, %less) : (tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
    relay.yield %y : tensor<?xf32>
  } else {
    relay.yield %x : tensor<?xf32>
  }
  func.return %r : tensor<?xf32>
}
func.func @main(%p: tuple<tuple<tensor<?xf32>>, tensor<i32>>)
  -> tuple<tensor<?xf32>, tuple<tensor<?xf32>, tensor<2xf32>>> {
  %q = relay.tuple_get_item %p[0]
    : (tuple<tuple<tensor<?xf32>>, tensor<i32>>) -> tuple<tensor<?xf32>>
  %x = relay.tuple_get_item %q[0] : (tuple<tensor<?xf32>>) -> tensor<?xf32>
  %n = relay.tuple_get_item %p[1] : (tuple<tuple<tensor<?xf32>>, tensor<i32>>) -> tensor<i32>
  %y = func.call @double(%x, %n) : (tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
  %f = relay.fn (%a: tensor<?xf32>) -> tensor<?xf32> {
    %b = relay.add %a, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    relay.yield %b : tensor<?xf32>
  }
  %nil = relay.construct @Nil() : () -> !relay.adt<@List, [tensor<?xf32>]>
  %l = relay.construct @Cons(%x, %nil)
    : (tensor<?xf32>, !relay.adt<@List, [tensor<?xf32>]>) -> !relay.adt<@List, [tensor<?xf32>]>
  %m = relay.match %l : !relay.adt<@List, [tensor<?xf32>]> -> (tensor<?xf32>) {
    case @List::@Cons(%h: tensor<?xf32>, _) {
      %g = relay.call %f(%h) : (tensor<?xf32>) -> tensor<?xf32>
      %cell = relay.ref_create %g : (tensor<?xf32>) -> !relay.ref<tensor<?xf32>>
      %read = relay.ref_read %cell : (!relay.ref<tensor<?xf32>>) -> tensor<?xf32>
      relay.yield %read : tensor<?xf32>
    }
    case @List::@Nil() {
      relay.yield %x : tensor<?xf32>
    }
  }
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %t = relay.tuple %m, %c : (tensor<?xf32>, tensor<2xf32>) -> tuple<tensor<?xf32>, tensor<2xf32>>
  %u = relay.tuple %y, %t : (tensor<?xf32>, tuple<tensor<?xf32>, tensor<2xf32>>)
    -> tuple<tensor<?xf32>, tuple<tensor<?xf32>, tensor<2xf32>>>
  func.return %u : tuple<tensor<?xf32>, tuple<tensor<?xf32>, tensor<2xf32>>>
}
"""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("size", "n"), [(3, 2), (1, 0), (0, 4)])
def test_recursion_closures_data_and_tuples(level: str, size: int, n: int):
    x = np.arange(size, dtype=np.float32)
    (found,) = evaluate(levels(STRUCTURES)[level], [((x,), np.array(n, np.int32))])
    y, (m, c) = found
    np.testing.assert_array_equal(y, np.tile(x, 2**n))
    np.testing.assert_array_equal(m, x + x)
    np.testing.assert_array_equal(c, [1, 2])
