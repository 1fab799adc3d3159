"""Rules read as IR: the shape function of a kernel of one operator, evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from helpers.operators.inferring import OPERATORS
from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, ModuleOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects import relay
from xrelay.dialects.attributes import ELEMENT_TYPES, properties_of
from xrelay.dialects.device import tensor_type
from xrelay.dialects.tensors import as_tensor
from xrelay.operators.signature import ELEMENTS, Call, Tensor
from xrelay.operators.sizes import SignatureError
from xrelay.passes.create_shape_functions import CreateShapeFunctionsPass
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.runtime.kernels.checked import ArrayElements

TYPES = {element: ELEMENT_TYPES[name] for name, element in ELEMENTS.items()}


def kernel(call: Call, hidden: Sequence[Sequence[bool]]) -> relay.PrimFuncOp:
    """Return a kernel of the operator alone, on operands of whose dims some are unknown."""
    cls = OPERATORS[call.name.removeprefix("relay.")]
    types = [
        tensor_type(
            TYPES[operand.element],
            [DYNAMIC_INDEX if flag else cast(int, dim) for dim, flag in zip(operand.dims, flags)],
        )
        for operand, flags in zip(cast("Sequence[Tensor]", call.operands), hidden, strict=True)
    ]
    block = Block(arg_types=types)
    given = {name: value for name, value in call.attributes.items() if value is not None}
    op = cls.on(block.args, properties_of(cls, given))
    block.add_ops([op, relay.YieldOp.create(operands=op.results)])
    return relay.PrimFuncOp(
        "kernel", FunctionType.from_lists(types, op.result_types), Region(block)
    )


def by_shape_function(call: Call, hidden: Sequence[Sequence[bool]]) -> list[tuple[int, ...]] | None:
    """
    Return the shapes of the results of `call` by a shape function that does not know some dims.

    None if the results' shapes do not depend on these dims.
    """
    try:
        function = kernel(call, hidden)
        module = ModuleOp([function])
        CreateShapeFunctionsPass().apply(Context(), module)
        verify(module)
        if function.shape_func is None or function.shape_inputs is None:
            return None
        args: list[object] = []
        for i, entry in enumerate(function.shape_inputs.get_values()):
            operand = call.operands[i]
            assert isinstance(operand, Tensor)
            if entry & 1:
                elements = call.elements[i]
                assert isinstance(elements, ArrayElements)
                args.append(elements.array)
            if entry & 2:
                args.append(np.array(operand.dims, np.int64))
        found = evaluate(module, args, function=function.shape_func.string_value())
    except (VerifyException, PassError) as error:
        raise SignatureError(str(error)) from error
    return [tuple(map(int, shape)) for shape in found]


def static_shapes(call: Call, hidden: Sequence[Sequence[bool]]) -> list[tuple[int, ...]]:
    """Return the shapes of the results of `call`, which the declared types know."""
    types = [as_tensor(type) for type in kernel(call, hidden).function_type.outputs]
    return [type.get_shape() for type in types if type is not None]
