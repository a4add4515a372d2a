// The language server as the rest of the extension asks it.

import * as path from "node:path";
import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn } from "vscode-languageclient/node";

const IMPACT = "tersely.impact"; // the command behind a lens
const MAX_DEFINITIONS = 2_000; // of a file, among which that around the cursor is looked for

/** A symbol of the repository: its id is `path:Class.method`. */
export interface Found {
  readonly id: string;
  readonly location: vscode.Location;
}

interface Definition {
  readonly id: string;
  readonly line: number;
  readonly end_line: number;
}

interface Structure {
  readonly entries: { readonly items: Definition[] };
}

export interface Permission {
  readonly id: string;
  readonly agent: string;
  readonly what: string;
}

/** What waits for the person; `problem` is the error code where no relay answers. */
export interface Waits {
  readonly problem: string;
  readonly unread: number;
  readonly permissions: Permission[];
}

export class CodeServer {
  readonly program: string;
  private readonly client: LanguageClient;

  constructor(output: vscode.OutputChannel, onImpact: (symbol: string, root: string) => Promise<void>) {
    this.program = vscode.workspace.getConfiguration("tersely").get<string>("program") || "tersely";
    this.client = new LanguageClient(
      "tersely",
      "Tersely",
      { command: this.program, args: ["lsp"] },
      {
        documentSelector: [{ scheme: "file" }],
        outputChannel: output,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        middleware: {
          // The lens of a function shows a tree instead of the words that the command answers.
          executeCommand: (command, given, next) =>
            command === IMPACT ? onImpact(String(given[0]), String(given[1])) : next(command, given),
        },
      },
    );
  }

  /** Start it; the error says what to set where the program is not there. */
  async start(): Promise<void> {
    try {
      await this.client.start();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`"${this.program} lsp" does not start (${why}). The setting tersely.program names the program.`);
    }
  }

  async stop(): Promise<void> {
    if (this.client.isRunning()) {
      await this.client.stop();
    }
  }

  /** The result of a capability that reads code. */
  value<Result>(capability: string, given: object, folder = folderInUse()): Promise<Result> {
    return this.command("tersely.value", [capability, given, folder]);
  }

  /** The same in words. */
  text(capability: string, given: object, folder = folderInUse()): Promise<string> {
    return this.command("tersely.text", [capability, given, folder]);
  }

  waiting(): Promise<Waits> {
    return this.command("tersely.waiting", []);
  }

  /** Where sockets of this user are, in a directory of the user's own. */
  socketDirectory(): Promise<string> {
    return this.command("tersely.sockets", []);
  }

  /** Symbols whose name has the words of a query in it. */
  async symbols(query: string, token: vscode.CancellationToken): Promise<Found[]> {
    const found = await this.client.sendRequest<any[]>("workspace/symbol", { query }, token);
    return (found ?? []).map((one) => this.found(one.containerName, one.location.uri, one.location.range));
  }

  /** The symbol whose name is at the cursor, else the definition around it; undefined where there is neither. */
  async symbolAtCursor(): Promise<Found | undefined> {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.uri.scheme !== "file") {
      return undefined;
    }
    const asked = this.client.code2ProtocolConverter.asTextDocumentPositionParams(editor.document, editor.selection.active);
    const [item] = (await this.client.sendRequest<any[]>("textDocument/prepareCallHierarchy", asked)) ?? [];
    return item ? this.found(item.data.symbol, item.uri, item.selectionRange) : this.definitionAround(editor);
  }

  private async definitionAround(editor: vscode.TextEditor): Promise<Found | undefined> {
    const [folder, line] = [folderInUse(), editor.selection.active.line + 1];
    const file = path.relative(folder, editor.document.uri.fsPath);
    const asked = this.value<Structure>("code.structure", { path: file, limit: MAX_DEFINITIONS }, folder);
    const found = await asked.catch((): Structure => ({ entries: { items: [] } })); // as for a file that is not indexed
    const around = found.entries.items.filter((one) => one.line <= line && line <= one.end_line);
    const innermost = around.reduce((best, one) => (one.line >= best.line ? one : best), around[0]);
    const position = new vscode.Position((innermost?.line ?? 1) - 1, 0);
    return innermost && { id: innermost.id, location: new vscode.Location(editor.document.uri, position) };
  }

  private found(id: string, uri: string, range: any): Found {
    const convert = this.client.protocol2CodeConverter;
    return { id, location: new vscode.Location(convert.asUri(uri), convert.asRange(range as vscode.Range)) };
  }

  private command<Result>(command: string, given: unknown[]): Promise<Result> {
    return this.client.sendRequest<Result>("workspace/executeCommand", { command, arguments: given });
  }
}

/** The folder of the file that is shown, else the first one. */
export function folderInUse(): string {
  const shown = vscode.window.activeTextEditor?.document.uri;
  const folder = (shown && vscode.workspace.getWorkspaceFolder(shown)) ?? vscode.workspace.workspaceFolders?.[0];
  if (!folder) {
    throw new Error("open a folder first");
  }
  return folder.uri.fsPath;
}
