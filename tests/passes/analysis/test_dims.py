"""The dims of the tensors of a program, as polynomials."""

import pytest
from helpers.programs.programs import context
from helpers.programs.shallow_stack import LEVELS, shallow_stack
from helpers.programs.transformer import decoder, encoder
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelay.dialects.tensors import as_tensor
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.passes.fold_constants import FoldConstantsPass
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.sizes.reader import Sizes
from xrelay.passes.support.diagnostics import PassError


def dims(text: str) -> dict[str, str]:
    """The dims of each named result that is a tensor, as text."""
    module = Parser(context(), text).parse_module()
    return dims_in(module, Sizes())


def dims_in(module: ModuleOp, sizes: Sizes) -> dict[str, str]:
    sizes.read(module)
    return {
        result.name_hint: ", ".join(map(str, sizes.dims(result)))
        for op in walk(module)
        for result in op.results
        if result.name_hint is not None and as_tensor(result.type) is not None
    }


def test_dims_are_polynomials_of_those_of_parameters():
    found = dims(
        """func.func @f(%x: tensor<?x4xf32> {relay.dims = ["n", 4]}, %y: tensor<?x4xf32>) {
        %a = relay.concatenate %x, %x, %y {axis = 0}
          : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
        %b = relay.reshape %a {newshape = array<i64: -1>} : (tensor<?x4xf32>) -> tensor<?xf32>
        %c = relay.nn.relu %b : (tensor<?xf32>) -> tensor<?xf32>
        %d = relay.reshape %b {newshape = array<i64: 2, -1>} : (tensor<?xf32>) -> tensor<2x?xf32>
        func.return
        }"""
    )
    assert found == {
        "a": "2*n + y_dim0, 4",
        "b": "8*n + 4*y_dim0",
        "c": "8*n + 4*y_dim0",
        "d": "2, 4*n + 2*y_dim0",
    }


def test_a_quotient_that_is_not_exact_is_a_symbol():
    found = dims(
        """func.func @f(%x: tensor<?xf32> {relay.dims = ["n"]}) {
        %a = relay.reshape %x {newshape = array<i64: 2, -1>} : (tensor<?xf32>) -> tensor<2x?xf32>
        %b = relay.reshape %a {newshape = array<i64: -1>} : (tensor<2x?xf32>) -> tensor<?xf32>
        func.return
        }"""
    )
    assert found == {"a": "2, floordiv(n, 2)", "b": "2*floordiv(n, 2)"}


def test_elements_of_shapes_are_dims():
    found = dims(
        """func.func @f(%x: tensor<?x?xf32> {relay.dims = ["n", "m"]}) {
        %s = relay.shape_of %x {dtype = i64} : (tensor<?x?xf32>) -> tensor<2xi64>
        %p = relay.prod %s {axis = array<i64: 0>, keepdims = true}
          : (tensor<2xi64>) -> tensor<1xi64>
        %y = relay.dyn.zeros %p {dtype = f32} : (tensor<1xi64>) -> tensor<?xf32>
        func.return
        }"""
    )
    assert found["y"] == "n*m"


def test_what_depends_on_data_or_calls_is_a_symbol():
    found = dims(
        """func.func @f(%x: tensor<?xf32> {relay.dims = ["n"]}, %s: tensor<1xi64>) {
        %y = func.call @g(%x) : (tensor<?xf32>) -> tensor<?xf32>
        %z = relay.dyn.zeros %s {dtype = f32} : (tensor<1xi64>) -> tensor<?xf32>
        %a = relay.concatenate %y, %z {axis = 0} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        func.return
        }
        func.func private @g(tensor<?xf32>) -> tensor<?xf32>"""
    )
    assert found == {"y": "y_dim0", "z": "z_dim0", "a": "y_dim0 + z_dim0"}


def test_dims_that_both_branches_agree_on_are_kept():
    found = dims(
        """func.func @f(%x: tensor<?x?xf32> {relay.dims = ["n", "m"]}, %c: tensor<i1>) {
        %y = relay.if %c : tensor<i1> -> (tensor<?x?xf32>) {
          %a = relay.nn.relu %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
          relay.yield %a : tensor<?x?xf32>
        } else {
          %b = relay.concatenate %x, %x {axis = 1}
            : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
          relay.yield %b : tensor<?x?xf32>
        }
        func.return
        }"""
    )
    assert found["y"] == "n, y_dim1"


def test_dims_that_always_differ_are_an_error_at_the_operator():
    with pytest.raises(PassError, match=r"must be n,.* but is n \+ 1"):
        dims(
            """func.func @f(%x: tensor<?xf32> {relay.dims = ["n"]}, %w: tensor<1xf32>) {
            %y = relay.concatenate %x, %w {axis = 0}
              : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
            %z = relay.stack %x, %y {axis = 0} : (tensor<?xf32>, tensor<?xf32>) -> tensor<2x?xf32>
            func.return
            }"""
        )


def test_a_long_chain_needs_no_deep_stack():
    relus = "".join(
        f"%v{i + 1} = relay.nn.relu %v{i} : (tensor<?xf32>) -> tensor<?xf32>\n"
        for i in range(LEVELS)
    )
    text = f"""func.func @f(%v0: tensor<?xf32> {{relay.dims = ["n"]}}, %c: tensor<i1>) {{
        %y = relay.if %c : tensor<i1> -> (tensor<?xf32>) {{
        {relus}
        relay.yield %v{LEVELS} : tensor<?xf32>
        }} else {{
        relay.yield %v0 : tensor<?xf32>
        }}
        func.return
        }}"""
    with shallow_stack():
        assert dims(text)["y"] == "n"


def symbols_of(model: ModelProto) -> set[str]:
    """Return the symbols of which the dims of a model's tensors are polynomials."""
    module = convert_model(model, "model.onnx").module
    for step in (InferTypesPass(), FoldConstantsPass()):
        step.apply(context(), module)
    sizes = Sizes()
    dims_in(module, sizes)
    return {
        str(symbol)
        for op in walk(module)
        for result in op.results
        if as_tensor(result.type) is not None
        for dim in sizes.dims(result)
        for symbol in dim.symbols()
    }


def test_all_dims_of_an_encoder_are_of_batch_and_sequence():
    assert symbols_of(encoder()) == {"batch", "sequence", "min(sequence, 64)"}


def test_all_dims_of_a_decoder_are_of_batch_and_sequence():
    """An entry of a Reshape that is 0 copies a dim, so some are others for 0 rows or tokens."""
    choices = {
        "(sequence if 0 < 4*batch else 4*sequence)",
        "(sequence if 0 < sequence else 4)",
    }
    assert symbols_of(decoder()) == {"batch", "sequence"} | choices
