"""What frameworks call: each rule with a program modelled on the framework's own example
application.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.code.engine import Engine

DJANGO = {
    "polls/views.py": """\
from django.http import HttpResponse
from django.urls import reverse
from django.shortcuts import redirect, render
from django.views import View
class All(View):
    def get(self, request):
        return reverse("elsewhere:missing")
def index(request):
    return HttpResponse("x")
def detail(request, question_id):
    return redirect("polls:results", question_id)
def results(request, question_id):
    return reverse("polls:index")
def overview(request):
    return render(request, "polls/overview.html", {"questions": []})
""",
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
    path("", include(router.urls)),
    path("root/", views.api_root),
    path("users/", views.UserViewSet.as_view({"get": "list"})),
]
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
""",
}
STARLETTE = {
    "app/main.py": """\
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.templating import Jinja2Templates
templates = Jinja2Templates(directory="templates")
async def homepage(request):
    return templates.TemplateResponse(request, "home.html")
async def user(request):
    return None
app = Starlette(routes=[
    Route("/", endpoint=homepage, name="home"),
    Route("/users/{id}", user, name="person"),
])
""",
    "app/templates/home.html": """\
<a href="{{ url_for('person', id=3) }}">three</a>
""",
}
FASTAPI = {
    "api/main.py": """\
from fastapi import Depends, FastAPI
from .db import get_db, Session
from .routers import router
app = FastAPI()
app.include_router(router)
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
module.exports = async function users(instance, options) {
  instance.get('/users/:id', { schema: {} }, show);
};
async function show(request, reply) {}
""",
}
KOA = {
    "koa/app.mjs": """\
import Koa from 'koa';
const app = new Koa();
app.use(timer);
async function timer(ctx, next) { await next(); }
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
        "polls/views.py:results -> polls/views.py:index (Django route by name)",
        "polls/views.py:detail -> polls/views.py:results (Django route by name)",
        "polls/views.py:overview -> polls/views.py:detail (Django template)",
        "polls/views.py:overview -> polls/views.py:index (Django template)",
        "polls/signals.py -> polls/signals.py:saved (Django signal)",
        "polls/signals.py:vote -> polls/signals.py:count (Django signal)",
    ], [
        "polls/views.py:overview -> polls/views.py:results",
        "polls/signals.py:vote -> polls/signals.py:connected",
        "polls/views.py:All.get -> polls/views.py",
    ]),
    "Django REST framework": (DRF, [
        "snippets/urls.py -> snippets/views.py:SnippetViewSet.perform_create (DRF route)",
        "snippets/views.py:SnippetViewSet -> snippets/views.py:SnippetViewSet.highlight (DRF action)",
        "snippets/urls.py -> snippets/views.py:api_root (Django route)",
        "snippets/urls.py -> snippets/views.py:UserViewSet.list (Django route)",
    ], ["snippets/urls.py -> snippets/views.py:SnippetViewSet.helper"]),
    "Flask": (FLASK, [
        "flaskr/app.py -> flaskr/app.py:hello (Flask route)",
        "flaskr/app.py -> flaskr/app.py:load (Flask hook)",
        "flaskr/app.py -> flaskr/app.py:late (Flask route)",
        "flaskr/app.py:late -> flaskr/app.py:late (Flask route by name)",
        "flaskr/blog.py -> flaskr/blog.py:posts (Flask route)",
        "flaskr/app.py:hello -> flaskr/blog.py:index (Flask route by name)",
        "flaskr/pages.py -> flaskr/pages.py:create (Flask route)",
        "flaskr/pages.py:create -> flaskr/pages.py:create (Flask template)",
        "flaskr/pages.py:create -> flaskr/blog.py:posts (Flask template)",
        "flaskr/pages.py:create -> flaskr/blog.py:update (Flask template)",
        "flaskr/pages.py:loop -> flaskr/app.py:hello (Flask template)",
    ], [
        "flaskr/app.py:hello -> flaskr/blog.py:update",
        "flaskr/pages.py:none -> flaskr/",
        "flaskr/pages.py:loop -> flaskr/blog.py",
    ]),
    "Starlette": (STARLETTE, [
        "app/main.py -> app/main.py:homepage (Starlette route)",
        "app/main.py -> app/main.py:user (Starlette route)",
        "app/main.py:homepage -> app/main.py:user (Starlette template)",
    ], ["app/main.py:homepage -> app/main.py:homepage"]),
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
    ], ["web/front.js:elsewhere -> api", "web/front.js:user -> api/routers.py"]),
    "Express": (EXPRESS, [
        "server/app.js -> server/app.js:auth (Express middleware)",
        "server/app.js -> server/app.js:show (Express route)",
        "server/app.js -> server/app.js:loadId (Express parameter)",
        "server/app.js -> server/app.js:renderPage (Express engine)",
        "server/app.js -> server/app.js:both (Express route)",
    ], []),
    "Fastify": (FASTIFY, [
        "fast/server.js -> fast/users.js:users (Fastify plugin)",
        "fast/server.js -> fast/server.js:check (Fastify hook)",
        "fast/users.js:users -> fast/users.js:show (Fastify route)",
    ], []),
    "Koa": (KOA, ["koa/app.mjs -> koa/app.mjs:timer (Koa middleware)"], []),
    "Hono": (HONO, [
        "hono/app.ts -> hono/app.ts:failed (Hono handler)",
        "hono/app.ts -> hono/app.ts:auth (Hono middleware)",
    ], []),
    "Vuex": (VUEX, [
        "store/articles.js:actions.[FETCH] -> store/articles.js:mutations.[SET] (Vuex mutation)",
        "store/articles.js:actions.again -> store/articles.js:mutations.clear (Vuex mutation)",
        "store/articles.js:actions.again -> store/articles.js:actions.[FETCH] (Vuex action)",
        "store/page.js:enter -> store/articles.js:actions.[FETCH] (Vuex action)",
        "store/page.js:methods.leave -> store/articles.js:mutations.clear (Vuex mutation)",
        "store/spied.js:actions.run -> store/articles.js:mutations.clear (Vuex mutation)",
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
    ], [
        "spring/Owner.java:Owner.show -> spring/Owner.java:Owner.onOther",
        "spring/pets.js:vet -> spring/Pets.java:Pets",
        "spring/pets.js:pet -> spring/Pets.java:Vets",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("framework", EXPECTED)
def test_handlers_are_reached_by_a_rule_that_is_named(tmp_path: Path, framework: str) -> None:
    """Forward and backward answers agree, and what only a rule says is inferred."""
    files, edges, absent = EXPECTED[framework]
    for path, text in files.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        known = {f"{one.caller} -> {one.callee} ({one.rule})": one for one in engine.graph.edges()}
        assert [edge for edge in edges if edge not in known] == [], sorted(known)
        assert [edge for edge in known if any(edge.startswith(one) for one in absent)] == []
        for edge in edges:
            assert known[edge].grade.value == "inferred"
            assert known[edge] in engine.graph.callers(known[edge].callee)
