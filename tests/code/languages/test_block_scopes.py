"""A name that is declared in a block means what it meant before after the block."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.code.languages.checks import check

JAVASCRIPT = """\
function helper() {}
function caught() {}
function other() {}
function hides(list) {
  helper();
  for (const helper of list) { helper.x(); }
  try { list(); } catch (caught) { caught(); }
  if (list) { let other = () => 1; other(); }
  other();
  caught();
}
function inner(list) {
  for (const helper of list) { list.map(() => helper()); }
  list.forEach(() => helper());
}
function early(list) {
  if (list) { const first = () => later(); const later = () => other(); first(); }
}
function assigned(list) {
  { let run; const set = () => { run = caught; }; set(); run(); }
}
function hoisted(list) {
  if (list) { var helper = other; }
  helper();
}
"""
GO = """\
package main
func helper() {}
func other() {}
func hides(list []func()) {
	for _, helper := range list { helper() }
	if other := list[0]; other != nil { other() }
	helper()
	other()
}
func inner(list []func()) {
	if len(list) > 0 { helper := list[0]; func() { helper() }() }
	func() { other() }()
}
"""
RUST = """\
fn helper() {}
fn other() {}
fn hides(list: Vec<fn()>) {
    for helper in list { helper(); }
    if let Some(other) = find() { other(); }
    helper();
    other();
}
fn find() -> Option<fn()> { None }
fn inner() {
    { let helper = find(); let f = || helper(); }
    let g = || other();
}
"""
C = """\
void helper(void) {}
void hides(void (*list)(void)) {
    { void (*helper)(void) = list; helper(); }
    helper();
}
"""


@pytest.mark.parametrize("path", ["a.js", "a.ts"])
def test_blocks_of_javascript_end_what_they_declare(tmp_path: Path, path: str) -> None:
    check(
        tmp_path,
        {path: JAVASCRIPT},
        edges=[
            f"{path}:hides -> {path}:helper exact",
            f"{path}:hides -> {path}:caught exact",
            f"{path}:hides -> {path}:other exact",
            f"{path}:inner -> {path}:helper exact",
            f"{path}:early.later -> {path}:other exact",
            f"{path}:early.first -> {path}:early.later exact",
            f"{path}:assigned -> {path}:caught inferred",
            f"{path}:hoisted -> {path}:other inferred",
        ],
        absent=[f"{path}:hoisted -> {path}:helper"],
    )


@pytest.mark.parametrize(("path", "source"), [("a.go", GO), ("a.rs", RUST), ("a.c", C)])
def test_blocks_of_other_languages_do_too(tmp_path: Path, path: str, source: str) -> None:
    edges = [f"{path}:hides -> {path}:helper exact"]
    if path != "a.c":
        edges += [f"{path}:hides -> {path}:other exact", f"{path}:inner -> {path}:other exact"]
    check(tmp_path, {path: source}, edges=edges, absent=[f"{path}:inner -> {path}:helper"])


def test_what_a_case_declares_holds_in_the_cases_that_follow(tmp_path: Path) -> None:
    source = """\
class A { run() {} }
function f(x) {
  switch (x.kind) { case g(): let a = new A(); case h(): a.run(); }
}
"""
    check(tmp_path, {"a.js": source}, edges=["a.js:f -> a.js:A.run inferred"])


def test_what_a_block_declares_is_followed_in_it_alone(tmp_path: Path) -> None:
    source = """\
class A { run() {} }
class B { run() {} }
function f(x) {
  if (x) { const a = new A(); a.run(); } else { const a = new B(); g(() => a.run()); }
}
"""
    check(
        tmp_path,
        {"a.js": source},
        edges=["a.js:f -> a.js:A.run inferred", "a.js:f -> a.js:B.run inferred"],
    )
