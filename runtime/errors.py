"""Errors of the runtime: a program or its inputs are at fault, never a crash."""


class MachineError(Exception):
    """A program that cannot be run, or inputs that do not fit it; the message says which."""
