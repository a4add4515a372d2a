// Tersely for opencode: puts a packet beside the prompt, an outline in the place of a large file that is read whole, and
// what other agents write where the model reads it next.
import { spawn } from "node:child_process";

const PROGRAM = ["tersely"];
const MAIL = [];
const SUBAGENTS = true;
const LONGEST_MILLISECONDS = 15_000;

/** What a program prints that is given a call; nothing when anything goes wrong. */
function answer([program, ...words], call, directory) {
  return new Promise((resolve) => {
    const child = spawn(program, words, {
      cwd: directory,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: LONGEST_MILLISECONDS,
    });
    let text = "";
    child.on("error", () => resolve(""));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (piece) => (text += piece));
    child.on("close", () => resolve(text.trim()));
    child.stdin.end(JSON.stringify({ cwd: directory, ...call }));
  });
}

const ask = (kind, call, directory) => answer([...PROGRAM, "hook", kind, "--agent", "opencode"], call, directory);

/** What the hook for mail answers to an event, as an object. */
async function told(kind, event, call, directory) {
  try {
    return JSON.parse(await answer([...MAIL, kind], { hook_event_name: event, ...call }, directory));
  } catch {
    return {};
  }
}

const contextOf = async (kind, event, call, directory) =>
  (await told(kind, event, call, directory)).hookSpecificOutput?.additionalContext ?? "";
const EDITORS = new Set(["edit", "write", "patch", "apply_patch", "multiedit"]);

/** What is to be said beside the result of an edit or a search. */
const besideOf = async (sessionID, tool, input, result, directory) => {
  const isEdit = EDITORS.has(tool);
  const isSearch = tool === "grep" || (tool === "bash" && /grep|\brg /.test(input.command ?? ""));
  const call = { session_id: sessionID, tool_name: isEdit ? "edit" : tool, tool_input: input, tool_response: result };
  return isEdit || isSearch ? ask("after", call, directory) : "";
};

const outlineOf = (sessionID, input, directory) =>
  ask("read", { session_id: sessionID, tool_name: "read", tool_input: input }, directory);
/** Has all that was shown in a session be shown anew. */
const startAnew = (sessionID, directory) => ask("session", { session_id: sessionID, source: "compact" }, directory);
const packetFor = (sessionID, text, directory) => ask("prompt", { session_id: sessionID, prompt: text }, directory);

/** What opencode 1 takes: a function that returns hooks. */
const server = async ({ directory, client }) => {
  const introductions = new Map(); // by session, which is told the same each time
  const children = new Set(); // sessions of sub-agents: what is written to the agent is not theirs to take
  const goneOn = new Map(); // sessions that went on by themselves since their user last spoke, and with which text

  const mailFor = async (event, sessionID) =>
    children.has(sessionID) ? "" : contextOf("mail", event, {}, directory);

  async function goOn(sessionID) {
    if (!client || children.has(sessionID)) return;
    const { reason } = await told("stop", "Stop", { stop_hook_active: goneOn.has(sessionID) }, directory);
    if (!reason) return;
    goneOn.set(sessionID, reason);
    await client.session.promptAsync({ path: { id: sessionID }, body: { parts: [{ type: "text", text: reason }] } });
  }

  return {
    "experimental.chat.system.transform": async (input, output) => {
      const { sessionID } = input;
      if (!sessionID || (children.has(sessionID) && !SUBAGENTS)) return;
      if (!introductions.has(sessionID))
        introductions.set(sessionID, contextOf("start", "SessionStart", {}, directory));
      const text = await introductions.get(sessionID);
      if (text) output.system.push(text);
    },
    "chat.message": async (input, output) => {
      const first = output.parts.find((part) => part.type === "text" && !part.synthetic);
      if (!first) return;
      if (goneOn.get(input.sessionID) === first.text) return;
      goneOn.delete(input.sessionID);
      const added = [await packetFor(input.sessionID, first.text, directory), await mailFor("UserPromptSubmit", input.sessionID)];
      for (const text of added.filter(Boolean)) first.text += `\n\n${text}`;
    },
    event: async ({ event }) => {
      const sessionID = event.properties?.sessionID ?? "";
      if (event.type === "session.created" && event.properties.info?.parentID) children.add(event.properties.info.id);
      if (event.type === "session.compacted") await startAnew(sessionID, directory);
      if (event.type === "session.idle") await goOn(sessionID);
    },
    "tool.execute.before": async (input, output) => {
      if (!EDITORS.has(input.tool)) return;
      const answered = await told("edit", "PreToolUse", { tool_input: output.args }, directory);
      const why = answered.hookSpecificOutput?.permissionDecisionReason;
      if (why) throw new Error(why);
    },
    "tool.execute.after": async (input, output) => {
      const outline = input.tool === "read" && (await outlineOf(input.sessionID, input.args, directory));
      if (outline) output.output = outline;
      const beside = await besideOf(input.sessionID, input.tool, input.args, output.output, directory);
      if (beside) output.output += `\n\n${beside}`;
      const mail = await mailFor("PostToolUse", input.sessionID);
      if (mail) output.output += `\n\n${mail}`;
    },
  };
};

/** What opencode 2 takes: a function that registers hooks. */
const setup = async (context) => {
  const directory = context.location?.directory ?? process.cwd();
  await context.session.hook("prompt", async (event) => {
    const packet = await packetFor(event.sessionID, event.prompt.text, directory);
    const mail = await contextOf("mail", "UserPromptSubmit", {}, directory);
    for (const text of [packet, mail].filter(Boolean)) event.prompt.text += `\n\n${text}`;
  });
  await context.tool.hook("execute.after", async (event) => {
    if (event.tool !== "read" || event.status !== "completed") return;
    const outline = await outlineOf(event.sessionID, event.input, directory);
    if (outline) event.result = { ...event.result, content: [{ type: "text", text: outline }] };
  });
};

export default { id: "tersely", server, setup };
