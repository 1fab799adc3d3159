"""
The type rules against the result types of the same NumPy functions.

Only shapes and dtypes are compared; the tests of the kernels compare values.
"""

from typing import Any

import numpy as np
from helpers.operators.numpy_functions import REFERENCES, results
from helpers.operators.operator_samples import SAMPLES, Sample
from helpers.programs.every_case import every

COVERED = [
    sample
    for sample in SAMPLES
    if sample.name in REFERENCES
    and sample.attrs.get("slice_mode") != "size"
    and min(sample.attrs.get("newshape", ()), default=0) >= -1
]


def _operand(shape: tuple[int, ...], dtype: str) -> Any:
    return np.ones(shape, dtype)


@every("sample", COVERED)
def test_numpy_gives_the_inferred_types(sample: Sample):
    operands = [_operand(*operand) for operand in sample.operands]
    arrays = results(REFERENCES[sample.name], operands, sample.attrs)
    assert tuple((array.shape, array.dtype.name) for array in arrays) == sample.results
