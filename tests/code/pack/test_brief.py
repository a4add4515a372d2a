"""Code in fewer words: what is left of it is true, and what is short can be made long again."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.code.pack.test_properties import FEW, Question, questions
from tests.code.planted import Planted, plant, view

from tersely.code.languages.registry import LANGUAGES
from tersely.code.lenses.candidate import View
from tersely.code.pack.brief.alias import with_aliases
from tersely.code.pack.brief.focus import Focused, focused
from tersely.code.pack.brief.rewording import Rewording
from tersely.code.pack.brief.zoom import Zoom
from tersely.code.pack.excerpt import Line, lines_of
from tersely.code.pack.fit import fit
from tersely.code.pack.model import Detail, Pack, joined
from tersely.code.pack.scale import Scale
from tersely.code.pack.texts import Texts
from tersely.code.render.formats import FORMATS
from tersely.code.symbols import Edge
from tersely.code.syntax.spans import import_statements, plain_names
from tersely.foundation import tokens
from tersely.foundation.errors import TerselyError

WORD = re.compile(r"[^\W\d]\w*")
# In each language: a comment by itself, one behind code, and what looks like one within text.
COMMENTED = {
    "a.py": ('# gone\nx = "# kept"  # gone\ndef f():\n    """gone"""\n    return x\n', [2, 3, 5]),
    "a.js": ('// gone\nconst x = "// kept"; // gone\nfunction f() {\n  /* gone */\n  return x;\n}\n', [2, 3, 5, 6]),
    "a.ts": ("/** gone */\nconst x: string = `/* kept */`; // gone\n", [2]),
    "a.tsx": ('const x = "// kept"; // gone\n/* gone\n gone */\nlet y = 1;\n', [1, 4]),
    "a.go": ('package a // gone\n\n// gone\nvar x = "// kept"\n', [1, 2, 4]),
    "a.rs": ('/// gone\nfn f() -> &\'static str { "// kept" } // gone\n', [2]),
    "A.java": ('/** gone */\nclass A { String x = "/* kept */"; /* gone */ }\n', [2]),
    "a.c": ('/* gone */\nchar *x = "// kept"; // gone\n', [2]),
    "a.cpp": ('// gone\nauto x = "/* kept */"; /* gone */\n', [2]),
    "a.cs": ('// gone\nclass A { string x = "// kept"; } // gone\n', [2]),
    "a.rb": ('# gone\nx = "# kept" # gone\n', [2]),
    "a.php": ('<?php\n# gone\n$x = "// kept"; // gone\n', [1, 3]),
    "a.kt": ('// gone\nval x = "// kept" /* gone */\n', [2]),
    "a.swift": ('// gone\nlet x = "// kept" // gone\n', [2]),
    "a.scala": ('// gone\nval x = "// kept" // gone\n', [2]),
    "a.lua": ('-- gone\nlocal x = "-- kept" -- gone\n', [2]),
    "a.ex": ('# gone\nx = "# kept" # gone\n', [2]),
}
IMPORTING = {
    "a.py": (
        """
from typing import (
    Any,
    Final as F,
    Protocol,
    cast,
)
import os
import a.b.c
import json
import re
from .m import one
from .m import two
from .m import three

x = 1
""",
        """
⋯ 2-14 from…import typing: Any, Final as F, Protocol, cast; .m: one, two, three | import os, a.b.c, json, re
x = 1
""",
    ),
    "a.go": (
        """package a

import (
	"fmt"
	"net/http"
	alias "example.org/deep/package"
	"os"
)
""",
        """package a

⋯ 3-8 import fmt, net/http, example.org/deep/package as alias, os
""",
    ),
    "A.java": (
        """package a;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.HashMap;
import static org.junit.Assert.*;
class A {}
""",
        """package a;

⋯ 3-8 import java.util: List, Map, Set, TreeMap, HashMap | import…static org.junit.Assert: *
class A {}
""",
    ),
    "a.c": (
        """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "a.h"
