"""What frameworks call: each rule with a program modelled on the framework's own example
application.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tersely.code.engine import Engine
from tersely.code.graph.dispatch.registrations import topics
from tersely.code.graph.dispatch.registrations.routes import BEGINNINGS_LIMIT
from tersely.code.graph.users import Users
from tersely.code.symbols import Grade
from tersely.code.syntax.nodes.uses import Use


@contextmanager
def written(directory: Path, files: dict[str, str]) -> Iterator[Engine]:
    """The index of some files."""
    for path, text in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    with Engine.open(directory) as engine:
        engine.refresh()
        yield engine


DJANGO = {
    "polls/views.py": """\
from django.http import HttpResponse
from django.urls import reverse
from django.shortcuts import redirect, render
from django.views import View
class All(View):
    def get(self, request):
        return reverse("elsewhere:missing")
    def post(self, request):
        return None
def index(request):
    return HttpResponse("x")
def detail(request, question_id):
    return redirect("polls:results", question_id)
def results(request, question_id):
    return reverse("polls:index")
def overview(request):
    return render(request, "polls/overview.html", {"questions": []})
""",
    "polls/lists.py": """\
from django.views.generic import ListView, TemplateView
class Archive(ListView):
    template_name = "polls/overview.html"
    def get_queryset(self):
        return []
    def month(self):
        return []
def year(request, year):
    return None
def latest(request):
    return None
def search(request):
    return None
def search_year(request, year):
    return None
""",
    "polls/models/__init__.py": "from .question import Question\n",
    "polls/models/question.py": "class Question:\n    pass\n",
    "polls/generic.py": """\
from django.views.generic import DetailView, ListView
from .models import Question
class Questions(ListView):
    model = Question
class Shown(DetailView):
    model = Question
class Other(Shown):
    pass
""",
    "polls/generic_urls.py": """\
from django.urls import path
from .generic import Other, Questions
urlpatterns = [
    path("questions/", Questions.as_view()),
    path("questions/<int:pk>/", Other.as_view()),
]
""",
    "polls/templates/polls/question_list.html": '<a href="/archive/search/">all</a>',
    "polls/templates/polls/question_detail.html": "<a href=\"{% url 'polls:results' 3 %}\">3</a>",
    "polls/list_urls.py": """\
from django.urls import path, re_path
from django.views.generic import TemplateView
from .lists import Archive, latest, search, search_year, year
urlpatterns = [
    path("", latest),
    path("search/", search),
    path("<int:year>/search/", search_year),
    path("all/", Archive.as_view()),
    path("about/", TemplateView.as_view(template_name="polls/about.html")),
    re_path(r"^(?P<year>[0-9]{4})/all/?$", year),
]
""",
    "polls/nested_urls.py": """\
from django.urls import include, path
from .nested import rename_channel, rename_poll
poll_urls = [path("name/", rename_poll)]
urlpatterns = [
    path("polls/<int:pk>/", include(poll_urls)),
    path("channels/", include([path("<int:pk>/name/", rename_channel)])),
]
""",
    "polls/nested.py": "def rename_poll(request): ...\ndef rename_channel(request): ...\n",
    "site_urls.py": """\
from django.urls import include, path
urlpatterns = [
    path("nested/", include("polls.nested_urls")),
    path("archive/", include("polls.list_urls")),
    path("", include("polls.urls")),
]
""",
    "polls/test_urls.py": """\
from django.test import Client, TestCase
from django.urls import reverse
client = Client()
class Searches(TestCase):
    def test_one(self):
        self.client.get("/archive/2021/search/")
def test_latest():
    client.get("/archive/")
def test_year():
    client.get("/archive/2021/all/")
def test_all():
    client.get("/archive/all/")
def test_posted():
    client.post("/all/")
def test_root():
    client.get("/")
def named(name):
    return reverse(f"polls:{name}") if name else reverse("polls:detail", args=[3])
def test_named():
    client.get(named(""))
def test_nested():
    client.get(f"/nested/polls/{named}/name/")
def test_nested_in_place():
    client.get("/nested/channels/3/name/")
""",
    "polls/templates/polls/about.html": '<a href="/archive/2020/all">2020</a>',
    "polls/templates/polls/overview.html": """\
{% extends "site.html" %}
{% for question in questions %}<a href="{% url 'polls:detail' question.id %}">{{ question }}</a>{% endfor %}
""",
    "templates/site.html": """\
<nav><a href="{%  url "polls:index" %}">all</a></nav>{% block body %}{% endblock %}
""",
    "polls/urls.py": """\
from django.urls import path
from . import views
app_name = "polls"
urlpatterns = [
    path("", views.index, name="index"),
    path("<int:question_id>/", views.detail, name="detail"),
    path("<int:question_id>/results/", views.results, name="results"),
    path("all/", views.All.as_view(), name="all"),
]
""",
    "polls/signals.py": """\
from django.dispatch import Signal, receiver
from django.db.models.signals import post_save
voted = Signal()
other = Signal()
@receiver(voted)
def count(sender, **kwargs):
    pass
def saved(sender, **kwargs):
    pass
post_save.connect(saved, sender=None)
def connected(sender, **kwargs):
    pass
other.connect(connected)
def vote():
    voted.send(sender=None)
@receiver([voted, post_save])
def note(sender, **kwargs):
    pass
""",
}
DRF = {
    "snippets/views.py": """\
from rest_framework import viewsets
from rest_framework.decorators import action, api_view
class SnippetViewSet(viewsets.ModelViewSet):
    @action(detail=True)
    def highlight(self, request, *args, **kwargs):
        return self.get_object()
    def perform_create(self, serializer):
        serializer.save(owner=self.request.user)
    def helper(self):
        pass
