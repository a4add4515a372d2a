"""The token budget of a pack, declared alike wherever the settings may say it."""

from __future__ import annotations

from typing import Any

from tersely.capabilities.declaration import option
from tersely.foundation.limits import MAX_BUDGET_TOKENS


def budget_option() -> Any:
    """Declare the most tokens of an answer; None leaves it to the settings."""
    return option(
        None,
        "the most tokens that the answer may have; 2,000 if no setting says otherwise",
        minimum=1,
        maximum=MAX_BUDGET_TOKENS,
        metavar="TOKENS",
    )
