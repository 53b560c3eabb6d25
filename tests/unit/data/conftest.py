import pytest
from data_samples import make_dataset


@pytest.fixture
def tiny():
    return make_dataset()
