"""Call the library from Python, and compare it with the machine."""

import sys

import numpy as np

import xrelay

rng = np.random.default_rng(0)
args = [rng.random(shape, np.float32) for shape in ((2, 64), (64, 64), (8, 64))]
native = xrelay.load("libscores.so")
machine = xrelay.compile("scores.relay", pipeline=f'vm{{pools="{sys.argv[1]}"}}')
np.testing.assert_allclose(native(*args), machine(*args), rtol=1e-4, atol=1e-6)
print(native.memory)
