"""The table of frameworks: one entry for each function of a framework that takes or reaches
a handler.

A key is the dotted name of a function outside the repository, or its last two names; `name()` is
what calling it gives, the decorator that `app.route("/")` makes, unless the name begins with a
capital letter: then one key stands for both. `docs/frameworks.md` says how to add to the tables.
"""

from __future__ import annotations

from tersely.code.expressions import GENERIC, TYPE_PARAMETER
from tersely.code.languages.model import (
    HANDLER,
    RECEIVER,
    Inherited,
    Registry,
    Summary,
    TemplateByModel,
    Topic,
    names,
)

TOLD_VERBS = names("get post put patch delete")  # that tell routes of one path apart
HTTP_VERBS = TOLD_VERBS | names("head options")
PATH = Topic("path", argument=0)
PATH_OF_ROUTER = Topic("path")  # that of the router alone


def verb_of(name: str) -> str:
    """The verb of HTTP that the name of a function tells: `get`, `Get`, `GetMapping`; "" for any."""
    verb = name.lower().removesuffix("mapping")
    return verb if verb in TOLD_VERBS else ""


_FETCH = Summary(rule="route by its path", reaches=PATH)
EVENT = Topic("type", "Spring", HANDLER)

_DJANGO_NAMED = Topic("name", "Django", keyword="name")
_DJANGO_ROUTE = Summary(rule="Django route", calls=(1,), registers=(PATH, _DJANGO_NAMED))
_DJANGO_PATTERN = Summary(
    rule="Django route", calls=(1,), registers=(Topic("pattern", argument=0), _DJANGO_NAMED)
)
_DJANGO_INCLUDE = Summary(returns=0, module_named=0)
_DJANGO_NAME = Summary(rule="Django route by name", links=Topic("name", "Django", 0))
_DJANGO_TEMPLATE = Summary(rule="Django template", links=Topic("template", "Django"))
_DJANGO_CONNECT = Summary(
    rule="Django signal", calls=(0,), registers=(Topic("word", "Django", RECEIVER),)
)
_DJANGO_SEND = Summary(rule="Django signal", reaches=Topic("word", "Django", RECEIVER))
_DJANGO_SIGNALS = names(
    "pre_init post_init pre_save post_save pre_delete post_delete m2m_changed pre_migrate post_migrate request_started "
    "request_finished got_request_exception setting_changed user_logged_in user_logged_out user_login_failed"
)
# members of a class of the framework that hold the instances of a class below it
INSTANCE_COLLECTIONS = names("Model.objects Model._default_manager Model.query")
# what such a collection gives: another one, or one of its elements
COLLECTION_VIEWS = names(
    "all filter filter_by exclude order_by select_related prefetch_related distinct iterator annotate only defer using"
)
COLLECTION_GETTERS = names(
    "first last create latest earliest one one_or_none scalar get_or_404 first_or_404 one_or_404"
)
DJANGO = {
    "django.shortcuts.get_object_or_404": Summary(instance_of=0),
    **{
        f"django.db.models.{field}": Summary(instance_of=0)
        for field in ("ForeignKey", "OneToOneField")
    },
    "django.urls.path": _DJANGO_ROUTE,
    **dict.fromkeys(("django.urls.re_path", "django.conf.urls.url"), _DJANGO_PATTERN),
    **dict.fromkeys(("django.urls.include", "django.conf.urls.include"), _DJANGO_INCLUDE),
    "django.urls.reverse": _DJANGO_NAME,
    "django.urls.reverse_lazy": _DJANGO_NAME,
    "django.shortcuts.redirect": _DJANGO_NAME,
    "django.shortcuts.resolve_url": _DJANGO_NAME,
    "rest_framework.reverse.reverse": _DJANGO_NAME,
    "django.shortcuts.render": _DJANGO_TEMPLATE,
    "django.template.loader.render_to_string": _DJANGO_TEMPLATE,
    "django.template.response.TemplateResponse": _DJANGO_TEMPLATE,
    "django.dispatch.receiver()": Summary(
        rule="Django signal", calls=(0,), registers=(Topic("word", "Django", 0),)
    ),
    "django.dispatch.Signal.connect": _DJANGO_CONNECT,
    "django.dispatch.Signal.send": _DJANGO_SEND,
    "django.dispatch.Signal.send_robust": _DJANGO_SEND,
    **{f"{signal}.connect": _DJANGO_CONNECT for signal in _DJANGO_SIGNALS},
}

