// Laconic for opencode: puts a packet beside the prompt, and an outline in the place of a large file that is read whole.
import { spawn } from "node:child_process";

const PROGRAM = ["laconic"];
const LONGEST_MILLISECONDS = 15_000;

/** What a hook of Laconic answers; nothing when anything goes wrong. */
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

export const Laconic = async ({ directory }) => ({
  "chat.message": async (input, output) => {
    const first = output.parts.find((part) => part.type === "text" && !part.synthetic);
    if (!first) return;
    const packet = await ask("prompt", { session_id: input.sessionID, prompt: first.text }, directory);
    if (packet) first.text += `\n\n${packet}`;
  },
  "tool.execute.after": async (input, output) => {
    if (input.tool !== "read") return;
    const call = { session_id: input.sessionID, tool_name: "read", tool_input: input.args };
    const outline = await ask("read", call, directory);
    if (outline) output.output = outline;
  },
});
