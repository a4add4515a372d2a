// What VS Code starts: the language server, the commands, the status item, and the socket for agents.

import * as vscode from "vscode";
import { serveAgents } from "./bridge";
import { showImpact } from "./impact";
import { affectedTests, copyContext, openPack } from "./packs";
import { CodeServer } from "./server";
import { showWaiting, Waiting } from "./waiting";

let server: CodeServer | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("Tersely");
  const code: CodeServer = new CodeServer(output, (symbol, root) => shown(() => showImpact(code, symbol, root)));
  server = code;
  const waiting = new Waiting(code);
  const commands: Record<string, () => Promise<void>> = {
    "tersely.copyContext": () => copyContext(code),
    "tersely.openPack": () => openPack(code),
    "tersely.showImpact": () => showImpact(code),
    "tersely.affectedTests": () => affectedTests(code),
    "tersely.showWaiting": () => showWaiting(code, waiting),
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, () => shown(run)));
  }
  context.subscriptions.push(output, waiting);
  await shown(async () => {
    await code.start();
    context.subscriptions.push(await serveAgents(await code.socketDirectory()));
    waiting.begin();
  });
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

/** Do something, and show what keeps it from being done. */
async function shown(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    vscode.window.showErrorMessage(`Tersely: ${error instanceof Error ? error.message : String(error)}`);
  }
}
