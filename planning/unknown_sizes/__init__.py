"""
Plans for sizes that are not known yet: which buffers lie below which.

`orientation_of(problem, offsets)` keeps of a plan only that, and `choose(problems)` finds
orientations that are good at several sample sizes.
"""

from .choice import Choice, choose
from .orientation import Orientation, orientation_of

__all__ = ["Choice", "Orientation", "choose", "orientation_of"]