_FLASK_ROUTE = Summary(
    rule="Flask route", calls=(0,), registers=(PATH, Topic("name", "Flask", HANDLER))
)
_FLASK_PREFIX = Topic("path", keyword="url_prefix")
_FLASK_HOOK = Summary(rule="Flask hook", calls=(0,))
_FLASK_HOOKS = names(
    "before_request after_request teardown_request teardown_appcontext context_processor errorhandler()"
)
FLASK = {
    "flask.Blueprint": Summary(makes_router=True, registers=(_FLASK_PREFIX,)),
    **{
        f"flask.{owner}.register_blueprint": Summary(
            calls=(0,), registers=(_FLASK_PREFIX,), moves_router=True
        )
        for owner in ("Flask", "Blueprint")
    },
    "flask.render_template": Summary(rule="Flask template", links=Topic("template", "Flask")),
    **dict.fromkeys(
        ("flask.url_for", "flask.Flask.url_for"),
        Summary(rule="Flask route by name", links=Topic("name", "Flask", 0)),
    ),
    **{
        f"flask.{owner}.{verb}()": _FLASK_ROUTE
        for owner in ("Flask", "Blueprint")
        for verb in {"route", *HTTP_VERBS}
    },
    **{
        f"flask.{owner}.{hook}": _FLASK_HOOK
        for owner in ("Flask", "Blueprint")
        for hook in _FLASK_HOOKS
    },
    **{
        f"flask.{owner}.add_url_rule": Summary(
            rule="Flask route",
            calls=(2,),
            calls_named=names("view_func"),
            registers=(PATH, Topic("name", "Flask", 1), Topic("name", "Flask", keyword="endpoint")),
        )
        for owner in ("Flask", "Blueprint")
    },
}

_FASTAPI_ROUTE = Summary(
    rule="FastAPI route", calls=(0,), registers=(PATH, Topic("name", "Starlette", HANDLER))
)
_STARLETTE_NAMED = Topic("name", "Starlette", keyword="name")
_STARLETTE_TEMPLATE = Summary(rule="Starlette template", links=Topic("template", "Starlette"))
_STARLETTE_NAME = Summary(rule="Starlette route by name", links=Topic("name", "Starlette", 0))
_STARLETTE_METHODS = HTTP_VERBS | names("dispatch on_connect on_receive on_disconnect")
_STARLETTE_GROUP = Summary(
    makes_router=True,
    calls=(0,),
    calls_named=names("routes"),
    registers=(PATH_OF_ROUTER,),
)
# of an application that is put under another, and a route that is added to one
_MOUNT = Summary(calls=(1,), calls_named=names("app"), registers=(PATH,))
_ADDED_ROUTE = Summary(
    rule="Starlette route", calls=(1,), methods=_STARLETTE_METHODS, registers=(PATH,)
)
STARLETTE = {
    **{
        f"starlette.routing.{route}": Summary(
            rule="Starlette route",
            makes_router=True,
            calls=(1,),
            calls_named=names("endpoint app routes"),
            methods=_STARLETTE_METHODS,
            registers=(PATH, _STARLETTE_NAMED),
        )
        for route in ("Route", "WebSocketRoute", "Mount")
    },
    "starlette.routing.Router": _STARLETTE_GROUP,
    "starlette.applications.Starlette": Summary(
        makes_router=True, calls=(1,), calls_named=names("routes"), registers=(PATH_OF_ROUTER,)
    ),
    **{
        f"{owner}.{method}": summary
        for owner in (
            "starlette.applications.Starlette",
            "starlette.routing.Router",
            "fastapi.FastAPI",
        )
        for method, summary in (
            ("mount", _MOUNT),
            ("add_route", _ADDED_ROUTE),
            ("add_api_route", _ADDED_ROUTE),
            ("add_websocket_route", _ADDED_ROUTE),
        )
    },
    **{
        f"{owner}.{method}": _STARLETTE_NAME
        for owner in (
            "starlette.applications.Starlette",
            "starlette.requests.Request",
            "fastapi.FastAPI",
            "fastapi.Request",
        )
        for method in ("url_for", "url_path_for")
    },
    **{
        f"{package}.templating.Jinja2Templates.TemplateResponse": _STARLETTE_TEMPLATE
        for package in ("starlette", "fastapi")
    },
}
_FASTAPI_HOOK = Summary(rule="FastAPI hook", calls=(0,))
_FASTAPI_PREFIX = (Topic("path", keyword="prefix"),)
FASTAPI = {
    "fastapi.APIRouter": Summary(makes_router=True, registers=_FASTAPI_PREFIX),
    "fastapi.FastAPI": Summary(makes_router=True),
    **{
        f"fastapi.{owner}.include_router": Summary(calls=(0,), registers=_FASTAPI_PREFIX)
        for owner in ("FastAPI", "APIRouter")
    },
    "fastapi.Depends": Summary(rule="FastAPI dependency", calls=(0,), yield_of=0),
    **{
        f"fastapi.{owner}.{verb}()": _FASTAPI_ROUTE
        for owner in ("FastAPI", "APIRouter")
        for verb in {"websocket", "api_route", *HTTP_VERBS}
    },
    **{
        f"fastapi.FastAPI.{hook}()": _FASTAPI_HOOK
        for hook in ("on_event", "middleware", "exception_handler")
    },
}