int x;
""",
        """⋯ 1-5 include stdio.h, stdlib.h, string.h, time.h, a.h
int x;
""",
    ),
    "a.rs": (
        """use std::fs::File;
use std::fs::Metadata;
use std::fs::OpenOptions as Open;
use std::fs::Permissions;
pub use crate::inner::Thing;
use std::fs::ReadDir;
fn f() {}
""",
        """⋯ 1-6 use std::fs: File, Metadata, OpenOptions as Open, Permissions, ReadDir | pub…use crate::inner: Thing
fn f() {}
""",
    ),
}


def reworded(path: str, source: str, rewording: Rewording) -> list[Line]:
    content = source.encode()
    return list(rewording.lines(path, content, lines_of(content, 0, len(content), 1)))


def written(lines: list[Line]) -> str:
    return "".join(f"{line.text}\n" for line in lines)


def test_every_language_has_a_case() -> None:
    assert len(COMMENTED) == len(LANGUAGES)


@pytest.mark.parametrize("path", COMMENTED)
def test_comments_go_by_the_tree_and_numbers_stay(path: str) -> None:
    source, numbers = COMMENTED[path]
    lines = reworded(path, source, Rewording(strip_comments=True))
    assert "gone" not in written(lines)
    assert "kept" in written(lines)
    assert [line.number for line in lines] == numbers
    rows = source.split("\n")
    assert all(set(WORD.findall(line.text)) <= set(WORD.findall(rows[line.number - 1])) for line in lines)


def test_a_comment_between_words_leaves_them_apart() -> None:
    lines = reworded("a.c", "int/* why */x;\nf(/* a */ 1, /* b */ 2);\n", Rewording(strip_comments=True))
    assert written(lines) == "int x;\nf( 1, 2);\n"


@pytest.mark.parametrize("path", IMPORTING)
def test_a_block_of_imports_is_one_line(path: str) -> None:
    source, wanted = IMPORTING[path]
    after = written(reworded(path, source, Rewording(compress_imports=True)))
    assert after == wanted
    assert tokens.count(after) <= tokens.count(source)
    assert set(WORD.findall(source)) - {"as"} <= set(WORD.findall(after)) | {"as"}


def test_what_does_more_than_import_stays() -> None:
    source = b"#ifdef WIDE\n#include <wchar.h>\n#include <wctype.h>\n#endif\n"
    assert [(one.first_line, one.last_line) for one in import_statements(source, LANGUAGES["c"])] == [(2, 2), (3, 3)]
    assert import_statements(b"const run = require('x')('y');\n", LANGUAGES["javascript"]) == []
    assert import_statements(b"x = 1; import os\n", LANGUAGES["python"]) == []


def test_a_name_that_is_also_a_word_of_a_text_is_not_plain() -> None:
    source = b'alpha = 1\nbeta = alpha\nprint("alpha", f"{beta}", beta)  # alpha beta\n'
    assert {"alpha", "beta"} & plain_names(source, LANGUAGES["python"]) == {"beta"}


SKETCHED = """def run(orders, limit):
    total = 0
    for order in orders:
        price = order.price(limit)
        if price > limit:
            log.warn("much")
            audit(order)
            continue
        total += price
    else:
        done()
    try:
        with lock:
            total = settle(total)
    except ValueError as error:
        raise Bad(error)
    return total