class UserViewSet(viewsets.ReadOnlyModelViewSet):
    def list(self, request):
        pass
@api_view(["GET"])
def api_root(request, format=None):
    pass
""",
    "snippets/urls.py": """\
from django.urls import include, path
from rest_framework.routers import DefaultRouter
from snippets import views
router = DefaultRouter()
router.register(r"snippets", views.SnippetViewSet, basename="snippet")
urlpatterns = [
    path("api/", include(router.urls)),
    path("root/", views.api_root),
    path("users/", views.UserViewSet.as_view({"get": "list"})),
]
""",
    "snippets/tests.py": """\
from rest_framework.test import APIClient
def test_snippets():
    APIClient().post("/api/snippets/", {})
""",
}
FLASK = {
    "flaskr/app.py": """\
from flask import Flask, url_for
from .blog import bp
app = Flask(__name__)
app.register_blueprint(bp)
def late():
    return url_for("later")
app.add_url_rule("/late", endpoint="later", view_func=late)
@app.route("/hello")
def hello():
    return url_for("blog.index")
@app.before_request
def load():
    pass
""",
    "flaskr/pages.py": """\
import functools
from flask import Blueprint, render_template
bp = Blueprint("pages", __name__)
def guarded(view):
    @functools.wraps(view)
    def wrapped(**kwargs):
        return view(**kwargs)
    return wrapped
@bp.route("/new")
@guarded
def create():
    return render_template("pages/new.html")
@bp.route("/loop")
def loop():
    return render_template("pages/loop.html")
@bp.route("/none")
def none():
    return render_template("pages/none.html")
""",
    "flaskr/templates/pages/new.html": """\
<form action="/{{ post.id }}/update"><a href="{{ url_for('pages.create') }}">again</a></form>
<script>fetch('/api/posts').then(show)</script>
""",
    "flaskr/templates/pages/loop.html": """\
{% include 'pages/loop.html' %}{% include name %}<a href="{{ url_for('hello', _external=True) }}">
""",
    "flaskr/admin.py": """\
from flask import Blueprint
class Moved(Blueprint):
    def __init__(self, name, url_prefix):
        Blueprint.__init__(self, name, __name__, url_prefix=url_prefix)
bp = Blueprint("admin", __name__, url_prefix="/admin")
moved = Moved("moved", "/old")
inner = Blueprint("inner", __name__)
bp.register_blueprint(inner, url_prefix="/inner")
@bp.route("/list")
def users():
    return ""
@moved.route("/list")
def moved_list():
    return ""
@inner.route("/list")
def inner_list():
    return ""
""",
    "flaskr/factory.py": """\
from flask import Flask
from . import admin
def create_app():
    app = Flask(__name__)
    app.register_blueprint(admin.bp)
    app.register_blueprint(admin.moved, url_prefix="/new")
    return app
""",
    "tests/test_admin.py": """\
import pytest
from flaskr.factory import create_app
@pytest.fixture
def client():
    return create_app().test_client()
def test_users(client):
    client.get("/admin/list")
def test_moved(client):
    client.get("/new/list")
def test_inner(client):
    client.get("/admin/inner/list")
def test_page(client):
    client.get("/anything")
def test_elsewhere(client):
    client.get("https://example.org/anything")
def test_longer(client):
    client.get("/anything/more")
""",
    "flaskr/blog.py": """\
from flask import Blueprint
bp = Blueprint("blog", __name__)
@bp.route("/")
def index():
    return ""
@bp.route("/<int:id>/update", methods=("GET", "POST"))
def update(id):
    return ""
@bp.get("/api/posts")
def posts():
    return ""
@bp.get("/<name>")
def page(name):
    return ""
""",
}
STARLETTE = {
    "app/main.py": """\
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.templating import Jinja2Templates
templates = Jinja2Templates(directory="templates")
async def homepage(request):
    return templates.TemplateResponse(request, "home.html")
async def user(request: Request):
    return request.url_for("home")
app = Starlette(routes=[
    Route("/", endpoint=homepage, name="home"),
    Route("/users/{id}", user, name="person"),
])
""",
    "app/admin.py": """\
from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.routing import Mount, Route, Router
async def index(request):
    return None
class Users(HTTPEndpoint):
    async def get(self, request):
        return None
    async def post(self, request):
        return None
    def helper(self):
        return None
async def report(request):
    return None
reports = Router([Route("/", report)])
routes = [
    Route("/", index),
    Mount("/people", routes=[Route("/{id}", Users)]),
    Mount("/reports", app=reports),
]
admin = Starlette(debug=True, routes=routes)
site = Starlette()
site.mount("/admin", admin)
async def late(request):
    return None
site.add_route("/late", late)
""",
    "tests/test_site.py": """\
from starlette.testclient import TestClient
from app.admin import site
client = TestClient(site)
def test_index():
    client.get("/admin/")
def test_person():
    client.post("/admin/people/3")
def test_report():
    client.get("/admin/reports")
def test_late():
    client.get("/late")
""",
    "app/templates/home.html": """\
<a href="{{ url_for('person', id=3) }}">three</a>
""",
}
FASTAPI = {
    "api/main.py": """\
from fastapi import Depends, FastAPI
from .db import get_db, Session
from .groups import PREFIX, api
from .routers import router
app = FastAPI()
app.include_router(router)
app.include_router(api, prefix=PREFIX)
@app.get("/users/{user_id}")
def read_user(user_id: int, db=Depends(get_db)):
    return db.query()
