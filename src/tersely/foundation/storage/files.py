"""Files that are written in one step: others see the content before or after, and a full disk leaves
the one before.
"""

from __future__ import annotations

import marshal
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from tersely.foundation.storage.hashing import sealed, unsealed
from tersely.foundation.storage.private import MAKING


def write_private(place: Path, content: bytes, *, lasts: bool = False) -> None:
    """Write a file that its user alone may read, and have it be on the disk where it `lasts`;
    `OSError` where that cannot be.
    """
    draft = place.with_name(f"{place.name}.{os.urandom(4).hex()}.new")
    try:
        with open(os.open(draft, MAKING, 0o600), "wb") as file:
            file.write(content)
            if lasts:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(place)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_value(place: Path, value: Any) -> None:
    """Write a plain value, or nothing where that cannot be."""
    with suppress(OSError):
        write_private(place, sealed(marshal.dumps(value)))


def read_value(place: Path) -> Any:
    """The value that `write_value` wrote in a private directory; None where there is none, or a
    damaged one.
    """
    try:
        return marshal.loads(unsealed(place.read_bytes()))  # noqa: S302 - this user's own
    except (OSError, ValueError):
        return None
