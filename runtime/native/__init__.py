"""Machine code in this process: libraries of `xrelay-opt -t native`, and their functions."""
