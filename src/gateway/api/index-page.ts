/** The page at /: what this is and how to connect to it, without script or style. */
import type { ServerResponse } from 'node:http'

const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function sendIndexPage(response: ServerResponse, url: string, version: string): void {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
  response.end(page(url, version))
}

const page = (url: string, version: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Métier</title>
<h1>Métier ${version}</h1>
<p>The runtime between AI agents and their tools. MCP is served at <code>${url}/mcp</code>.</p>
<h2>Connect a host</h2>
<pre>claude mcp add --transport http metier ${url}/mcp
codex mcp add metier --url ${url}/mcp</pre>
<h2>Look at the record</h2>
<ul>
<li><a href="/api/runs">Runs</a></li>
<li><a href="/approvals">Open approvals</a></li>
<li><a href="/api/tools">Tools</a></li>
<li><a href="/api/ledger">Ledger</a></li>
</ul>
</html>
`
