"""The command `xrelay-opt`."""
