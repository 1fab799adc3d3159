"""The dialects and passes of this package by name, imported on demand."""

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _demo() -> Dialect:
    from .dialect import Demo

    return Demo


def _demo_expand_swish() -> type[ModulePass]:
    from .expand_swish import DemoExpandSwishPass

    return DemoExpandSwishPass


def _demo_fold_scales() -> type[ModulePass]:
    from .fold_scales import DemoFoldScalesPass

    return DemoFoldScalesPass


UNIVERSE = Universe(
    all_dialects={"demo": _demo},
    all_passes={
        "demo-expand-swish": _demo_expand_swish,
        "demo-fold-scales": _demo_fold_scales,
    },
)
