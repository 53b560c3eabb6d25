"""Settings as typed sections: what a job asks for, at every depth, and nothing else."""

from collections.abc import Mapping
from typing import Any

import pytest

from finitewidth.common.errors import ConfigError
from finitewidth.settings.sections import Section, SettingNotDeclaredError, ours
from finitewidth.settings.typed import section_from, settings_for


class Inner(Section):
    """A section in another one."""

    rate: float = ours("step size of gradient descent", gt=0)
    steps: int = ours("number of steps of descent", default=5)


class Outer(Section):
    """A section with others in it."""

    width: int = ours("units of each hidden layer", ge=1)
    by_name: dict[str, Inner] = ours("descents by their names here")
    listed: list[Inner] = ours("descents in a list of them")
    maybe: Inner | None = ours("a descent or none of them")
    scale: float = ours("a setting with another key here", alias="lambda")


VALUES = {
    "width": 3,
    "by_name": {"one": {"rate": 0.5}},
    "listed": [{"rate": 1.0, "steps": 2}],
    "maybe": None,
    "lambda": 2.0,
}


def test_sections_are_typed_at_every_depth():
    settings = section_from(Outer, VALUES)
    assert settings.width == 3
    assert settings.by_name["one"].rate == 0.5
    assert settings.listed[0].steps == 2
    assert settings.maybe is None
    assert settings.scale == 2.0
    assert section_from(Outer, {"maybe": {"rate": 1.0}}).maybe.rate == 1.0


def test_a_setting_that_was_not_declared_cannot_be_read_even_if_it_has_a_default():
    settings = section_from(Outer, {"width": 3})
    with pytest.raises(SettingNotDeclaredError, match=r"without the setting 'listed'.*params"):
        _ = settings.listed
    inner = section_from(Inner, {"rate": 1.0})
    with pytest.raises(ConfigError, match="steps"):
        _ = inner.steps
    assert not hasattr(inner, "steps")
    with pytest.raises(AttributeError):
        _ = inner.momentum


def test_unknown_settings_are_refused_and_settings_cannot_be_changed():
    with pytest.raises(ValueError, match="Inner has no setting 'momentum'"):
        section_from(Inner, {"momentum": 0.9})
    with pytest.raises(ValueError, match="frozen"):
        section_from(Inner, {"rate": 1.0}).rate = 2.0


def test_the_annotation_of_a_function_says_the_section():
    def typed(rows: int, settings: Inner) -> None: ...

    def plain(rows: int, settings: Mapping[str, Any]) -> None: ...

    assert settings_for(typed, {"rate": 1.0}) == section_from(Inner, {"rate": 1.0})
    assert settings_for(plain, {"rate": 1.0}) == {"rate": 1.0}
