"""Files of components: scripts, what their markup uses, and who uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.languages.registry import LANGUAGES
from tersely.code.syntax.extract import extract, readable

API = "export function load(id) { return fetch(id) }\nexport const save = () => load(1)\n"
SETUP = {
    "src/api.ts": API,
    "src/NavBar.vue": """\
<script lang="ts">
export function shared() { return hidden() }
function hidden() {}
</script>
<script setup lang="ts">
import { load } from "@/api"
import ItemRow from "./ItemRow"
const rows = load(1)
function open(row) { shared() }
</script>
<template>
  <div :class="{ active: shown(), other }" @click.prevent="open(rows[0])" title="open()">
    <!-- <ItemRow @gone="closed"/> -->
    <ItemRow v-for="(row, i) in sorted(rows)" :key="i" @go="open">{{ shown() | upper }}</ItemRow>
  </div>
</template>
<style>.open { color: red }</style>
""",
    "src/ItemRow.vue": "<template><nav-bar v-if='deep'/><RouterLink/></template>\n"
    "<script setup>\nimport NavBar from './NavBar.vue'\n</script>\n",
    "package.json": '{"name": "app"}',
}
OPTIONS = {
    "src/store.js": API,
    "src/views/Login.vue": """\
<template>
  <form @submit="onSubmit(name)"><input v-model="name"><Rows/></form>
</template>
<script>
import { load } from "@/store";
export default {
  components: { Rows },
  data() { return { name: load(1) } },
  methods: { onSubmit(name) { this.close() }, close() {} },
};
</script>
""",
    "src/views/Other.vue": "<template><p/></template>\n<script>\n"
    "export default { methods: { onSubmit() {} } }\n</script>\n",
    "package.json": '{"name": "app"}',
}
SVELTE = {
    "src/lib/Rows.svelte": """\
<script module>
  export function total(rows) { return rows.length }
</script>
<script>
  import Row from './Row.svelte';
  let { rows } = $props();
  function pick(row) { total(rows) }
