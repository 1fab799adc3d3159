"""The build of libraries and kernels, and its cache."""
