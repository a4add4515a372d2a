// Talks to a server as clients in TypeScript do: the official SDK, over the standard streams. Prints what it was told.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools();
const answer = await client.callTool({ name: "symbol_get", arguments: { symbol: "format_cents" } });
const refusal = await client.callTool({ name: "call", arguments: { tool: "impact", arguments: { symbol: "nobody" } } });
const { contents } = await client.readResource({ uri: "tersely://symbol/src/shop/money.py:format_cents" });
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), answer, refusal, contents }));
