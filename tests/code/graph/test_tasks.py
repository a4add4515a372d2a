"""What libraries of queues and workflows make of a function by a decorator calls that function."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.code.engine import Engine
from tersely.code.symbols import Grade

# Of each library: how it decorates `ingest(page)` in `tasks`, and how that is run with `Page()`.
LIBRARIES = {
    "celery": ("from celery import shared_task", "@shared_task", "tasks.ingest.delay(Page())"),
    "celery, later": (
        "from celery import shared_task",
        "@shared_task(queue='slow')",
        "tasks.ingest.apply_async((Page(),), countdown=3)",
    ),
    "celery, an application": (
        "from celery import Celery, chain\napp = Celery('x')",
        "@app.task",
        "chain(tasks.ingest.s(Page()), tasks.ingest.si(Page()))()",
    ),
    "dramatiq": ("import dramatiq", "@dramatiq.actor", "tasks.ingest.send(Page())"),
    "dramatiq, with options": (
        "import dramatiq",
        "@dramatiq.actor(max_retries=3)",
        "tasks.ingest.send_with_options(args=(Page(),), delay=3)",
    ),
    "huey": (
        "from huey import RedisHuey\nhuey = RedisHuey()",
        "@huey.task()",
        "tasks.ingest.schedule((Page(),), delay=3)",
    ),
    "rq": ("from rq.decorators import job", "@job('low')", "tasks.ingest.delay(page=Page())"),
    "rq, a function": (
        "from rq import Queue\nqueue = Queue()",
        "",
        "tasks.queue.enqueue(tasks.ingest, Page())",
    ),
    "prefect": ("from prefect import task", "@task(retries=2)", "tasks.ingest.submit(Page())"),
    "prefect, options": (
        "from prefect import flow",
        "@flow",
        "tasks.ingest.with_options(name='y').submit(Page())",
    ),
    "airflow": ("from airflow.decorators import task", "@task", "tasks.ingest.expand(page=Page())"),
    "procrastinate": (
        "import procrastinate\napp = procrastinate.App()",
        "@app.task(queue='slow')",
        "tasks.ingest.configure(lock='y').defer(page=Page())",
    ),
    "taskiq": (
        "from taskiq_redis import ListQueueBroker\nbroker = ListQueueBroker('x')",
        "@broker.task",
        "tasks.ingest.kiq(Page())",
    ),
    "modal": (
        "import modal\napp = modal.App('x')",
        "@app.function()",
        "tasks.ingest.remote(Page())",
    ),
    "apscheduler": (
        "from apscheduler.schedulers.background import BackgroundScheduler\ns = BackgroundScheduler()",
        "",
        "tasks.s.add_job(tasks.ingest, 'interval', args=[Page()])",
    ),
    "django": ("from django.tasks import task", "@task", "tasks.ingest.enqueue(Page())"),
    "click": ("import click", "@click.command()", "tasks.ingest.callback(Page())"),
    "celery, by its name": (
        "from celery import shared_task",
        "@shared_task",
        "Celery('x').send_task('tasks.ingest', args=(Page(),))",
    ),
    "celery, of an application that is not known": (
        "from celery import shared_task",
        "@shared_task(name='x')",
        "application().send_task('tasks.ingest', [Page()])",
    ),
    "celery, a signature of a name": (
        "from celery import shared_task",
        "@shared_task",
        "signature('tasks.ingest', args=[Page()]).delay()",
    ),
    "rq, by its name": (
        "from rq import Queue\nqueue = Queue()",
        "",
        "tasks.queue.enqueue('tasks.ingest', Page())",
    ),
    "rq, later, by its name": (
        "from rq import Queue\nqueue = Queue()",
        "",
        "tasks.queue.enqueue_in(3, 'tasks.ingest', Page())",
    ),
    "apscheduler, by its name": (
        "from apscheduler.schedulers.background import BackgroundScheduler\ns = BackgroundScheduler()",
        "",
        "tasks.s.add_job(func='tasks:ingest', trigger='interval', args=[Page()])",
    ),
    "django q, by its name": ("", "", "async_task('tasks.ingest', Page())"),
    "ray": ("import ray", "@ray.remote", "ray.get(tasks.ingest.remote(Page()))"),
    "a cache": (
        "from functools import lru_cache",
        "@lru_cache",
        "tasks.ingest.__wrapped__(Page())",
    ),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_who_runs_a_task_calls_it(tmp_path: Path, library: str) -> None:
    """From another file, under another name, and with what it is given."""
    head, decorator, call = LIBRARIES[library]
    (tmp_path / "tasks.py").write_text(f"{head}\n{decorator}\ndef ingest(page):\n    page.read()\n")
    (tmp_path / "pages.py").write_text("class Page:\n    def read(self):\n        pass\n")
    (tmp_path / "other.py").write_text("class Other:\n    def read(self):\n        pass\n")
    (tmp_path / "web.py").write_text(
        "import ray\nimport tasks\nfrom celery import Celery, chain, signature\n"
        f"from django_q.tasks import async_task\nfrom pages import Page\ndef handle():\n    {call}\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        graph = engine.graph
        found = {edge.caller: edge for edge in graph.callers("tasks.py:ingest")}
        assert list(found) == ["web.py:handle"]
        edge = found["web.py:handle"]
        assert edge in graph.callees("web.py:handle")
        if decorator != "@lru_cache":
            assert (edge.grade, bool(edge.rule)) == (Grade.INFERRED, True)
        assert "pages.py:Page.read" in {one.callee for one in graph.callees("tasks.py:ingest")}


PAGES = "class Page:\n    def read(self):\n        pass\n"


def test_a_task_that_is_given_itself_takes_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        f"from celery import shared_task\n{PAGES}"
        "@shared_task(bind=True, max_retries=3)\ndef ingest(self, page):\n    page.read()\n"
        "def handle():\n    ingest.delay(Page())\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert [edge.caller for edge in engine.graph.callers("a.py:Page.read")] == ["a.py:ingest"]
        assert [edge.caller for edge in engine.graph.callers("a.py:ingest")] == ["a.py:handle"]


def test_the_methods_of_an_actor_run_where_they_are_asked_to(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        f"import ray\n{PAGES}"
        "@ray.remote\nclass Reader:\n    def take(self, page):\n        page.read()\n"
        "def handle():\n    reader = Reader.remote()\n    ray.get(reader.take.remote(Page()))\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        (edge,) = engine.graph.callers("a.py:Reader.take")
        assert (edge.caller, edge.grade, edge.rule) == ("a.py:handle", Grade.INFERRED, "Ray task")
        assert edge in engine.graph.callees("a.py:handle")
        read = [edge.caller for edge in engine.graph.callers("a.py:Page.read")]
        assert read == ["a.py:Reader.take"]


def test_what_a_text_names_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def named():\n    pass\ndef other():\n    pass\n")
    (tmp_path / "b.py").write_text(
        "from django.utils.module_loading import import_string\n"
        "def load():\n    import_string('a.named')()\n    print('a.other')\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert [edge.caller for edge in engine.graph.callers("a.py:named")] == ["b.py:load"]
        assert engine.graph.callers("a.py:other") == []


def test_what_decorators_make_is_no_call(tmp_path: Path) -> None:
    """To decorate a task runs nothing, nor do other methods of what that makes."""
    (tmp_path / "tasks.py").write_text(
        "from celery import shared_task\n@shared_task\ndef ingest():\n    pass\n"
        "def other():\n    ingest.retry_kwargs(1)\n    print(ingest.name)\n"
        "@shared_task(bind=True)\ndef own(self):\n    return self\n"
        "class Box:\n    def delay(self):\n        pass\n"
        "def boxes():\n    Box().delay()\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert engine.graph.callers("tasks.py:ingest") == []
        assert engine.graph.callers("tasks.py:own") == []
        callers = [edge.caller for edge in engine.graph.callers("tasks.py:Box.delay")]
        assert callers == ["tasks.py:boxes"]


# Of each library in another language: a program, and who calls what.
JOBS = {
    "a.ts": (
        (
            "import { Worker } from 'bullmq';\nimport Bull from 'bull';\nimport { Agenda } from 'agenda';\n"
            "function send(job) {}\nfunction old(job) {}\nfunction sweep(job) {}\n"
            "function setUp() { new Worker('mails', send); new Bull('x').process('name', 5, old); }\n"
            "const agenda = new Agenda();\nagenda.define('sweep it', sweep);\n"
            "function later() { agenda.now('sweep it', {}); }\n"
            "function often() { agenda.every('3 minutes', 'sweep it'); }\n"
        ),
        {"send": ["setUp"], "old": ["setUp"], "sweep": ["", "later", "often"]},
    ),
    "a.rb": (
        (
            "class HardJob\n  include Sidekiq::Job\n  def perform(x)\n  end\nend\n"
            "class Mailer < ApplicationJob\n  def perform(x)\n  end\nend\n"
            "class ApplicationJob < ActiveJob::Base\nend\n"
            "def go\n  HardJob.perform_in(5, 1)\nend\ndef send\n  Mailer.perform_later(2)\nend\n"
        ),
        {"HardJob.perform": ["go"], "Mailer.perform": ["send"]},
    ),
    "a.php": (
        (
            "<?php\nnamespace App\\Jobs;\nuse Illuminate\\Foundation\\Bus\\Dispatchable;\n"
            "class Ingest { use Dispatchable; public function handle() {} }\n"
            "class Other { public function handle() {} }\n"
            "function go() { Ingest::dispatch(1); }\nfunction run() { dispatch(new Other()); }\n"
        ),
        {"Ingest.handle": ["go"], "Other.handle": ["run"]},
    ),
}


@pytest.mark.parametrize("path", JOBS)
def test_who_asks_for_a_job_calls_it(tmp_path: Path, path: str) -> None:
    text, expected = JOBS[path]
    (tmp_path / path).write_text(text)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        for name, callers in expected.items():
            edges = engine.graph.callers(f"{path}:{name}")
            assert [edge.caller.removeprefix(path).lstrip(":") for edge in edges] == callers
            assert {(edge.grade, bool(edge.rule)) for edge in edges} == {(Grade.INFERRED, True)}
            assert all(edge in engine.graph.callees(edge.caller) for edge in edges)