""",
    "api/db.py": """\
class Session:
    def query(self):
        pass
def get_db():
    yield Session()
""",
    "api/annotated.py": """\
from typing import Annotated
from fastapi import APIRouter, Depends
from .db import get_db, Session
router = APIRouter()
SessionDep = Annotated[Session, Depends(get_db)]
class Pager:
    def __init__(self, limit: int = 10): ...
    def page(self): ...
@router.get("/things/")
def read_items(db: SessionDep, pager: Annotated[Pager, Depends()]):
    db.query()
    pager.page()
""",
    "api/routers.py": """\
from fastapi import APIRouter
router = APIRouter(prefix="/items")
@router.post("/{item_id}/buy")
async def buy(item_id: str):
    return 1
""",
    "api/groups.py": """\
from fastapi import APIRouter
from . import teams, boards
PREFIX = "/v1"
api = APIRouter()
api.include_router(teams.router)
api.include_router(boards.router, prefix="/boards")
""",
    "api/teams.py": """\
from fastapi import APIRouter
router = APIRouter(prefix="/teams")
@router.get("/")
def teams(): ...
@router.get("/{id}")
def team(id: int): ...
@router.get("/{id}/me")
def member(id: int): ...
""",
    "api/boards.py": """\
from fastapi import APIRouter
router = APIRouter()
@router.get("/")
def boards(): ...
@router.get("/{id}")
def board(id: int): ...
@router.get("/all")
def every(): ...
@router.get("/{id}/me")
def mine(id: int): ...
""",
    "web/groups.js": """\
import axios from "axios";
const http = axios.create({ baseURL: "/v1" });
export function teams() { return fetch("/v1/teams/"); }
export function board(id) { return http.get(`/v1/boards/${id}`); }
export function based(base) { return fetch(`${base}/boards/`); }
export function mine(id) { return axios({ url: "/v1/boards/" + id + "/me" }); }
""",
    "web/generated.ts": """\
import createPaths from "openapi-fetch";
import { createClient } from "@hey-api/client-fetch";
const paths = createPaths<object>({ baseUrl: "/" });
const client = createClient();
export const bought = () => paths.POST("/items/{item_id}/buy", { params: {} });
export const own = (options: object) => client.get({ ...options, url: "/v1/teams/{id}/me" });
""",
    "api/own.py": """\
from fastapi import APIRouter, Depends
from .db import get_db
class OwnRouter(APIRouter):
    def __init__(self, tags=None, prefix: str = "", **kwargs):
        super().__init__(tags=tags, prefix=prefix, dependencies=[Depends(get_db)], **kwargs)
class AdminRouter(OwnRouter):
    def __init__(self, **kwargs):
        super().__init__(["admin"], **kwargs)
class FixedRouter(APIRouter):
    def __init__(self):
        super().__init__(prefix="/fixed")
class PlainRouter(APIRouter):
    pass
own = OwnRouter(prefix="/own")
placed = OwnRouter([], "/placed")
admin = AdminRouter(prefix="/admin")
fixed = FixedRouter()
plain = PlainRouter(prefix="/plain")
@own.get("/one")
def own_one(): ...
@placed.get("/one")
def placed_one(): ...
@admin.get("/one")
def admin_one(): ...
@fixed.get("/one")
def fixed_one(): ...
@plain.get("/one")
def plain_one(): ...
""",
    "tests/urls.py": """\
own = "/own"
def one(base):
    return f"{base}/one"
def own_one(query):
    return own_path() + f"?q={query}"
def own_path():
    return f"{own}/one"
""",
    "tests/test_own.py": """\
from fastapi.testclient import TestClient
from api.main import app
from . import urls
client = TestClient(app)
def test_own():
    client.get(urls.own_one("x"))
def test_placed():
    client.get("/{}/one?q={}".format("placed", 1))
def test_admin():
    client.get("/admin" + "/one")
def test_fixed():
    client.get(urls.one("/fixed"))
def test_plain():
    client.get(f"{urls.one('/plain')}#part")
def test_unknown(path):
    client.get(f"{path}?q=1")
""",
    "tests/test_async.py": """\
from httpx import ASGITransport, AsyncClient
from api.main import app
async def test_read():
    async with AsyncClient(transport=ASGITransport(app=app), base_url="http://test") as client:
        await client.get("/users/3")
""",
    "web/front.js": """\
async function user() {
  return fetch("/users/7");
}
function buy() {
  return fetch("/items/3/buy", { method: "POST" });
}
function elsewhere() {
  return fetch("/users/7/cart");
}
function templated(base, id) {
  return fetch(`${base}/users/${id}?q=${base}`);
}
function jquery(id) {
  $.ajax({ method: "GET", url: "/users/" + id });
}
function added(id) {
  return fetch("/items/" + id + "/buy");
}
""",
}
EXPRESS = {
    "server/app.js": """\
const express = require('express');
const app = express();
const router = express.Router();
function listUsers(req, res) { res.send(); }
const auth = (req, res, next) => next();
app.use(auth);
app.get('/people', auth, listUsers);
router.get('/:id', function show(req, res) { listUsers(req, res); });
app.param('id', function loadId(req, res, next, id) { next(); });
app.engine('md', function renderPage(path, options, done) { done(); });
router.route('/both').get(function both(req, res) { res.send(); });
app.post('/inline', (req, res) => { listUsers(req, res); });
app.get('/shown', (req, res) => { res.format({ html: asPage, json: () => asData(res) }); });
function asPage() {}
function asData(res) {}
app.use(require('./api'));
""",
    "server/api.js": """\
