"""Names of agents: which there may be, in any one script, and which look alike."""

from __future__ import annotations

import unicodedata

from tersely.foundation.errors import TerselyError

MAX_AGENT_NAME_CHARACTERS = 64
_SHOWN_CHARACTERS = 40  # of what is no name, in the refusal
_MARKS = frozenset("._:@/-")
# scripts that are written together, by the first word of the names of their letters
_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"})
# letters that look like others, as Unicode's list of confusables has them (UTS #39), as far as fonts
# for programs draw them alike
_ALIKE = str.maketrans(
    "АВЕКМНОРСТУХІЈЅ" + "авекмнорстухіјѕһԁԛԝӏ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "αβεικνορτυχγηω" + "օսոհց",
    "abekmhopctyxijs" + "abekmhopctyxijshdqwl" + "abezhikmnoptyx" + "abeikvoptuxynw" + "ounhg",
)
_DRAWN_ALIKE = str.maketrans("Il10O", "llloo")


def agent_name(text: str) -> str:
    """The name that a text is, normalized (NFKC); raises `invalid_argument` for what is none."""
    name = unicodedata.normalize("NFKC", text)
    begins_well = name[:1].isalnum() or name[:1] == "_"
    fits = begins_well and len(name) <= MAX_AGENT_NAME_CHARACTERS
    if not fits or not all(map(_may_stand, name)):
        hint = (
            f"letters, digits and . _ : @ / - , at most {MAX_AGENT_NAME_CHARACTERS}, the first a letter, "
            "a digit or _"
        )
        raise _no_name(text, hint)
    if len({_script(character) for character in name if character.isalpha()}) > 1:
        raise _no_name(text, "letters of one script alone")
    return name


def looks(name: str) -> frozenset[str]:
    """What a name looks like: of two names that share one of these, one can be taken for the other."""
    alike = name.translate(_ALIKE)
    return frozenset({alike.casefold(), alike.translate(_DRAWN_ALIKE).casefold()})


def _may_stand(character: str) -> bool:
    return character in _MARKS or unicodedata.category(character)[0] in "LM" or _is_digit(character)


def _is_digit(character: str) -> bool:
    return character == "_" or unicodedata.category(character) == "Nd"


def _script(letter: str) -> str:
    word = unicodedata.name(letter, "").split(" ")[0]
    return "CJK" if word in _EAST_ASIAN else word


def _no_name(text: str, hint: str) -> TerselyError:
    shown = repr(text[:_SHOWN_CHARACTERS])
    return TerselyError("invalid_argument", f"{shown} is not a name of an agent", hint)
