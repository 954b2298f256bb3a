/**
 * The shipped schema of the configuration says what the program says: the same files are right, the
 * same are wrong, the same defaults hold.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { Validator } from '@cfworker/json-schema'
import { effectKinds, effectPattern, parseConfig } from '#model'

const schema = JSON.parse(readFileSync(new URL('metier.schema.json', import.meta.resolve('#package')), 'utf8'))
const validator = new Validator(schema, '2020-12')

function isAccepted(document: object): boolean {
  try {
    parseConfig({ file: null, text: JSON.stringify(document), home: '/h', env: {}, directory: '/d' })
    return true
  } catch {
    return false
  }
}

const stdio = { command: 'x' }
const right: object[] = [
  {},
  { $schema: './node_modules/metier/metier.schema.json' },
  { mcpServers: { fs: { command: 'npx', args: ['-y'], env: { A: 'b' }, cwd: 'sub', stateful: true, concurrency: 1 } } },
  { servers: { web: { type: 'http', url: 'https://example.org/mcp', headers: { A: 'b' }, disabled: true } } },
  { servers: { web: { url: 'https://example.org/mcp', oauth: { scope: 'a b', redirectPort: 8123 } } } },
  {
    servers: {
      web: { url: 'http://a/', oauth: { grant: 'client_credentials', clientId: 'a', clientSecret: 'b', issuer: 'c' } },
    },
  },
  { servers: { a: { ...stdio, effects: { put: 'idempotent', pay: 'keyed:id' }, idleMs: 0 } } },
  { expose: ['fs:read_file'] },
  { approvals: { expireMs: 1000, webhook: 'https://example.org/hook' } },
  { approvals: { webhook: null } },
  {
    policy: {
      permissions: 'minimal',
      rules: [{ tool: 'fs:*', effect: 'read', args: { '/path': '/tmp/**' }, then: 'ask' }],
    },
  },
  { sandbox: { minTier: 'gvisor', engine: 'v8', outbound: ['example.org:443'] } },
  {
    budget: { calls: 1, wallMs: 1, bytes: 1, tokens: null, cost: 0.5, deadlineMs: null },
    record: { retentionDays: null, secrets: ['sk-[a-z]+'], operations: false },
  },
  { http: { auth: 'oauth', issuer: 'https://issuer.example', audience: 'a', scope: 'a b', url: 'https://m.example' } },
  { http: { rate: { requests: 1, executes: 1 } } },
  { taskGraph: { url: 'neo4j://host:7687', user: 'neo4j', password: '${NEO4J_PASSWORD}', database: 'neo4j' } },
  { taskGraph: { url: 'bolt+s://host', password: 'secret', project: true } },
  { taskGraph: { project: true } },
  { http: { host: '::1', port: 0, auth: 'token' }, taskGraph: 'sqlite', artifacts: 'dir', nats: null },
  { agent: { model: 'anthropic:claude', protocol: 'tool_code', maxSteps: 1, tokens: 1, wallMs: 1, tools: false } },
  { agent: { model: null } },
  { providers: { anthropic: { apiKey: 'k', baseUrl: 'https://a.example', prices: { input: 0.5, output: 1 } } } },
  { providers: { compatible: { apiKey: null, baseUrl: null, prices: null, contextTokens: 8192 } } },
  { artifacts: { url: 's3://bucket/some/prefix', endpoint: 'http://127.0.0.1:9000', region: 'eu', maxBytes: 1 } },
  {
    artifacts: { url: 's3://bucket', accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c', forcePathStyle: true },
  },
]
const wrong: object[] = [
  { agent: { model: 'claude' } },
  { agent: { protocol: 'other' } },
  { agent: { maxSteps: 1001 } },
  { agent: { tools: 'no' } },
  { providers: { anthropics: {} } },
  { providers: { openai: { key: 'k' } } },
  { providers: { openai: { apiKey: 1 } } },
  { providers: { openai: { baseUrl: 'ftp://a' } } },
  { providers: { openai: { prices: { input: 1 } } } },
  { providers: { openai: { prices: { input: -1, output: 1 } } } },
  { providers: { openai: { contextTokens: 10 } } },
  { mcpServers: { model: stdio } },
  { taskGraph: 'neo4j' },
  { taskGraph: { url: 'http://host', password: 'x' } },
  { taskGraph: { url: 'neo4j://host' } },
  { taskGraph: { url: 'neo4j://host', password: 'x', passwort: 'y' } },
  { mcpServers: { 'a b': stdio } },
  { mcpServers: { metier: stdio } },
  { mcpServers: { a: {} } },
  { mcpServers: { a: { command: 1 } } },
  { mcpServers: { a: { ...stdio, args: 'x' } } },
  { mcpServers: { a: { ...stdio, type: 'pipe' } } },
  { mcpServers: { a: { ...stdio, effects: { x: 'harmless' } } } },
  { mcpServers: { a: { ...stdio, concurrency: 0 } } },
  { servers: { a: { ...stdio, stateful: 'yes' } } },
  { servers: { a: { url: 'http://a/', oauth: { grant: 'password' } } } },
  { servers: { a: { url: 'http://a/', oauth: { grant: 'client_credentials', clientId: 'a' } } } },
  { servers: { a: { url: 'http://a/', oauth: { redirectPort: 70_000 } } } },
  { expose: ['read_file'] },
  { policy: { permissions: 'all' } },
  { policy: { rules: [{ tool: 'x' }] } },
  { policy: { rules: [{ then: 'allow', args: { path: 'x' } }] } },
  { sandbox: { minTier: 'none' } },
  { budget: { calls: 0 } },
  { budget: { cost: -0.5 } },
  { record: { retentionDays: 0 } },
  { record: { operations: 'no' } },
  { http: { port: 70_000 } },
  { http: { auth: 'basic' } },
  { http: { auth: 'oauth' } },
  { http: { url: 'metier.example' } },
  { http: { rate: { executes: 0 } } },
  { artifacts: 's3' },
  { artifacts: {} },
  { artifacts: { url: 'bucket/prefix' } },
  { artifacts: { url: 's3://bucket/../other' } },
  { artifacts: { url: 's3://bucket', endpoint: 'host:9000' } },
  { artifacts: { url: 's3://bucket', accessKeyId: 'a' } },
  { artifacts: { url: 's3://bucket', maxBytes: 0 } },
  { artifacts: { url: 's3://bucket', bucket: 'b' } },
]

test('metier.schema.json accepts what the program accepts, and nothing that it refuses', () => {
  for (const document of right)
    assert.deepEqual([validator.validate(document).valid, isAccepted(document)], [true, true], JSON.stringify(document))
  for (const document of wrong)
    assert.deepEqual(
      [validator.validate(document).valid, isAccepted(document)],
      [false, false],
      JSON.stringify(document),
    )
})

test('metier.schema.json names the defaults that hold', () => {
  const text = JSON.stringify({ servers: { a: stdio } })
  const config = parseConfig({ file: null, text, home: '/h', env: {}, directory: '/d' })
  const sections = { ...config, servers: config.servers.a }
  const told = { ...schema.properties, servers: schema.$defs.server }
  for (const name of ['servers', 'policy', 'sandbox', 'budget', 'record', 'http', 'agent'] as const) {
    const section = sections[name] as Record<string, unknown>
    for (const [field, { default: value }] of Object.entries<{ default?: unknown }>(told[name].properties))
      if (value !== undefined && field in section && field !== 'cwd')
        assert.equal(section[field], value, `${name}.${field}`)
  }
})

test('metier.schema.json names every class of effects, and no other', () => {
  const rule = schema.properties.policy.properties.rules.items.properties
  assert.deepEqual(rule.effect.enum, effectKinds)
  assert.equal(schema.$defs.server.properties.effects.additionalProperties.pattern, effectPattern)
})
