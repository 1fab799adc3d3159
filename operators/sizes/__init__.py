"""
Sizes: arithmetic of shape rules, expressions, and the table of operations.

This module has the names that shape rules use. `size_table` has the operations, `algebra` the
normal forms of `size_expressions`, and `holds` what is certain of them.
"""

from .rule_sizes import UNKNOWN as UNKNOWN
from .rule_sizes import Dim as Dim
from .rule_sizes import Shape as Shape
from .rule_sizes import SignatureError as SignatureError
from .rule_sizes import Size as Size
from .rule_sizes import Unknown as Unknown
from .rule_sizes import broadcast as broadcast
from .rule_sizes import divided as divided
from .rule_sizes import fill as fill
from .rule_sizes import is_known as is_known
from .rule_sizes import maximum as maximum
from .rule_sizes import measure as measure
from .rule_sizes import minimum as minimum
from .rule_sizes import placeholders as placeholders
from .rule_sizes import product as product
from .rule_sizes import quotient as quotient
from .rule_sizes import require as require
from .rule_sizes import require_at_least as require_at_least
from .rule_sizes import require_at_most as require_at_most
from .rule_sizes import require_equal as require_equal
from .rule_sizes import require_equal_products as require_equal_products
from .rule_sizes import require_source as require_source
from .rule_sizes import total as total
from .size_table import Check as Check
from .size_table import SizeOp as SizeOp
