"""The command ``finitewidth``, also ``python -m finitewidth``."""

import sys

from finitewidth.common.interrupts import ending_at_once


def main() -> int:
    """Run the command line; return the exit status."""
    with ending_at_once():
        from finitewidth.cli.main import main
    sys.argv[0] = "finitewidth"  # a run that is stopped says how to go on
    return main()


if __name__ == "__main__":
    sys.exit(main())
