"""The command `xrelay-run`."""
