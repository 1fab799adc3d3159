"""Trigonometric and hyperbolic functions of each element of a tensor of floats, and inverses."""

from xdsl.irdl import irdl_op_definition

from .elementwise import Elementwise


@irdl_op_definition
class SinOp(Elementwise):
    """Take the sine of `data`, in radians."""

    name = "relay.sin"


@irdl_op_definition
class CosOp(Elementwise):
    """Take the cosine of `data`, in radians."""

    name = "relay.cos"


@irdl_op_definition
class TanOp(Elementwise):
    """Take the tangent of `data`, in radians."""

    name = "relay.tan"


@irdl_op_definition
class AsinOp(Elementwise):
    """Take the angle in [-pi/2, pi/2] whose sine is `data`."""

    name = "relay.asin"


@irdl_op_definition
class AcosOp(Elementwise):
    """Take the angle in [0, pi] whose cosine is `data`."""

    name = "relay.acos"


@irdl_op_definition
class AtanOp(Elementwise):
    """Take the angle in [-pi/2, pi/2] whose tangent is `data`."""

    name = "relay.atan"


@irdl_op_definition
class SinhOp(Elementwise):
    """Take the hyperbolic sine of `data`."""

    name = "relay.sinh"


@irdl_op_definition
class CoshOp(Elementwise):
    """Take the hyperbolic cosine of `data`."""

    name = "relay.cosh"


@irdl_op_definition
class TanhOp(Elementwise):
    """Take the hyperbolic tangent of `data`."""

    name = "relay.tanh"


@irdl_op_definition
class AsinhOp(Elementwise):
    """Take the number whose hyperbolic sine is `data`."""

    name = "relay.asinh"


@irdl_op_definition
class AcoshOp(Elementwise):
    """Take the number of at least 0 whose hyperbolic cosine is `data`."""

    name = "relay.acosh"


@irdl_op_definition
class AtanhOp(Elementwise):
    """Take the number whose hyperbolic tangent is `data`."""

    name = "relay.atanh"
