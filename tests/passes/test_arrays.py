import numpy as np
import onnx
from xdsl.dialects.builtin import TensorType, bf16, f32, i1, i64

from xrelay.passes.analysis.arrays import numpy_dtype


def test_dtypes_do_not_depend_on_what_is_imported():
    """NumPy has "bfloat16" only after onnx imports `ml_dtypes`; passes must not depend on that."""
    assert onnx.__version__
    assert np.dtype("bfloat16").itemsize == 2
    assert numpy_dtype(TensorType(bf16, [2])) is None


def test_dtypes_of_numpy():
    assert [numpy_dtype(TensorType(t, [])) for t in (f32, i64, i1)] == [
        np.float32,
        np.int64,
        np.bool_,
    ]
