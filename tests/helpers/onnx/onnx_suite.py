"""
ONNX's own test cases for backends: models, inputs and expected outputs.

The package's code generates the node cases, one or more per operator; others are files exported by
PyTorch. An input that an operator needs at compile time (a shape, axes) is converted to an
initializer here, because the cases pass all inputs at run time.
"""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx.backend.test
from helpers.onnx.onnx_models import Array
from onnx import ModelProto, TensorProto, numpy_helper

FOLDERS = ("pytorch-converted", "pytorch-operator", "simple")

NUMERIC = {
    *(TensorProto.BOOL, TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE),
    *(TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64),
    *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
}
"""The element types that NumPy computes with."""


@dataclass(frozen=True)
class Case:
    """
    A model with pairs of inputs and expected outputs; tolerances are ONNX's.

    Without `data`, it is about values that are not tensors.
    """

    name: str
    model: ModelProto
    data: list[tuple[list[Array], list[Array]]]
    rtol: float
    atol: float

    @property
    def kind(self) -> str:
        """`exported` by PyTorch; else `dense`, if all is tensors of NumPy's numbers, or `other`."""
        if "/" in self.name:
            return "exported"
        types = [info.type for info in (*self.model.graph.input, *self.model.graph.output)]
        dense = all(t.HasField("tensor_type") and t.tensor_type.elem_type in NUMERIC for t in types)
        return "dense" if dense and self.data else "other"

    @property
    def opset(self) -> int:
        """The version of ONNX's operator set; 0 if the case is about another one."""
        return {o.domain: o.version for o in self.model.opset_import}.get("", 0)

    def with_initializers(self, first: int) -> Case:
        """Return the case with the inputs from `first` on converted to initializers."""
        (inputs, outputs), *others = self.data
        assert not others, "initializers have one value"
        model = ModelProto()
        model.CopyFrom(self.model)
        for info, array in zip(model.graph.input[first:], inputs[first:], strict=True):
            model.graph.initializer.append(numpy_helper.from_array(array, info.name))
        return Case(self.name, model, [(inputs[:first], outputs)], self.rtol, self.atol)

    def opened(self) -> Case | None:
        """Return the case with every dim of its inputs open; None if they have none."""
        model = ModelProto()
        model.CopyFrom(self.model)
        count = 0
        for info in model.graph.input:
            for axis, dim in enumerate(info.type.tensor_type.shape.dim):
                dim.Clear()
                dim.dim_param = f"{info.name}_{axis}"
                count += 1
        for info in (*model.graph.output, *model.graph.value_info):
            for dim in info.type.tensor_type.shape.dim:
                dim.Clear()
        return replace(self, model=model) if count else None


def collect_cases(omitted: Container[str] = ()) -> dict[str, Case]:
    """Return all cases by name, but for functions that make cases of names that are `omitted`."""
    return {case.name: case for case in (*_node_cases(omitted), *_file_cases())}


def _node_cases(omitted: Container[str]) -> Iterator[Case]:
    from onnx.backend.test.case import base
    from onnx.backend.test.case.node import collect_testcases

    exporter: Any = type(base.Base)
    export_all = exporter.__init__

    def export(cls: Any, name: str, bases: Any, members: dict[str, Any]) -> None:
        names = [key for key in members if key.replace("export_", "test_", 1) not in omitted]
        export_all(cls, name, bases, {key: members[key] for key in names})

    setattr(exporter, "__init__", export)
    setattr(base, "process_snippet", _no_snippet)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some cases divide by zero on purpose
        cases: list[Any] = collect_testcases(cast("str", None))
    for case in cases:
        if case.model is None:
            continue
        data = [
            ([_array(v) for v in ins], [_array(v) for v in outs]) for ins, outs in case.data_sets
        ]
        if any(a is MISSING for ins, outs in data for a in (*ins, *outs)):
            data = []
        pairs = cast("list[tuple[list[Array], list[Array]]]", data)
        yield Case(case.name, case.model, pairs, case.rtol, case.atol)


def _no_snippet(*_: object) -> tuple[str, str]:
    """Return no source of a case; ONNX's pages show it, and it takes long to find."""
    return "", ""


MISSING: Any = object()


def _array(value: Any) -> Any:
    """A tensor of a case, a list of them, or None for an optional one that is not there."""
    if value is None:
        return None
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, list):
        return [_array(element) for element in cast("list[Any]", value)]
    if isinstance(value, np.ndarray | np.generic | float | int):
        return np.asarray(value)
    return MISSING


def _file_cases() -> Iterator[Case]:
    root = Path(onnx.backend.test.__file__).parent / "data"
    for path in sorted(p for f in FOLDERS for p in (root / f).glob("*/model.onnx")):
        model = onnx.load_model_from_string(path.read_bytes())
        infos = (*model.graph.input, *model.graph.output)
        if not all(i.type.HasField("tensor_type") for i in infos):
            continue
        sets = sorted(path.parent.glob("test_data_set_*"))
        data = [(_tensors(s, "input"), _tensors(s, "output")) for s in sets]
        yield Case(f"{path.parts[-3]}/{path.parts[-2]}", model, data, 1e-3, 1e-7)


def _tensors(folder: Path, what: str) -> list[Array]:
    count = len(list(folder.glob(f"{what}_*.pb")))
    paths = [folder / f"{what}_{i}.pb" for i in range(count)]
    return [numpy_helper.to_array(TensorProto.FromString(p.read_bytes())) for p in paths]