_DRF_METHODS = names(
    "list create retrieve update partial_update destroy get_queryset get_object get_serializer_class "
    "perform_create perform_update perform_destroy"
)
_DJANGO_METHODS = names(
    "dispatch get post put patch delete head options get_context_data get_form get_form_class get_form_kwargs "
    "get_initial form_valid form_invalid get_success_url get_template_names test_func"
)
# Methods of a class that make a handler of it: the methods that the handler calls.
DISPATCHERS = {"as_view": tuple(sorted(_DJANGO_METHODS | _DRF_METHODS))}
# Methods that frameworks give classes.
_DJANGO_TEMPLATE_ENDS = {
    "ListView": "_list",
    "DetailView": "_detail",
    "DateDetailView": "_detail",
    "CreateView": "_form",
    "UpdateView": "_form",
    "DeleteView": "_confirm_delete",
    "ArchiveIndexView": "_archive",
    "YearArchiveView": "_archive_year",
    "MonthArchiveView": "_archive_month",
    "WeekArchiveView": "_archive_week",
    "DayArchiveView": "_archive_day",
    "TodayArchiveView": "_archive_day",
}
_DJANGO_TEMPLATE_OF_VIEW = Topic(
    "template",
    "Django",
    attribute="template_name",
    otherwise=TemplateByModel("model", _DJANGO_TEMPLATE_ENDS),
)
PYTHON_FRAMEWORK_METHODS = {
    "as_view": Summary(rule="Django template", links=_DJANGO_TEMPLATE_OF_VIEW)
}

_DRF_ROUTE = Summary(rule="DRF route", calls=(1,), methods=_DRF_METHODS, registers=(PATH,))
DRF = {
    **{
        f"rest_framework.routers.{router}{method}": summary
        for router in ("DefaultRouter", "SimpleRouter")
        for method, summary in (("", Summary(makes_router=True)), (".register", _DRF_ROUTE))
    },
    "rest_framework.decorators.action()": Summary(rule="DRF action", calls=(0,), returns=0),
    "rest_framework.decorators.api_view()": Summary(returns=0),
}

