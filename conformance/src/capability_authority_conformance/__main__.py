"""`python -m capability_authority_conformance`."""

import sys

from capability_authority_conformance.cli import main

sys.exit(main())
