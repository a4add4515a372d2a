"""What keys and events do on the screen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.doors.screen.conftest import PATIENCE_SECONDS, Seen, seen
from tests.doors.screen.scripted import CHANGE, DIFF, PAUSE, WAIT, Scripted, call
from textual.events import Paste
from textual.widgets import OptionList

from tersely.agent.events import (
    AnswerRestarted,
    ApprovalAsked,
    CallProgress,
    CallStarted,
    Compacted,
    Notice,
    NoticeLevel,
    Retrieved,
    RetrievedItem,
    TextDelta,
    ThoughtDelta,
)
from tersely.doors.screen.app import PLAIN, ChatApp
from tersely.doors.screen.dialogs import approving
from tersely.doors.screen.dialogs.approving import Approving
from tersely.doors.screen.entries.answer import AnswerEntry
from tersely.doors.screen.entries.calls import CallEntry
from tersely.doors.screen.entries.thoughts import MAX_THOUGHT_CHARACTERS, Thought
from tersely.doors.screen.log import MAX_ENTRIES
from tersely.doors.screen.shown import ShownWords
from tersely.doors.screen.typing.queue import MAX_QUEUED_MESSAGES, MAX_SHOWN_QUEUED
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible
from tersely.workspace import Workspace

pytestmark = pytest.mark.anyio

EDIT = ApprovalAsked(1, "c7", "edit", "src/executor.py", DIFF, "src/*")


async def ask(screen: Seen, message: str) -> None:
    await screen.type(message)
    await screen.press("enter")


async def test_an_empty_session_says_what_to_type() -> None:
    async with seen(Scripted([[TextDelta(1, "hello")]]), (60, 20)) as screen:
        await screen.shows("who calls main, and with what?")
        assert "/help lists commands and keys" in " ".join(screen.text.split())
        assert "Ask, or say what to change" in screen.text
        await ask(screen, "hi")
        await screen.shows("hello")
        assert "who calls main" not in screen.text
    async with seen(Scripted(said=[ShownWords("user", "hi")])) as screen:
        await screen.shows("› hi")
        assert "who calls main" not in screen.text


async def test_what_a_command_prints_is_shown_while_it_runs() -> None:
    started, *_, ended = call(1, "bash", "all of it", command="make " + "x" * 100)
    progress = [
        CallProgress(1, "c1", "\n".join(f"line {number} [b]" for number in range(at)))
        for at in (1, 9)
    ]
    async with seen(Scripted([[started, *progress, PAUSE, ended]]), (60, 20)) as screen:
        await ask(screen, "build it")
        await screen.shows("line 8 [b]")
        assert "line 5" in screen.text
        assert "line 4" not in screen.text  # while the call is closed
        assert "Running bash" in screen.text
        (row,) = [row for row in screen.text.splitlines() if "… bash make xxx" in row]
        assert row.rstrip().endswith("…")
        await screen.press("ctrl+o")
        await screen.shows("line 0 [b]")
        await screen.press("ctrl+o")
        screen.agent.go_on()
        await screen.until(lambda: "line 8" not in screen.text and "✓ bash" in screen.text)
        assert "all of it" in screen.text  # the last of what it printed stays


async def test_a_call_that_was_allowed_is_running() -> None:
    async with seen(Scripted([[EDIT, WAIT]])) as screen:
        await ask(screen, "edit it")
        await screen.asks("Allow edit?")
        await screen.press("y")
        await screen.shows("Running edit")


@pytest.mark.parametrize(
    ("key", "note"), [("", ""), ("p", "All that fits"), ("s", "Every call of this tool")]
)
async def test_the_answers_stay_on_a_small_screen(key: str, note: str) -> None:
    long = replace(EDIT, detail=DIFF + "".join(f"+line {n}\n" for n in range(200)))
    async with seen(Scripted([[long]]), (60, 20)) as screen:
        await ask(screen, "edit it")
        await screen.asks("Allow edit?")
        await screen.press(*filter(None, [key]))
        await screen.shows("[n] Deny")
        assert "+import logging" in screen.text
        assert "[y] Once" in screen.text
        assert "src/*" in screen.text
        if key:
            await screen.shows(f"{note}, in this session (Enter allows")
            await screen.press("escape")
            await screen.until(lambda: "Enter allows" not in screen.text)
            assert screen.agent.asked == ["run edit it"]
        await screen.press("n")


async def test_a_diff_leaves_out_names_that_are_said_but_a_command_nothing() -> None:
    command = "--- x; true\n+++ x; true\n@@ -1 +1 @@"
    bash = ApprovalAsked(1, "c8", "bash", f"bash {command}", f"{command}\n(not confined)", "")
    edit = replace(EDIT, what="edit src/executor.py")
    async with seen(Scripted([[edit, bash]]), (80, 30)) as screen:
        await ask(screen, "go")
        await screen.asks("Allow edit? src/executor.py")
        assert "--- a/src/executor.py" not in screen.text
        await screen.press("y")
        await screen.asks("Allow bash?")
        assert "--- x; true" in screen.text
        assert "+++ x; true" in screen.text
        await screen.press("n")


@pytest.mark.parametrize(
    ("blank", "count"),
    [(" ", 1_900), ("\u00a0", 1_900), ("\u3000", 1_900), ("\u2800", 1_900), ("\u3164", 150)],
)
async def test_no_blanks_push_the_end_of_a_command_out_of_sight(blank: str, count: int) -> None:
    command = f"ls{blank * count};evil"
    bash = ApprovalAsked(
        1, "c8", "bash", f"bash {command}", f"{visible(command)}\n(not confined)", ""
    )
    async with seen(Scripted([[bash]]), (100, 30)) as screen:
        await ask(screen, "go")
        await screen.asks("Allow bash?")
        assert ";evil" in screen.text
        await screen.press("n")


async def test_the_list_of_tools_fits_a_small_screen() -> None:
    async with seen(Scripted(), (60, 20)) as screen:
        await screen.press("tab")
        await screen.shows("Esc goes back")


async def test_colours_are_chosen_in_the_palette_or_are_those_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = ChatApp(Scripted())
    async with app.run_test() as pilot:
        await pilot.pause()
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert titles[-1] == "Theme"
    monkeypatch.setenv("NO_COLOR", "1")
    assert ChatApp(Scripted()).theme == PLAIN


async def test_a_very_long_text_may_be_pasted() -> None:
    text = "word [b]\x1b[2J日本 " * 6_000
    async with seen(Scripted([[]])) as screen:
        screen.app.post_message(Paste(text))
        await screen.until(lambda: screen.chat.prompt.text == "[pasted 1: 1 lines]")
        await screen.press("enter")
        await screen.until(lambda: screen.agent.asked)
        assert screen.agent.asked[0].startswith("run word [b]\\x1b[2J日本 word")
        assert len(screen.agent.asked[0]) > 100_000


async def test_an_answer_may_be_one_very_long_line() -> None:
    turn = [TextDelta(1, "word " * 1_000) for _ in range(40)]
    async with seen(Scripted([[*turn, TextDelta(1, "the end")]])) as screen:
        await ask(screen, "go")
        await screen.shows("the end")


async def test_text_of_others_steers_nothing() -> None:
    evil = "\x1b]0;title\x07\x1b[2J[bold red]loud[/] [@click=app.quit]here[/]\u202e"
    path = f"a{evil}.py"
    turn = [
        *call(1, f"to{evil}ol", f"saw {evil}", None, path=path),
        TextDelta(1, evil + "\n\n"),
        Notice(1, NoticeLevel.WARNING, evil),
        Retrieved(1, (RetrievedItem(evil, 3),), 3, evil),
        CallStarted(1, "c2", "bash", "no json " + evil, "echo " + evil),
    ]
    async with seen(Scripted([turn]), (160, 40)) as screen:
        screen.agent.state = screen.agent.state._replace(model=evil, repository=evil)
        await ask(screen, "hi")
        await screen.until(lambda: len(screen.chat.query(CallEntry)) == 2)
        await screen.press("ctrl+o")
        await screen.shows("interrupted")
        picture = screen.app.export_screenshot()
        assert not {"\x1b", "\x07", "\u202e"} & {*screen.text, *picture}
        assert screen.text.count("[bold red]loud[/]") >= 6
        assert "\\x1b]0;title\\x07" in screen.text


async def test_messages_are_queued_while_a_turn_runs_and_sent_in_their_order() -> None:
    turns = [[PAUSE], [TextDelta(1, "two")], [TextDelta(1, "three")]]
    async with seen(Scripted(turns)) as screen:
        for message in ("first", "second", "third"):
            await ask(screen, message)
        await screen.shows("queued › second")
        await screen.shows("Up takes it back · queued › third")
        assert screen.agent.asked == ["run first"]
        screen.chat.prompt.put("/cost")
        await screen.press("enter")
        await screen.shows("3 requests, 2,847 tokens")
        screen.agent.go_on()
        await screen.until(lambda: screen.agent.asked == ["run first", "run second", "run third"])
        await screen.until(lambda: "queued" not in screen.text)


async def test_what_is_queued_can_be_taken_back() -> None:
    async with seen(Scripted([[WAIT]])) as screen:
        for message in ("first", "second", "third"):
            await ask(screen, message)
        await screen.shows("queued › third")
        await screen.press("up")
        assert screen.chat.prompt.text == "third"
        await screen.until(lambda: "queued › third" not in screen.text)
        assert "queued › second" in screen.text


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_cancelled_turn_gives_back_what_is_queued_and_keeps_the_draft(key: str) -> None:
    async with seen(Scripted([[WAIT]])) as screen:
        for message in ("first", "second"):
            await ask(screen, message)
        await screen.type("draft")
        await screen.press(key)
        await screen.shows("cancelled")
        await screen.until(lambda: screen.chat.prompt.text == "second\ndraft")
        assert screen.agent.asked == ["run first", "cancel"]


async def test_the_queue_is_bounded() -> None:
    async with seen(Scripted([[WAIT]])) as screen:
        await ask(screen, "first")
        for number in range(MAX_QUEUED_MESSAGES + 1):
            screen.chat.prompt.put(f"message {number}")
            await screen.press("enter")
        assert screen.chat.prompt.text == f"message {MAX_QUEUED_MESSAGES}"
        await screen.shows(f"({MAX_QUEUED_MESSAGES - MAX_SHOWN_QUEUED} more queued)")


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        (["y"], "allow_once c7"),
        (["s", "enter"], "allow_session c7"),
        (["s", "escape", "y"], "allow_once c7"),
        (["n"], "deny c7"),
        (["p", "enter"], "allow_pattern c7 src/*"),
        (["p", "end", "backspace", "e", "x", "enter"], "allow_pattern c7 src/ex"),
        (["tab", "tab", "enter"], "allow_session c7"),
    ],
)
async def test_a_call_is_allowed_or_denied(keys: list[str], decision: str) -> None:
    async with seen(Scripted([[EDIT, TextDelta(1, "so be it")]])) as screen:
        await ask(screen, "edit it")
        await screen.asks("Allow edit? src/executor.py")
        assert "+import logging" in screen.text
        assert "[bold]not markup[/bold]" in screen.text
        await screen.press(*keys)
        await screen.shows("so be it")
        assert screen.agent.asked == ["run edit it", decision]


async def test_no_key_allows_anything_that_was_typed_before_the_question_could_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(approving, "QUIET_SECONDS", 10 * PATIENCE_SECONDS)
    async with seen(Scripted([[EDIT, WAIT]])) as screen:
        await ask(screen, "edit it")
        await screen.shows("Allow edit?")
        await screen.shows("takes keys after a short pause in typing")
        await screen.type("yes when that is done\n")
        await screen.type("snpy")
        await screen.press("tab", "space")
        assert screen.agent.asked == ["run edit it"]
        assert screen.chat.prompt.text == "snpy "
        await screen.press("escape")
        await screen.shows("cancelled")
        assert screen.agent.asked == ["run edit it", "cancel"]
        assert screen.chat.prompt.text == "yes when that is done\nsnpy "


async def test_a_draft_outlives_a_question() -> None:
    async with seen(Scripted([[PAUSE, EDIT, TextDelta(1, "done")]])) as screen:
        await ask(screen, "edit it")
        await screen.type("and then")
        screen.agent.go_on()
        await screen.asks("Allow edit?")
        await screen.press("enter", "space", "s", "n")
        await screen.shows("done")
        assert screen.agent.asked == ["run edit it", "deny c7"]
        assert screen.chat.prompt.text == "and then"


async def test_each_question_waits_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    async with seen(
        Scripted([[EDIT, replace(EDIT, call_id="c8"), TextDelta(1, "done")]])
    ) as screen:
        await ask(screen, "edit it")
        await screen.asks("Allow edit?")
        first = screen.app.screen
        monkeypatch.setattr(approving, "QUIET_SECONDS", 10 * PATIENCE_SECONDS)
        await screen.press("y")
        await screen.until(
            lambda: screen.app.screen is not first and isinstance(screen.app.screen, Approving)
        )
        await screen.press("y")
        assert screen.agent.asked == ["run edit it", "allow_once c7"]
        assert screen.chat.prompt.text == "y"
        await screen.press("escape")


@pytest.mark.parametrize("key", ["ctrl+c", "escape"])
async def test_a_question_goes_with_its_turn(key: str) -> None:
    async with seen(Scripted([[EDIT, WAIT]])) as screen:
        await ask(screen, "edit it")
        await screen.asks("Allow edit?")
        await screen.press(key)
        await screen.until(lambda: "Allow edit?" not in screen.text and "cancelled" in screen.text)
        assert screen.agent.asked[:2] == ["run edit it", "cancel"]
        assert not any("allow" in asked for asked in screen.agent.asked)


async def test_calls_open_and_close() -> None:
    turn = [
        *call(1, "read", "one\ntwo", None, path="a.py"),
        *call(2, "edit", "replaced", CHANGE, path="b.py"),
    ]
    async with seen(Scripted([turn])) as screen:
        await ask(screen, "hi")
        await screen.shows("+import logging")
        assert "two" not in screen.text
        screen.chat.query(CallEntry).first().focus()
        await screen.press("enter")
        await screen.shows("two")
        await screen.press("ctrl+o")
        await screen.until(
            lambda: "two" not in screen.text and "+import logging" not in screen.text
        )
        await screen.press("ctrl+o")
        await screen.until(lambda: "two" in screen.text and "+import logging" in screen.text)


async def test_commands() -> None:
    async with seen(Scripted(), (80, 40)) as screen:
        for command, answer in {
            "/help": "take back the last change to files",
            "/tier 2": "tier 2: read, search, edit, bash",
            "/tier x": "/tier takes a number",
            "/tier 9": "there is no tier 9",
            f"/tier {'1' * 5_000}": "/tier takes a number",
            "/compact": "2,847 tokens became 900",
            "/undo": "nothing was changed",
            "/fork": "this is s2 from now on",
            "/mode": "ask: Asks before files are changed",
            "/mode plan": "plan: Reads only",
            "/mode x": "there is no mode x",
            "/rag off": "no code is looked up beforehand",
            "/rag": "code is looked up before the model is asked",
            "/cost": "3 requests, 2,847 tokens",
            "/model gemma3:4b": "gemma3:4b answers from now on",
            "/model http://127.0.0.1:9": "glm-4.5 answers from now on",
            "/budget 50,000": "2,847 tokens used",
            "/nonsense": "there is no command /nonsense",
        }.items():
            screen.chat.prompt.put(command)
            await screen.press("enter")
            await screen.shows(answer)
        assert "glm-4.5 │ T2 │" in screen.text.splitlines()[0]


async def test_a_command_of_the_list_runs_at_once_unless_it_needs_more() -> None:
    async with seen(Scripted()) as screen:
        await screen.type("/co")
        await screen.shows("compact  summarize")
        await screen.press("down", "enter")
        await screen.shows("3 requests")
        await screen.type("/ti")
        await screen.shows("tier  unlock")
        await screen.press("tab")
        assert screen.chat.prompt.text == "/tier "


@pytest.mark.parametrize("does", ["ctrl+t", "/tier 1", "/fork"])
async def test_a_session_that_was_deleted_elsewhere_is_said_to_be_gone(does: str) -> None:
    class Gone(Scripted):
        def set_tier(self, tier: int) -> None:
            raise TerselyError(
                "session_not_found",
                "this session was deleted by another process",
                "begin a new one",
            )

        async def fork(self) -> str:
            raise TerselyError(
                "session_not_found",
                "this session was deleted by another process",
                "begin a new one",
            )

    async with seen(Gone()) as screen:
        if does.startswith("/"):
            await screen.type(does)
            await screen.press("enter")
        else:
            await screen.press(does)
        await screen.shows("deleted by another process")
        await screen.press("ctrl+r")
        await screen.shows("no code is looked up beforehand")


async def test_a_session_that_goes_on_shows_what_was_said() -> None:
    async with seen(Scripted()) as screen:
        await ask(screen, "/sessions")
        await screen.shows("callers  3 turns, this one")
        await screen.shows("callers  9 turns, 2026-11-20 10:00")
        await screen.press("down", "enter")
        await screen.shows("They pass.")
        assert "▸ ✓ bash pytest -q  12 ms" in screen.text
        assert screen.agent.asked == ["resume s0"]
        await screen.press("up")
        assert screen.chat.prompt.text == "run the tests"


async def test_what_was_sent_can_be_called_back() -> None:
    async with seen(Scripted([[], []])) as screen:
        for message in ("one", "two"):
            await ask(screen, message)
            await screen.until(lambda message=message: f"run {message}" in screen.agent.asked)
        await screen.type("thr")
        await screen.press("up", "up", "up")
        assert screen.chat.prompt.text == "one"
        await screen.press("down", "down")
        assert screen.chat.prompt.text == "thr"


async def test_a_message_may_have_lines() -> None:
    async with seen(Scripted([[]])) as screen:
        await screen.type("a")
        await screen.press("ctrl+j")
        await screen.type("b")
        await screen.press("enter")
        await screen.until(lambda: screen.agent.asked)
        assert screen.agent.asked == ["run a\nb"]


async def test_files_and_symbols_complete(tmp_path: Path) -> None:
    (tmp_path / "kettle.py").write_text("def boil(water):\n    return water\n")
    (tmp_path / "lid.py").write_text("def close(lid):\n    return lid\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.refresh()
    async with seen(Scripted([[]]), root=tmp_path) as screen:
        options = screen.chat.query_one("#completions", OptionList)
        await screen.type("see @kt")
        await screen.until(lambda: options.display)
        await screen.press("tab")
        assert screen.chat.prompt.text == "see @kettle.py "
        await screen.type("and @boi")
        await screen.shows("kettle.py:boil  function")
        await screen.press("tab", "enter")
        await screen.until(lambda: screen.agent.asked)
        assert screen.agent.asked == ["run see @kettle.py and @kettle.py:boil"]


async def test_enter_sends_the_command_that_was_typed_not_one_of_an_older_list() -> None:
    async with seen(Scripted([[]])) as screen:
        options = screen.chat.query_one("#completions", OptionList)
        await screen.type("/")
        await screen.until(lambda: options.display)
        screen.chat.prompt.editor.insert("undo")  # the list of "/" is still there
        assert screen.chat.prompt.takes("enter")
        await screen.shows("There is nothing to take back.")


async def test_another_size_lays_everything_out_again() -> None:
    words = "one two three four five six seven eight nine ten " * 12
    async with seen(Scripted([[TextDelta(1, words + "\n\nthe end\n")]]), (120, 40)) as screen:
        await ask(screen, "hi")
        await screen.shows("the end")
        await screen.pilot.resize_terminal(60, 20)
        answer = screen.chat.query_one(AnswerEntry)
        await screen.until(lambda: all(row.cell_length <= 56 for row in answer.rows))
        await screen.shows("the end")
        assert " ".join(row.plain.strip() for row in answer.rows).split() == [
            *words.split(),
            "the",
            "end",
        ]
        assert len(screen.text.splitlines()) <= 20


async def test_another_size_while_an_answer_is_written() -> None:
    words = "one two three four five six seven eight nine ten "
    turn = [
        TextDelta(1, words * 12),
        PAUSE,
        TextDelta(1, words * 12),
        PAUSE,
        TextDelta(1, f"{words * 12}\n\nthe end\n"),
    ]
    async with seen(Scripted([turn]), (120, 40)) as screen:
        await ask(screen, "hi")
        await screen.shows("nine ten")
        for size in ((60, 20), (100, 30)):
            await screen.pilot.resize_terminal(*size)
            screen.agent.go_on()
        await screen.shows("the end")
        answer = screen.chat.query_one(AnswerEntry)
        await screen.until(lambda: max(row.cell_length for row in answer.rows) in range(80, 97))
        assert " ".join(row.plain.strip() for row in answer.rows).split() == [
            *(words * 36).split(),
            "the",
            "end",
        ]


async def test_whoever_scrolls_up_is_left_there() -> None:
    lines = "".join(f"{number}\n\n" for number in range(100))
    turn = [TextDelta(1, lines), EDIT, TextDelta(1, "the end\n")]
    async with seen(Scripted([turn])) as screen:
        await ask(screen, "hi")
        await screen.asks("Allow edit?")
        screen.chat.log_view.scroll_home(animate=False)
        await screen.press("y")
        answer = screen.chat.query_one(AnswerEntry)
        await screen.until(lambda: "the end" in answer.text)
        await screen.until(lambda: screen.chat.log_view.scroll_y == 0)


async def test_what_happened_to_the_window_is_said() -> None:
    items = tuple(RetrievedItem(f"f{number}.py", 10) for number in range(6))
    turn = [Retrieved(1, items, 60, "a name of the index"), Compacted(1, 6000, 900, "extractive")]
    async with seen(Scripted([turn]), (120, 30)) as screen:
        await ask(screen, "hi")
        await screen.shows(
            "read beforehand, 60 tokens (a name of the index): f0.py, f1.py, f2.py, f3.py and 2 more"
        )
        await screen.shows("older turns summarized (extractive): 6,000 tokens became 900")


async def test_an_error_of_the_agent_is_a_line() -> None:
    class Broken(Scripted):
        def run(self, message: str, pasted: object = ()) -> object:  # type: ignore[override]
            raise TerselyError("model_unavailable", "nobody listens there", "Start a server.")

    async with seen(Broken()) as screen:
        await ask(screen, "hi")
        await screen.shows("nobody listens there")
        await screen.shows("Start a server.")
        assert screen.chat.query_one("#activity").visible is False


@pytest.mark.parametrize("message", ["hi", "/undo"])
async def test_a_defect_ends_no_conversation(message: str) -> None:
    class Broken(Scripted):
        def run(self, message: str, pasted: object = ()) -> object:  # type: ignore[override]
            raise ValueError("nobody meant this")

        async def undo(self, insists: bool = False) -> str:
            raise ValueError("nobody meant this")

    async with seen(Broken()) as screen:
        await ask(screen, message)
        await screen.shows("ValueError: nobody meant this")
        assert "Traceback" not in screen.text
        await ask(screen, "/cost")
        await screen.shows("3 requests")


async def test_the_log_is_bounded() -> None:
    turn = [Notice(1, NoticeLevel.NOTE, f"note {number}") for number in range(MAX_ENTRIES + 50)]
    async with seen(Scripted([turn])) as screen:
        await ask(screen, "hi")
        await screen.shows(f"note {MAX_ENTRIES + 49}")
        await screen.until(lambda: len(screen.chat.log_view.children) <= MAX_ENTRIES + 1)
        screen.chat.log_view.scroll_home(animate=False)
        await screen.shows("Older messages have left the screen")


async def test_without_colours_nothing_is_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with seen(Scripted([[EDIT]])) as screen:
        await ask(screen, "hi")
        await screen.asks("Allow edit?")
        strips = screen.app.screen._compositor.render_strips(screen.app.size)
        filtered = [
            segment
            for strip in strips
            for segment in screen.app._filters[-1].apply(list(strip), None)
        ]
        colours = {
            part
            for _, style, _ in filtered
            if style
            for part in (style.color, style.bgcolor)
            if part
        }
        assert {colour.name for colour in colours} <= {"default"}
        await screen.press("n")


async def test_selected_text_is_copied() -> None:
    async with seen(Scripted([[TextDelta(1, "word other\n\nmore\n")]])) as screen:
        await ask(screen, "hi")
        await screen.shows("more")
        answer = screen.chat.query_one(AnswerEntry)
        await screen.pilot.mouse_down(answer, offset=(1, 0))
        await screen.pilot.hover(answer, offset=(4, 0))
        await screen.pilot.mouse_up(answer, offset=(4, 0))
        await screen.press("ctrl+c")
        await screen.until(lambda: screen.app.clipboard)
        assert "word".startswith(screen.app.clipboard.strip()) or screen.app.clipboard.startswith(
            "wor"
        )


async def test_keys_for_the_log_are_not_typed_where_a_question_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(approving, "QUIET_SECONDS", 10 * PATIENCE_SECONDS)
    async with seen(Scripted([[PAUSE, EDIT, WAIT]])) as screen:
        await ask(screen, "edit it")
        await screen.press("shift+tab")
        assert screen.chat.focused is screen.chat.log_view
        screen.agent.go_on()
        await screen.shows("Allow edit?")
        await screen.press("j", "k", "q")
        assert screen.chat.prompt.text == ""
        await screen.press("shift+tab", "n", "o")
        assert screen.chat.prompt.text == "no"
        await screen.press("escape")
        await screen.shows("cancelled")
        assert screen.chat.focused is screen.chat.prompt.editor


async def test_thoughts_are_folded_and_no_part_of_the_answer() -> None:
    thoughts = [
        ThoughtDelta(1, "It says \x1b[31mten"),
        ThoughtDelta(1, " or more.\n[bold]Sure.[/bold]"),
    ]
    async with seen(Scripted([[*thoughts, TextDelta(1, "Ten.")]])) as screen:
        await ask(screen, "how many?")
        await screen.shows("Ten.")
        await screen.shows("▸ thoughts, 44 characters")
        assert "or more" not in screen.text
        await screen.press("ctrl+o")
        await screen.shows("It says \\x1b[31mten or more.")
        await screen.shows("[bold]Sure.[/bold]")
        await screen.press("ctrl+o")
        await screen.until(lambda: "or more" not in screen.text)


async def test_long_thoughts_are_shown_from_their_end() -> None:
    thoughts = [ThoughtDelta(1, f"step {number}\n") for number in range(3_000)]
    async with seen(Scripted([[*thoughts, TextDelta(1, "Done.")]])) as screen:
        await ask(screen, "how many?")
        await screen.shows("Done.")
        await screen.press("ctrl+o")
        await screen.shows("step 2999")
        (thought,) = screen.chat.query(Thought)
        assert len(str(thought.content)) < 3 * MAX_THOUGHT_CHARACTERS


async def test_an_answer_that_begins_again_is_shown_once() -> None:
    events = [
        ThoughtDelta(1, "hm"),
        TextDelta(1, "Broken"),
        AnswerRestarted(1),
        TextDelta(1, "Whole."),
    ]
    async with seen(Scripted([events])) as screen:
        await ask(screen, "how many?")
        await screen.shows("Whole.")
        await screen.until(lambda: "Broken" not in screen.text and "thoughts" not in screen.text)


async def test_what_is_typed_in_the_log_goes_to_the_prompt() -> None:
    async with seen(Scripted([[]])) as screen:
        await screen.press("escape", "j", "a")
        await screen.until(lambda: screen.chat.prompt.text == "ja")
        assert screen.chat.focused is screen.chat.prompt.editor
        await screen.type(" q")
        assert screen.chat.prompt.text == "ja q"
        await screen.press("escape", "q", "x", "escape", "q")
        await screen.until(lambda: screen.chat.prompt.text == "ja qx")
        assert screen.app.is_running  # two that do not follow each other


@pytest.mark.parametrize("command", ["/new", "/clear"])
async def test_a_session_begins_anew(command: str) -> None:
    async with seen(Scripted(said=[ShownWords("user", "old things")])) as screen:
        await screen.shows("old things")
        await ask(screen, command)
        await screen.until(lambda: "old things" not in screen.text)
        assert screen.agent.asked == ["new"]


async def test_the_mode_is_shown_and_changed_by_a_key() -> None:
    async with seen(Scripted(), (100, 24)) as screen:
        for mode in ("Ask", "Plan", "Auto", "Ask"):
            await screen.until(lambda mode=mode: f" {mode} " in screen.text.splitlines()[0])
            await screen.press("ctrl+g")


async def test_a_command_of_the_shell_is_run() -> None:
    async with seen(Scripted([[]])) as screen:
        await ask(screen, "!ls -l")
        await screen.shows("ran ls -l")
        assert "› !ls -l" in screen.text
        assert screen.agent.asked == ["! ls -l"]


async def test_a_long_text_that_is_pasted_is_one_row_and_sent_whole() -> None:
    log = "".join(f"line {number}\n" for number in range(90))
    async with seen(Scripted([[], []])) as screen:
        await screen.type("why?")
        await screen.press("space")
        screen.app.post_message(Paste(log))
        await screen.until(lambda: screen.chat.prompt.text == "why? [pasted 1: 90 lines]")
        await screen.press("enter")
        await screen.shows("› why? [pasted 1: 90 lines]")
        await screen.until(lambda: screen.agent.pasted)
        assert screen.agent.asked == [f"run why? {log.rstrip()}"]
        assert screen.agent.pasted == [(log.strip(),)]
        await screen.press("up", "enter")
        await screen.until(lambda: len(screen.agent.asked) == 2)
        assert screen.agent.asked[1] == screen.agent.asked[0]