"""


def test_a_sketch_keeps_what_control_does_and_what_is_called() -> None:
    planted = plant({"a.py": SKETCHED + "\n" * 40})
    zoomed = zoomed_at(Question(planted, view_of(planted, "a.py:run")), Zoom.SKETCH)
    assert zoomed.texts.code(planted["a.py:run"])[0] == (
        "def run(orders, limit)\n    for order in orders:\n        ⋯ order.price()\n        if price > limit:\n"
        "            ⋯ log.warn(), audit()\n            continue\n    else:\n        ⋯ done()\n    try:\n"
        "        with lock:\n            ⋯ settle()\n    except ValueError as error:\n        raise Bad(error)\n"
        "    return total\n"
    )


def view_of(planted: Planted, symbol_id: str) -> View:
    return view([planted.candidate(symbol_id)])


def zoomed_at(question: Question, zoom: Zoom | None, texts: Texts | None = None) -> Focused:
    def callers(symbol_id: str) -> list[Edge]:
        return question.planted.callers(symbol_id)

    return focused(question.view, texts or question.planted.texts(), zoom, callers)


MOST = {Zoom.MODULES: Detail.NAME, Zoom.SIGNATURES: Detail.SKELETON}


@FEW
@given(questions(), st.sampled_from(Zoom), st.booleans(), st.booleans(), st.integers(0, 2_000))
def test_no_wording_exceeds_the_budget_or_the_files(
    question: Question, zoom: Zoom, strip: bool, aliased: bool, budget: int
) -> None:
    rewording = Rewording(strip_comments=strip, compress_imports=strip)
    planted = question.planted
    texts = Texts(planted.sources.__getitem__, planted.by_path.__getitem__, reword=rewording.lines)
    zoomed = zoomed_at(question, zoom, texts)
    scale = Scale(FORMATS["text"], tokens.count)
    try:
        fitted = fit(zoomed.view, zoomed.texts, scale.render, budget, most=zoomed.most, size_of=zoomed.size_of)
    except TerselyError as error:
        assert error.code == "budget_too_small"
        return
    fitted = with_aliases(fitted, zoomed.texts, scale) if aliased else fitted
    assert tokens.count(fitted.text) == fitted.pack.used <= budget
    assert all(item.detail <= MOST.get(zoom, Detail.BODY) for item in fitted.pack.items)
    paths = dict.fromkeys([one.path for one in fitted.pack.extracts] + [one.symbol.path for one in fitted.pack.items])
    plain = planted.texts()
    files = Pack("", budget, budget, fitted.pack.targets, tuple(map(plain.extract, paths)), (), (), fitted.pack.omitted)
    assert fitted.pack.used <= tokens.count(joined(scale.render(files, tokens.count)))


LONG = st.sampled_from(["customer_identifier", "calculate_monthly_revenue", "previous_subscription_state", "A", "B"])


@st.composite
def modules(draw: st.DrawFn) -> str:
    lines = []
    for number in range(draw(st.integers(1, 4))):
        one, other, text = draw(LONG), draw(LONG), draw(LONG)
        lines += [f"def f{number}({one}_, {other}):", f"    {one} = {other} + {one}_", f"    return {one}({other})"]
        lines += draw(st.sampled_from([[], [f'    print("{text}")'], [f"    # {text}"], [f'    f"{{{one}}} {text}"']]))
    return "\n".join(lines) + "\n"


@settings(max_examples=60)
@given(modules(), st.sampled_from(sorted(FORMATS)))
def test_the_legend_gives_the_pack_back(source: str, form: str) -> None:
    planted = plant({"a.py": source})
    functions = [one for one in planted.by_id.values() if one.qualname]
    question = Question(planted, view_of(planted, functions[0].id))
    scale = Scale(FORMATS[form], tokens.count)
    whole = fit(question.view, planted.texts(), scale.render, 4_000)
    short = with_aliases(whole, planted.texts(), scale)
    assert short.pack.used <= whole.pack.used
    legend = dict(short.pack.aliases)
    if legend:
        assert short.pack.used < whole.pack.used
        assert not set(legend) & set(WORD.findall(whole.text))
    back = re.compile(rf"\b(?:{'|'.join(legend)})\b") if legend else re.compile(r"(?!)")
    for brief, full in zip(shown(short.pack), shown(whole.pack), strict=True):
        assert back.sub(lambda found: legend[found[0]], brief) == full
        assert re.findall(r'print\("(\w+)"\)', brief) == re.findall(r'print\("(\w+)"\)', full)


def shown(pack: Pack) -> list[str]:
    return [text for one in pack.items for text in (one.code, one.signature, one.qualified)] + [
        one.text for one in pack.extracts
    ]
