"""Every artifact that shows a result says in a sentence what it shows."""

import pytest
from tests.helpers.workflow_plans import plan

from finitewidth.pipeline.caption_input import result_module

PLAN = plan("quick")


@pytest.mark.parametrize("artifact", PLAN.artifacts, ids=lambda artifact: artifact.artifact)
def test_an_artifact_has_a_sentence_of_result_unless_it_is_a_drawing(artifact):
    assert bool(result_module(artifact)) != PLAN.evidence.is_drawing(artifact.artifact)
