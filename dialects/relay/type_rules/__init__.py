"""The type rules of the operators: result types from operand types and attributes."""
