"""Write constants that are too large for IR text to their side file."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

from .errors import OnnxError
from .values import Array


def write_weights(params: Mapping[str, Array], path: Path) -> None:
    """Write `params` to `path` (safetensors), replacing the file."""
    try:
        save_file({k: np.ascontiguousarray(v) for k, v in params.items()}, path)
    except (OSError, ValueError, SafetensorError) as error:
        raise OnnxError(f"cannot write the weights to {path}: {error}") from None
