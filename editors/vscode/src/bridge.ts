// The socket through which an agent of this user sees and changes what is open here: one line of JSON each way.
// Only files of the window's folders are touched. The directory is the user's alone, and so is the socket.

import { chmodSync, rmSync } from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import * as vscode from "vscode";

const MAX_REQUEST_CHARACTERS = 8_000_000;
const MAX_DIAGNOSTICS = 200; // of one answer
const MAX_SELECTED_CHARACTERS = 20_000;
const MAX_OUTPUT_CHARACTERS = 200_000; // of one command
const SHELL_MILLISECONDS = 5_000; // for the shell to say that it can be heard
const TERMINAL = "Tersely agent";
const SEVERITIES = ["error", "warning", "information", "hint"];

type Given = Record<string, unknown>;
type Answer = (given: Given) => unknown;

const ANSWERS: Record<string, Answer> = { hello, look, open, diagnostics, read, write, run };

/** Listen for agents until it is disposed of. */
export async function serveAgents(directory: string): Promise<vscode.Disposable> {
  const place = path.join(directory, `editor-${process.pid}.sock`);
  rmSync(place, { force: true });
  const server = net.createServer(serve);
  const before = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(place, resolve));
  } finally {
    process.umask(before);
  }
  chmodSync(place, 0o600);
  const dispose = (): void => {
    server.close();
    rmSync(place, { force: true });
  };
  return { dispose };
}

function serve(socket: net.Socket): void {
  let waiting = "";
  socket.setEncoding("utf8");
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: string) => {
    waiting += chunk;
    const end = waiting.indexOf("\n");
    if (waiting.length > MAX_REQUEST_CHARACTERS) {
      socket.destroy();
    } else if (end >= 0) {
      const line = waiting.slice(0, end);
      waiting = "";
      void answered(line).then((reply) => socket.end(`${JSON.stringify(reply)}\n`));
    }
  });
}

