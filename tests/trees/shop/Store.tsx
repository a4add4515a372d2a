import React, { createContext, useContext, useEffect, useMemo, useReducer, useState } from "react";
import type { ReactNode } from "react";
import { amount } from "./money";

/** What can be sold. */
export interface Article {
  readonly name: string;
  price: number;
  tags?: string[];
}

export type Kind = "cheap" | "usual" | "dear";

type Change =
  | { type: "put"; article: Article }
  | { type: "raised"; by: number }
  | { type: "cleared" };

interface State {
  articles: Record<string, Article>;
  changes: number;
}

const EMPTY: State = { articles: {}, changes: 0 };

export function kindOf({ price }: Article): Kind {
  if (price < 10) return "cheap";
  return price < 100 ? "usual" : "dear";
}

function changed(state: State, change: Change): State {
  const changes = state.changes + 1;
  switch (change.type) {
    case "put":
      return { changes, articles: { ...state.articles, [change.article.name]: change.article } };
    case "raised": {
      const raised = Object.entries(state.articles).map(([name, article]) => [
        name,
        { ...article, price: article.price * (1 + change.by) },
      ]);
      return { changes, articles: Object.fromEntries(raised) };
    }
    default:
      return { ...EMPTY, changes };
  }
}

const Shop = createContext<{ state: State; tell: React.Dispatch<Change> } | null>(null);

export function useShop() {
  const shop = useContext(Shop);
  if (!shop) throw new Error("there is no shop around");
  return shop;
}

export const Provider = ({ children }: { children: ReactNode }): JSX.Element => {
  const [state, tell] = useReducer(changed, EMPTY);
  const shop = useMemo(() => ({ state, tell }), [state]);
  return <Shop.Provider value={shop}>{children}</Shop.Provider>;
};

export function useArticles(wanted: (article: Article) => boolean = () => true): Article[] {
  const { state } = useShop();
  return Object.values(state.articles)
    .filter(wanted)
    .sort((one, other) => one.price - other.price);
}

async function loaded<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  const answer = await fetch(path, { signal });
  if (!answer.ok) throw new Error(`no answer: ${answer.status}`);
  return (await answer.json()) as T[];
}

export function Loader({ path }: { path: string }) {
  const { tell } = useShop();
  const [error, setError] = useState<string>();
  useEffect(() => {
    const control = new AbortController();
    loaded<Article>(path, control.signal)
      .then((all) => all.forEach((article) => tell({ type: "put", article })))
      .catch((reason: Error) => setError(reason.message));
    return () => control.abort();
  }, [path, tell]);
  return error ? <p role="alert">{error}</p> : null;
}

abstract class Report<P extends { title: string }> extends React.Component<P, { open: boolean }> {
  state = { open: false };
  protected abstract lines(): string[];
  private toggle = () => this.setState(({ open }) => ({ open: !open }));

  render() {
    return (
      <section onClick={this.toggle}>
        <h2>{this.props.title}</h2>
        {this.state.open && this.lines().map((line) => <p key={line}>{line}</p>)}
      </section>
    );
  }
}

export class Totals extends Report<{ title: string; articles: Article[] }> {
  protected lines() {
    const found = new Map<Kind, number>();
    for (const article of this.props.articles) {
      const kind = kindOf(article);
      found.set(kind, (found.get(kind) ?? 0) + article.price);
    }
    return [...found].map(([kind, sum]) => `${kind}: ${amount(sum)}`);
  }
}

export default function List({ by = 0.1 }: { by?: number }) {
  const { tell } = useShop();
  const articles = useArticles(({ price }) => price > 0);
  return (
    <>
      <Totals title="Totals" articles={articles} />
      <ul>
        {articles.map((article) => (
          <li key={article.name} className={kindOf(article)}>
            {article.name} <b>{amount(article.price)}</b>
          </li>
        ))}
      </ul>
      <button onClick={() => tell({ type: "raised", by })}>raise</button>
    </>
  );
}