# Clients that ask an application in its tests.
_TEST_CLIENTS = (
    "django.test.Client",
    "django.test.SimpleTestCase.client",
    "django.test.TestCase.client",
    "fastapi.testclient.TestClient",
    "flask.Flask.test_client()",
    "httpx.AsyncClient",
    "httpx.Client",
    "rest_framework.test.APIClient",
    "rest_framework.test.APITestCase.client",
    "starlette.testclient.TestClient",
)
TEST_CLIENTS = {f"{client}.{verb}": _FETCH for client in _TEST_CLIENTS for verb in HTTP_VERBS}

PYTHON_FRAMEWORKS = {**DJANGO, **FLASK, **STARLETTE, **FASTAPI, **DRF, **TEST_CLIENTS}

_EXPRESS_ROUTE = Summary(
    rule="Express route", calls=(1, 2, 3, 4), returns=RECEIVER, registers=(PATH,)
)
_MIDDLEWARE = (0, 1, 2, 3)
_EXPRESS_VERB = Summary(
    rule="Express route", calls=_MIDDLEWARE, returns=RECEIVER, registers=(PATH_OF_ROUTER,)
)
_EXPRESS_MIDDLEWARE = Summary(
    rule="Express middleware", calls=_MIDDLEWARE, returns=RECEIVER, registers=(PATH,)
)
_EXPRESS_ROUTERS = ("express.Router", "express.default.Router")
_EXPRESS_APPS = ("express()", "express.default()", *_EXPRESS_ROUTERS)
EXPRESS = {
    **dict.fromkeys(_EXPRESS_ROUTERS, Summary(makes_router=True)),
    **{f"{app}.route": Summary(makes_router=True, registers=(PATH,)) for app in _EXPRESS_APPS},
    **{f"{app}.{verb}": _EXPRESS_ROUTE for app in _EXPRESS_APPS for verb in {"all", *HTTP_VERBS}},
    **{f"{app}.use": _EXPRESS_MIDDLEWARE for app in _EXPRESS_APPS},
    **{
        f"{app}.route().{verb}": _EXPRESS_VERB
        for app in _EXPRESS_APPS
        for verb in {"all", *HTTP_VERBS}
    },
    **{f"{app}.param": Summary(rule="Express parameter", calls=(1,)) for app in _EXPRESS_APPS},
    **{f"{app}.engine": Summary(rule="Express engine", calls=(1,)) for app in _EXPRESS_APPS},
}

_FASTIFY_APPS = (
    *("fastify()", "fastify.default()", "fastify.fastify()"),
    "fastify.FastifyInstance",
)
_FASTIFY_HOOK = Summary(rule="Fastify hook", calls=(1,))
_FASTIFY_HANDLER = Summary(rule="Fastify handler", calls=(0, 1))
_FASTIFY_ROUTE = Summary(rule="Fastify route", calls=(1, 2), returns=RECEIVER, registers=(PATH,))
_FASTIFY_METHODS = {
    "register": Summary(
        rule="Fastify plugin",
        calls=(0,),
        passes=("receiver",),
        returns=RECEIVER,
        registers=(Topic("path", argument=1),),
    ),
    "inject": _FETCH,
    "route": Summary(rule="Fastify route", calls=(0,), returns=RECEIVER, registers=(PATH,)),
    "addHook": _FASTIFY_HOOK,
    "setErrorHandler": _FASTIFY_HANDLER,
    "setNotFoundHandler": _FASTIFY_HANDLER,
    **dict.fromkeys({"all", *HTTP_VERBS}, _FASTIFY_ROUTE),
}
FASTIFY = {
    **{
        f"{app}.{method}": summary
        for app in _FASTIFY_APPS
        for method, summary in _FASTIFY_METHODS.items()
    },
    **dict.fromkeys(("fastify-plugin", "fastify-plugin.default"), Summary(returns=0)),
}

