// opencode under `tersely run`: says what it does, and puts what comes from the relay into the session.
import { spawn } from "node:child_process";
import { connect } from "node:net";

const PATH = process.env.TERSELY_RUN_SOCKET;
const EDIT_HOOK = JSON.parse(process.env.TERSELY_EDIT_HOOK ?? "[]"); // the command that says whether a file may be changed
const EDITORS = new Set(["edit", "write", "patch", "apply_patch", "multiedit"]);
const LONGEST_MILLISECONDS = 15_000;
const PAUSE_MILLISECONDS = 1_000;

/** Why an answer of the hook denies something, "" where it does not. */
function reasonOf(text) {
  try {
    return JSON.parse(text).hookSpecificOutput?.permissionDecisionReason ?? "";
  } catch {
    return "";
  }
}

/** Why a file may not be changed, "" where it may. */
function whyNot(args, directory) {
  return new Promise((resolve) => {
    const [program, ...words] = EDIT_HOOK;
    if (!program) return resolve("");
    const child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], timeout: LONGEST_MILLISECONDS });
    let text = "";
    child.on("error", () => resolve(""));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (piece) => (text += piece));
    child.on("close", () => resolve(reasonOf(text)));
    child.stdin.end(JSON.stringify({ hook_event_name: "PreToolUse", cwd: directory, tool_input: args }));
  });
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
  const answers = new Map(); // tokens of each answer, of sub-agents too: of prompts but what was cached, and of answers
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

  function count({ id, role, tokens, time }) {
    if (role !== "assistant" || !tokens || !time?.completed) return;
    const { input = 0, output = 0, reasoning = 0, cache = {} } = tokens;
    answers.set(id, input + (cache.write ?? 0) + output + reasoning);
    void call("tokens", { tokens: [...answers.values()].reduce((sum, one) => sum + one, 0) });
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
      if (event.type === "message.updated") count(event.properties.info);
      if (event.type === "session.created" && event.properties.info?.parentID) children.add(event.properties.info.id);
      if (children.has(event.properties?.sessionID) && !event.type.startsWith("permission.")) return;
      if (event.type === "session.status" && event.properties.status?.type === "busy") void call("busy");
      if (event.type === "session.idle") void call("idle");
      if (event.type === "permission.asked" || event.type === "permission.replied") void call(event.type);
    },
    "experimental.chat.system.transform": async (input, output) => {
      const text = await rules;
      if (text) output.system.push(text);
    },
  };
};
