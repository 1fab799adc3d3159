"""Chains in stripes compute what the program computes, and need the bytes that are said."""

import numpy as np
import pytest
from helpers.programs.random_chains import image_of, random_chain, stripe_some
from helpers.programs.random_settings import OTHER, rounds

import xrelay


@pytest.mark.parametrize("part", range(4))
def test_random_chains_in_random_stripes(part: int):
    count = (OTHER or rounds(60)) // 4 + 1
    tried = number = 0
    while tried < count:
        rng = np.random.default_rng((part, number))
        number += 1
        module = random_chain(rng)
        tiled = module.clone()
        if (stripes := stripe_some(tiled, rng)) is None:
            continue
        tried += 1
        what = f"{stripes} of {module}"
        tiled = xrelay.run_pipeline(tiled, "tile-for-memory")
        assert "relay.stripes" not in str(tiled), what
        argument = rng.standard_normal(image_of(module), np.float32)
        whole, found = (
            np.asarray(xrelay.compile(program)(argument)) for program in (module, tiled)
        )
        scale = np.abs(whole[np.isfinite(whole)]).max(initial=1)  # a mean of ones may be 0
        np.testing.assert_allclose(found, whole, rtol=0, atol=2e-6 * scale, err_msg=what)
