"""A thousand mutants of each kind: accepted, or refused with a reason; and the net itself."""

import pytest
from fuzz.campaign import fuzz
from fuzz.kinds import KINDS, Kind

COUNT = 1000


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_no_mutant_does_harm(kind: Kind):
    summary = fuzz(kind, COUNT)
    print(summary)
    assert {cause: f.data for cause, f in summary.findings.items()} == {}
    assert summary.accepted > 0.02 * COUNT, "mutants that are all refused at once show nothing"
    assert summary.refused > 0.02 * COUNT, "mutants that are all accepted show no errors"
