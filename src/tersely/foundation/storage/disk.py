"""The errors of a disk that takes nothing more."""

from __future__ import annotations

import errno

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_full(error: OSError) -> bool:
    """True if what failed wants room: on the disk, or in what this user may have of it."""
    return error.errno in _FULL
