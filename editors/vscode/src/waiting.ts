// A status item: messages that are not read, and agents that wait for permission.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { CodeServer, folderInUse, Waits } from "./server";

const LOOK_MILLISECONDS = 5_000; // between two looks, while the window is in use
const NOTHING: Waits = { problem: "", unread: 0, permissions: [] };

export class Waiting implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("tersely.waiting", vscode.StatusBarAlignment.Left, 0);
  private timer: NodeJS.Timeout | undefined;
  latest: Waits = NOTHING;

  constructor(private readonly code: CodeServer) {
    this.item.name = "Tersely";
    this.item.command = "tersely.showWaiting";
  }

  begin(): void {
    this.item.show();
    void this.look();
  }

  /** Look, and again later. */
  async look(): Promise<void> {
    clearTimeout(this.timer);
    if (vscode.window.state.focused || this.latest === NOTHING) {
      this.latest = await this.code.waiting().catch(() => ({ ...NOTHING, problem: "stopped" }));
      this.show(this.latest);
    }
    this.timer = setTimeout(() => void this.look(), LOOK_MILLISECONDS);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.item.dispose();
  }

  private show({ problem, unread, permissions }: Waits): void {
    const counts = [unread ? `$(mail) ${unread}` : "", permissions.length ? `$(question) ${permissions.length}` : ""];
    this.item.text = ["Tersely", ...counts.filter(Boolean)].join(" ");
    this.item.tooltip = problem
      ? "No relay answers: `tersely up` starts one"
      : `${unread} messages not read, ${permissions.length} agents wait for permission`;
    const warning = new vscode.ThemeColor("statusBarItem.warningBackground");
    this.item.backgroundColor = permissions.length ? warning : undefined;
  }
}

interface Choice extends vscode.QuickPickItem {
  readonly permission?: string;
}

/** Offer what waits: an agent's question to be answered, or the messages to be read. */
export async function showWaiting(code: CodeServer, waiting: Waiting): Promise<void> {
  await waiting.look();
  const { problem, unread, permissions } = waiting.latest;
  if (problem) {
    vscode.window.showInformationMessage("Tersely: no relay answers. `tersely up` starts one.");
    return;
  }
  const messages: Choice[] = unread ? [{ label: `$(mail) Read ${unread} messages`, description: "tersely inbox" }] : [];
  const questions: Choice[] = permissions.map((one) => ({
    label: `$(question) ${one.agent}`,
    description: one.what,
    permission: one.id,
  }));
  const choices = [...questions, ...messages];
  if (choices.length === 0) {
    vscode.window.showInformationMessage("Tersely: nothing waits for you.");
    return;
  }
  const chosen = await vscode.window.showQuickPick(choices, { title: "What waits for you", matchOnDescription: true });
  if (chosen?.permission) {
    await answer(code, chosen.permission, `${chosen.label.replace("$(question) ", "")}: ${chosen.description}`);
  } else if (chosen) {
    const terminal = vscode.window.createTerminal({ name: "Tersely messages", cwd: folderInUse() });
    terminal.show();
    terminal.sendText(`${quoted(code.program)} inbox`);
  }
  await waiting.look();
}

async function answer(code: CodeServer, permission: string, question: string): Promise<void> {
  const said = await vscode.window.showWarningMessage(question, { modal: true }, "Allow", "Deny");
  if (said) {
    const word = said === "Allow" ? "approve" : "deny";
    await promisify(execFile)(code.program, ["agents", word, permission], { cwd: folderInUse() });
  }
}

function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
