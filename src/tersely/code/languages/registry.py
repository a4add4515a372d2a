"""Every language that Tersely knows, listed by hand, and the language of a file.

The table holds the facts that every file of a repository needs. The rest is in a language's value,
which is imported when a file of that language is read: a question about Go pays for no other
language, and one without parsing for none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.places import file_name_of
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.code.languages.model import Language


class Known(NamedTuple):
    """The place of the value of a language, and the names by which a file of it is recognised."""

    # beside this one, or the package of the grammar of a language that is read by queries
    module: str
    value: str  # in the module, or the function that gives the grammar
    suffixes: Strings = ()
    file_names: Strings = ()
    interpreters: Strings = ()
    line_comment: str = "#"
    # languages of one family see each other's definitions (JavaScript and TypeScript)
    family: str = ""
    by_queries: bool = False  # known where its grammar is installed
    has_control_flow: bool = True  # its table says in which order statements run
    is_document: bool = False  # in no index, and read when it is asked for


_SLASHES, _NOTEBOOK = "//", ".ipynb"
BY_RULES = {
    "astro": Known("components", "ASTRO", (".astro",), line_comment=_SLASHES, family="ecmascript"),
    "c": Known("c", "C", (".c",), line_comment=_SLASHES, family="c"),
    "cpp": Known(
        "cpp", "CPP",
        (".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h", ".ipp", ".inl", ".tpp", ".cu", ".cuh"),
        line_comment=_SLASHES, family="c",
    ),
    "csharp": Known("csharp", "CSHARP", (".cs", ".csx"), line_comment=_SLASHES),
    "go": Known("go", "GO", (".go",), line_comment=_SLASHES),
    "java": Known("java", "JAVA", (".java",), line_comment=_SLASHES, family="jvm"),
    "javascript": Known(
        "ecmascript", "JAVASCRIPT", (".js", ".mjs", ".cjs", ".jsx"), interpreters=("node", "bun", "deno"),
        line_comment=_SLASHES, family="ecmascript",
    ),
    "kotlin": Known("kotlin", "KOTLIN", (".kt", ".kts"), line_comment=_SLASHES, family="jvm"),
    "php": Known(
        "php", "PHP", (".php", ".phtml", ".php5", ".php7", ".phpt"), interpreters=("php",), line_comment=_SLASHES
    ),
    "python": Known(
        "python", "PYTHON", (".py", ".pyi", ".pyw", _NOTEBOOK), interpreters=("python", "python2", "python3")
    ),
    "ruby": Known(
        "ruby", "RUBY", (".rb", ".rake", ".gemspec", ".ru", ".rbw", ".rbi"),
        ("Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Brewfile", "Podfile", "Fastfile"),
        ("ruby", "jruby", "rake"),
    ),
    "rust": Known("rust", "RUST", (".rs",), line_comment=_SLASHES),
    "svelte": Known("components", "SVELTE", (".svelte",), line_comment=_SLASHES, family="ecmascript"),
    "tsx": Known("typescript", "TSX", (".tsx",), line_comment=_SLASHES, family="ecmascript"),
    "typescript": Known(
        "typescript", "TYPESCRIPT", (".ts", ".mts", ".cts"), interpreters=("ts-node", "tsx"),
        line_comment=_SLASHES, family="ecmascript",
    ),
    "vue": Known("components", "VUE", (".vue",), line_comment=_SLASHES, family="ecmascript"),
}  # fmt: skip
_by_queries = partial(Known, by_queries=True, has_control_flow=False)
BY_QUERIES = {
    "bash": _by_queries(
        "tree_sitter_bash", "language", (".sh", ".bash", ".bats", ".ksh", ".zsh"),
        (".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", "PKGBUILD", "APKBUILD"),
        ("bash", "sh", "dash", "ksh", "zsh"), has_control_flow=True,
    ),
    "dart": _by_queries("tree_sitter_dart", "language", (".dart",), line_comment=_SLASHES),
    "elixir": _by_queries("tree_sitter_elixir", "language", (".ex", ".exs"), interpreters=("elixir",)),
    "haskell": _by_queries(
        "tree_sitter_haskell", "language", (".hs",), interpreters=("runhaskell", "runghc"), line_comment="--",
    ),
    "hcl": _by_queries("tree_sitter_hcl", "language", (".tf", ".tfvars", ".hcl", ".tofu")),
    "julia": _by_queries("tree_sitter_julia", "language", (".jl",), interpreters=("julia",)),
    "lua": _by_queries(
        "tree_sitter_lua", "language", (".lua", ".rockspec", ".wlua"), (".luacheckrc", ".busted"),
        ("lua", "luajit", "lua5.1", "lua5.2", "lua5.3", "lua5.4", "texlua"), "--",
    ),
    "make": _by_queries(
        "tree_sitter_make", "language", (".mk", ".mak"), ("Makefile", "makefile", "GNUmakefile"), ("make",)
    ),
    "nix": _by_queries("tree_sitter_nix", "language", (".nix",)),
    "ocaml": _by_queries(
        "tree_sitter_ocaml", "language_ocaml", (".ml",), interpreters=("ocaml",), line_comment="", family="ocaml",
    ),
    "ocaml_interface": _by_queries(
        "tree_sitter_ocaml", "language_ocaml_interface", (".mli",), line_comment="", family="ocaml"
    ),
    "perl": _by_queries(
        "tree_sitter_perl", "language", (".pl", ".pm", ".psgi"), interpreters=("perl",)
    ),
    "powershell": _by_queries(
        "tree_sitter_powershell", "language", (".ps1", ".psm1", ".psd1"), interpreters=("pwsh", "powershell")
    ),
    "scala": _by_queries(
        "tree_sitter_scala", "language", (".scala", ".sc", ".sbt"), line_comment=_SLASHES, family="jvm"
    ),
    "solidity": _by_queries("tree_sitter_solidity", "language", (".sol",), line_comment=_SLASHES),
    "sql": _by_queries("tree_sitter_sql", "language", (".sql",), line_comment="--"),
    "swift": _by_queries("tree_sitter_swift", "language", (".swift",), line_comment=_SLASHES),
    "zig": _by_queries("tree_sitter_zig", "language", (".zig", ".zon"), line_comment=_SLASHES),
}  # fmt: skip
PROSE = "markdown"  # the language of documents that hold no values
_document = partial(_by_queries, is_document=True, value="language")
DOCUMENTS = {
    "json": _document("tree_sitter_json", suffixes=(".json", ".jsonc", ".webmanifest"), line_comment=_SLASHES),
    PROSE: _document("tree_sitter_markdown", suffixes=(".md", ".markdown"), line_comment=""),
    "toml": _document("tree_sitter_toml", suffixes=(".toml",)),
    "yaml": _document("tree_sitter_yaml", suffixes=(".yaml", ".yml")),
}  # fmt: skip
_KNOWN = {
    name: known
    for name, known in (DOCUMENTS | BY_QUERIES | BY_RULES).items()
    if not known.by_queries or find_spec(known.module)
}


class _Languages(Mapping[str, "Language"]):
    """The values by name, each imported when it is first taken."""

    def __init__(self) -> None:
        self._loaded: dict[str, Language] = {}

    def __getitem__(self, name: str) -> Language:
        language = self._loaded.get(name)
        if language is None:
            known = _KNOWN[name]
            if known.by_queries:
                from tersely.code.languages.tags import query_language

                language = query_language(name, known)
            else:
                module = import_module(f"tersely.code.languages.{known.module}")
                language = getattr(module, known.value)
            self._loaded[name] = language
        return language

    def __contains__(self, name: object) -> bool:
        return name in _KNOWN

    def __iter__(self) -> Iterator[str]:
        return iter(_KNOWN)

    def __len__(self) -> int:
        return len(_KNOWN)


LANGUAGES: Mapping[str, Language] = _Languages()

_BY_SUFFIX = {
    suffix: name
    for name, known in _KNOWN.items()
    for suffix in known.suffixes
    if not known.is_document
}
# Files of other kinds, which are not read, by the family of the code in them.
_HOLDERS = {
    "c": (".mm",),
    "csharp": (".cshtml", ".razor"),
    "ecmascript": (".mdx",),
    "elixir": (".eex", ".heex", ".leex"),
    "jvm": (".groovy", ".gradle", ".jsp"),
    "python": (".pyx", ".pxd"),
    "ruby": (".erb",),
}
_HELD_BY_SUFFIX = {suffix: family for family, suffixes in _HOLDERS.items() for suffix in suffixes}
_BY_FILE_NAME = {
    file_name: name for name, known in _KNOWN.items() for file_name in known.file_names
}
_BY_INTERPRETER = {
    program: name for name, known in _KNOWN.items() for program in known.interpreters
}


def document_language_of(path: str) -> str | None:
    """The name of the language of a document, None for any other path."""
    suffix = path[path.rfind(".") :].lower()
    return next((name for name, known in DOCUMENTS.items() if suffix in known.suffixes), None)


def source_in(path: str, content: bytes) -> bytes:
    """The source in the content of a file: of a notebook its code, with as many lines; else all of it."""
    if not path.endswith(_NOTEBOOK):
        return content
    from tersely.code.languages.parts.python_notebooks import notebook_code

    return notebook_code(content)


def language_of_path(path: str) -> str | None:
    """The language of a path by file name, else by its longest known suffix; None for an unknown
    one.
    """
    name = file_name_of(path)
    start = name.find(".", 1)
    return _BY_FILE_NAME.get(name) or (_of_suffixes(name[start:]) if start != -1 else None)


@lru_cache(maxsize=1024)  # a repository has many files and few endings
def _of_suffixes(ending: str) -> str | None:
    start = 0
    while start != -1:
        suffix = ending[start:]
        language = _BY_SUFFIX.get(suffix) or _BY_SUFFIX.get(suffix.lower())
        if language is not None:
            return language
        start = ending.find(".", start + 1)
    return None


def family_in(path: str) -> str:
    """The language family of a file by its name, "" if the name does not show one."""
    language = language_of_path(path)
    if language is not None:
        return family_of(language)
    return _HELD_BY_SUFFIX.get(path[path.rfind(".") :].lower(), "")


def language_of_script(first_line: str) -> str | None:
    """The name of the language that a `#!` line names, None without one."""
    if not first_line.startswith("#!"):
        return None
    words = first_line[2:].replace("/", " ").split()
    return next(
        (_BY_INTERPRETER[word] for word in reversed(words) if word in _BY_INTERPRETER), None
    )


def family_of(name: str) -> str:
    """The name that a language shares with those that see its definitions: its family, or its own
    name.
    """
    return _KNOWN[name].family or name


def with_control_flow() -> list[str]:
    """The names of the languages of which the order of statements is known, sorted."""
    return sorted(name for name, known in _KNOWN.items() if known.has_control_flow)


def line_comment_of(name: str) -> str:
    """The text that begins a comment to the end of the line; "" for an unknown language."""
    known = _KNOWN.get(name)
    return known.line_comment if known else ""
