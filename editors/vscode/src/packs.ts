// Packs of context, and the tests that a change affects, by VS Code's own pickers.

import * as vscode from "vscode";
import { CodeServer, folderInUse, Found } from "./server";

const TERMINAL = "Tersely tests";
const PICK_MILLISECONDS = 120; // after the last key, before symbols are asked for

/** A kind of pack, and how its question is asked. */
interface Pack extends vscode.QuickPickItem {
  readonly capability: string;
  given(code: CodeServer): Promise<object | undefined>;
}

const PACKS: readonly Pack[] = [
  {
    label: "$(symbol-method) A symbol",
    description: "its source, and what it calls and is called by",
    capability: "code.context",
    given: async (code) => symbolGiven(await chosenSymbol(code)),
  },
  {
    label: "$(tasklist) A task",
    description: "where it probably has to be done, with the likely source",
    capability: "code.packet",
    given: async () => taskGiven(await vscode.window.showInputBox({ title: "The task, in words" })),
  },
  {
    label: "$(git-compare) My changes",
    description: "what the last commit does not have, and what depends on it",
    capability: "code.diff_context",
    given: async () => ({ worktree: true }),
  },
  {
    label: "$(repo) The repository",
    description: "a map, the most important parts opened",
    capability: "code.map",
    given: async () => ({}),
  },
];

/** Put a pack on the clipboard. */
export async function copyContext(code: CodeServer): Promise<void> {
  const text = await chosenPack(code, "Copy context for…");
  if (text) {
    await vscode.env.clipboard.writeText(text);
    vscode.window.setStatusBarMessage(`Tersely: ${text.length.toLocaleString("en")} characters of context copied`, 5_000);
  }
}

/** Show a pack in an editor. */
export async function openPack(code: CodeServer): Promise<void> {
  const text = await chosenPack(code, "Open a pack of…");
  if (text) {
    const document = await vscode.workspace.openTextDocument({ content: text, language: "markdown" });
    await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }
}

async function chosenPack(code: CodeServer, title: string): Promise<string | undefined> {
  const pack = await vscode.window.showQuickPick(PACKS, { title });
  const given = pack && (await pack.given(code));
  if (!pack || !given) {
    return undefined;
  }
  const progress = { location: vscode.ProgressLocation.Window, title: "Tersely: a pack is made" };
  const text = await vscode.window.withProgress(progress, () => code.text(pack.capability, given));
  if (!text.trim()) {
    vscode.window.showInformationMessage("Tersely has nothing to say about this.");
  }
  return text.trim() ? text : undefined;
}

interface Tests {
  readonly tests: number;
  readonly likely: number;
  readonly likely_command: string;
  readonly command: string;
  readonly imports_command: string;
}

interface Run extends vscode.QuickPickItem {
  readonly run: string;
}

/** Offer the commands that run the tests which the change in the working tree affects. */
export async function affectedTests(code: CodeServer): Promise<void> {
  const folder = folderInUse();
  const found = await code.value<Tests>("code.change_impact", {}, folder);
  const offered: Run[] = [
    { label: `$(play) The ${found.likely} most likely`, run: found.likely_command },
    { label: `$(run-all) All ${found.tests} that reach it by calls`, run: found.command },
    { label: "$(references) Files of tests that import it", run: found.imports_command },
  ].map((one) => ({ ...one, detail: one.run }));
  const runs = offered.filter((one, at) => one.run && offered.findIndex((other) => other.run === one.run) === at);
  if (runs.length === 0) {
    vscode.window.showInformationMessage("Tersely: no test reaches what has changed since the last commit.");
    return;
  }
  const chosen = await vscode.window.showQuickPick(runs, { title: "Run the tests that the change affects" });
  if (chosen) {
    const open = vscode.window.terminals.find((one) => one.name === TERMINAL && one.exitStatus === undefined);
    const terminal = open ?? vscode.window.createTerminal({ name: TERMINAL, cwd: folder });
    terminal.show(true);
    terminal.sendText(chosen.run);
  }
}

async function chosenSymbol(code: CodeServer): Promise<Found | undefined> {
  const here = await code.symbolAtCursor();
  return pickSymbol(code, "Context for…", here);
}

function symbolGiven(found: Found | undefined): object | undefined {
  return found && { symbols: [found.id] };
}

function taskGiven(task: string | undefined): object | undefined {
  return task?.trim() ? { task } : undefined;
}

interface SymbolItem extends vscode.QuickPickItem {
  readonly found: Found;
}

/** A symbol of the repository that somebody chooses, by typing a part of its name; the one at the cursor comes first. */
export function pickSymbol(code: CodeServer, title: string, here?: Found): Promise<Found | undefined> {
  const picker = vscode.window.createQuickPick<SymbolItem>();
  const first = here ? [symbolItem(here, "at the cursor")] : [];
  picker.title = title;
  picker.placeholder = "A part of a name";
  picker.matchOnDescription = true;
  picker.items = first;
  let asked: vscode.CancellationTokenSource | undefined;
  let timer: NodeJS.Timeout | undefined;
  const search = async (query: string): Promise<void> => {
    asked?.cancel();
    const question = (asked = new vscode.CancellationTokenSource());
    picker.busy = true;
    const found = await code.symbols(query, question.token).catch((): Found[] => []);
    if (!question.token.isCancellationRequested) {
      picker.items = [...first, ...found.map((one) => symbolItem(one))];
      picker.busy = false;
    }
  };
  picker.onDidChangeValue((query) => {
    clearTimeout(timer);
    timer = setTimeout(() => search(query), PICK_MILLISECONDS);
  });
  return new Promise((resolve) => {
    picker.onDidAccept(() => {
      resolve(picker.selectedItems[0]?.found);
      picker.hide();
    });
    picker.onDidHide(() => {
      clearTimeout(timer);
      asked?.cancel();
      resolve(undefined);
      picker.dispose();
    });
    picker.show();
  });
}

function symbolItem(found: Found, note = ""): SymbolItem {
  const [file, name] = [found.id.slice(0, found.id.lastIndexOf(":")), found.id.slice(found.id.lastIndexOf(":") + 1)];
  return { label: name || file, description: note ? `${file} (${note})` : file, found };
}
