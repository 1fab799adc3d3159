"""Files of arrays: `.npz`, `.npy`, `.pb`."""
