"""Scripts that neither import nor export share their names with those on the same page."""

from __future__ import annotations

from pathlib import Path

from tests.code.languages.checks import check

UTIL = "function scale(x) { return x }\nvar ease = function () {}\n"
MAIN = "function main() { scale(1); ease() }\n"


def test_scripts_of_a_directory_share_their_names(tmp_path: Path) -> None:
    files = {
        "js/util.js": UTIL,
        "js/main.js": MAIN,
        "js/module.js": "import './util.js'\nexport function other() { scale(1) }\n",
        "js/common.js": "const a = require('a')\nfunction common() { scale(1) }\n",
        "lib/apart.js": "function apart() { scale(1) }\n",
    }
    check(
        tmp_path,
        files,
        edges=[
            "js/main.js:main -> js/util.js:scale inferred",
            "js/main.js:main -> js/util.js:ease inferred",
        ],
        absent=[
            f"{caller} -> js/util.js" for caller in ("js/module.js", "js/common.js", "lib/apart.js")
        ],
    )


def test_a_page_says_which_scripts_share_their_names(tmp_path: Path) -> None:
    page = "<script src='lib/util.js?v=2'></script>\n<SCRIPT defer src=js/main.js></SCRIPT><script src='//x.y/z.js'>"
    files = {
        "lib/util.js": UTIL,
        "js/main.js": MAIN,
        "js/unused.js": "function scale() {}\nfunction unused() { ease() }\n",
    }
    (tmp_path / "index.html").write_text(page)
    check(
        tmp_path,
        files,
        edges=[
            "js/main.js:main -> lib/util.js:scale inferred",
            "js/main.js:main -> lib/util.js:ease inferred",
        ],
        absent=["js/main.js:main -> js/unused.js", "js/unused.js:unused -> lib/util.js"],
    )


GLOBAL_OBJECT = {
    "index.html": "<script src='helpers.js'></script><script src='model.js'></script><script src='app.js'></script>",
    "helpers.js": "(function (window) { window.$on = function (target) {}; })(window);\n",
    "model.js": """\
(function (window) {
  function Model() {}
  Model.prototype.find = function () {};
  window.app = window.app || {};
  window.app.Model = Model;
})(window);
(function (root) { root.later = function () {}; })(this);
""",
    "app.js": """\
function Todo() { this.model = new app.Model(); }
Todo.prototype.run = function () { this.model.find(); $on(this); window.$on(this); self.later(); };
""",
    "elsewhere/app.js": "function other() { $on(1); new app.Model(); }\n",
}


def test_scripts_of_a_page_share_what_is_put_into_the_global_object(tmp_path: Path) -> None:
    check(
        tmp_path,
        GLOBAL_OBJECT,
        edges=[
            "app.js:Todo -> model.js:<lambda1>.Model inferred",
            "app.js:Todo.run -> model.js:<lambda1>.Model.find inferred",
            "app.js:Todo.run -> helpers.js:<lambda1>.window.$on exact",
            "app.js:Todo.run -> model.js:<lambda2>.root.later exact",
        ],
        absent=["elsewhere/app.js:other -> helpers.js", "elsewhere/app.js:other -> model.js"],
    )


EXTENDED = {
    "index.html": "<script src='todos.js'></script><script src='views.js'></script><script src='start.js'></script>",
    "todos.js": """\
var app = app || {};
(function () {
  var Todos = Backbone.Collection.extend({ remaining: function () {}, initialize() {} });
  app.todos = new Todos();
})();
""",
    "views.js": """\
var app = app || {};
app.View = Backbone.View.extend({
  initialize: function () { this.show(); },
  show: function () { app.todos.remaining(); },
});
""",
    "start.js": "var app = app || {};\nfunction start() { new app.View().show(); }\n",
}


def test_an_object_that_a_class_is_extended_with_stands_for_the_class(tmp_path: Path) -> None:
    check(
        tmp_path,
        EXTENDED,
        edges=[
            "todos.js -> todos.js:<lambda1>.initialize inferred",
            "views.js:initialize -> views.js:show exact",
            "views.js:show -> todos.js:<lambda1>.remaining inferred",
            "start.js:start -> views.js:initialize inferred",
            "start.js:start -> views.js:show inferred",
        ],
    )


def test_what_a_test_puts_into_the_global_object_is_there_in_tests_alone(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "src/timer.js": "exports.stop = function () { clearTimer(1); };\n",
            "test/timer.test.js": (
                "const timer = require('../src/timer');\n"
                "globalThis.clearTimer = function () {};\n"
                "function run() { clearTimer(2); }\n"
            ),
        },
        edges=["test/timer.test.js:run -> test/timer.test.js:globalThis.clearTimer inferred"],
        absent=["src/timer.js:stop -> test"],
    )


def test_what_of_the_runtime_a_test_replaces_is_replaced_in_that_test_alone(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "test/clock.test.js": (
                "globalThis.setTimeout = function () {};\nfunction run() { setTimeout(f); }\n"
            ),
            "test/other.test.js": "function wait() { setTimeout(f); }\n",
        },
        edges=["test/clock.test.js:run -> test/clock.test.js:globalThis.setTimeout inferred"],
        absent=["test/other.test.js:wait -> test"],
    )


UNIVERSAL = {
    "index.html": "<script src='lib.js'></script><script src='plugin.js'></script><script src='app.js'></script>",
    "lib.js": """\
(function (global, factory) {
  if (typeof module === "object") { module.exports = factory(global); } else { factory(global); }
})(typeof window !== "undefined" ? window : this, function (window) {
  var lib = function () { return new lib.fn.init(); };
  lib.fn = lib.prototype = { each: function () { return this; } };
  var init = lib.fn.init = function () {};
  init.prototype = lib.fn;
  window.lib = window.$ = lib;
  return lib;
});
""",
    "plugin.js": "(function ($) { $.fn.highlight = function () { this.each(); }; })(lib);\n",
    "app.js": "function boot() { $().highlight(); lib().each(); }\n",
}


def test_a_universal_module_is_a_script_of_the_pages_that_load_it(tmp_path: Path) -> None:
    check(
        tmp_path,
        UNIVERSAL,
        edges=[
            "app.js:boot -> plugin.js:<lambda1>.$.fn.highlight inferred",
            "app.js:boot -> lib.js:<lambda2>.lib.each inferred",
            "plugin.js:<lambda1>.$.fn.highlight -> lib.js:<lambda2>.lib.each exact",
        ],
    )


def test_what_is_added_at_a_place_of_an_object_is_looked_for_in_what_it_takes_over(
    tmp_path: Path,
) -> None:
    source = """\
function first() {}
function run() {
  const target = {};
  for (const pair of Object.entries({ a: first })) Object.assign(target, pair);
  target[1]();
}
"""
    check(tmp_path, {"a.js": source}, edges=["a.js:run -> a.js:first inferred"])
