"""The thoughts of a reasoning model, where its server leaves them in the text of the answer."""

from __future__ import annotations

from typing import NamedTuple

# What opens and closes thoughts: DeepSeek, Qwen, GLM and others; Magistral; Seed; Command A;
# gpt-oss; Gemma 4; MiniCPM.
_PAIRS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "[THINK]": "[/THINK]",
    "<seed:think>": "</seed:think>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel>thought": "<channel|>",
    "<|thought_start|>": "<|thought_end|>",
}
# What gpt-oss puts between its thoughts and its answer, and behind that.
_SAID = ("<|channel|>final<|message|>", "<|channel|>commentary<|message|>")
_SKIPPED = (*(f"<|start|>assistant{each}" for each in _SAID), *_SAID, "<|return|>")
_CHANNEL_STARTS = ("<|start|>assistant",)
_BEGINNINGS = (*_PAIRS, *_SKIPPED)


class Split(NamedTuple):
    """Parts of an answer: what it says, and what it thinks."""

    text: str
    thought: str


class ThoughtReader:
    """Takes an answer part by part and tells its thoughts, which stand at its beginning, from what
    it says.
    """

    def __init__(self) -> None:
        self._waiting = ""
        self._closing = ""  # what ends the thought that is being read
        self._has_begun = False  # to say something

    def feed(self, text: str) -> Split:
        """The part that is certain now."""
        self._waiting += text
        thought = self._leading_thoughts()
        said, self._waiting = (self._waiting, "") if self._has_begun else ("", self._waiting)
        return Split(said, thought)

    def _leading_thoughts(self) -> str:
        """The thoughts that what is waiting begins with, as far as they are there."""
        thoughts: list[str] = []
        while self._waiting and not self._has_begun:
            if self._closing:
                thought, is_closed = self._thought()
                thoughts.append(thought)
                if not is_closed:
                    break
            elif not self._opened():
                break
        return "".join(thoughts)

    def _thought(self) -> tuple[str, bool]:
        """The thought as far as it is there, and whether it is closed."""
        thought, closed, behind = self._waiting.partition(self._closing)
        if closed:
            self._waiting, self._closing = behind, ""
            return thought, True
        held = _undecided_length(self._waiting, self._closing)
        self._waiting, certain = (
            self._waiting[len(self._waiting) - held :],
            self._waiting[: len(self._waiting) - held],
        )
        return certain, False

    def _opened(self) -> bool:
        """Pass what opens a thought or is skipped, or find that the answer begins; False where more
        has to come in.
        """
        plain = self._waiting.lstrip()
        for start in _BEGINNINGS:
            if plain.startswith(start):
                self._waiting = plain.removeprefix(start)
                self._closing = _PAIRS.get(start, "")
                return True
        is_open = not plain or any(start.startswith(plain) for start in _BEGINNINGS)
        for start in _CHANNEL_STARTS:
            following = f"{start}<|channel|>analysis<|message|>"
            if plain.startswith(following):
                self._waiting = plain.removeprefix(start)
                return True
            is_open = is_open or following.startswith(plain)
        self._has_begun = not is_open
        return not is_open

    def rest(self) -> Split:
        """The part that was held back, when the answer has ended."""
        held, self._waiting = self._waiting, ""
        return Split("", held) if self._closing else Split(held, "")


def without_thoughts(text: str) -> str:
    """An answer without a thought that its template has opened: what stands behind the first
    closing tag.
    """
    said, closed, behind = text.partition("</think>")
    return behind.lstrip("\n") if closed and "<think>" not in said else text


def _undecided_length(text: str, ending: str) -> int:
    """The number of characters at the end of a text that may be the beginning of another one."""
    for size in range(min(len(ending) - 1, len(text)), 0, -1):
        if ending.startswith(text[-size:]):
            return size
    return 0
