"""Every kernel on every sample of its operator."""

from typing import Any

import numpy as np
import pytest
from inferring import OPERATORS
from kernel_references import REFERENCES
from operator_samples import SAMPLES, Sample
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.test import TestOp

from xrelay.dialects.attributes import ELEMENT_TYPES, plain_attributes, properties_of
from xrelay.dialects.relay.operator import Operator
from xrelay.runtime.kernels import ELEMENTWISE, KERNELS

POSITIVE = {"log", "log2", "log10", "sqrt", "rsqrt", "power", "nn.batch_norm"}
"""Operators whose operands must be positive to mean something."""
DIVISIONS = {"divide", "mod", "floor_mod", "floor_divide"}
TOLERANCE = {"float16": 2e-3, "float32": 2e-5, "float64": 1e-12}
BY_ONNXRUNTIME = {"nn.conv2d", "nn.conv2d_transpose", "nn.lrn", "nn.gelu"}
"""Their references compute in float32."""


RESHAPES = {"reshape", "nn.batch_flatten", "expand_dims", "squeeze"}


def draw(shape: tuple[int, ...], dtype: str, name: str, rng: np.random.Generator) -> Any:
    """An array of small values of both signs, where the operator allows."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        values = rng.standard_normal(shape) * 2
        if name in POSITIVE:
            values = np.abs(values) + 0.1
        return np.asarray(values).astype(dtype)
    low = 0 if name in POSITIVE or dtype.startswith("u") else -9
    values = np.asarray(rng.integers(low, 10, shape))
    if name in DIVISIONS:
        values = np.where(values == 0, 7, values)
    return values.astype(dtype)


def attributes(sample: Sample) -> Any:
    """The attributes as a kernel gets them: those of an op, defaults included."""
    cls: type[Operator] = OPERATORS[sample.name]
    types = [TensorType(ELEMENT_TYPES[dtype], shape) for shape, dtype in sample.operands]
    op = cls.on(TestOp(result_types=types).results, properties_of(cls, sample.attrs))
    return plain_attributes(op)


def garbage(shape: tuple[int, ...], dtype: str) -> Any:
    """An output that looks wrong wherever it is not written."""
    fill = np.nan if dtype.startswith("float") else 0x55
    return np.full(shape, fill, dtype)


def test_every_operator_has_a_kernel_and_a_reference():
    names = {name for name in OPERATORS}
    assert sorted(names - {k.removeprefix("relay.") for k in KERNELS}) == []
    assert sorted(names - set(REFERENCES)) == []
    assert sorted(names - {s.name for s in SAMPLES}) == []


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_a_kernel_computes_what_its_operator_means(sample: Sample):
    rng = np.random.default_rng(SAMPLES.index(sample))
    ins = [draw(shape, dtype, sample.name, rng) for shape, dtype in sample.operands]
    before = [array.copy() for array in ins]
    outs = [garbage(shape, dtype) for shape, dtype in sample.results]
    attrs = attributes(sample)
    with np.errstate(all="ignore"):
        run = KERNELS[f"relay.{sample.name}"](attrs, ins, outs)
        run()
        first = [out.copy() for out in outs]
        check(sample, attrs, ins, outs)
        for array, old in zip(ins, before, strict=True):
            np.testing.assert_array_equal(array, old)

        for out in outs:  # once more, into the same arrays
            out[...] = garbage(out.shape, out.dtype.name)
        run()
        for out, expected in zip(outs, first, strict=True):
            np.testing.assert_array_equal(out, expected)

        for array in ins:  # and with other elements than at bind time
            array[...] = draw(array.shape, array.dtype.name, sample.name, rng)
        run()
        check(sample, attrs, ins, outs)


def check(sample: Sample, attrs: Any, ins: list[Any], outs: list[Any]) -> None:
    expected = REFERENCES[sample.name](attrs, *ins)
    wanted: list[Any] = [*expected] if isinstance(expected, tuple) else [expected]
    for out, want in zip(outs, wanted, strict=True):
        want = np.asarray(want)
        assert want.size == out.size
        if sample.name not in RESHAPES:
            assert want.shape == out.shape
        if out.dtype.kind != "f":
            np.testing.assert_array_equal(out.reshape(-1), want.reshape(-1))
            continue
        loose = max(2e-5, TOLERANCE[out.dtype.name])
        rtol = loose if sample.name in BY_ONNXRUNTIME else TOLERANCE[out.dtype.name]
        np.testing.assert_allclose(out.reshape(-1), want.reshape(-1), rtol, rtol)


ONE_RESULT_LIKE_FIRST = [sample for sample in SAMPLES if f"relay.{sample.name}" in ELEMENTWISE]


@pytest.mark.parametrize("sample", ONE_RESULT_LIKE_FIRST, ids=str)
def test_an_elementwise_kernel_may_write_over_an_operand(sample: Sample):
    rng = np.random.default_rng(7)
    (result,) = sample.results
    for place in range(len(sample.operands)):
        if sample.operands[place] != result:
            continue
        ins = [draw(shape, dtype, sample.name, rng) for shape, dtype in sample.operands]
        out = garbage(*result)
        attrs = attributes(sample)
        bind = KERNELS[f"relay.{sample.name}"]
        with np.errstate(all="ignore"):
            bind(attrs, ins, [out])()
            bind(attrs, ins, [ins[place]])()
        np.testing.assert_array_equal(ins[place], out)


def test_elementwise_samples_write_over_every_kind_of_operand():
    covered = {s.name for s in ONE_RESULT_LIKE_FIRST if s.results[0] in s.operands}
    without = {
        "isnan",
        "isfinite",
        "isinf",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
    }
    names = {name.removeprefix("relay.") for name in ELEMENTWISE}
    assert names - covered <= without | {"cast"}
