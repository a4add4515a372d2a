// Tersely for opencode: puts a packet beside the prompt, and an outline in the place of a large file that is read whole.
import { spawn } from "node:child_process";

const PROGRAM = ["tersely"];
const LONGEST_MILLISECONDS = 15_000;

/** What a hook of Tersely answers; nothing when anything goes wrong. */
function ask(kind, call, directory) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM[0], [...PROGRAM.slice(1), "hook", kind, "--agent", "opencode"], {
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

const outlineOf = (sessionID, input, directory) =>
  ask("read", { session_id: sessionID, tool_name: "read", tool_input: input }, directory);
/** Has all that was shown in a session be shown anew. */
const startAnew = (sessionID, directory) => ask("session", { session_id: sessionID, source: "compact" }, directory);
const packetFor = (sessionID, text, directory) => ask("prompt", { session_id: sessionID, prompt: text }, directory);

/** What opencode 1 takes: a function that returns hooks. */
const server = async ({ directory }) => ({
  "chat.message": async (input, output) => {
    const first = output.parts.find((part) => part.type === "text" && !part.synthetic);
    const packet = first && (await packetFor(input.sessionID, first.text, directory));
    if (packet) first.text += `\n\n${packet}`;
  },
  event: async ({ event }) => {
    if (event.type === "session.compacted") await startAnew(event.properties?.sessionID ?? "", directory);
  },
  "tool.execute.after": async (input, output) => {
    const outline = input.tool === "read" && (await outlineOf(input.sessionID, input.args, directory));
    if (outline) output.output = outline;
  },
});

/** What opencode 2 takes: a function that registers hooks. */
const setup = async (context) => {
  const directory = context.location?.directory ?? process.cwd();
  await context.session.hook("prompt", async (event) => {
    const packet = await packetFor(event.sessionID, event.prompt.text, directory);
    if (packet) event.prompt.text += `\n\n${packet}`;
  });
  await context.tool.hook("execute.after", async (event) => {
    if (event.tool !== "read" || event.status !== "completed") return;
    const outline = await outlineOf(event.sessionID, event.input, directory);
    if (outline) event.result = { ...event.result, content: [{ type: "text", text: outline }] };
  });
};

export default { id: "tersely", server, setup };
