"""Backward slices in the languages whose statements are read: `*` marks the lines, the last one is
the criterion.

Each program has every kind of statement of its language that its slice goes through, and beside it
code that the slice must leave out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.code.flow.effects import with_effects
from tersely.code.flow.lines import lines_of_all, nearest_statements, routine_at
from tersely.code.flow.slicing import Direction, slice_of
from tersely.code.languages import tables
from tersely.code.languages.registry import LANGUAGES
from tersely.code.syntax.cfg.read import read_routines
from tersely.code.syntax.extract import grammar_of

PROGRAMS = {
    "go": """
* func f(a int, xs []int) (n int, err error) {
*   total := 0
    unused := 1
*   for i := 0; i < a; i++ {
*     if xs[i] == 0 {
*       continue
*     }
*     total += xs[i]
      unused++
*   }
*   for k, v := range xs {
*     if v, ok := m[k]; ok && v > 1 {
*       total = v
*     } else if !ok {
*       return 0, errNo
*     }
      _ = v
*   }
*   switch total {
*   case 1, 2:
      n = 3
*     fallthrough
*   case 4:
*     n = 5
*   default:
*     n = total
*   }
*   if err := json.Unmarshal(b, &n); err != nil {
*     return 0, err
*   }
*   return n, nil
* }
""",
    "rust": """
* fn f(a: i32, mut b: Vec<i32>) -> Result<i32, E> {
*   let mut total = 0;
    let unused = 2;
*   let x = if a > 1 {
*     total += 1;
*     2
*   } else {
*     return Err(bad());
*   };
*   let Some(q) = g() else {
*     return Ok(1);
*   };
*   while let Some(z) = b.pop() {
*     if z > q { break; }
*     total += z;
*   }
*   let y = match x {
*     1 | 2 => 3,
*     n if n > 4 => {
        log(n);
*       n
*     }
*     _ => 7,
*   };
*   let w = read(y)?;
    b.push(w);
*   fill(&mut total);
*   Ok(total)
* }
""",
    "java": """
  class A {
*   int f(final int a, List<String> xs) throws E {
*     int total = 0, other = 1;
*     for (int i = 0; i < a; i++) {
*       total += i;
        other++;
*     }
*     try {
*       total = g(xs);
*     } catch (E e) {
        log(e);
*       return -1;
*     } finally {
        other = 2;
*     }
*     int r = switch (total) {
*       case 1, 2 -> 3;
*       default -> {
*         int q = total + 1;
*         yield q;
*       }
*     };
      xs.add("x");
*     this.v = r;
*     return this.v;
*   }
  }
""",
    "c": """
* int f(int a, char *b) {
*   int i, *p = &a, total = 0;
    int other = 3;
*   for (i = 0; i < 3; i++) {
*     if (b[i] == 'x') goto out;
*     total += i;
      other++;
*   }
*   do { total--; } while (total > 9);
*   switch (a) {
*   case 1:
*     total = 4;
*   case 2:
*     total += 5;
      break;
    default:
      *p = 6;
*   }
  out:
*   return total;
* }
""",
    "cpp": """
* int A::f(const std::string& a, std::vector<int> xs) {
*   int total = 0, other = 1;
*   for (auto& x : xs) {
*     total += x;
      other += 2;
*   }
*   try {
*     total += g(a);
*   } catch (const E& e) {
      log(e);
*     return 1;
*   }
*   if (auto it = m.find(a); it != m.end()) {
*     total = it->second;
*   }
*   auto l = [&](int t) { return t + total; };
*   return l(2);
* }
""",
    "typescript": """
* export async function f(a: number, {b, c = 1}: Options, ...d: string[]): Promise<number> {
*   let total = 0;
    let other: string = 'x';
*   for (const x of d) {
*     if (x === 'q' && b) continue;
*     total += x.length;
      other += x;
*   }
*   try {
*     total = await g(total);
*   } catch (err) {
      log(err);
*     throw new Error('no');
*   } finally {
      other = 'y';
*   }
*   switch (a) {
*     case 1:
*       total += 2;
*       break;
*     default:
*       total = c ?? 3;
*   }
*   const fn = (y: number) => y + total;
*   return fn(a);
* }
""",
}


PROGRAMS |= {
    path.stem: path.read_text("utf-8")
    for path in sorted((Path(__file__).parent / "slices").glob("*.txt"))
}


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_slice_has_just_the_marked_lines(language: str) -> None:
    rows = PROGRAMS[language].strip("\n").split("\n")
    text = "\n".join(row[2:] for row in rows) + "\n"
    routines = with_effects(read_routines(text.encode(), LANGUAGES[language]))
    marked = [line for line, row in enumerate(rows, 1) if row.startswith("*")]
    criterion = next(
        line for line in reversed(marked) if rows[line - 1].strip(" *") not in ("}", "end")
    )
    routine = routines.routines[routine_at(routines, criterion)]
    found = lines_of_all(
        routine, slice_of(routine, nearest_statements(routine, criterion), Direction.BACKWARD)
    )
    assert "\n".join(
        f"{'*' if line in found else ' '} {row[2:]}" for line, row in enumerate(rows, 1)
    ) == "\n".join(rows)


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_table_of_roles_names_node_types_of_its_grammar(language: str) -> None:
    value = LANGUAGES[language]
    grammar = grammar_of(value)
    known = {grammar.node_kind_for_id(kind) for kind in range(grammar.node_kind_count)}
    shared = tables.control_of("shared").roles
    own = {kind for kind in tables.control_of(value.control).roles if kind not in shared}
    assert own - known == set()
