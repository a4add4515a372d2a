"""An agent with hooks, as `claude` takes them: `--settings JSON`, and calls on standard input.

    hooked.py LOG WORK [--settings JSON]

It has no prompt that could be typed to. Each prompt goes to LOG as JSON, with what its hooks added,
and is worked at while the file WORK is there. It then stops, and goes on where a hook blocks that
or a waiting hook wakes it.
"""

import json
import os
import subprocess
import sys
import time

log, work = sys.argv[-2:]
hooks = json.loads(sys.argv[sys.argv.index("--settings") + 1])["hooks"]


def commands(event: str, *, waiting: bool) -> list[str]:
    found = [hook for group in hooks.get(event, []) for hook in group["hooks"]]
    return [hook["command"] for hook in found if hook.get("asyncRewake", False) == waiting]


def call(event: str, **more: object) -> list[dict]:
    told = json.dumps({"hook_event_name": event, **more})
    done = [
        subprocess.run(one, shell=True, input=told, capture_output=True, text=True, check=False)
        for one in commands(event, waiting=False)
    ]
    return [json.loads(one.stdout) for one in done if one.stdout]


def contexts(event: str, **more: object) -> list[str]:
    return [one["hookSpecificOutput"]["additionalContext"] for one in call(event, **more)]


def begin_waiting(event: str) -> list[subprocess.Popen]:
    told = json.dumps({"hook_event_name": event})
    started = []
    for one in commands(event, waiting=True):
        process = subprocess.Popen(
            one, shell=True, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        process.stdin.write(told)
        process.stdin.close()
        started.append(process)
    return started


def note(**said: object) -> None:
    with open(log, "a") as file:
        file.write(json.dumps(said) + "\n")


def turn(prompt: str) -> list[subprocess.Popen]:
    """Work at a prompt until nothing keeps it from stopping; hooks that wait then."""
    is_second = False
    while True:
        note(prompt=prompt, added=contexts("UserPromptSubmit", prompt=prompt))
        if os.path.exists(work):
            call("PermissionRequest")
            while os.path.exists(work):
                time.sleep(0.05)
            note(tool=contexts("PostToolUse"))
        blocked = call("Stop", stop_hook_active=is_second)
        if not blocked:
            return begin_waiting("Stop")
        note(reason=blocked[0]["reason"])
        prompt, is_second = blocked[0]["reason"], True


note(rules=contexts("SessionStart"))
print("no prompt that anybody knows", flush=True)
waiting = begin_waiting("SessionStart")
while True:
    for process in [one for one in waiting if one.poll() is not None]:
        waiting.remove(process)
        said = process.stderr.read()
        if process.returncode == 2:
            waiting += turn(f"<system-reminder>{said}</system-reminder>")
    time.sleep(0.02)
