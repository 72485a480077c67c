"""`python -m discrete_hamel`: the command line without its script, as where the script is not on the PATH."""

import sys

from discrete_hamel.cli import main

sys.exit(main())
