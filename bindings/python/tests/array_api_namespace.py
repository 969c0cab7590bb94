"""NumPy with cutt's permute_dims: the module that the array API test-suite is pointed at."""

import numpy
from numpy import *  # noqa: F401,F403 pylint: disable=wildcard-import,unused-wildcard-import,redefined-builtin

from cutt import permute_dims  # noqa: F401 pylint: disable=unused-import

__array_api_version__ = "2024.12"


def __getattr__(name):
    return getattr(numpy, name)