</script>
{#if total(rows) > 1}<b>{'}'} {`{`}</b>{:else if other()}<i/>{/if}
{#each rows as row (row.id)}
  <Row {row} on:click={() => pick(row)} {...row.more} onkey={pick} style="--at: {total(row)}"/>
{/each}
{@render listed(rows)}
""",
    "src/lib/Row.svelte": "<p>{text}</p>\n",
    "src/routes/+page.svelte": "<script>import Rows from '$lib/Rows.svelte'</script>\n<Rows/>\n",
    "package.json": '{"name": "app"}',
}
ASTRO = {
    "src/site.ts": API,
    "src/pages/index.astro": """\
---
import { load, save } from "../site";
import Card from "../Card.astro";
const cards = await load("all");
function named(card) { return card }
---
<!doctype html>
<Card title={save()} {...cards[0]}>it's <br> plain</Card>
{cards.map((card) => <li><img src={card.at}><Card of={named(card)}/>isn't</li>)}
<script>
  import { save as kept } from "../site";
  function pressed() { kept() }
</script>
""",
    "src/Card.astro": "<slot/>\n",
}


def test_a_setup_script_and_its_markup_are_one_function(tmp_path: Path) -> None:
    check(
        tmp_path,
        SETUP,
        definitions=[
            "src/NavBar.vue:NavBar function 1",
            "src/NavBar.vue:NavBar.open function 9",
            "src/NavBar.vue:shared function 2",
            "src/ItemRow.vue:ItemRow function 1",
        ],
        edges=[
            "src/NavBar.vue:NavBar -> src/api.ts:load exact",
            "src/NavBar.vue:NavBar -> src/NavBar.vue:NavBar.open exact",
            "src/NavBar.vue:NavBar -> src/ItemRow.vue:ItemRow exact",
            "src/NavBar.vue:NavBar.open -> src/NavBar.vue:shared exact",
            "src/NavBar.vue:shared -> src/NavBar.vue:hidden exact",
            "src/ItemRow.vue:ItemRow -> src/NavBar.vue:NavBar exact",
        ],
        absent=["src/NavBar.vue:NavBar -> external:globalThis.title"],
    )


def test_markup_calls_the_methods_in_the_options_of_its_own_component(tmp_path: Path) -> None:
    check(
        tmp_path,
        OPTIONS,
        edges=[
            "src/views/Login.vue:Login -> src/views/Login.vue:methods.onSubmit inferred",
            "src/views/Login.vue:Login -> src/views/Login.vue:data exact",
            "src/views/Login.vue:data -> src/store.js:load exact",
            "src/views/Login.vue:methods.onSubmit -> src/views/Login.vue:methods.close exact",
        ],
        absent=["src/views/Login.vue:Login -> src/views/Other.vue"],
    )


def test_svelte_calls_what_stands_in_braces(tmp_path: Path) -> None:
    check(
        tmp_path,
        SVELTE,
        definitions=[
            "src/lib/Rows.svelte:Rows function 1",
            "src/lib/Rows.svelte:Rows.pick function 7",
            "src/lib/Rows.svelte:total function 2",
            "src/routes/+page.svelte:Page function 1",
        ],
        edges=[
            "src/lib/Rows.svelte:Rows -> src/lib/Row.svelte:Row exact",
            "src/lib/Rows.svelte:Rows -> src/lib/Rows.svelte:total exact",
            "src/lib/Rows.svelte:Rows -> src/lib/Rows.svelte:Rows.pick exact",
            "src/routes/+page.svelte:Page -> src/lib/Rows.svelte:Rows exact",
        ],
    )


def test_astro_runs_its_head_and_elements_in_expressions(tmp_path: Path) -> None:
    check(
        tmp_path,
        ASTRO,
        edges=[
            "src/pages/index.astro:Index -> src/site.ts:load exact",
            "src/pages/index.astro:Index -> src/site.ts:save exact",
            "src/pages/index.astro:Index -> src/Card.astro:Card exact",
            "src/pages/index.astro:Index -> src/pages/index.astro:Index.named exact",
            "src/pages/index.astro:pressed -> src/site.ts:save exact",
        ],
    )


FILES = [*SETUP.items(), *OPTIONS.items(), *SVELTE.items(), *ASTRO.items()]
COMPONENTS = [(path, text) for path, text in FILES if path.endswith((".vue", ".svelte", ".astro"))]


@pytest.mark.parametrize(("path", "text"), COMPONENTS, ids=[path for path, _ in COMPONENTS])
def test_all_of_a_component_is_understood_where_it_stands(path: str, text: str) -> None:
    language = LANGUAGES[path.rpartition(".")[2]]
    assert extract(text.encode(), language).problems == ()
    prepared = readable(text.encode(), language)
    assert [len(line) for line in prepared.split(b"\n")] == [
        len(line) for line in text.encode().split(b"\n")
    ]


@given(st.data())
def test_lines_stay_where_they_are_wherever_they_end(data: st.DataObject) -> None:
    path, text = data.draw(st.sampled_from(COMPONENTS))
    places = [place for place, character in enumerate(text) if character == " "]
    ends = data.draw(st.sets(st.sampled_from(places))) if places else set()
    parted = "".join("\n" if place in ends else each for place, each in enumerate(text)).encode()
    prepared = readable(parted, LANGUAGES[path.rpartition(".")[2]])
    assert ends_of(prepared) == ends_of(parted)


def ends_of(source: bytes) -> list[int]:
    """Where lines end."""
    return [place for place, each in enumerate(source) if each == ord("\n")]


def test_an_element_on_several_lines_moves_nothing(tmp_path: Path) -> None:
    row = "<template><Row\n  v-for='one in all'\n  @gone='() => {\n    closed()\n  }'\n/></template>\n"
    script = "<script setup>\nimport Row from './Row.vue'\nfunction closed() {}\n</script>\n"
    files = {"List.vue": row + script, "Row.vue": "<template/>\n"}
    check(
        tmp_path,
        files,
        edges=["List.vue:List -> Row.vue:Row exact", "List.vue:List -> List.vue:List.closed exact"],
    )
    facts = extract(files["List.vue"].encode(), LANGUAGES["vue"], "List.vue")
    assert [one.start_line for one in facts.definitions if one.qualname == "List.closed"] == [9]


@given(st.data())
def test_a_broken_part_loses_no_more_than_itself(data: st.DataObject) -> None:
    path, text = data.draw(st.sampled_from(COMPONENTS))
    read(splinter(text.encode(), data.draw(st.integers())), path.rpartition(".")[2])


def test_a_brace_without_its_end_loses_only_itself(tmp_path: Path) -> None:
    broken = "<script>import Row from './Row.svelte'</script>\n<p>{ open( </p>\n<Row/>{shown(1)}\n"
    files = {"A.svelte": broken, "Row.svelte": "<p/>\n"}
    check(tmp_path, files, edges=["A.svelte:A -> Row.svelte:Row exact"])
