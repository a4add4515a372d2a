"""Universal Ctags' units: `input.*` with `expected.tags`, judged as (name, kind, line).

Both vocabularies of kinds are reduced to the words below. Left out on both sides: what one of them
has no word for (imports, parameters, locals, packages, `impl` blocks), references, qualified and
anonymous names, tags of guest languages. A tag without a line field is where its search pattern
matches, the nth tag of equal name and pattern at the nth match. Blanks within names do not count:
`operator ==` is `operator==`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.groundtruth.score import CaseResult, judged
from bench.groundtruth.subject import Subject, copied
from tersely.code.symbols import Kind

REDEFINITION = re.compile(r"#\d+$")
ANONYMOUS = re.compile(r"^(__)?anon|^<", re.IGNORECASE)
SELECTION = re.compile(r"--(?:kinds-[^=\s]+|[^=\s]+-kinds)=(?P<kinds>\S+)$", re.MULTILINE)

OUR_WORDS: dict[Kind, str] = {
    Kind.NAMESPACE: "namespace",
    Kind.CLASS: "class",
    Kind.INTERFACE: "interface",
    Kind.STRUCT: "struct",
    Kind.ENUM: "enum",
    Kind.TRAIT: "trait",
    Kind.TYPE: "type",
    Kind.FUNCTION: "function",
    Kind.METHOD: "method",
    Kind.PROPERTY: "property",
    Kind.FIELD: "value",
    Kind.VARIABLE: "value",
    Kind.CONSTANT: "value",
    Kind.MACRO: "macro",
}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The kinds of one ctags parser that count, by letter and by long name, in our words.

    `merged` joins words that the parser does not tell apart.
    """

    unit: str  # the folder is `parser-<unit>.r`
    suffixes: tuple[str, ...]
    words: Mapping[str, str]
    merged: Mapping[str, str]
    optional: Mapping[str, str]  # kinds that count only where a unit's options switch them on
    parser: str  # what the parser calls its language, in lower case


def vocabulary(
    unit: str, suffixes: str, words: str, merged: str = "", optional: str = "", parser: str = ""
) -> Vocabulary:
    """`words` and `optional` read `c,class:class f,function:function`; `merged` reads
    `method:function`.
    """
    joined = dict(entry.split(":") for entry in merged.split())
    joined.setdefault("property", joined.get("method", "method"))
    return Vocabulary(
        unit, tuple(suffixes.split()), _table(words), joined, _table(optional), parser or unit
    )


def _table(words: str) -> dict[str, str]:
    pairs = [entry.split(":") for entry in words.split()]
    return {kind: word for kinds, word in pairs for kind in kinds.split(",")}


VOCABULARIES: dict[str, Vocabulary] = {
    "python": vocabulary(
        "python", ".py", "c,class:class f,function:function m,member:method v,variable:value"
    ),
    "javascript": vocabulary(
        "javascript", ".js .jsx .mjs .cjs",
        "f,function:function g,generator:function c,class:class m,method:method G,getter:method S,setter:method "
        "p,property:value M,field:value C,constant:value v,variable:value",
    ),
    "typescript": vocabulary(
        "typescript", ".ts .tsx",
        "f,function:function G,generator:function c,class:class i,interface:interface g,enum:enum m,method:method "
        "n,namespace:namespace a,alias:type e,enumerator:value p,property:value C,constant:value v,variable:value",
    ),
    "go": vocabulary(
        "go", ".go",
        "f,func:function n,methodSpec:function t,type:type a,talias:type s,struct:struct i,interface:interface "
        "c,const:value v,var:value m,member:value",
        "method:function",
    ),
    "java": vocabulary(
        "java", ".java",
        "c,class:class r,record:class i,interface:interface a,annotation:interface g,enum:enum e,enumConstant:value "
        "f,field:value m,method:method",
    ),
    "rust": vocabulary(
        "rust", ".rs",
        "f,function:function P,method:method s,struct:struct i,interface:trait g,enum:enum n,module:namespace "
        "t,typedef:type M,macro:macro e,enumerator:value m,field:value v,variable:value C,constant:value",
    ),
    "c": vocabulary(
        "c", ".c .h",
        "f,function:function d,macro:macro s,struct:struct u,union:struct g,enum:enum t,typedef:type "
        "e,enumerator:value m,member:value v,variable:value",
        optional="p,prototype:prototype",
    ),
    "cpp": vocabulary(
        "cxx", ".cpp .cc .cxx .hpp",
        "f,function:function d,macro:macro c,class:class s,struct:struct u,union:struct g,enum:enum t,typedef:type "
        "n,namespace:namespace e,enumerator:value m,member:value v,variable:value",
        "method:function",
        optional="p,prototype:prototype A,alias:type",
        parser="c++",
    ),
    "ruby": vocabulary(
        "ruby", ".rb",
        "f,method:method S,singletonMethod:method A,accessor:method a,alias:method c,class:class m,module:namespace "
        "C,constant:value",
        "function:method",
    ),
    "php": vocabulary(
        "php", ".php",
        "f,function:function c,class:class i,interface:interface t,trait:trait n,namespace:namespace d,define:value "
        "v,variable:value",
        "method:function",
    ),
    "kotlin": vocabulary(
        "kotlin", ".kt .kts",
        "c,class:class o,object:class i,interface:interface m,method:method C,constant:value v,variable:value "
        "T,typealias:type",
        "function:method property:value",
    ),
    "lua": vocabulary("lua", ".lua", "f,function:function", "method:function"),
    "elixir": vocabulary(
        "elixir", ".ex .exs",
        "m,module:namespace f,function:function g,guard:function o,operator:function d,delegate:function "
        "c,callback:function a,macro:function y,type:type p,protocol:interface",
        "method:function class:namespace macro:function",
    ),
}  # fmt: skip


