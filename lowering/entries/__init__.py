"""The parts of `aot-lower-main`."""
