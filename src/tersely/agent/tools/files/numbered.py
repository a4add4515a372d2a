"""Lines of a file as a model is shown them: each with its number, as many as there is room for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tersely.agent.tools.observation import clipped
from tersely.foundation.text.escape import visible_line
from tersely.foundation.text.tokens import Tokenizer


class Numbered:
    """The lines of one file, with or without their endings."""

    def __init__(self, lines: Sequence[str], tokenizer: Tokenizer) -> None:
        self._lines = lines
        self._tokenizer = tokenizer

    def within(self, numbers: Iterable[int], most_tokens: int) -> tuple[str, list[int]]:
        """The first of these lines that have room together; and which of them are shown from end to
        end.

        A line counts as shown only if nothing of it is cut.
        """
        text: list[str] = []
        seen: list[int] = []
        before = 0
        for number in numbers:
            line = self._lines[number - 1].rstrip("\r\n")
            shown = f"{number}|{visible_line(clipped(line)).replace(chr(92) + 'x09', chr(9))}"
            shown = f"…\n{shown}" if before and number != before + 1 else shown
            most_tokens -= self._tokenizer.count(f"{shown}\n")
            if most_tokens < 0:
                if not text:
                    text = [f"{number}|… {len(line):,} characters"]
                break
            text.append(shown)
            before = number
            if clipped(line) == line:
                seen.append(number)
        return "\n".join(text), seen
