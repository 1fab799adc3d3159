"""
What this package adds to xDSL, by name.

`xrelay-opt` and `xdsl-opt` import this module at every start, so the dialect and the pass are
imported only when they are asked for.
"""

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _demo() -> Dialect:
    from .dialect import Demo

    return Demo


def _demo_fold_scales() -> type[ModulePass]:
    from .fold_scales import DemoFoldScalesPass

    return DemoFoldScalesPass


UNIVERSE = Universe(
    all_dialects={"demo": _demo},
    all_passes={"demo-fold-scales": _demo_fold_scales},
)
