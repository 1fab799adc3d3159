"""A printer that prints locations once, after ops."""

from typing_extensions import override
from xdsl.ir import Operation
from xdsl.printer import Printer


class LocationsAtEnds(Printer):
    """A printer of locations after ops: xDSL prints that of `scf.while` before its regions, too."""

    @override
    def print_operation_type(self, op: Operation) -> None:
        if op.name == "scf.while" and not self.print_generic_format:  # by name: without the dialect
            self.print_function_type(op.operand_types, op.result_types)
        else:
            super().print_operation_type(op)
