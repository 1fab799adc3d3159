"""A compiled program as data: functions of instructions, constants, kernels, types."""
