"""`python -m fleet`: the command where no script was installed."""

import sys

from fleet.cli.main import main

sys.exit(main())
