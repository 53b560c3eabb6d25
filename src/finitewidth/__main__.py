"""``python -m finitewidth``, the same as the command ``finitewidth``."""

import sys

from finitewidth.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
