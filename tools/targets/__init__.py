"""The targets of `xrelay-opt -t`, and the files that they write."""
