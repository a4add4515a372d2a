// opencode under `tersely run`: says what it does, and puts what comes from the relay into the session.
import { spawn } from "node:child_process";
import { connect } from "node:net";

const PATH = process.env.TERSELY_RUN_SOCKET;
// Commands that ask the relay: `edit` whether a file may be changed, `permission` what the person says elsewhere.
const HOOKS = JSON.parse(process.env.TERSELY_HOOKS ?? "{}");
const EDITORS = new Set(["edit", "write", "patch", "apply_patch", "multiedit"]);
const LONGEST_MILLISECONDS = 15_000;
const PAUSE_MILLISECONDS = 1_000;

/** What a hook has printed, as an object; {} where that is nothing. */
function outputOf(text) {
  try {
    return JSON.parse(text).hookSpecificOutput ?? {};
  } catch {
    return {};
  }
}

/** What the command of a hook answers to a call, as an object; `bounds` are those of `spawn`. */
function answerOf([program, ...words], call, bounds) {
  return new Promise((resolve) => {
    const child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], ...bounds });
    let text = "";
    child.on("error", () => resolve({}));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (piece) => (text += piece));
    child.on("close", () => resolve(outputOf(text)));
    child.stdin.end(JSON.stringify(call));
  });
}

/** Why a file may not be changed, "" where it may. */
async function whyNot(args, directory) {
  const call = { hook_event_name: "PreToolUse", cwd: directory, tool_input: args };
  const answer = await answerOf(HOOKS.edit, call, { timeout: LONGEST_MILLISECONDS });
  return answer.permissionDecisionReason ?? "";
}

/** Calls the wrapper; the text that it answers, "" when anything goes wrong. `take` says whether it was taken. */
function call(event, more = {}, waits = "", take = async () => true) {
  return new Promise((resolve) => {
    const wire = connect(PATH);
    let heard = "";
    wire.on("error", () => resolve(""));
    wire.on("close", () => resolve(""));
    wire.on("connect", () => wire.write(`${JSON.stringify({ waits, call: { hook_event_name: event, ...more } })}\n`));
    wire.on("data", async (piece) => {
      heard += piece;
      if (!heard.includes("\n")) return;
      const text = JSON.parse(heard).text ?? "";
      const taken = !text || (await take(text));
      wire.end(`${JSON.stringify({ done: taken ? "taken" : "" })}\n`);
      resolve(text);
    });
  });
}

export const TerselyRun = async ({ client, directory }) => {
  if (!PATH) return {};
  let session = "";
  let isWaiting = false;
  const children = new Set(); // sessions of sub-agents
  const asking = new Map(); // permissions that are waited for, and what ends the hook that asks for each
  const rules = call("SessionStart");

  async function put(text) {
    try {
      const answer = await client.session.promptAsync({ path: { id: session }, body: { parts: [{ type: "text", text }] } });
      return !answer.error;
    } catch {
      return false;
    }
  }

  /** Once there is a session, whatever comes goes there at once; opencode queues it while it works. */
  async function wait() {
    if (isWaiting) return;
    isWaiting = true;
    for (;;) {
      const text = await call("wait", {}, "always", put);
      if (!text) await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS).unref());
    }
  }

  /** Has the person asked elsewhere beside the dialog, which closes with whichever answer comes first. */
  async function askFor({ id, sessionID, permission, patterns = [], metadata = {} }) {
    const ending = new AbortController();
    asking.set(id, ending);
    const asked = { hook_event_name: "PermissionRequest", tool_name: permission, tool_input: { ...metadata, patterns } };
    const { decision } = await answerOf(HOOKS.permission, asked, { signal: ending.signal });
    if (!asking.delete(id) || !decision) return;
    const response = decision.behavior === "allow" ? "once" : "reject";
    await client.postSessionIdPermissionsPermissionId({ path: { id: sessionID, permissionID: id }, body: { response } });
  }

  function endAsking(id) {
    asking.get(id)?.abort();
    asking.delete(id);
  }

  return {
    "tool.execute.before": async (input, output) => {
      const why = EDITORS.has(input.tool) ? await whyNot(output.args, directory) : "";
      if (why) throw new Error(why);
    },
    "chat.message": async (input, output) => {
      if (children.has(input.sessionID)) return;
      session = input.sessionID;
      const prompt = output.parts.map((part) => part.text ?? "").join("\n");
      await call("UserPromptSubmit", { prompt });
      void wait();
    },
    event: async ({ event }) => {
      if (event.type === "session.created" && event.properties.info?.parentID) children.add(event.properties.info.id);
      if (children.has(event.properties?.sessionID) && !event.type.startsWith("permission.")) return;
      if (event.type === "session.status" && event.properties.status?.type === "busy") void call("busy");
      if (event.type === "session.idle") void call("idle");
      if (event.type === "permission.asked") void askFor(event.properties);
      if (event.type === "permission.replied") endAsking(event.properties.requestID);
      if (event.type === "permission.asked" || event.type === "permission.replied") void call(event.type);
    },
    "experimental.chat.system.transform": async (input, output) => {
      const text = await rules;
      if (text) output.system.push(text);
    },
  };
};
