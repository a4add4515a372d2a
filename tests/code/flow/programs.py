"""Python functions made at random: all kinds of statements, over a few variables, without endless
loops.

Numbers are subtracted, not added: variables may come to hold lists, which would double with each
addition.
"""

from __future__ import annotations

from random import Random

NUMBERS = ("a", "b", "c")
LISTS = ("xs", "ys")
MAX_DEPTH = 3  # of nested blocks
MAX_STATEMENTS = 5  # of one block
PRELUDE = (
    "def subject(p, q):",
    "    a, b, c = p, q, 1",
    "    xs = [p, q, 3]",
    "    ys = [xs, 4]",
    "    d = {'k': 1, 'm': 2}",
    "    fuel = 40",
)


def program(random: Random) -> str:
    """The text of a function `subject(p, q)` whose last statement returns a variable."""
    lines = [*PRELUDE, *_block(random, 1, in_loop=False, count=random.randint(3, 8))]
    lines.append(
        f"    return {random.choice([*NUMBERS, 'xs', 'ys', 'd', 'a + len(xs)', 'd[' + repr('k') + ']'])}"
    )
    return "\n".join(lines) + "\n"


def _block(random: Random, depth: int, *, in_loop: bool, count: int = 0) -> list[str]:
    lines: list[str] = []
    for _ in range(count or random.randint(1, MAX_STATEMENTS)):
        nests = depth < MAX_DEPTH and random.random() < 0.35
        lines += (
            _nested(random, depth, in_loop=in_loop)
            if nests
            else [_simple(random, depth, in_loop=in_loop)]
        )
    return lines


def _simple(random: Random, depth: int, *, in_loop: bool) -> str:
    pad = "    " * depth
    v, w, u = (random.choice(NUMBERS) for _ in range(3))
    xs, ys = random.choice(LISTS), random.choice(LISTS)
    forms = [
        f"{v} = {w} - {u}", f"{v} = {random.randint(-3, 9)}", f"{v} -= {w}", f"{v} = {w} // {u}", f"{v} = len({xs})",
        f"{xs}.append({w})", f"{v} = {xs}.pop()", f"{xs} = {ys}", f"{xs} = [{v}, {ys}]", f"{xs}[0] = {w}",
        f"{xs} = {ys}[:]", f"d['k'] = {v}", f"d[{v}] = {w}", f"{v} = d['k']", f"d['m'] -= {v}", f"del {xs}[-1]",
        f"{v}, {w} = {w}, {v}", f"{v} = {w} if {u} > 1 else {u}", f"{v} = {w} > 2 and ({u} := 3) or {u}",
        f"{v} = sum(i for i in {xs} if isinstance(i, int))", f"{xs}.extend([i for i in (1, {v}) if i > {w}])",
        f"{v} = (lambda t: t - {w})({u})", f"print({v})", f"{xs} = d.setdefault('l', [])", f"(one(), {v})[0]",
        f"{v} = {w} and {u}", f"assert {v} is not None", f"d.update(k={v})", f"ys = [xs, {v}]",
    ]  # fmt: skip
    if in_loop:
        forms += ["break", "continue"] * 2
    forms += [f"return {v}"] if random.random() < 0.2 else []
    forms += ["raise ValueError"] if random.random() < 0.2 else []
    return pad + random.choice([form for form in forms if "one()" not in form])


def _nested(random: Random, depth: int, *, in_loop: bool) -> list[str]:
    pad = "    " * depth
    v, w = random.choice(NUMBERS), random.choice(NUMBERS)
    xs = random.choice(LISTS)

    def inside(*, loop: bool = in_loop) -> list[str]:
        return _block(random, depth + 1, in_loop=loop)

    def loop_body() -> list[str]:
        burn = [f"{pad}    fuel -= 1", f"{pad}    if fuel < 0:", f"{pad}        break"]
        return [*burn, *inside(loop=True)]

    kind = random.randrange(9)
    if kind == 0:
        return [f"{pad}if {v} > {w}:", *inside()]
    if kind == 1:
        return [
            f"{pad}if {v} > 2 and {w}:",
            *inside(),
            f"{pad}elif not {w}:",
            *inside(),
            f"{pad}else:",
            *inside(),
        ]
    if kind == 2:
        return [f"{pad}while {v} < {random.randint(1, 9)}:", *loop_body(), f"{pad}else:", *inside()]
    if kind == 3:
        return [f"{pad}for {v} in range({random.randint(0, 4)}):", *inside(loop=True)]
    if kind == 4:
        return [f"{pad}for {v} in list({xs}):", *loop_body(), f"{pad}else:", *inside()]
    if kind == 5:
        return _try(random, pad, inside)
    if kind == 6:
        case = [f"{pad}match {v}:", f"{pad}    case 1 | 2:", *_deeper(inside())]
        return [
            *case,
            f"{pad}    case {w} if {w} > 3:",
            *_deeper(inside()),
            f"{pad}    case _:",
            *_deeper(inside()),
        ]
    if kind == 7:
        return [f"{pad}while True:", *loop_body()]
    return (
        [f"{pad}with suppress(ValueError):", *inside()]
        if random.random() < 0
        else _closure(random, pad)
    )


def _try(random: Random, pad: str, inside: object) -> list[str]:
    assert callable(inside)
    lines = [f"{pad}try:", *inside()]
    handlers = random.randrange(4)
    if handlers != 3:
        caught = ("ZeroDivisionError", "(ValueError, IndexError)", "Exception as e", "TypeError")
        lines += [f"{pad}except {random.choice(caught)}:", *inside()]
        lines += [f"{pad}except Exception:", *inside()] if handlers else []
        lines += [f"{pad}else:", *inside()] if random.random() < 0.3 else []
    if handlers == 3 or random.random() < 0.4:
        lines += [f"{pad}finally:", *inside(loop=False)]
    return lines


def _closure(random: Random, pad: str) -> list[str]:
    v, w, u = (random.choice(NUMBERS) for _ in range(3))
    name = f"f{random.randrange(3)}"
    body = random.choice([f"return {w} - {u}", f"xs.append({w})", f"nonlocal {v}; {v} = {w}"])
    lines = [f"{pad}def {name}():", f"{pad}    {body}"]
    return [*lines, f"{pad}{u} = {name}() or 0"]


def _deeper(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
