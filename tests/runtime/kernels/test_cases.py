"""
Every kernel against its reference, on random operands and attributes.

To rerun a single failing case: `check(case("add", 17))`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from inferring import OPERATORS
from kernel_references import REFERENCES
from operator_cases import FLOATS, Case, Spec, case, other_elements

from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.checked import Reuse
from xrelay.runtime.program import spec_of


def cases(name: str) -> Iterator[Case]:
    """The cases of an operator: the more attributes, the more cases."""
    attributes = OPERATORS[name].get_irdl_definition().properties
    return (case(name, number) for number in range(60 + 15 * len(attributes)))


def bound(case: Case, ins: Sequence[Any], outs: Sequence[Any]) -> Any:
    """Bind the kernel of a case to arrays; return a no-op if no result has elements."""
    if not any(out.size for out in outs):
        return lambda: None
    return KERNELS[f"relay.{case.name}"](case.attrs, ins, outs)


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


def check(case: Case) -> None:
    """Run a case's kernel, and compare its results with the reference."""
    ins, outs = [x.copy() for x in case.operands], [garbage(spec) for spec in case.results]
    run = bound(case, ins, outs)
    run()
    compare(case, ins, outs)
    for array, before in zip(ins, case.operands, strict=True):
        assert array.tobytes() == before.tobytes(), "an operand was written to"

    for array, other in zip(ins, other_elements(case), strict=True):
        array[...] = other
    for out, spec in zip(outs, case.results, strict=True):
        out[...] = garbage(spec)
    run()  # again, on other elements than at bind time
    compare(case, ins, outs)


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


def check_in_place(case: Case) -> None:
    """Run an elementwise kernel in place on each operand that its registration allows."""
    out = garbage(case.results[0])
    bound(case, case.operands, [out])()
    reuse = KERNELS[f"relay.{case.name}"].reuse
    for place, operand in enumerate(case.operands):
        if not reuse.overwrites(spec_of(operand), spec_of(out)):
            continue
        ins = [x.copy() for x in case.operands]
        over = ins[place].view(out.dtype)
        bound(case, ins, [over])()
        np.testing.assert_array_equal(over, out, f"over operand {place}")


@pytest.mark.parametrize("name", OPERATORS)
def test_a_kernel_computes_what_its_operator_means(name: str):
    """Test elementwise kernels in place, too."""
    for this in cases(name):
        try:
            with np.errstate(all="ignore"):
                check(this)
                if KERNELS[f"relay.{name}"].reuse in (Reuse.ELEMENTWISE, Reuse.SAME_SIZE):
                    check_in_place(this)
        except Exception as error:
            raise AssertionError(f"{this}\n{error}") from error
