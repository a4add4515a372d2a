// What a change of a symbol may affect, as a tree in VS Code's own references view.

import * as path from "node:path";
import * as vscode from "vscode";
import { CodeServer, folderInUse, Found } from "./server";
import { pickSymbol } from "./packs";

const VIEW = "vscode.references-view"; // the extension that comes with the editor

interface Call {
  readonly caller: string;
  readonly callee: string;
  readonly grade: string;
  readonly path: string;
  readonly lines: number[];
  readonly depth: number;
  readonly via: string[];
}

interface Impact {
  readonly symbol: string;
  readonly line: number;
  readonly callers: { readonly items: Call[]; readonly total: number };
}

/** One symbol that is affected, and those that are affected through it. */
class Affected {
  readonly through: Affected[] = [];
  constructor(
    readonly call: Call,
    readonly location: vscode.Location,
    readonly parent: Affected | undefined,
  ) {}
}

/** The parts of the view's own interface that are needed here. */
interface ReferencesView {
  setInput(input: object): void;
}

/** Show what a change of a symbol may affect: the one named, at the cursor, or chosen. */
export async function showImpact(code: CodeServer, symbol?: string, root?: string): Promise<void> {
  const id = symbol ?? (await symbolToShow(code))?.id;
  if (!id) {
    return;
  }
  const folder = root ?? folderInUse();
  const impact = await code.value<Impact>("code.impact", { symbol: id }, folder);
  const place = new vscode.Location(inside(folder, pathOf(impact.symbol)), new vscode.Position(impact.line - 1, 0));
  const view = await vscode.extensions.getExtension<ReferencesView>(VIEW)?.activate();
  if (!view) {
    throw new Error(`the extension ${VIEW} is switched off`);
  }
  view.setInput(input(place, impact, folder));
}

async function symbolToShow(code: CodeServer): Promise<Found | undefined> {
  return (await code.symbolAtCursor()) ?? (await pickSymbol(code, "Show the impact of…"));
}

function input(location: vscode.Location, impact: Impact, folder: string): object {
  return {
    contextValue: "tersely-impact",
    title: `Impact of ${nameOf(impact.symbol)}`,
    location,
    resolve: () => model(impact, folder),
    with: (moved: vscode.Location) => input(moved, impact, folder),
  };
}

function model(impact: Impact, folder: string): object {
  const { top, every } = tree(impact, folder);
  const left = impact.callers.total - impact.callers.items.length;
  const files = new Set(impact.callers.items.map((call) => call.path)).size;
  const counted = `${impact.callers.total} symbols in ${files} files`;
  const next = (from: Affected, step: number): Affected => every[(every.indexOf(from) + step + every.length) % every.length];
  return {
    message: left > 0 ? `${counted}; ${left} more are not shown` : counted,
    provider: {
      getTreeItem: treeItem,
      getChildren: (item?: Affected) => (item ? item.through : top),
      getParent: (item: Affected) => item.parent,
    },
    navigation: {
      nearest: () => every[0],
      next: (from: Affected) => next(from, 1),
      previous: (from: Affected) => next(from, -1),
      location: (item: Affected) => item.location,
    },
  };
}

/** Callers below what they call, the nearest first. */
function tree(impact: Impact, folder: string): { top: Affected[]; every: Affected[] } {
  const known = new Map<string, Affected>();
  const top: Affected[] = [];
  for (const call of impact.callers.items) {
    const parent = known.get(call.callee);
    const uri = inside(folder, call.path);
    const item = new Affected(call, new vscode.Location(uri, new vscode.Position((call.lines[0] ?? 1) - 1, 0)), parent);
    (parent ? parent.through : top).push(item);
    known.set(call.caller, item);
  }
  return { top, every: [...known.values()] };
}

function treeItem(item: Affected): vscode.TreeItem {
  const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
  const state = item.through.length === 0 ? None : item.parent ? Collapsed : Expanded;
  const shown = new vscode.TreeItem(nameOf(item.call.caller), state);
  const line = item.location.range.start.line + 1;
  shown.description = `${item.call.path}:${line}${item.call.grade === "exact" ? "" : ` (${item.call.grade.replace("_", " ")})`}`;
  shown.iconPath = new vscode.ThemeIcon("symbol-method");
  shown.command = {
    title: "Open",
    command: "vscode.open",
    arguments: [item.location.uri, { selection: item.location.range }],
  };
  return shown;
}

export function inside(folder: string, file: string): vscode.Uri {
  return vscode.Uri.file(path.join(folder, file));
}

function pathOf(symbol: string): string {
  return symbol.slice(0, symbol.lastIndexOf(":"));
}

function nameOf(symbol: string): string {
  return symbol.slice(symbol.lastIndexOf(":") + 1);
}
