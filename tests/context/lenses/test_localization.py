from __future__ import annotations

from pathlib import Path

from tersely.code.engine import Engine
from tersely.context.lenses.diff.changed_symbols import side_of
from tersely.context.lenses.localization.evidence import MAX_SOUGHT_TEXTS
from tersely.context.lenses.localization.rank import LikelySymbol, Location, Look
from tersely.context.lenses.localization.table import is_subject
from tersely.context.lenses.localization.task import read_task, without_instruction
from tersely.context.pack.kinds.packet import MAX_WHOLE_LINES, outermost

FILES = {
    "shop/basket.py": "def total(items):\n    return sum(one.price for one in items)\n",
    "shop/invoice.py": "def send(lines):\n    if not lines:\n        raise ValueError('an invoice needs lines')\n",
}
TASK = "`total` counts free items\n\nSee shop/basket.py; sending then ends with 'an invoice needs lines'."
WORDS = 32
TEXTS = WORDS - 1  # of a message: all of it, and three words in a row from each of the first 30


def located(engine: Engine, task: str) -> Location:
    look = Look(engine.store, engine.search.searcher(), engine.source, engine.subjects())
    return look.location(read_task(task))


def messages(count: int) -> str:
    """So many quoted texts without a word in common."""
    said = (" ".join(f"word{number}x{at}" for at in range(WORDS)) for number in range(count))
    return "\n".join(f'"{one}"' for one in said)


def test_quoted_texts_are_looked_for_up_to_a_count_and_the_rest_is_given(engine: Engine) -> None:
    most = MAX_SOUGHT_TEXTS // TEXTS
    all_known = located(engine, f"{TASK}\n{messages(most - 1)}")
    assert all_known.missing == ()
    assert any("an invoice needs lines" in why for one in all_known.files for why in one.why)
    found = located(engine, f"{messages(most + 1)}\n{TASK}")
    assert len(found.missing) == 1
    assert str(MAX_SOUGHT_TEXTS) in found.missing[0]
    assert not any("an invoice needs lines" in why for one in found.files for why in one.why)
    assert {one.path for one in found.files} == set(FILES)
    assert found.symbols


def test_with_few_quoted_texts_nothing_is_missing(engine: Engine) -> None:
    found = located(engine, TASK)
    assert found.missing == ()
    assert found.symbols[0].symbol.qualname == "total"


def test_addresses_signatures_and_ruled_lines_are_no_names() -> None:
    text = "It fails\n\nhttps://a.b/x_y\n_______\nSigned-off-by: s_o <a@b.c>\n`real_name` and _private\n"
    assert read_task(text).names == ("real_name", "_private")


def test_words_of_paths_and_of_instructions_are_no_evidence(engine: Engine) -> None:
    asked = "please change `total` in shop/basket.py, which a change of src/send.py needs"
    task = read_task(asked)
    assert task.paths == ("shop/basket.py", "src/send.py")
    assert task.title == "please change `total` in  , which a change of   needs"
    assert (task.title_names, without_instruction("Please change it\nadd one")) == (
        ("total",),
        "it\nadd one",
    )
    found = located(engine, asked)
    assert found.files[0].why == ("shop/basket.py is written", "defines total")
    assert not {"please", "shop", "basket", "py", "send"} & set(found.words)


def test_a_folder_that_is_written_is_a_place(engine: Engine) -> None:
    found = located(engine, "sending in `shop/` fails")
    assert {one.path for one in found.files if one.why == ("shop/ is written",)} == set(FILES)


def test_a_class_that_a_task_names_comes_before_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "order.py").write_text(
        "class Order:\n    def log_total(self):\n        log(self.total)\n\n    def total(self):\n        log(0)\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        for asked in (
            "Change `Order` so that it logs the total",
            "log the total in the class Order",
        ):
            found = located(engine, asked)
            assert found.symbols[0].symbol.qualname == "Order", asked


