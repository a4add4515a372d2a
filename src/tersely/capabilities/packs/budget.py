"""The token budget of a pack, declared alike wherever the settings may say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tersely.capabilities.declaration.declaration import option
from tersely.foundation.limits import MAX_BUDGET_TOKENS

if TYPE_CHECKING:
    from tersely.workspace import Workspace


def budget_option(
    default: int | None = None,
    what: str = "the most tokens that the answer may have",
    metavar: str = "TOKENS",
) -> Any:
    """Declare the most tokens of an answer; None leaves it to the settings."""
    if default is None:
        what += "; 2,000 if no setting says otherwise"
    return option(default, what, minimum=1, maximum=MAX_BUDGET_TOKENS, metavar=metavar)


def budget_of(workspace: Workspace, budget: int | None) -> int:
    """The most tokens of an answer: what was asked for, else what the settings say."""
    return workspace.settings.budget_tokens if budget is None else budget
