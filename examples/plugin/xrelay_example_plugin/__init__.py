"""An example of a plug-in of xrelay: see `docs/plugins.md`."""
