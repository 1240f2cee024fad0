"""Which proposals wait for a person."""

from __future__ import annotations

import pytest

from config.settings import Staging
from tasks.records import PageProposal
from tasks.review.staging import hold_back


def proposal(confidence: str, stage: tuple[str, ...] = ()) -> PageProposal:
    return PageProposal("s", "", "S", (), ("a",), confidence=confidence, reasons=("a single source",), stage=stage)


@pytest.mark.parametrize(
    ("policy", "confidence", "held"),
    [
        ("off", "low", False),
        ("all", "high", True),
        ("threshold", "low", True),
        ("threshold", "medium", False),
        ("threshold", "high", False),
    ],
)
def test_policies(policy: str, confidence: str, held: bool) -> None:
    """Off publishes everything, all holds everything, threshold holds what is below the least confidence."""
    assert bool(hold_back(proposal(confidence), Staging.model_validate({"policy": policy}))) is held


def test_reasons_are_said() -> None:
    """Beside the policy's reason stand those of the confidence."""
    expected = ("confidence is low, below high", "a single source")
    assert hold_back(proposal("low"), Staging(policy="threshold", min_confidence="high")) == expected


def test_a_suspicious_source_waits_under_every_policy() -> None:
    """What a compiler asks to stage is held back even when staging is off."""
    assert hold_back(proposal("high", ("injection_suspected",)), Staging(policy="off"))[0] == "injection_suspected"
