"""The exceptions of the project.

A message names the key or file, what was found, what is allowed and what to do.
"""


class FinitewidthError(Exception):
    """Base class of all exceptions of the project."""


class ConfigError(FinitewidthError, ValueError):
    """A setting or an argument is unknown, out of range or contradicts another."""


class DataError(FinitewidthError):
    """A dataset is missing, truncated or altered, or it cannot be downloaded."""


class ResultError(FinitewidthError):
    """A result file is missing or damaged, or it cannot be written."""
