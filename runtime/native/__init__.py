<<<<<<< HEAD
"""Programs that are compiled to machine code, in shared libraries."""
=======
"""Machine code in this process: libraries of `xrelay-opt -t native`, and their functions."""
>>>>>>> main
