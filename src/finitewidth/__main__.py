"""The command ``finitewidth``, also ``python -m finitewidth``."""

import sys

from finitewidth.common.interrupts import ending_at_once


def main() -> int:
    """Run the command line; return the exit status.

    The command needs the packages of the extra ``papers``, which the library alone has not.
    """
    try:
        with ending_at_once():
            from finitewidth.cli.main import main
        sys.argv[0] = "finitewidth"  # a run that is stopped says how to go on
        return main()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "finitewidth":
            raise
        print(
            f"finitewidth: {error.name} is not installed; the command needs more packages than "
            "the library: pip install 'finitewidth[papers]'",
            file=sys.stderr,
        )
        return 1


if __name__ == "__main__":
    sys.exit(main())