def suite(language: str) -> Callable[[Path], Iterable[CaseResult]]:
    """All units of one language."""
    known = VOCABULARIES[language]

    def run(units: Path) -> Iterator[CaseResult]:
        for truth in sorted((units / f"parser-{known.unit}.r").glob("*/expected.tags")):
            yield from score(truth.parent, known)

    return run


def score(folder: Path, known: Vocabulary) -> Iterator[CaseResult]:
    """One unit, if any of its inputs is in the language."""
    inputs = [path for path in sorted(folder.glob("input*")) if path.suffix in known.suffixes]
    if not inputs:
        return
    texts = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in inputs}
    options = folder / "args.ctags"
    arguments = options.read_text(encoding="utf-8") if options.is_file() else ""
    tags = (folder / "expected.tags").read_text(encoding="utf-8", errors="replace")
    words = kinds_that_count(known, arguments)
    expected = set(
        truth_facts(tags, texts, words, known.parser, qualified="q" in _extras(arguments))
    )
    name = f"{known.unit}/{folder.name}"

    def find_tags() -> set[str]:
        with copied(folder) as subject:
            return set(found_facts(subject, texts, known, set(words.values())))

    yield judged(name, expected, find_tags)


def kinds_that_count(known: Vocabulary, arguments: str) -> dict[str, str]:
    """The kinds that a unit's options leave switched on."""
    every = {**known.words, **known.optional}
    words = dict(known.words)
    for match in SELECTION.finditer(arguments):
        adds = True
        words = words if match["kinds"][0] in "+-" else {}
        for token in re.findall(r"[+*-]|\{\w+\}|[A-Za-z]", match["kinds"]):
            kind = token.strip("{}")
            if token in "+-":
                adds = token == "+"
            elif adds:
                words |= {
                    other: word
                    for other, word in every.items()
                    if token == "*" or word == every.get(kind)
                }
            else:
                words.pop(kind, None)
    return words


def _extras(arguments: str) -> str:
    return "".join(re.findall(r"--extras?=\+?([a-zA-Z]+)", arguments))


def truth_facts(
    tags: str, texts: Mapping[str, str], words: Mapping[str, str], parser: str, qualified: bool
) -> Iterator[str]:
    """The tags of a unit that count, as facts."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    sole = next(iter(words.values()), "") if len(set(words.values())) == 1 else ""
    for row in tags.split("\n"):  # a form feed does not end a row
        name, _, rest = row.partition("\t")
        name = name.replace("\\\\", "\\")  # as tag files escape it
        path, _, rest = rest.partition("\t")
        pattern, _, fields = f"{rest}\t".partition(';"\t') if ';"' in rest else (rest, "", "")
        parts = [part.removeprefix("kind:") for part in fields.split("\t") if part]
        # a unit's options may leave the kind out
        unsaid = sole if all(":" in part for part in parts) else ""
        word = next((words[part] for part in parts if part in words), unsaid)
        if (
            row.startswith("!_")
            or path not in texts
            or not word
            or _is_left_out(name, parts, parser, qualified)
        ):
            continue
        key = (name, path, pattern, word)
        seen[key] += 1
        yield fact(path, name, word, _line(texts[path], pattern, parts, seen[key]))


def _is_left_out(name: str, fields: list[str], parser: str, qualified: bool) -> bool:
    roles = next(
        (field.removeprefix("roles:") for field in fields if field.startswith("roles:")), "def"
    )
    extras = next((field for field in fields if field.startswith("extras:")), "")
    foreign = any(
        word in extras for word in ("reference", "qualified", "anonymous", "inputFile", "subword")
    )
    written_in = next(
        (field.removeprefix("language:") for field in fields if field.startswith("language:")),
        parser,
    )
    foreign = foreign or written_in.lower() != parser
    foreign = foreign or bool(ANONYMOUS.match(name))
    return roles != "def" or foreign or (qualified and bool(re.search(r"\w[.:/\\]", name)))


def _line(text: str, pattern: str, fields: list[str], nth: int) -> int:
    """The line of a tag: its field, its number, or the nth line that its pattern matches; 0 for
    none.
    """
    for number in (field.removeprefix("line:") for field in fields if field.startswith("line:")):
        return int(number)
    if pattern.isdigit():
        return int(pattern)
    wanted = re.sub(r"\\(.)", r"\1", pattern.removeprefix("/^").removesuffix("/"))
    whole = wanted.endswith("$")
    wanted = wanted.removesuffix("$") if whole else wanted
    # a form feed does not end a line
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    found = [
        number
        for number, line in enumerate(lines, 1)
        if (line == wanted if whole else line.startswith(wanted))
    ]
    return found[min(nth, len(found)) - 1] if found else 0


def found_facts(
    subject: Subject, texts: Mapping[str, str], known: Vocabulary, words: set[str]
) -> Iterator[str]:
    """Our symbols of the unit's inputs that count, as facts."""
    for symbol in subject.symbols.values():
        word = OUR_WORDS.get(symbol.kind, "")
        word = known.merged.get(word, word)
        if known.optional and word == "function" and symbol.signature_end_byte == symbol.end_byte:
            word = "prototype"
        if symbol.path in texts and word in words and not ANONYMOUS.match(symbol.name):
            yield fact(symbol.path, REDEFINITION.sub("", symbol.name), word, symbol.name_line)


def fact(path: str, name: str, word: str, line: int) -> str:
    """One definition as a fact."""
    return f"{path}:{line} {word} {''.join(name.split())}"
