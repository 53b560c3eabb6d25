import pytest
from tests.helpers.small_datasets import make_dataset


@pytest.fixture
def tiny():
    return make_dataset()