_KOA_MIDDLEWARE = Summary(
    rule="Koa middleware", calls=_MIDDLEWARE, returns=RECEIVER, registers=(PATH,)
)
_KOA_ROUTE = Summary(rule="Koa route", calls=(1, 2, 3, 4), returns=RECEIVER, registers=(PATH,))
_KOA_ROUTERS = ("@koa/router", "@koa/router.default", "koa-router", "koa-router.default")
KOA = {
    **dict.fromkeys(_KOA_ROUTERS, Summary(makes_router=True, registers=(PATH,))),
    **{f"{app}().use": _KOA_MIDDLEWARE for app in ("koa", "koa.default", *_KOA_ROUTERS)},
    **{
        f"{router}().{verb}": _KOA_ROUTE
        for router in _KOA_ROUTERS
        for verb in {"all", "del", *HTTP_VERBS}
    },
}

_HONO_ROUTE = Summary(rule="Hono route", calls=(1, 2, 3, 4), registers=(PATH,))
HONO = {
    "hono.Hono": Summary(makes_router=True),
    "hono.Hono.route": Summary(calls=(1,), registers=(PATH,)),
    "hono.Hono.use": Summary(rule="Hono middleware", calls=_MIDDLEWARE),
    **{f"hono.Hono.{verb}": _HONO_ROUTE for verb in {"all", *HTTP_VERBS}},
    **dict.fromkeys(
        ("hono.Hono.onError", "hono.Hono.notFound"), Summary(rule="Hono handler", calls=(0,))
    ),
}

_NEST_ROUTE = Summary(rule="Nest route", calls=(2,), registers=(PATH,))
_NEST_HANDLER = Summary(rule="Nest handler", calls=(2,))
_NEST_PARTS = {
    "UseGuards": "canActivate",
    "UseInterceptors": "intercept",
    "UsePipes": "transform",
    "UseFilters": "catch",
}
NEST = {
    "@nestjs/common.Controller": Summary(calls=(0,), registers=(PATH,)),
    **{
        f"@nestjs/common.{decorator}": Summary(
            rule="Nest part", calls=(0, 1), methods=frozenset((method,))
        )
        for decorator, method in _NEST_PARTS.items()
    },
    **{
        f"@nestjs/common.{verb}": _NEST_ROUTE
        for verb in names("Get Post Put Patch Delete Head Options All")
    },
    "@nestjs/microservices.MessagePattern": _NEST_HANDLER,
    "@nestjs/microservices.EventPattern": _NEST_HANDLER,
    "@nestjs/websockets.SubscribeMessage": _NEST_HANDLER,
    "@nestjs/event-emitter.OnEvent": _NEST_HANDLER,
    "@nestjs/schedule.Cron": _NEST_HANDLER,
}

_AGENDA_REACHES = Summary(rule="Agenda job", reaches=Topic("name", "Agenda", 0))
_BULL = Summary(rule="Bull job", calls=(0, 1, 2))
JOBS = {
    **{
        f"{agenda}.{method}": summary
        for agenda in ("agenda.Agenda", "agenda.default", "@hokify/agenda.Agenda")
        for method, summary in {
            "define": Summary(
                rule="Agenda job", calls=(1, 2), registers=(Topic("name", "Agenda", 0),)
            ),
            **dict.fromkeys(("now", "create"), _AGENDA_REACHES),
            **dict.fromkeys(
                ("every", "schedule"),
                Summary(rule="Agenda job", reaches=Topic("name", "Agenda", 1)),
            ),
        }.items()
    },
    "bullmq.Worker": _BULL,
    **dict.fromkeys(("bull.default().process", "bull().process", "bull.Queue.process"), _BULL),
}

