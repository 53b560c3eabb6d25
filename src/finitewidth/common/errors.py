"""The errors a user can meet. Each message names what was found, what was wanted and the remedy."""


class FinitewidthError(Exception):
    """Base of all errors that finitewidth raises on purpose."""


class ConfigError(FinitewidthError, ValueError):
    """A setting is unknown, impossible or contradicts another."""


class DataError(FinitewidthError):
    """A dataset is missing, truncated, altered or cannot be fetched."""


class ResultError(FinitewidthError):
    """A result file is missing, damaged or cannot be written."""
