"""`python -m discrete_hamel.cli`: the command line without its script."""

import sys

from discrete_hamel.cli import main

sys.exit(main())