const { Router } = require('express');
const pets = require('./pets');
const api = Router().use(pets);
module.exports = Router().use('/api', check, api);
function check(req, res, next) { next(); }
""",
    "server/pets.js": """\
const express = require('express');
const router = express.Router();
const guards = [signedIn, owns];
router.route('/:pet')
  .all(loadPet)
  .get(showPet)
  .put(guards, changePet);
router.get('/', allPets);
function signedIn(req, res, next) {}
function owns(req, res, next) {}
function loadPet(req, res, next) {}
function showPet(req, res) {}
function changePet(req, res) {}
function allPets(req, res) {}
module.exports = router;
""",
    "server/pets.test.js": """\
const request = require('supertest');
const app = require('./app');
function testAll() { return request(app).get('/api'); }
function testChange() { return request(app).put('/api/7'); }
function testRoot() { return request(app).get('/'); }
""",
}
FASTIFY = {
    "fast/server.js": """\
const fastify = require('fastify')({ logger: true });
const users = require('./users');
fastify.register(users, { prefix: '/v1' });
fastify.addHook('onRequest', function check(request, reply, done) { done(); });
fastify.get('/health', async () => ready());
function ready() {}
""",
    "fast/users.js": """\
const teams = require('./teams');
module.exports = async function users(instance, options) {
  instance.get('/users/:id', { schema: {} }, show);
  instance.register(teams, { prefix: '/teams' });
};
async function show(request, reply) {}
""",
    "fast/teams.js": """\
const plugin = require('fastify-plugin');
async function teams(instance, options) {
  instance.get('/', all).route({ method: 'GET', url: '/:id', handler: one });
}
async function all(request, reply) {}
async function one(request, reply) {}
module.exports = plugin(teams);
""",
    "fast/typed.ts": """\
import Fastify, { FastifyInstance } from 'fastify';
export async function boards(fastify: FastifyInstance) {
  fastify.get('/', listed);
}
async function listed() { return []; }
const app = Fastify();
app.register(boards, { prefix: 'boards' });
export function testBoards() { return app.inject({ method: 'GET', url: '/boards' }); }
""",
    "fast/web.js": """\
export const teams = () => fetch('/v1/teams');
export function team(id) { return fetch(`/v1/teams/${id}`); }
""",
}
KOA = {
    "koa/app.mjs": """\
import Koa from 'koa';
import { pets } from './pets.mjs';
const app = new Koa();
app.use(timer);
async function timer(ctx, next) { await next(); }
app.use(pets.routes()).use(pets.allowedMethods());
""",
    "koa/pets.mjs": """\
import Router from '@koa/router';
import { visits } from './visits.mjs';
export const pets = new Router({ prefix: '/pets' });
pets.get('/:id', show);
pets.use('/:id/visits', visits.routes());
async function show(ctx) {}
""",
    "koa/visits.mjs": """\
import Router from '@koa/router';
export const visits = new Router();
visits.get('/', all).post('/', add);
async function all(ctx) {}
async function add(ctx) {}
""",
    "koa/page.mjs": """\
export function visitsOf(id) { return fetch(`/pets/${id}/visits`); }
""",
}
HONO = {
    "hono/app.ts": """\
import { Hono } from 'hono';
const app = new Hono();
const auth = async (c, next) => { await next(); };
app.use('*', auth);
app.get('/posts/:id', auth, (c) => show(c));
app.onError(failed);
const books = new Hono();
books.get('/', listed);
app.route('/books', books);
function listed(c) {}
export function page() { return fetch('/books'); }
function failed(error: Error, c) {}
function show(c) {}
""",
}
VUEX = {
    "store/types.js": 'export const SET = "setArticle";\nexport const FETCH = "fetchArticle";\n',
    "store/articles.js": """\
import { SET, FETCH } from "./types";
import api from "@/api";
const actions = {
  async [FETCH](context, slug) { context.commit(SET, await api.get(slug)); },
  again({ commit, dispatch }) { commit("clear"); dispatch(FETCH); commit("elsewhere"); },
};
const mutations = {
  [SET](state, article) { state.article = article; },
  clear(state) {},
};
const getters = { clear(state) {} };
export default { actions, mutations, getters };
""",
    "store/index.js": """\
import { createStore } from "vuex";
import articles from "./articles";
export default createStore({ modules: { articles } });
""",
    "store/page.js": """\
import store from "./index";
import { FETCH } from "./types";
export default {
  enter(to) { store.dispatch(FETCH, to.slug); },
  methods: { leave() { this.$store.commit("articles/clear"); transaction.commit(FETCH); } },
};
""",
    "store/mapped.js": """\
import { mapActions, mapMutations } from "vuex";
import { FETCH } from "./types";
export default {
  beforeMount() { Object.assign(this, mapMutations("articles", ["clear"])); },
  created() { return mapActions({ load: FETCH, redo: "again" }); },
};
""",
    "store/page.spec.js": """\
import { actions } from "./spied";
const context = { commit() {} };
actions.run(context);
""",
    "store/spied.js": 'export const actions = { run(context) { context.commit("clear"); } };\n',
}
NEST = {
    "nest/cats.controller.ts": """\
import { Controller, Get, Post, Body, UseGuards } from '@nestjs/common';
import { CatsService } from './cats.service';
import { RolesGuard } from './roles.guard';
@Controller('cats')
export class CatsController {
  constructor(private readonly catsService: CatsService) {}
  @Get('all')
  async findAll() { return this.catsService.findAll(); }
  @Post()
  @UseGuards(RolesGuard)
  async create(@Body() dto: any) { this.catsService.create(dto); }
  @Get(':id')
  one() { return this.catsService.findAll(); }
}
@Controller('dogs')
class DogsController {
  @Get(':id')
  one() { return []; }
  @Get()
  every() { return []; }
}
""",
    "nest/web.ts": """\
