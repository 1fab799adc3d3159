"""Traits of families of operators: pure, on one device, and fused in the same way."""

from xdsl.traits import Pure

from ..interfaces import Fusible, FusionKind, SameDevice

ELEMWISE = (Pure(), SameDevice(), Fusible(FusionKind.ELEMWISE))
BROADCAST = (Pure(), SameDevice(), Fusible(FusionKind.BROADCAST))
INJECTIVE = (Pure(), SameDevice(), Fusible(FusionKind.INJECTIVE))
COMM_REDUCE = (Pure(), SameDevice(), Fusible(FusionKind.COMM_REDUCE))
OUT_FUSABLE = (Pure(), SameDevice(), Fusible(FusionKind.OUT_ELEMWISE_FUSABLE))
OPAQUE = (Pure(), SameDevice(), Fusible(FusionKind.OPAQUE))
