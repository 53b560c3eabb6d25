"""Methods at whose call a process is killed, as far as a test can tell."""

import itertools


class KilledError(Exception):
    """Stands for a kill."""


def killing(method, at, after=False):
    """A replacement of a method that raises at its call number ``at``, from 0, or after it."""
    numbers = itertools.count()

    def replacement(*args, **words):
        number = next(numbers)
        if number == at and not after:
            raise KilledError
        result = method(*args, **words)
        if number == at:
            raise KilledError
        return result

    return replacement
