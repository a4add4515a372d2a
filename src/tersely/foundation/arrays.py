"""numpy, loaded with one thread.

Its linear algebra starts a thread for each core while it is loaded, which takes longer than all that
is computed with it here. Whoever computes with arrays takes them from here; the environment, which
other programs are given, stays as it was.
"""

from __future__ import annotations

import os
from typing import Any

_THREADS = "OPENBLAS_NUM_THREADS"
_given = os.environ.get(_THREADS)
os.environ.setdefault(_THREADS, "1")

import numpy as np  # noqa: E402 - loading it reads the variable
from numpy.typing import NDArray  # noqa: E402

if _given is None:
    del os.environ[_THREADS]

Array = NDArray[Any]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Figures = NDArray[np.float64]

__all__ = ("NDArray", "np")
