"""`python -m turnleaf` is `turnleaf`."""

import sys

from turnleaf.faces.cli import main

if __name__ == "__main__":
    sys.exit(main())
