"""Values that a user gives, as arrays of the inputs' types."""

import numpy as np
import pytest

from xrelay.runtime.calls.input_bindings import Listed
from xrelay.runtime.calls.input_values import fitted

HUGE = 10**23


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint64"])
def test_integers_beyond_64_bits_are_no_integers_of_a_program(dtype: str):
    for value in (HUGE, -HUGE, Listed((2,), (0, HUGE))):
        shown = -HUGE if value == -HUGE else HUGE
        with pytest.raises(ValueError, match=f"be {dtype}, which cannot represent {shown}"):
            fitted(value, np.dtype(dtype), (2,))


def test_integers_beyond_64_bits_are_floats_if_they_fit():
    found = fitted(Listed((2,), (HUGE, 0.5)), np.dtype(np.float32), (2,))
    np.testing.assert_array_equal(found, np.array([1e23, 0.5], np.float32))
    for value, dtype in ((HUGE, "float16"), (10**40, "float32"), (10**400, "float64")):
        with pytest.raises(ValueError, match=f"must be {dtype}, which cannot represent"):
            fitted(value, np.dtype(dtype), ())
