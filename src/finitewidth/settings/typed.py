"""Settings as the typed section that a function asks for.

A job passes ``measure`` the settings that its declaration names, as an object of the section that
the function's annotation says::

    def measure(inputs: Mapping[str, Any], settings: Risk) -> dict[str, pd.DataFrame]:
        settings.descent.tolerance

The object has the settings of the declaration only, whatever else the section has, so that a job
depends on no other one.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

from finitewidth.settings.sections import Section, fields_of, section_of

AnySection = TypeVar("AnySection", bound=Section)


def settings_for(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Return ``values`` as the section that ``settings``, an argument of ``function``, asks for.

    They stay a mapping if the annotation of the argument is not a section.
    """
    return _asked_for(inspect.signature(function).parameters["settings"], values)


def sections_for(function: Callable[..., Any], *sections: Mapping[str, Any]) -> list[Any]:
    """Return the arguments of a function that takes some sections, each as it asks for it."""
    parameters = inspect.signature(function).parameters.values()
    return [_asked_for(*pair) for pair in zip(parameters, sections, strict=True)]


def _asked_for(parameter: inspect.Parameter, values: Mapping[str, Any]) -> Any:
    """Some settings as the section that an argument is annotated with, if it is."""
    annotation = parameter.annotation
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return section_from(annotation, values)
    return values


def section_from(section: type[AnySection], values: Mapping[str, Any]) -> AnySection:
    """Return an object of a section with some of its settings, at every depth.

    The values are not checked, since those of a run have been.

    Raises:
        ValueError: the section has no setting of some name.
    """
    fields = fields_of(section)
    attributes = {field.alias or name: name for name, field in section.model_fields.items()}
    unknown = [key for key in values if key not in fields]
    if unknown:
        raise ValueError(f"{section.__name__} has no setting {', '.join(map(repr, unknown))}")
    parts = {}
    for key, value in values.items():
        parts[attributes[key]] = _typed(fields[key].annotation, value)
    instance = section.model_construct(_fields_set=set(parts), **parts)
    for name in section.model_fields:
        if name not in parts:
            instance.__dict__.pop(name, None)  # a default, which the declaration did not name
    return instance


def _typed(annotation: Any, value: Any) -> Any:
    """A value with sections in place of mappings, wherever the annotation has one."""
    if isinstance(value, Mapping):
        section = section_of(annotation, value)
        if section is not None:
            return section_from(section, value)
        entry = _entry_of(annotation)
        return {key: _typed(entry, inner) for key, inner in value.items()}
    if isinstance(value, list):
        entry = _entry_of(annotation)
        return [_typed(entry, inner) for inner in value]
    return value


def _entry_of(annotation: Any) -> Any:
    """The type of the values of a mapping or of the entries of a list."""
    arguments = get_args(annotation)
    return arguments[-1] if arguments else None
