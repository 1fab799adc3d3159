"""An example plug-in for xrelay: see `docs/plugins.md`."""