def test_functions_inside_of_a_long_function_are_rows_of_their_own() -> None:
    inner = "  function inner() {\n    go()\n  }\n"
    for lines, names in ((MAX_WHOLE_LINES, ["outer", "outer.inner"]), (1, ["outer"])):
        source = "function outer() {\n" + inner + "  go()\n" * lines + "}\n"
        symbols = side_of("a.js", source.encode()).symbols
        likely = [LikelySymbol(one, 0.5, "") for one in symbols if one.qualname]
        assert [one.symbol.qualname for one in outermost(likely)] == names


def test_tests_in_the_file_of_what_they_test_are_no_subjects() -> None:
    source = b"fn run() {}\nmod tests {\n    fn runs() {}\n}\n"
    symbols = side_of("a.rs", source).symbols
    subjects = [one.qualname for one in symbols if is_subject(one, {})]
    assert subjects == ["run"]


def test_a_method_of_a_class_that_the_text_speaks_of_is_likelier(tmp_path: Path) -> None:
    body = "    def run(self, items):\n        return delay(items)\n"
    (tmp_path / "a.py").write_text(f"class Retrier:\n{body}\n\nclass Parser:\n{body}")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = located(engine, "the delay is wrong\n\nthe retrier waits for too long")
    chances = {one.symbol.qualname: one.chance for one in found.symbols}
    assert chances["Retrier.run"] > 1.5 * chances["Parser.run"]


def test_what_stands_beside_a_function_with_the_words_is_likelier(tmp_path: Path) -> None:
    plain = [f"def {name}(x):\n    return x\n" for name in ("one", "two", "three", "four")]
    worded = "def retry(delay):\n    return delay\n"
    (tmp_path / "a.py").write_text("\n\n".join([plain[0], worded, *plain[1:]]))
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = located(engine, "the retry delay is wrong")
    chances = {one.symbol.qualname: one.chance for one in found.symbols}
    assert min(chances["one"], chances["two"]) > 1.3 * max(chances["three"], chances["four"])


def test_a_link_leaves_no_words_in_the_text() -> None:
    text = "It hangs\n\nsee https://github.com/a/b/blob/main/src/app.py#L37-L40 for where"
    assert "L37" not in read_task(text).text


def test_what_colours_a_copied_text_is_no_word_of_it() -> None:
    coloured = (
        "E  \x1b[1m\x1b[31mAttributeError: no \x1b[32mget_flag\x1b[0m\n"
        "\x1b[1mapp/helpers.py\x1b[0m:30: in \x1b]8;;x\x07run\x1b[0m"
    )
    plain = "E  AttributeError: no get_flag\napp/helpers.py:30: in run"
    assert read_task(coloured) == read_task(plain)


def test_traces_forms_and_what_reports_say_of_themselves_leave_no_words() -> None:
    report = (
        "It stops\n\n🐞 **Describe the bug**\n\n```python-traceback\nTraceback (most recent call last):\n"
        '  File "/venv/lib/shop/basket.py", line 2, in total\n    return pay(items)\n'
        "ValueError: nothing to pay for\n```\nI see that the basket still waits"
    )
    task = read_task(report)
    assert (
        task.text.split()
        == "It stops ValueError: nothing to pay for I that the basket waits".split()
    )
    assert [one.function for one in task.frames] == ["total"]
    assert (task.trace_calls, task.messages) == (("pay",), ("nothing to pay for",))


def test_a_word_that_a_report_says_again_counts_more(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def wait(delay):\n    pass\n\n\ndef push(queue):\n    pass\n")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        look = Look(engine.store, engine.search.searcher(), engine.source, engine.subjects())
        for again, shares in (("delay", [1.0, 0.6]), ("queue", [0.6, 1.0])):
            found = look.evidence(read_task(f"It fails\n\nthe delay, the queue, {again}, {again}"))
            assert found.units[1].round(1).tolist()[1:] == shares