_VUEX_MUTATION, _VUEX_ACTION = "Vuex mutation", "Vuex action"
_VUEX_MEMBERS = {"mutations": _VUEX_MUTATION, "actions": _VUEX_ACTION}
_VUEX_STORE = Summary(registry=Registry(0, _VUEX_MEMBERS, inside="modules"))
VUEX = {
    "vuex.Store": _VUEX_STORE,
    "vuex.default.Store": _VUEX_STORE,
    "vuex.createStore": _VUEX_STORE,
    "Store.registerModule": Summary(registry=Registry(1, _VUEX_MEMBERS, inside="modules")),
    "vuex.mapMutations": Summary(rule=_VUEX_MUTATION, reaches=Topic("names", _VUEX_MUTATION)),
    "vuex.mapActions": Summary(rule=_VUEX_ACTION, reaches=Topic("names", _VUEX_ACTION)),
}
# Methods of frameworks, whatever they are called on.
ECMASCRIPT_FRAMEWORK_METHODS = {
    "format": Summary(rule="Express response", calls=(0,)),
    "commit": Summary(rule=_VUEX_MUTATION, reaches=Topic("name", _VUEX_MUTATION, 0)),
    "dispatch": Summary(rule=_VUEX_ACTION, reaches=Topic("name", _VUEX_ACTION, 0)),
}

_AXIOS = ("axios", "axios.default", "globalThis.axios")
_CLIENTS = (
    *_AXIOS,
    *(f"{axios}.create()" for axios in _AXIOS),
    *("supertest()", "supertest.default()"),
    *(f"@hey-api/client-{kind}.createClient()" for kind in ("axios", "fetch")),
)
ECMASCRIPT_FRAMEWORKS = {
    **EXPRESS,
    **FASTIFY,
    **KOA,
    **HONO,
    **NEST,
    **JOBS,
    **VUEX,
    "globalThis.fetch": _FETCH,
    **dict.fromkeys(_AXIOS, _FETCH),
    **{f"{client}.{verb}": _FETCH for client in _CLIENTS for verb in {"request", *HTTP_VERBS}},
    **{f"openapi-fetch.default().{verb.upper()}": _FETCH for verb in HTTP_VERBS},
    **{
        f"{jquery}.{verb}": _FETCH
        for jquery in ("globalThis.$", "globalThis.jQuery", "jquery", "jquery.default")
        for verb in ("ajax", "get", "getJSON", "post")
    },
}

# Annotations take what they are written at, a method or class, and what is written in them.
_SPRING_ROUTE = Summary(rule="Spring route", calls=(0,), registers=(Topic("path", argument=1),))
SPRING_ANNOTATIONS = {
    **{f"{verb}Mapping": _SPRING_ROUTE for verb in names("Get Post Put Patch Delete Request")},
    "EventListener": Summary(rule="Spring event", calls=(0,), registers=(EVENT,)),
    "TransactionalEventListener": Summary(rule="Spring event", calls=(0,), registers=(EVENT,)),
    **dict.fromkeys(
        names("Bean Scheduled PostConstruct PreDestroy ExceptionHandler ModelAttribute InitBinder"),
        Summary(rule="Spring bean", calls=(0,)),
    ),
}
SPRING = {
    **SPRING_ANNOTATIONS,
    "publishEvent": Summary(rule="Spring event", reaches=Topic("type", "Spring", 0)),
    **dict.fromkeys(names("getForObject getForEntity postForObject postForEntity"), _FETCH),
}
SPRING_TEST = {f"MockMvcRequestBuilders.{verb}": _FETCH for verb in HTTP_VERBS}

# What the repositories of Spring Data give, of whatever they are repositories.
_ENTITY = (TYPE_PARAMETER, None, "T")
_ENTITIES = (GENERIC, "List", (_ENTITY,))
_MAYBE_ENTITY = (GENERIC, "Optional", (_ENTITY,))
_REPOSITORY = Inherited(
    ("T", "ID"),
    {
        **dict.fromkeys(names("save saveAndFlush getOne getById getReferenceById"), _ENTITY),
        **dict.fromkeys(names("findAll findAllById saveAll saveAllAndFlush"), _ENTITIES),
        **dict.fromkeys(names("findById findOne"), _MAYBE_ENTITY),
    },
)
SPRING_REPOSITORIES = dict.fromkeys(
    names(
        "Repository CrudRepository ListCrudRepository PagingAndSortingRepository ListPagingAndSortingRepository "
        "JpaRepository MongoRepository JpaSpecificationExecutor"
    ),
    _REPOSITORY,
)
