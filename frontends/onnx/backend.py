"""
ONNX's interface for backends (`onnx.backend.base`), on the Python API.

    from xrelay.frontends.onnx.backend import Backend

    prepared = Backend.prepare(onnx.load("model.onnx"))
    (y,) = prepared.run([x])

Programs written for that interface run with it, as do ONNX's own tests of backends:

    from onnx.backend.test import BackendTest

    tests = BackendTest(Backend, __name__).enable_report()
    globals().update(tests.test_cases)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from onnx import ModelProto, NodeProto, TypeProto, ValueInfoProto, defs, helper
from onnx.backend import base
from typing_extensions import override

import xrelay

from .convert.onnx_values import Array
from .model.onnx_model import OPSETS, domain_of

__all__ = ["Backend", "BackendRep"]

Inputs: TypeAlias = "Mapping[str, Any] | Sequence[Any] | Array"
"""
Arrays by the names of inputs, or in their order; one array if there is one input.

Sequences are lists, and an optional value that is not there is None.
"""

TAGS = {"Cons": 0, "Nil": 1, "Some": 0, "None": 1}


def as_data(value: Any, type: TypeProto, make: Callable[[str, Sequence[Any]], Any]) -> Any:
    """Return a value of `type` as `make` makes data from the name of a constructor and fields."""
    if type.HasField("optional_type"):
        if value is None:
            return make("None", ())
        return make("Some", (as_data(value, type.optional_type.elem_type, make),))
    if not type.HasField("sequence_type"):
        return value
    data = make("Nil", ())
    for element in reversed(value):
        data = make("Cons", (as_data(element, type.sequence_type.elem_type, make), data))
    return data


def as_python(data: Any, type: TypeProto) -> Any:
    """Return data of `type` as lists, and None for what is not there."""
    if type.HasField("optional_type"):
        fields = _fields(data)
        return as_python(fields[0], type.optional_type.elem_type) if fields else None
    if not type.HasField("sequence_type"):
        return data
    elements: list[Any] = []
    while fields := _fields(data):
        element, data = fields
        elements.append(as_python(element, type.sequence_type.elem_type))
    return elements


def _fields(data: Any) -> Sequence[Any]:
    """Return the fields of data, which the machine has as a tuple."""
    return cast("Sequence[Any]", data if isinstance(data, tuple) else data.fields)


class BackendRep(base.BackendRep):
    """A model that is ready to run."""

    def __init__(
        self,
        call: Callable[..., Any],
        inputs: Sequence[ValueInfoProto],
        outputs: Sequence[ValueInfoProto],
        make: Callable[[str, Sequence[Any]], Any],
    ):
        self._call = call
        self._inputs = {info.name: info.type for info in inputs}
        self._types = [info.type for info in outputs]
        self._outputs = base.namedtupledict("Outputs", [info.name for info in outputs])
        self._make = make

    @override
    def run(self, inputs: Inputs, **kwargs: Any) -> tuple[Any, ...]:
        """
        Compute the outputs, a tuple that can be indexed by their names, too.

        `inputs` are arrays by name, or in the order of the graph; one array if there is one input.
        Raises `xrelay.Error` for inputs that do not fit.
        """
        given = _in_order(inputs, list(self._inputs))
        pairs = zip(given, self._inputs.values(), strict=False)
        args = [as_data(value, type, self._make) for value, type in pairs]
        results = self._call(*args, *given[len(args) :])
        results = results if len(self._types) != 1 else (results,)
        return self._outputs(*map(as_python, results, self._types))


def _in_order(inputs: Inputs, names: Sequence[str]) -> Sequence[Any]:
    if isinstance(inputs, Mapping):
        if set(inputs) != set(names):
            raise xrelay.Error(
                f"expected the inputs {', '.join(names)}, but got {', '.join(inputs)}"
            )
        return [inputs[name] for name in names]
    return [inputs] if isinstance(inputs, np.ndarray) else inputs


class Backend(base.Backend):
    """
    Runs ONNX models on the CPU.

    Keyword arguments of its methods are options of `xrelay.compile`. Mistakes and what is not
    supported raise `xrelay.Error`.
    """

    @classmethod
    def compile(cls, model: ModelProto, **options: Any) -> Callable[..., Any]:
        """Return a function from the inputs of `model` to its output, or the tuple of them."""
        compile_model = cast("Callable[..., Callable[..., Any]]", xrelay.compile)
        return compile_model(model, **options)

    @classmethod
    def data(cls, constructor: str, fields: Sequence[Any]) -> Any:
        """Return data of a sequence or an optional value, as the compiled function takes it."""
        return xrelay.Tagged(TAGS[constructor], fields)

    @classmethod
    @override
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Test whether `model` compiles."""
        try:
            cls.prepare(model, device, **kwargs)
        except xrelay.Error:
            return False
        return True

    @classmethod
    @override
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> BackendRep:
        """Compile `model`; inputs with an initializer are not arguments."""
        if not cls.supports_device(device):
            raise xrelay.Error(f'device "{device}" is not supported; supported: CPU')
        known = {initializer.name for initializer in model.graph.initializer}
        return BackendRep(
            cls.compile(model, **kwargs),
            [info for info in model.graph.input if info.name not in known],
            model.graph.output,
            cls.data,
        )

    @classmethod
    @override
    def run_model(
        cls, model: ModelProto, inputs: Inputs, device: str = "CPU", **kwargs: Any
    ) -> tuple[Any, ...]:
        """Compile `model` and run it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    @override
    def run_node(
        cls,
        node: NodeProto,
        inputs: Inputs,
        device: str = "CPU",
        outputs_info: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """
        Compile a model of one `node` and run it once.

        `inputs` are those that the node does not omit. The operator is that of `opset_version`; by
        default, of the latest version that is supported. `outputs_info` is not needed.
        """
        version = kwargs.pop("opset_version", None)
        names = list(dict.fromkeys(name for name in node.input if name))
        arrays = [np.asarray(array) for array in _in_order(inputs, names)]
        if len(arrays) != len(names):
            raise xrelay.Error(f"expected {len(names)} inputs, but got {len(arrays)}")
        graph = helper.make_graph(
            [node],
            node.op_type or "node",
            [
                helper.make_tensor_value_info(
                    name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
                )
                for name, array in zip(names, arrays, strict=True)
            ],
            [helper.make_empty_tensor_value_info(name) for name in node.output if name],
        )
        opset = helper.make_opsetid(node.domain, version or _latest(domain_of(node.domain)))
        return cls.run_model(
            helper.make_model(graph, opset_imports=[opset]), arrays, device, **kwargs
        )

    @classmethod
    @override
    def supports_device(cls, device: str) -> bool:
        """Test whether `device`, such as "CPU" or "CUDA:1", is a CPU."""
        return device.partition(":")[0] == "CPU"


def _latest(domain: str) -> int:
    """Return the latest version of a set of operators that is known."""
    versions = [
        schema.since_version for schema in defs.get_all_schemas() if schema.domain == domain
    ]
    return OPSETS[-1] if not domain else max(versions, default=1)