async function answered(line: string): Promise<object> {
  try {
    const { method, params } = JSON.parse(line) as { method: string; params?: Given };
    if (!Object.hasOwn(ANSWERS, method)) {
      throw new Error(`there is no method ${method}`);
    }
    return { result: (await ANSWERS[method](params ?? {})) ?? null };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function hello(): object {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((one) => one.uri.fsPath);
  return { editor: vscode.env.appName, folders, focused: vscode.window.state.focused };
}

/** What the user looks at, and what is selected there. */
function look(): object | null {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== "file") {
    return null;
  }
  const { document, selection } = editor;
  return {
    path: document.uri.fsPath,
    line: selection.start.line + 1,
    end_line: selection.end.line + 1,
    text: document.getText(selection).slice(0, MAX_SELECTED_CHARACTERS),
    unsaved: document.isDirty,
  };
}

async function open(given: Given): Promise<void> {
  const document = await vscode.workspace.openTextDocument(ownFile(given));
  const line = Math.max(0, Math.min(Number(given.line ?? 1), document.lineCount) - 1);
  const selection = new vscode.Range(line, 0, line, 0);
  await vscode.window.showTextDocument(document, { preview: false, selection });
}

function diagnostics(given: Given): object[] {
  const every: [vscode.Uri, vscode.Diagnostic[]][] = given.path
    ? [[ownFile(given), vscode.languages.getDiagnostics(ownFile(given))]]
    : vscode.languages.getDiagnostics();
  return every
    .filter(([uri]) => uri.scheme === "file" && vscode.workspace.getWorkspaceFolder(uri))
    .flatMap(([uri, found]) => found.map((one) => ({ ...told(one), path: uri.fsPath })))
    .slice(0, MAX_DIAGNOSTICS);
}

function told(one: vscode.Diagnostic): object {
  const { line, character } = one.range.start;
  const place = { line: line + 1, column: character + 1 };
  return { ...place, severity: SEVERITIES[one.severity], message: one.message, source: one.source ?? "" };
}

/** The text of a file as it is in the editor, with endings of one character; null where it is not open. */
function read(given: Given): string | null {
  const uri = ownFile(given);
  const open = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  return open ? open.getText().replaceAll("\r\n", "\n") : null;
}

/** Put one text in the place of another, so that the editor can undo it; saved where nothing else was unsaved. */
async function write(given: Given): Promise<object> {
  const document = await vscode.workspace.openTextDocument(ownFile(given));
  const [before, after] = [String(given.before), String(given.after)];
  const now = document.getText();
  if (now.replaceAll("\r\n", "\n") !== before) {
    throw new Error("the text is not what it was when it was read");
  }
  const wasUnsaved = document.isDirty;
  const ending = document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
  const edit = new vscode.WorkspaceEdit();
  const { range, text } = difference(document, now, after.replaceAll("\n", ending));
  edit.replace(document.uri, range, text);
  if (!(await vscode.workspace.applyEdit(edit))) {
    throw new Error("the editor did not take the edit");
  }
  return { saved: !wasUnsaved && (await document.save()) };
}

/** The one range that differs: cursors and folds outside of it stay. */
function difference(document: vscode.TextDocument, now: string, after: string): { range: vscode.Range; text: string } {
  const most = Math.min(now.length, after.length);
  let start = 0;
  while (start < most && now[start] === after[start]) {
    start++;
  }
  let end = 0;
  while (end < most - start && now[now.length - 1 - end] === after[after.length - 1 - end]) {
    end++;
  }
  const range = new vscode.Range(document.positionAt(start), document.positionAt(now.length - end));
  return { range, text: after.slice(start, after.length - end) };
}

/** Run a command line in a terminal that the user sees; what it printed, where the shell lets itself be heard. */
async function run(given: Given): Promise<object> {
  const cwd = String(given.folder);
  if (!vscode.workspace.getWorkspaceFolder(vscode.Uri.file(cwd))) {
    throw new Error(`${cwd} is outside of the folders that are open`);
  }
  const kept = vscode.window.terminals.find((one) => one.name === TERMINAL && one.exitStatus === undefined);
  const terminal = kept ?? vscode.window.createTerminal({ name: TERMINAL, cwd });
  terminal.show(true);
  const shell = terminal.shellIntegration ?? (await heard(terminal));
  if (!shell) {
    terminal.sendText(String(given.command));
    return { output: null, status: null };
  }
  const execution = shell.executeCommand(String(given.command));
  const status = new Promise<number | null>((resolve) => {
    const listening = vscode.window.onDidEndTerminalShellExecution((ended) => {
      if (ended.execution === execution) {
        listening.dispose();
        resolve(ended.exitCode ?? null);
      }
    });
  });
  let output = "";
  for await (const chunk of execution.read()) {
    output = (output + chunk).slice(-MAX_OUTPUT_CHARACTERS);
  }
  return { output, status: await status };
}

/** The shell of a terminal once it can be heard, undefined where it does not come to that. */
function heard(terminal: vscode.Terminal): Promise<vscode.TerminalShellIntegration | undefined> {
  return new Promise((resolve) => {
    const listening = vscode.window.onDidChangeTerminalShellIntegration((changed) => {
      if (changed.terminal === terminal) {
        finish(changed.shellIntegration);
      }
    });
    const timer = setTimeout(() => finish(undefined), SHELL_MILLISECONDS);
    const finish = (shell: vscode.TerminalShellIntegration | undefined): void => {
      clearTimeout(timer);
      listening.dispose();
      resolve(shell);
    };
  });
}

/** The file of a request; raises for one outside of the folders that are open. */
function ownFile(given: Given): vscode.Uri {
  const uri = vscode.Uri.file(String(given.path));
  if (!vscode.workspace.getWorkspaceFolder(uri)) {
    throw new Error(`${uri.fsPath} is outside of the folders that are open`);
  }
  return uri;
}