export const cat = () => fetch('/cats/7');
export function dogs() { return fetch(`/dogs`); }
""",
    "nest/roles.guard.ts": """\
import { CanActivate, Injectable } from '@nestjs/common';
@Injectable()
export class RolesGuard implements CanActivate { canActivate(context: any) { return true; } }
""",
    "nest/cats.service.ts": """\
import { Injectable } from '@nestjs/common';
@Injectable()
export class CatsService { findAll() { return []; } create(cat: any) {} }
""",
}
SPRING = {
    "spring/Owner.java": """\
package spring;
import org.springframework.web.bind.annotation.*;
import org.springframework.context.event.EventListener;
import org.springframework.context.ApplicationEventPublisher;
@RestController
public class Owner {
    private final ApplicationEventPublisher publisher;
    private final Owners owners;
    Owner(Owners owners, ApplicationEventPublisher publisher) { this.owners = owners; this.publisher = publisher; }
    @GetMapping("/owners/{ownerId}")
    public String show(int ownerId) { publisher.publishEvent(new Shown(ownerId)); return owners.find(ownerId); }
    @EventListener
    void on(Shown event) { }
    @EventListener
    void onOther(String event) { }
}
""",
    "spring/Pets.java": """\
package spring;
import org.springframework.web.bind.annotation.*;
@Controller
@RequestMapping("/owners/{ownerId}/pets")
class Pets {
    @GetMapping("/{petId}")
    String show(int petId) { return ""; }
    @PostMapping(produces = "text/plain", path = { "/new", "/add" })
    String add() { return ""; }
    @GetMapping
    String list() { return ""; }
}
@RequestMapping("/vets")
class Vets {
    @GetMapping("/{vetId}")
    String show(int vetId) { return ""; }
}
""",
    "spring/pets.js": """\
function pet() { return fetch("/owners/3/pets/4"); }
function add() { return fetch("/owners/3/pets/add", { method: "POST" }); }
function pets() { return fetch("/owners/3/pets"); }
function vet() { return fetch("/vets/4"); }
""",
    "spring/PetsTests.java": """\
package spring;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import org.springframework.test.web.servlet.MockMvc;
class PetsTests {
    private MockMvc mockMvc;
    void adds() { mockMvc.perform(post("/owners/{ownerId}/pets/add", 3)); }
    void lists() { mockMvc.perform(get("/owners/{ownerId}/pets", 3)); }
}
""",
    "spring/Shown.java": """\
package spring;
public class Shown { Shown(int id) {} }
""",
    "spring/Owners.java": """\
package spring;
public interface Owners { String find(int id); }
""",
    "spring/JpaOwners.java": """\
