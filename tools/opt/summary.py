"""
The text of `xrelay-opt --summary`: what a program needs, has and computes.

    model.onnx: ONNX, opset ai.onnx 13, made by pytorch 2.1
    inputs:
      data: float32[batch, 3, 224, 224]
    outputs:
      y: float32[batch, 1000]
    open dims: batch (data:0); give them sizes: --dim batch=SIZE
    operators: 2 different ones, 27 in all
      Conv: 26
      Relu: 1
    weights: 52 tensors, 4,941,984 bytes
      float32: 52, 4,941,984 bytes
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ...dialects import relay
from ...dialects.relay.constants import fits_inline
from ...dialects.relay.language.dims_attributes import dim_names, parameter_names, result_names
from ...dialects.tensors import Tensor, as_tensor, dtype_name, is_static, tensor_size
from ...dialects.xdsl_extras.walking import walk
from ...passes.remove_unused_functions import is_public
from ...passes.sizes.result_dims import dims_of_results
from ...runtime.calls.input_bindings import dim_option
from ...runtime.errors import Error
from ...runtime.program.named_results import unique_names
from ...runtime.python.call_signature import Value


@dataclass(frozen=True)
class Function:
    """A function that is called from outside."""

    name: str
    inputs: Sequence[Value]
    outputs: Sequence[Value]


@dataclass(frozen=True, repr=False)
class Summary:
    """The facts that are printed."""

    title: str
    functions: Sequence[Function]
    operators: Counter[str]
    weights: Mapping[str, tuple[int, int]]
    """Number and bytes, by element type."""
    error: Error | None = None
    """The reasons why it cannot be compiled, if it is known that it cannot."""

    def __str__(self) -> str:
        return "\n".join([*self.lines(), *([] if self.error is None else [str(self.error)])])

    def __repr__(self) -> str:
        return str(self)

    def lines(self) -> Iterator[str]:
        """Yield the text, line by line."""
        yield self.title
        for function in self.functions:
            of = f" of {function.name}" if len(self.functions) > 1 else ""
            for kind, values in (("inputs", function.inputs), ("outputs", function.outputs)):
                yield f"{kind}{of}:" + " none" * (not values)
                yield from (f"  {value}" for value in values)
            yield from _open_dims(function, of)
        kinds, total = len(self.operators), self.operators.total()
        yield f"operators: {kinds} different one{'s' * (kinds != 1)}, {total:,} in all"
        for name, count in sorted(self.operators.items(), key=lambda item: (-item[1], item[0])):
            yield f"  {name}: {count:,}"
        count = sum(number for number, _ in self.weights.values())
        size = sum(size for _, size in self.weights.values())
        yield f"weights: {count:,} tensor{'s' * (count != 1)}, {size:,} bytes"
        for name, (number, size) in sorted(self.weights.items()):
            yield f"  {name}: {number:,}, {size:,} bytes"


def _open_dims(function: Function, of: str) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for value in function.inputs:
        for axis, dim in enumerate(value.shape or ()):
            if not isinstance(dim, int):
                place = f"{value.name}:{axis}"
                places.setdefault(dim or place, []).append(place)
    if places:
        known = (f"{n} ({', '.join(p)})" if p != [n] else n for n, p in places.items())
        options = " ".join(map(dim_option, places))
        yield f"open dims{of}: {', '.join(known)}; give them sizes: {options}"


def summary_of(module: ModuleOp, name: str) -> Summary:
    """Return the facts about a module, the contents of the file `name`."""
    operators = Counter[str]()
    params: dict[str, Attribute] = {}
    constants: list[Attribute] = []
    for op in walk(module):
        dialect, _, rest = op.name.partition(".")
        if isinstance(op, relay.ParamOp):
            params[op.param.data] = op.result.type
        elif isinstance(op, relay.ConstantOp):
            constants.append(op.result.type)
        elif dialect not in ("builtin", "func"):
            operators[rest if dialect == "relay" else op.name] += 1
    weights: dict[str, tuple[int, int]] = {}
    for type in (*params.values(), *(t for t in constants if not fits_inline(t))):
        tensor = as_tensor(type)
        if tensor is not None and is_static(tensor):
            number, size = weights.get(dtype := _element(tensor), (0, 0))
            weights[dtype] = number + 1, size + tensor_size(tensor)
    functions = [_function(op) for op in module.ops if isinstance(op, FuncOp) and is_public(op)]
    return Summary(name, functions, operators, weights)


def _function(op: FuncOp) -> Function:
    named = zip(parameter_names(op), op.function_type.inputs, dim_names(op), strict=True)
    inputs = [_value(name.data, type, dims) for name, type, dims in named]
    types, names = op.function_type.outputs.data, unique_names(result_names(op))
    results = zip(names, types, dims_of_results(op), strict=True)
    outputs = [_value(name, type, dims) for name, type, dims in results]
    return Function(f"@{op.sym_name.data}", inputs, outputs)


def _value(name: str, type: Attribute, names: Sequence[str | None]) -> Value:
    tensor = as_tensor(type)
    if tensor is None:
        return Value(name, str(type), None)
    shape = tensor.get_shape()
    known = names or (None,) * len(shape)
    dims = (
        size if size != DYNAMIC_INDEX else dim or None
        for size, dim in zip(shape, known, strict=True)
    )
    return Value(name, _element(tensor), tuple(dims))


def _element(tensor: Tensor) -> str:
    return dtype_name(tensor.element_type) or str(tensor.element_type)
