"""The tools that a model is told of: as few as the task needs, more when its words, or the model,
ask for them.

Words are compared as words: an "address" is nothing to "add".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from tersely.agent.context.quoting import own_words
from tersely.agent.tools.approvals import Verdict
from tersely.agent.tools.declaration import AgentTool

HIGHEST_TIER = 3
HISTORY_SESSIONS = 8  # of a repository, that are looked at
_LEAST_SESSIONS = 3  # of them, from which anything follows
_HISTORY_PERCENT = 60  # of them that used a tier
_HIGHEST_BY_HISTORY = 2  # what leaves the machine is never unlocked by habit

_THE = r"(?:\W{1,9}(?:the|all|this|that|these|those|its|my|our))?\W{1,9}"
# By tier: verbs as they are used to ask for something, and phrases. "test" alone is a noun too
# often.
_WORDS: Mapping[int, str] = {
    3: rf"""fetch|download|browse|curl|wget|look\s+up|search{_THE}web|web\s?(?:site|page)s?|urls?|https?://\S+|inbox|other\s+agents?""",
    2: rf"""run|execute|build|pytest|npm|cargo|make\s+(?:test|check)|\A\s*(?:please\s+)?test|commit|install|git
        |(?:fix|failing|failed|broken){_THE}?tests?|tests?\W+(?:suite|fail|pass|that\W+fail)|bash|shell|lint""",
    1: """change|modify|fix|update|refactor|rename|add|edit|write|create|remove|delete|implement|replace|rewrite|insert
        |move|extract|correct""",
}
_INTENTS = {
    tier: re.compile(rf"(?<![\w.\-/])(?:{words})(?![\w\-/]|\.\w)", re.IGNORECASE | re.VERBOSE)
    for tier, words in _WORDS.items()
}
# What is asked about is not asked for: "how does the build work", "what does run() do".
_QUESTION = re.compile(
    r"""\s*(?:what|where|which|why|who|when|how\s+(?:does|do|is|are|did|come)|explain|describe|show|find|list|is|are
        |does|do)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = re.compile(r"(?<=[.!?;\n])\s+|,?\s+(?:and\s+then|then|and)\s+", re.IGNORECASE)


def intent(message: str, pasted: Iterable[str] = ()) -> tuple[int, str]:
    """The tier that a message of the user's asks for, and the words that say so; 0 where none do.

    Sentences that ask a question count for nothing, nor does what is quoted, or `pasted` into it.
    """
    asked = [
        part for part in _SENTENCE.split(own_words(message, pasted)) if not _QUESTION.match(part)
    ]
    for tier in sorted(_INTENTS, reverse=True):
        for part in asked:
            found = _INTENTS[tier].search(part)
            if found:
                return tier, found.group(0)
    return 0, ""


def by_history(tiers: Sequence[int]) -> int:
    """The tier that most earlier sessions came to use, given the highest one of each; 0 where there
    is no habit.
    """
    if len(tiers) < _LEAST_SESSIONS:
        return 0
    for tier in range(_HIGHEST_BY_HISTORY, 0, -1):
        if 100 * sum(each >= tier for each in tiers) >= _HISTORY_PERCENT * len(tiers):
            return tier
    return 0


def reachable(tier: int, current: int, policy: Mapping[int, Verdict]) -> int:
    """The highest tier up to `tier` that is not denied, nor any below it; `current` where that is
    no more.
    """
    while current < tier and policy[current + 1] is not Verdict.DENY:
        current += 1
    return current


def unlocked(
    tools: Sequence[AgentTool], tier: int, policy: Mapping[int, Verdict]
) -> list[AgentTool]:
    """The tools of the tiers up to `tier`, without those of a tier that is denied."""
    return [tool for tool in tools if tool.tier <= tier and policy[tool.tier] is not Verdict.DENY]


def denied_answer(tool: AgentTool) -> str:
    """The answer to a model that calls a tool it may not have."""
    return f"{tool.name} is of tier {tool.tier}, which the user does not allow. Go on without it."