package spring;
public class JpaOwners implements Owners { public String find(int id) { return ""; } }
""",
}

EXPECTED = {
    "Django": (DJANGO, [
        "polls/urls.py -> polls/views.py:index (Django route)",
        "polls/urls.py -> polls/views.py:All.get (Django route)",
        "polls/list_urls.py -> polls/lists.py:Archive.get_queryset (Django route)",
        "polls/test_urls.py:test_latest -> polls/lists.py:latest (route by its path)",
        "polls/test_urls.py:test_year -> polls/lists.py:year (route by its path)",
        "polls/test_urls.py:test_all -> polls/lists.py:Archive.get_queryset (route by its path)",
        "polls/test_urls.py:Searches.test_one -> polls/lists.py:search_year (route by its path)",
        "polls/test_urls.py:test_posted -> polls/views.py:All.post (route by its path)",
        "polls/test_urls.py:test_root -> polls/views.py:index (route by its path)",
        "polls/signals.py -> polls/signals.py:saved (Django signal)",
        "polls/signals.py:vote -> polls/signals.py:count (Django signal)",
        "polls/signals.py:vote -> polls/signals.py:note (Django signal)",
        "polls/test_urls.py:test_named -> polls/views.py:detail (route by its path)",
        "polls/test_urls.py:test_nested -> polls/nested.py:rename_poll (route by its path)",
        "polls/test_urls.py:test_nested_in_place -> polls/nested.py:rename_channel (route by its path)",
    ], [
        "polls/test_urls.py:test_nested -> polls/nested.py:rename_channel",
        "polls/test_urls.py:test_nested_in_place -> polls/nested.py:rename_poll",
        "polls/views.py:overview -> polls/views.py",
        "polls/views.py:detail -> polls/views.py",
        "polls/views.py:results -> polls/views.py",
        "polls/list_urls.py -> polls/views.py",
        "polls/generic_urls.py -> polls/lists.py:search",
        "polls/test_urls.py:test_named -> polls/views.py:results",
        "polls/signals.py:vote -> polls/signals.py:connected",
        "polls/views.py:All.get -> polls/views.py",
        "polls/list_urls.py -> polls/lists.py:Archive.month",
        "polls/test_urls.py:Searches.test_one -> polls/lists.py:search ",
        "polls/test_urls.py:test_latest -> polls/views.py",
        "polls/test_urls.py:test_all -> polls/views.py",
        "polls/test_urls.py:test_all -> polls/lists.py:year",
        "polls/test_urls.py:test_posted -> polls/views.py:All.get",
        "polls/test_urls.py:test_root -> polls/lists.py",
    ]),
    "Django REST framework": (DRF, [
        "snippets/urls.py -> snippets/views.py:SnippetViewSet.perform_create (DRF route)",
        "snippets/views.py:SnippetViewSet -> snippets/views.py:SnippetViewSet.highlight (DRF action)",
        "snippets/urls.py -> snippets/views.py:api_root (Django route)",
        "snippets/urls.py -> snippets/views.py:UserViewSet.list (Django route)",
        "snippets/tests.py:test_snippets -> snippets/views.py:SnippetViewSet.perform_create (route by its path)",
    ], [
        "snippets/urls.py -> snippets/views.py:SnippetViewSet.helper",
        "snippets/tests.py:test_snippets -> snippets/views.py:UserViewSet",
    ]),
    "Flask": (FLASK, [
        "flaskr/app.py -> flaskr/app.py:hello (Flask route)",
        "flaskr/app.py -> flaskr/app.py:load (Flask hook)",
        "flaskr/app.py -> flaskr/app.py:late (Flask route)",
        "flaskr/blog.py -> flaskr/blog.py:posts (Flask route)",
        "flaskr/pages.py -> flaskr/pages.py:create (Flask route)",
        "tests/test_admin.py:test_users -> flaskr/admin.py:users (route by its path)",
        "tests/test_admin.py:test_moved -> flaskr/admin.py:moved_list (route by its path)",
        "tests/test_admin.py:test_inner -> flaskr/admin.py:inner_list (route by its path)",
        "tests/test_admin.py:test_page -> flaskr/blog.py:page (route by its path)",
    ], [
        "flaskr/app.py:late -> flaskr/",
        "flaskr/app.py:hello -> flaskr/",
        "flaskr/pages.py:create -> flaskr/",
        "flaskr/pages.py:loop -> flaskr/",
        "tests/test_admin.py:test_users -> flaskr/admin.py:moved_list",
        "tests/test_admin.py:test_users -> flaskr/admin.py:inner_list",
        "tests/test_admin.py:test_inner -> flaskr/admin.py:users",
        "tests/test_admin.py:test_inner -> flaskr/blog.py",
        "tests/test_admin.py:test_elsewhere -> flaskr/",
        "tests/test_admin.py:test_longer -> flaskr/",
    ]),
    "Starlette": (STARLETTE, [
        "app/main.py -> app/main.py:homepage (Starlette route)",
        "app/main.py -> app/main.py:user (Starlette route)",
        "app/admin.py -> app/admin.py:Users.get (Starlette route)",
        "tests/test_site.py:test_index -> app/admin.py:index (route by its path)",
        "tests/test_site.py:test_person -> app/admin.py:Users.post (route by its path)",
        "tests/test_site.py:test_report -> app/admin.py:report (route by its path)",
        "tests/test_site.py:test_late -> app/admin.py:late (route by its path)",
    ], [
        "app/main.py:homepage -> app/main.py",
        "app/admin.py -> app/admin.py:Users.helper",
        "tests/test_site.py:test_person -> app/admin.py:Users.get",
        "tests/test_site.py:test_index -> app/main.py",
    ]),
    "FastAPI": (FASTAPI, [
        "api/main.py -> api/main.py:read_user (FastAPI route)",
        "api/main.py -> api/db.py:get_db (FastAPI dependency)",
        "api/main.py:read_user -> api/db.py:Session.query ()",
        "api/annotated.py -> api/db.py:get_db (FastAPI dependency)",
        "api/annotated.py:read_items -> api/db.py:Session.query ()",
        "api/annotated.py:read_items -> api/annotated.py:Pager.page ()",
        "web/front.js:user -> api/main.py:read_user (route by its path)",
        "web/front.js:buy -> api/routers.py:buy (route by its path)",
        "web/front.js:templated -> api/main.py:read_user (route by its path)",
        "web/front.js:jquery -> api/main.py:read_user (route by its path)",
        "web/front.js:added -> api/routers.py:buy (route by its path)",
        "web/generated.ts:bought -> api/routers.py:buy (route by its path)",
        "web/generated.ts:own -> api/teams.py:member (route by its path)",
        "tests/test_async.py:test_read -> api/main.py:read_user (route by its path)",
        "tests/test_own.py:test_own -> api/own.py:own_one (route by its path)",
        "tests/test_own.py:test_placed -> api/own.py:placed_one (route by its path)",
        "tests/test_own.py:test_admin -> api/own.py:admin_one (route by its path)",
        "tests/test_own.py:test_fixed -> api/own.py:fixed_one (route by its path)",
        "tests/test_own.py:test_plain -> api/own.py:plain_one (route by its path)",
        "web/groups.js:teams -> api/teams.py:teams (route by its path)",
        "web/groups.js:board -> api/boards.py:board (route by its path)",
        "web/groups.js:mine -> api/boards.py:mine (route by its path)",
        "web/groups.js:based -> api/boards.py:boards (route by its path)",
    ], [
        "tests/test_own.py:test_own -> api/own.py:placed_one",
        "tests/test_own.py:test_fixed -> api/own.py:plain_one",
        "tests/test_own.py:test_admin -> api/own.py:own_one",
        "tests/test_own.py:test_unknown -> api",
        "web/front.js:elsewhere -> api",
        "web/front.js:user -> api/routers.py",
        "web/groups.js:teams -> api/boards.py",
        "web/groups.js:teams -> api/teams.py:team ",
        "web/groups.js:board -> api/teams.py",
        "web/groups.js:board -> api/boards.py:every",
        "web/groups.js:mine -> api/teams.py",
        "web/groups.js:based -> api/teams.py",
    ]),
    "Express": (EXPRESS, [
        "server/app.js -> server/app.js:auth (Express middleware)",
        "server/app.js -> server/app.js:show (Express route)",
        "server/app.js -> server/app.js:loadId (Express parameter)",
        "server/app.js -> server/app.js:renderPage (Express engine)",
        "server/app.js -> server/app.js:both (Express route)",
        "server/app.js -> server/app.js:asPage (Express response)",
        "server/api.js -> server/api.js:check (Express middleware)",
        "server/pets.js -> server/pets.js:changePet (Express route)",
        "server/pets.js -> server/pets.js:showPet (Express route)",
        "server/pets.js -> server/pets.js:loadPet (Express route)",
        "server/pets.js -> server/pets.js:owns (Express route)",
        "server/pets.test.js:testAll -> server/pets.js:allPets (route by its path)",
        "server/pets.test.js:testChange -> server/pets.js:changePet (route by its path)",
    ], [
        "server/pets.test.js:testRoot -> server/",
        "server/pets.test.js:testChange -> server/pets.js:showPet",
    ]),
    "Fastify": (FASTIFY, [
        "fast/server.js -> fast/users.js:users (Fastify plugin)",
        "fast/server.js -> fast/server.js:check (Fastify hook)",
        "fast/users.js:users -> fast/users.js:show (Fastify route)",
        "fast/users.js:users -> fast/teams.js:teams (Fastify plugin)",
        "fast/teams.js:teams -> fast/teams.js:one (Fastify route)",
        "fast/web.js:teams -> fast/teams.js:all (route by its path)",
        "fast/web.js:team -> fast/teams.js:one (route by its path)",
        "fast/typed.ts:testBoards -> fast/typed.ts:listed (route by its path)",
    ], [
        "fast/web.js:teams -> fast/teams.js:teams",
        "fast/web.js:teams -> fast/typed.ts",
        "fast/web.js:team -> fast/users.js",
    ]),
    "Koa": (KOA, [
        "koa/app.mjs -> koa/app.mjs:timer (Koa middleware)",
        "koa/pets.mjs -> koa/pets.mjs:show (Koa route)",
        "koa/visits.mjs -> koa/visits.mjs:add (Koa route)",
        "koa/page.mjs:visitsOf -> koa/visits.mjs:all (route by its path)",
    ], ["koa/page.mjs:visitsOf -> koa/pets.mjs"]),
    "Hono": (HONO, [
        "hono/app.ts -> hono/app.ts:failed (Hono handler)",
        "hono/app.ts -> hono/app.ts:auth (Hono middleware)",
        "hono/app.ts:page -> hono/app.ts:listed (route by its path)",
    ], []),
    "Vuex": (VUEX, [
        "store/articles.js:actions.[FETCH] -> store/articles.js:mutations.[SET] (Vuex mutation)",
        "store/articles.js:actions.again -> store/articles.js:mutations.clear (Vuex mutation)",
        "store/articles.js:actions.again -> store/articles.js:actions.[FETCH] (Vuex action)",
        "store/page.js:enter -> store/articles.js:actions.[FETCH] (Vuex action)",
        "store/page.js:methods.leave -> store/articles.js:mutations.clear (Vuex mutation)",
        "store/spied.js:actions.run -> store/articles.js:mutations.clear (Vuex mutation)",
        "store/mapped.js:beforeMount -> store/articles.js:mutations.clear (Vuex mutation)",
        "store/mapped.js:created -> store/articles.js:actions.[FETCH] (Vuex action)",
        "store/mapped.js:created -> store/articles.js:actions.again (Vuex action)",
    ], [
        "store/articles.js:actions.again -> store/articles.js:getters.clear",
        "store/page.js:methods.leave -> store/articles.js:actions",
    ]),
    "Nest": (NEST, [
        "nest/cats.controller.ts:CatsController -> nest/cats.controller.ts:CatsController.findAll (Nest route)",
        "nest/cats.controller.ts:CatsController -> nest/roles.guard.ts:RolesGuard.canActivate (Nest part)",
        "nest/cats.controller.ts:CatsController.findAll -> nest/cats.service.ts:CatsService.findAll ()",
        "nest/web.ts:cat -> nest/cats.controller.ts:CatsController.one (route by its path)",
        "nest/web.ts:dogs -> nest/cats.controller.ts:DogsController.every (route by its path)",
    ], [
        "nest/web.ts:cat -> nest/cats.controller.ts:DogsController",
        "nest/web.ts:dogs -> nest/cats.controller.ts:DogsController.one",
        "nest/web.ts:dogs -> nest/cats.controller.ts:CatsController",
    ]),
    "Spring": (SPRING, [
        "spring/Owner.java:Owner -> spring/Owner.java:Owner.show (Spring route)",
        "spring/Owner.java:Owner.show -> spring/Owner.java:Owner.on (Spring event)",
        "spring/Owner.java:Owner.show -> spring/JpaOwners.java:JpaOwners.find ()",
        "spring/pets.js:pet -> spring/Pets.java:Pets.show (route by its path)",
        "spring/pets.js:add -> spring/Pets.java:Pets.add (route by its path)",
        "spring/pets.js:pets -> spring/Pets.java:Pets.list (route by its path)",
        "spring/pets.js:vet -> spring/Pets.java:Vets.show (route by its path)",
        "spring/PetsTests.java:PetsTests.adds -> spring/Pets.java:Pets.add (route by its path)",
        "spring/PetsTests.java:PetsTests.lists -> spring/Pets.java:Pets.list (route by its path)",
    ], [
        "spring/Owner.java:Owner.show -> spring/Owner.java:Owner.onOther",
        "spring/pets.js:vet -> spring/Pets.java:Pets",
        "spring/PetsTests.java:PetsTests.adds -> spring/Pets.java:Pets.show",
        "spring/pets.js:pet -> spring/Pets.java:Vets",
    ]),
}  # fmt: skip


# Links to handlers: what names them, where, and by which rule.
LINKS = {
    "Django": (DJANGO, [
        "polls/views.py:index <- polls/views.py:results 15 (Django route by name)",
        "polls/views.py:index <- templates/site.html 1 (Django template)",
        "polls/views.py:results <- polls/views.py:detail 13 (Django route by name)",
        "polls/views.py:results <- polls/templates/polls/question_detail.html 1 (Django template)",
        "polls/views.py:detail <- polls/templates/polls/overview.html 2 (Django template)",
        "polls/views.py:detail <- polls/test_urls.py:named 18 (Django route by name)",
        "polls/lists.py:search <- polls/templates/polls/question_list.html 1 (Django template)",
        "polls/lists.py:year <- polls/templates/polls/about.html 1 (Django template)",
        "polls/lists.py:latest <- ",
    ]),
    "Flask": (FLASK, [
        "flaskr/app.py:late <- flaskr/app.py:late 6 (Flask route by name)",
        "flaskr/app.py:hello <- flaskr/templates/pages/loop.html 1 (Flask template)",
        "flaskr/blog.py:index <- flaskr/app.py:hello 10 (Flask route by name)",
        "flaskr/blog.py:posts <- flaskr/templates/pages/new.html 2 (Flask template)",
        "flaskr/blog.py:update <- flaskr/templates/pages/new.html 1 (Flask template)",
        "flaskr/pages.py:create <- flaskr/templates/pages/new.html 1 (Flask template)",
    ]),
    "Starlette": (STARLETTE, [
        "app/main.py:user <- app/templates/home.html 1 (Starlette template)",
        "app/main.py:homepage <- app/main.py:user 9 (Starlette route by name)",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("framework", LINKS)
def test_links_are_references_and_no_calls(tmp_path: Path, framework: str) -> None:
    files, links = LINKS[framework]
    with written(tmp_path, files) as engine:
        wanted = {line.partition(" <- ")[0] for line in links}
        found = {
            f"{symbol} <- {one.owner} {one.line} ({one.rule})"
            for symbol in wanted
            for one in engine.references.of(symbol)
            if one.use is Use.LINK and one.grade is Grade.INFERRED
        }
        assert found == {line for line in links if not line.endswith("<- ")}
        for path, line, column in (
            (one.path, one.line, one.column)
            for symbol in wanted
            for one in engine.references.of(symbol)
            if one.path.endswith(".html")
        ):  # they stand where the name or path of the route begins
            text = files[path].split("\n")[line - 1]
            assert text[column - 2] in "'\"", text[column - 1 :]


def test_templates_that_change_reach_who_shows_them(tmp_path: Path) -> None:
    with written(tmp_path, DJANGO) as engine:
        users = Users(engine.graph)
        assert {user.id for user in users.of_template("templates/site.html")} == {
            "polls/views.py:overview",
            "polls/lists.py:Archive",
            "polls/lists.py:Archive.get_queryset",
            "polls/lists.py:Archive.month",
        }
        assert users.linked_from("polls/templates/polls/overview.html") == ["polls/views.py:detail"]


@pytest.mark.parametrize("framework", EXPECTED)
def test_handlers_are_reached_by_a_rule_that_is_named(tmp_path: Path, framework: str) -> None:
    """Forward and backward answers agree, and what only a rule says is inferred."""
    files, edges, absent = EXPECTED[framework]
    with written(tmp_path, files) as engine:
        known = {f"{one.caller} -> {one.callee} ({one.rule})": one for one in engine.graph.edges()}
        assert [edge for edge in edges if edge not in known] == [], sorted(known)
        assert [edge for edge in known if any(edge.startswith(one) for one in absent)] == []
        for edge in edges:
            assert known[edge].grade.value == "inferred"
            assert known[edge] in engine.graph.callers(known[edge].callee)


def test_routers_that_are_under_each_other_end(tmp_path: Path) -> None:
    routers = range(14)
    lines = ["const express = require('express');"]
    lines += [f"const r{one} = express.Router();" for one in routers]
    pairs = [(one, other) for one in routers for other in routers if one != other]
    lines += [f"r{one}.use('/{one}-{other}', r{other});" for one, other in pairs]
    lines += ["function handle(request, response) {}", "r0.get('/all', handle);", "fetch('/all');"]
    (tmp_path / "app.js").write_text("\n".join(lines))
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        bounds = engine.graph.program.bounds
        handlers, met = bounds.collect(engine.graph.evaluator.topics.registered)
        assert handlers
        assert BEGINNINGS_LIMIT in met


BOX = """\
from django.test import TestCase
from django.urls import path
class Box:
    def get(self, key):
        return key
def opened():
    return Box().get("lid")
class Pages(TestCase):
    def test_page(self):
        self.client.get("/page/")
def page(request):
    return None
urls = [path("page/", page)]
"""


def test_handlers_are_looked_for_where_a_call_can_mean_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that has a method of the name which is asked about is no reason to."""
    monkeypatch.setattr(topics, "MAX_TOPIC_FILES", 0)  # whoever looks for any meets a bound
    (tmp_path / "box.py").write_text(BOX)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        callers, notes = engine.notes.collect(engine.graph.callers, "box.py:Box.get")
        assert [edge.caller for edge in callers] == ["box.py:opened"]
        assert notes == set()
        assert engine.notes.collect(engine.graph.callers, "box.py:page")[1]
