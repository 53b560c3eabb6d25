"""Experiments, called as their jobs call them: with the typed section that they ask for."""

from finitewidth.settings.typed import settings_for


def measured(measure, inputs, values, **more):
    """Call ``measure`` with settings that are given as a mapping."""
    return measure(inputs, settings_for(measure, values), **more)
