"""The table of tasks: what libraries of queues and workflows make of a function by a decorator, and
how it is run; what they are given to run later.

A key is written as in `frameworks.py`: `shared_task().delay` is the method of what the decorator
makes. Such a method calls the function that was decorated. `docs/frameworks.md` says how to add to
the table.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tersely.code.expressions import IMPORTED, Expression
from tersely.code.languages.model import RECEIVER, Summary, names


def _made(rule: str, makers: str, **methods: Summary) -> dict[str, Summary]:
    """Methods of what some decorators make of a function, by the rule that answers name."""
    return {
        f"{maker}().{method}": replace(summary, rule=rule)
        for maker in makers.split()
        for method, summary in methods.items()
    }


def _given(rule: str, functions: str, summary: Summary) -> dict[str, Summary]:
    """Functions that are given one to run."""
    return {name: replace(summary, rule=rule) for name in functions.split()}


_STARTS = Summary(calls=(RECEIVER,), passes=("rest 0",))
_RUNS = replace(_STARTS, result_of=RECEIVER)  # and waits for what it gives
_STARTS_WITH = Summary(calls=(RECEIVER,), passes=("elements 0", "elements args"))
_STARTS_EACH = Summary(calls=(RECEIVER,), passes=("element 0", "element 1"))
_SAME = Summary(returns=RECEIVER)  # with other options
_NEXT = Summary(calls=(0,), passes=("rest",))
_SECOND = Summary(calls=(1,), passes=("rest 2",))
_DECORATED = Summary(calls=(0,))
_NAMED = Summary(calls=(0,), calls_named=names("func"), passes=("elements args",))

_DOTTED = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*)[.:]([^\W\d]\w*)")
_FIRST, _SECOND_ONE = (0, "func", "f", "name", "task"), (1, "func")
# what runs a function that a text names
NAMED_CALLBACKS = {
    **dict.fromkeys(
        names(
            "send_task signature subtask enqueue enqueue_call async_task add_job import_string locate resolve_name"
        ),
        _FIRST,
    ),
    **dict.fromkeys(names("enqueue_at enqueue_in"), _SECOND_ONE),
}


def meant_by_text(text: str) -> Expression:
    """What a text such as `pkg.tasks.ingest` or `pkg.tasks:ingest` names, None for others."""
    named = _DOTTED.fullmatch(text)
    return (IMPORTED, named[1], named[2]) if named else None


_LOADED = Summary(returns=0)  # what a text names, or what is waited for
LOADERS = dict.fromkeys(
    names(
        "django.utils.module_loading.import_string werkzeug.utils.import_string pydoc.locate pkgutil.resolve_name"
    ),
    _LOADED,
)
_SENDS = Summary(calls=(0,), passes=("elements 1", "elements args"))
# methods of applications and actors whose class is not told
TASK_METHODS = {
    "send_task": replace(_SENDS, rule="Celery task"),
    "remote": replace(_RUNS, rule="Ray task"),
}
BINDING_KEYWORDS = names("bind")  # of decorators that give a function what they made of it, first
CELERY = {
    **_made(
        "Celery task",
        "celery.shared_task celery.Celery.task celery.task.task celery.decorators.task",
        **dict.fromkeys(("delay", "delay_on_commit", "s", "si"), _STARTS),
        **dict.fromkeys(
            ("apply_async", "apply_async_on_commit", "apply", "signature", "subtask"), _STARTS_WITH
        ),
        **dict.fromkeys(("map", "starmap", "chunks"), _STARTS_EACH),
        run=_RUNS,
    ),
    **_given(
        "Celery task",
        "celery.Celery.send_task celery.current_app.send_task",
        _SENDS,
    ),
    **_given(
        "Celery task",
        " ".join(
            f"celery.{place}{maker}"
            for place in ("", "canvas.", "Celery.", "current_app.")
            for maker in ("signature", "subtask", "Signature")
        ),
        _SENDS,
    ),
    **{
        f"celery.{place}.{method}": Summary(
            rule="Celery task", calls=(RECEIVER,), methods=names("run")
        )
        for place in ("Task", "app.task.Task")
        for method in ("delay", "apply_async", "apply", "s", "si")
    },
}
_HUEYS = [
    *(f"huey.{kind}Huey" for kind in ("", "Redis", "PriorityRedis", "Sqlite", "Memory", "File")),
    "huey.contrib.djhuey",
]
HUEY = {
    **_made(
        "Huey task",
        " ".join(f"{huey}.{kind}" for huey in _HUEYS for kind in ("task", "db_task")),
        schedule=_STARTS_WITH,
        s=_STARTS,
        map=_STARTS_EACH,
        call_local=_RUNS,
    ),
    **_given(
        "Huey periodic task",
        " ".join(
            f"{huey}.{kind}()" for huey in _HUEYS for kind in ("periodic_task", "db_periodic_task")
        ),
        _DECORATED,
    ),
}
_SCHEDULERS = [
    f"apscheduler.schedulers.{module}.{scheduler}Scheduler"
    for module, scheduler in {
        "asyncio": "AsyncIO",
        "background": "Background",
        "blocking": "Blocking",
        "gevent": "Gevent",
        "tornado": "Tornado",
        "twisted": "Twisted",
    }.items()
]
SCHEDULERS = {
    **_given("APScheduler job", " ".join(f"{one}.add_job" for one in _SCHEDULERS), _NAMED),
    **_given(
        "APScheduler job", " ".join(f"{one}.scheduled_job()" for one in _SCHEDULERS), _DECORATED
    ),
}
_RQ_QUEUES = ("rq.Queue", "rq.queue.Queue")
RQ = {
    **_made(
        "RQ job",
        "rq.job rq.decorators.job django_rq.job django_rq.decorators.job",
        delay=_STARTS,
        enqueue=_STARTS,
    ),
    **_given(
        "RQ job", " ".join((*(f"{one}.enqueue" for one in _RQ_QUEUES), "django_rq.enqueue")), _NEXT
    ),
    **{
        f"{queue}.{method}": replace(summary, rule="RQ job")
        for queue in _RQ_QUEUES
        for method, summary in {
            "enqueue_at": _SECOND,
            "enqueue_in": _SECOND,
            "enqueue_call": _NAMED,
        }.items()
    },
}
COMMANDS = {
    **_made(
        "click command",
        "command group",
        main=Summary(calls=(RECEIVER,)),
        callback=_RUNS,
    ),
    **_given("click command", "click.Context.invoke", _NEXT),
    **_given("click command", "click.Context.forward click.testing.CliRunner.invoke", _DECORATED),
    **_made("Invoke task", "invoke.task", body=_RUNS),
    **_given("Invoke task", "invoke.task", Summary(calls_named=names("pre post"))),
}
WORKFLOWS = {
    **_made(
        "Prefect task",
        "prefect.task prefect.flow",
        submit=_STARTS,
        delay=_STARTS,
        map=_STARTS_EACH,
        apply_async=_STARTS_WITH,
        fn=_RUNS,
        with_options=_SAME,
    ),
    **_made(
        "Dagster op",
        "dagster.op dagster.job dagster.graph dagster.asset",
        execute_in_process=Summary(calls=(RECEIVER,)),
        to_job=Summary(calls=(RECEIVER,)),
        alias=_SAME,
        configured=_SAME,
    ),
    **_given("Dagster schedule", "dagster.schedule() dagster.sensor()", _DECORATED),
    **_made(
        "Airflow task",
        "airflow.decorators.task airflow.sdk.task",
        expand=_STARTS,
        expand_kwargs=_STARTS,
        partial=_SAME,
        override=_SAME,
        function=_RUNS,
    ),
    **_given(
        "Airflow operator",
        "airflow.operators.python.PythonOperator airflow.providers.standard.operators.python.PythonOperator",
        Summary(calls_named=names("python_callable")),
    ),
    **_given(
        "Temporal activity",
        "temporalio.workflow.execute_activity temporalio.workflow.start_activity",
        _NEXT,
    ),
}
TASKS = {
    **LOADERS,
    **CELERY,
    **HUEY,
    **SCHEDULERS,
    **RQ,
    **COMMANDS,
    **WORKFLOWS,
    **_made(
        "Dramatiq actor",
        "dramatiq.actor",
        send=_STARTS,
        message=_STARTS,
        send_with_options=_STARTS_WITH,
        message_with_options=_STARTS_WITH,
        fn=_RUNS,
    ),
    **_made(
        "Django task",
        "django.tasks.task",
        enqueue=_STARTS,
        aenqueue=_STARTS,
        call=_RUNS,
        acall=_RUNS,
        using=_SAME,
    ),
    **_given("Django Q task", "django_q.tasks.async_task", _NEXT),
    **_given("Django commit", "django.db.transaction.on_commit", _DECORATED),
    **_made(
        "Procrastinate task",
        "procrastinate.App.task procrastinate.Blueprint.task",
        defer=_STARTS,
        defer_async=_STARTS,
        configure=_SAME,
    ),
    **_made(
        "Modal function",
        "modal.App.function modal.Stub.function modal.method",
        **dict.fromkeys(("remote", "local", "remote_gen"), _RUNS),
        spawn=_STARTS,
        **dict.fromkeys(("map", "starmap", "for_each"), _STARTS_EACH),
    ),
    **_made("Ray task", "ray.remote", remote=_RUNS, options=_SAME),
    **dict.fromkeys(("ray.get", "ray.put"), _LOADED),
    # of a broker or application whose class is not told
    **_made(
        "task",
        "task",
        **dict.fromkeys(("delay", "kiq", "defer", "defer_async", "enqueue"), _STARTS),
        apply_async=_STARTS_WITH,
        kicker=_SAME,
    ),
    **_given(
        "task in the background",
        "fastapi.BackgroundTasks.add_task starlette.background.BackgroundTasks.add_task "
        "starlette.concurrency.run_in_threadpool fastapi.concurrency.run_in_threadpool "
        "anyio.to_thread.run_sync anyio.create_task_group().start_soon gevent.spawn",
        _NEXT,
    ),
}
