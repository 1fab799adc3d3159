"""Compare the results of kernels with the references."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from helpers.numbers.number_bounds import may_return_either_zero
from helpers.operators.kernel_references import REFERENCES
from helpers.operators.operator_cases import FLOATS, Case, Spec


def garbage(spec: Spec) -> Any:
    """An output filled with values that reveal unwritten elements."""
    shape, dtype = spec
    return np.full(shape, np.nan if dtype in FLOATS else 0x55, dtype)


def as_type(values: Any, dtype: str) -> Any:
    """Convert the reference's values to `dtype`; integers wrap around."""
    values = np.asarray(values)
    if dtype in FLOATS or dtype == "bool" or values.dtype != object:
        return values.astype(dtype)
    bits = np.iinfo(dtype).bits
    unsigned = [int(value) % 2**bits for value in values.reshape(-1)]
    return np.array(unsigned, f"uint{bits}").view(dtype).reshape(values.shape)


def results_of(values: Any) -> list[Any]:
    return [*values] if isinstance(values, tuple) else [values]


def compare(case: Case, ins: Sequence[Any], outs: Sequence[Any]) -> None:
    reference = REFERENCES[case.name]
    wanted = results_of(reference.values(case.attrs, case.results, *ins))
    terms = [0.0] * len(outs)
    if reference.terms is not None:
        terms = results_of(reference.terms(case.attrs, case.results, *ins))
    for out, values, term in zip(outs, wanted, terms, strict=True):
        want = as_type(values, out.dtype.name)
        assert want.shape == out.shape
        if reference.moves:
            assert out.tobytes() == want.tobytes(), f"{out} is not {want}"
        elif out.dtype.kind != "f":
            np.testing.assert_array_equal(out, want)
        else:
            close(out, want, np.asarray(term).astype(np.float64))
            if reference.terms is None and not may_return_either_zero(case.name):
                zeros = (out == 0) & (want == 0)
                np.testing.assert_array_equal(np.signbit(out[zeros]), np.signbit(want[zeros]))


def close(out: Any, want: Any, terms: Any) -> None:
    """Floats may differ by a few units in the last place, of the value or of its terms."""
    info = np.finfo(out.dtype)
    least = 4 * float(info.smallest_subnormal if out.dtype == np.float16 else info.tiny)
    np.testing.assert_array_equal(np.isfinite(out), np.isfinite(want))
    finite = np.isfinite(want)
    np.testing.assert_array_equal(out[~finite], want[~finite])
    a, b = out.astype(np.longdouble), want.astype(np.longdouble)
    room = 8 * float(info.eps) * np.maximum(np.abs(b), terms) + least
    wrong = finite & ~(np.abs(a - b) <= room)
    assert not wrong.any(), f"{out[wrong]} is not {want[wrong]}\n{out}\nis not\n{want}"
