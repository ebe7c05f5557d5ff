"""The plug-in's old name, as an installation before `fleet.regress` knows it; goes when none is left."""

import sys

from fleet.regress import pytest_plugin

sys.modules[__name__] = pytest_plugin
