/**
 * Tests of the configuration: what the file may say, what it means when it says nothing, and how
 * its mistakes are told.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError, awsFiles, type Config, parseConfig } from '#model'

function parse(text: string | object | null, env: Record<string, string> = {}): Config {
  const source = typeof text === 'object' && text !== null ? JSON.stringify(text) : text
  return parseConfig({ file: '/project/metier.json', text: source, home: '/home', env, directory: '/project' })
}

function problemsOf(text: string | object, env: Record<string, string> = {}): Record<string, string> {
  try {
    parse(text, env)
  } catch (error) {
    assert(error instanceof AppError && error.code === 'CONFIG_INVALID')
    const problems = error.context.problems as { path: string; found: string; expected: string }[]
    for (const { path, expected } of problems)
      assert(error.message.includes(`${path || 'the file'}: expected ${expected}`))
    return Object.fromEntries(problems.map(({ path, found }) => [path, found]))
  }
  return assert.fail('it was read')
}

const plainDoor = { url: null, issuer: null, audience: null, scope: '', rate: { requests: 120_000, executes: 60_000 } }

function stdio(server: object = {}): Extract<Config['servers'][string], { type: 'stdio' }> {
  const { fs } = parse({ mcpServers: { fs: { command: 'npx', ...server } } }).servers
  assert(fs?.type === 'stdio')
  return fs
}

test('parseConfig() without a file gives the defaults of the interface', () => {
  assert.deepEqual(parseConfig({ file: null, text: null, home: '/home', env: {}, directory: '/project' }), {
    file: null,
    home: '/home',
    servers: {},
    taskGraph: 'sqlite',
    agent: { model: null, protocol: 'rebound', maxSteps: 10, tokens: 200_000, wallMs: 3_600_000, tools: true },
    providers: {
      anthropic: { apiKey: null, baseUrl: null, prices: null, contextTokens: 200_000 },
      openai: { apiKey: null, baseUrl: null, prices: null, contextTokens: 128_000 },
      compatible: { apiKey: null, baseUrl: null, prices: null, contextTokens: 32_768 },
    },
    learn: { enabled: true, shared: false },
    speculate: { minConfidence: null },
    projectRuns: false,
    expose: [],
    policy: { permissions: 'standard', rules: [] },
    sandbox: { minTier: 'os', engine: 'quickjs', outbound: [] },
    budget: { calls: 1000, wallMs: 600_000, bytes: 100_000_000 },
    record: { retentionDays: 180, secrets: [], operations: true },
    approvals: { expireMs: 3_600_000, webhook: null },
    artifacts: 'dir',
    http: { host: '127.0.0.1', port: 7420, auth: 'none', ...plainDoor },
    knownSecrets: [],
    unsetVariables: [],
    unknownFields: [],
  })
})

test('parseConfig() reads the example of the interface whole', () => {
  const config = parse(
    `{
      "$schema": "./node_modules/metier/metier.schema.json",
      "mcpServers": { // comments and trailing commas are fine
        "fs": { "command": "npx", "args": ["-y", "server-filesystem", "\${PWD}"], "env": {},
                "effects": { "write_file": "idempotent", "move_file": "unsafe", "pay": "keyed:idempotency_key" },
                "stateful": false, "concurrency": 32, "idleMs": 300000,
                "sandbox": { "tier": "os", "folders": ["\${PWD}"], "write": ["drafts"], "hosts": ["example.org", "[::1]:80"] } },
        "web": { "type": "http", "url": "https://example.org/mcp", "headers": { "Authorization": "Bearer \${TOKEN}" } },
      },
      "expose": ["fs:read_file"],
      "policy": { "permissions": "minimal",
                  "rules": [ { "tool": "fs:*", "effect": "unsafe", "args": { "/path": "/tmp/**" }, "then": "allow" } ] },
      "sandbox": { "minTier": "gvisor", "engine": "v8", "outbound": ["example.org:443"] },
      "budget": { "calls": 10, "wallMs": 20, "bytes": 30 },
      "record": { "retentionDays": null, "secrets": ["sk-[A-Za-z0-9]{20,}"], "operations": false },
      "taskGraph": "sqlite", "artifacts": "dir", "nats": null, "speculate": { "minConfidence": null },
      "http": { "host": "::1", "port": 0, "auth": "token" },
    }`,
    { TOKEN: 'abcdefgh' },
  )
  const common = { stateful: false, concurrency: 32, idleMs: 300_000 }
  const effects = { write_file: 'idempotent', move_file: 'unsafe', pay: 'keyed:idempotency_key' }
  const args = ['-y', 'server-filesystem', '/project']
  const hosts = ['example.org', '[::1]:80']
  const sandbox = { tier: 'os', folders: ['/project'], write: ['/project/drafts'], hosts }
  assert.deepEqual(config.servers, {
    fs: { ...common, effects, type: 'stdio', command: 'npx', args, env: {}, cwd: '/project', sandbox },
    web: {
      ...common,
      effects: {},
      type: 'http',
      url: 'https://example.org/mcp',
      headers: { Authorization: 'Bearer abcdefgh' },
      oauth: { grant: 'authorization_code', redirectPort: 0 },
    },
  })
  assert.deepEqual(config.expose, ['fs:read_file'])
  assert.deepEqual(config.policy.rules, [
    { tool: 'fs:*', effect: 'unsafe', args: { '/path': '/tmp/**' }, then: 'allow' },
  ])
  assert.deepEqual(config.sandbox, { minTier: 'gvisor', engine: 'v8', outbound: ['example.org:443'] })
  assert.deepEqual(config.budget, { calls: 10, wallMs: 20, bytes: 30 })
  assert.deepEqual(config.record, { retentionDays: null, secrets: ['sk-[A-Za-z0-9]{20,}'], operations: false })
  assert.deepEqual(config.http, { host: '::1', port: 0, auth: 'token', ...plainDoor })
  assert.deepEqual(config.unknownFields, [])
})

test('parseConfig() takes servers under either root key, and each name once', () => {
  const names = Object.keys(parse({ servers: { a: { command: 'a' } }, mcpServers: { b: { command: 'b' } } }).servers)
  assert.deepEqual(names.sort(), ['a', 'b'])
  const twice = problemsOf({ servers: { a: { command: 'a' } }, mcpServers: { a: { command: 'b' } } })
  assert.deepEqual(twice, { '/servers/a': 'a name used before' })
})

test('parseConfig() tells a transport by its type, else by what is there', () => {
  const typeOf = (server: object) => parse({ servers: { s: server } }).servers.s!.type
  assert.equal(typeOf({ command: 'x' }), 'stdio')
  assert.equal(typeOf({ url: 'http://127.0.0.1/mcp' }), 'http')
  assert.equal(typeOf({ type: 'streamable-http', url: 'http://127.0.0.1/mcp' }), 'http')
  assert.equal(typeOf({ type: 'sse', url: 'http://127.0.0.1/sse' }), 'sse')
})

test('parseConfig() leaves out a server that the file switches off', () => {
  assert.deepEqual(parse({ servers: { s: { command: 'x', disabled: true } } }).servers, {})
})

test('parseConfig() expands variables in three syntaxes, wherever a server names something', () => {
  const env = { BIN: 'run', EMPTY: '', HOST: 'example.org' }
  const { a, b } = parse(
    {
      servers: {
        a: {
          command: '${BIN}',
          args: ['${env:BIN}-${BIN}', '${NONE:-other}', '${EMPTY:-other}', '${EMPTY}', '$BIN ${} ${1}'],
          env: { FOLDER: '${workspaceFolder}/x', HERE: '${PWD}' },
          cwd: 'sub',
        },
        b: { url: 'https://${HOST}/mcp', headers: { 'X-From': '${HOST}' } },
      },
    },
    env,
  ).servers
  assert(a?.type === 'stdio' && b?.type === 'http')
  assert.equal(a.command, 'run')
  assert.deepEqual(a.args, ['run-run', 'other', 'other', '', '$BIN ${} ${1}'])
  assert.deepEqual(a.env, { FOLDER: '/project/x', HERE: '/project' })
  assert.equal(a.cwd, '/project/sub')
  assert.equal(b.url, 'https://example.org/mcp')
  assert.deepEqual(b.headers, { 'X-From': 'example.org' })
})

test('parseConfig() reads how we get the right to use a server, and keeps quiet about what is secret in it', () => {
  const oauth = { grant: 'client_credentials', clientId: 'us', clientSecret: '${CREDENTIAL}', scope: 'a b' }
  const config = parse({ servers: { s: { url: 'https://a/', oauth } } }, { CREDENTIAL: 'very-secret' })
  const expected = { ...oauth, clientSecret: 'very-secret', redirectPort: 0 }
  assert.deepEqual((config.servers.s as { oauth?: unknown }).oauth, expected)
  assert.deepEqual(config.knownSecrets, ['very-secret'])
  const { clientSecret: _, ...alone } = oauth
  const problems = problemsOf({ servers: { s: { url: 'https://a/', oauth: alone } } })
  assert.deepEqual(problems, { '/servers/s/oauth/grant': '"client_credentials" alone' })
})

test('parseConfig() reads where the gateway is and whose tokens it takes', () => {
  const http = {
    auth: 'oauth',
    issuer: 'https://issuer.example',
    url: 'https://metier.example/',
    scope: 'a',
    rate: { executes: 5 },
  }
  const { url, issuer, audience, rate } = parse({ http }).http
  assert.deepEqual(
    [url, issuer, audience, rate.executes],
    ['https://metier.example', 'https://issuer.example', null, 5],
  )
  assert.deepEqual(problemsOf({ http: { auth: 'oauth' } }), { '/http/auth': '"oauth" alone' })
})

test('parseConfig() gives a server 32 calls at once, and a stateful one 1, unless it says how many', () => {
  const command = 'x'
  const { servers } = parse({
    servers: { a: { command }, b: { command, stateful: true }, c: { command, stateful: true, concurrency: 7 } },
  })
  const numbers = Object.values(servers).map(({ concurrency }) => concurrency)
  assert.deepEqual(numbers, [32, 1, 7])
})

test('parseConfig() names variables that are not set and leaves them as they stand', () => {
  const config = parse({ servers: { s: { url: '${BASE}/mcp', headers: { A: '${env:KEY_A}', B: '${BASE}' } } } })
  assert.deepEqual(config.unsetVariables, ['BASE', 'KEY_A'])
  assert.deepEqual(config.servers.s, {
    ...{ effects: {}, stateful: false, concurrency: 32, idleMs: 300_000, type: 'http', url: '${BASE}/mcp' },
    headers: { A: '${env:KEY_A}', B: '${BASE}' },
    oauth: { grant: 'authorization_code', redirectPort: 0 },
  })
  assert.deepEqual(config.knownSecrets, [])
})

test('parseConfig() collects secrets: what a variable brought in, and what stands under a secret-looking name', () => {
  const env = { VALUE: 'value-by-variable', SHORT: 'short', HOME: '/users/somebody' }
  const config = parse(
    {
      servers: {
        a: {
          command: 'x',
          args: [
            '--dir',
            '${VALUE}',
            '--api-key',
            'key-in-argument',
            '--token=token-in-argument',
            '${SHORT}',
            '${HOME}',
          ],
          env: {
            GITHUB_TOKEN: 'token-in-env',
            plainName: 'not-a-secret',
            dbPassword: 'password-in-env',
            MONKEY: 'not-secret',
          },
        },
        b: {
          url: 'https://me:password-in-url@example.org/mcp?api_key=key-in-query&page=not-a-secret',
          headers: { Authorization: 'Bearer token-in-header', 'X-Api-Key': 'key-in-header', Accept: 'not-a-secret' },
        },
      },
    },
    env,
  )
  assert.deepEqual([...config.knownSecrets].sort(), [
    'Bearer token-in-header',
    'key-in-argument',
    'key-in-header',
    'key-in-query',
    'password-in-env',
    'password-in-url',
    'token-in-argument',
    'token-in-env',
    'token-in-header',
    'value-by-variable',
  ])
})

test('parseConfig() tells every problem at once, with its path and without any value', () => {
  const problems = problemsOf(
    {
      mcpServers: {
        ...{ a: { args: 's3cret' }, b: { command: 's3cret', env: { TOKEN: 12345678 } }, cap: {}, 'c d': {}, e: 7 },
        f: { url: 's3cret' },
        g: { command: 'x', effects: { pay: 'often' }, concurrency: 0, idleMs: 1.5, stateful: 'no' },
        h: { type: 's3cret and more than a word', command: 'x' },
      },
      expose: ['nocolon'],
      policy: {
        permissions: 'standart',
        rules: [
          { then: 'maybe', args: { path: 1 } },
          3,
          { then: 'allow', tools: 'a:b' },
          { then: 'deny', effect: 'unsave', tool: 'a' },
        ],
        rule: [],
      },
      sandbox: { minTier: 'none' },
      budget: { calls: -1 },
      record: { retentionDays: 0, secrets: ['('] },
      http: { port: 70_000 },
    },
    {},
  )
  assert.deepEqual(problems, {
    '/mcpServers/a/command': 'nothing',
    '/mcpServers/a/args': 'a string',
    '/mcpServers/b/env/TOKEN': 'a number',
    '/mcpServers/cap': 'a reserved name',
    '/mcpServers/c d': 'a name with other characters',
    '/mcpServers/e': 'a number',
    '/mcpServers/e/command': 'nothing',
    '/mcpServers/f/url': 'something else',
    '/mcpServers/g/effects/pay': 'a string',
    '/mcpServers/g/concurrency': 'a number',
    '/mcpServers/g/idleMs': 'a number',
    '/mcpServers/g/stateful': 'a string',
    '/mcpServers/h/type': 'a string',
    '/expose': 'a list',
    '/policy/permissions': '"standart"',
    '/policy/rules/0/then': '"maybe"',
    '/policy/rules/0/args': 'a key that is no JSON Pointer',
    '/policy/rules/1': 'a number',
    '/policy/rules/1/then': 'nothing',
    '/policy/rules/2/tools': 'a name that means nothing',
    '/policy/rules/3/effect': '"unsave"',
    '/policy/rules/3/tool': 'no tool',
    '/policy/rule': 'a name that means nothing',
    '/sandbox/minTier': '"none"',
    '/budget/calls': 'a number',
    '/record/retentionDays': 'a number',
    '/record/secrets': 'a list',
    '/http/port': 'a number',
  })
})

test('parseConfig() says where a text is no JSON, and does not quote it', () => {
  assert.throws(
    () => parse('{ "mcpServers": { "a": { "env": { "TOKEN": "s3cret" } } '),
    (error) => error instanceof AppError && /line 1, column 57/.test(error.message) && !/s3cret/.test(String(error)),
  )
  assert.throws(() => parse('[]'), /the file: expected an object, found a list/)
  assert.throws(() => parse(`"${'x'.repeat(2_000_000)}"`), /at most 1048576 bytes/)
})

test('parseConfig() lists fields that nobody reads and goes on', () => {
  const config = parse({
    servers: { a: { command: 'x', alwaysAllow: [] } },
    inputs: [],
    sandbox: { tier: 'os' },
    nats: { servers: [] },
    http: { tls: true },
  })
  const fields = ['/servers/a/alwaysAllow', '/sandbox/tier', '/http/tls', '/inputs', '/nats']
  assert.deepEqual(config.unknownFields, fields)
})

test('parseConfig() keeps names away from what objects inherit', () => {
  assert.deepEqual(problemsOf('{"servers":{"__proto__":{"command":"x"}}}'), { '/servers/__proto__': 'a reserved name' })
  assert.equal(parse('{"servers":{"toString":{"command":"x"}}}').servers.toString?.constructor, Object)
})

test('parseConfig() freezes what it gives, to the bottom', () => {
  const server = stdio({ args: ['a'], effects: { a: 'read' } })
  assert.throws(() => server.args.push('b'), TypeError)
  assert.throws(() => Object.assign(server.effects, { a: 'unsafe' }), TypeError)
})

test('parseConfig() passes over ourselves, where a host has written us into its file', () => {
  const source =
    '{"mcpServers":{"metier":{"command":"npx","args":["-y","metier","serve","--stdio"]},"fs":{"command":"x"}}}'
  const config = parseConfig({ file: '/project/.mcp.json', text: source, home: '/h', env: {}, directory: '/project' })
  assert.deepEqual(Object.keys(config.servers), ['fs'])
})

test('parseConfig() refuses a box that would hold less than it says', () => {
  const box = (sandbox: object, server: object = { command: 'x' }) =>
    problemsOf({ servers: { s: { ...server, sandbox } } })
  assert.deepEqual(Object.keys(box({ folder: ['/a'] })), ['/servers/s/sandbox/folder'])
  assert.deepEqual(Object.keys(box({ tier: 'gvisor' })), ['/servers/s/sandbox/tier'])
  assert.deepEqual(Object.keys(box({ hosts: ['https://example.org/'] })), ['/servers/s/sandbox/hosts'])
  assert.deepEqual(Object.keys(box({}, { url: 'https://example.org/mcp' })), ['/servers/s/sandbox'])
})

const s3 = { url: 's3://bucket/some/prefix', endpoint: 'http://127.0.0.1:9000/' }

test('parseConfig() reads a bucket, and takes its secret for one', () => {
  const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: '${S3_KEY}' }
  const { artifacts, knownSecrets } = parse({ artifacts: { ...s3, ...keys } }, { S3_KEY: 'wJalrXUtnFEMI' })
  assert.deepEqual(artifacts, {
    endpoint: 'http://127.0.0.1:9000',
    region: 'us-east-1',
    bucket: 'bucket',
    prefix: 'some/prefix',
    forcePathStyle: true,
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI' },
    maxBytes: 20 * 1024 * 1024,
  })
  assert.deepEqual(knownSecrets, ['wJalrXUtnFEMI'])
  const literal = parse({ artifacts: { ...s3, ...keys, secretAccessKey: 'in the file' } })
  assert.deepEqual(literal.knownSecrets, ['in the file'])
})

test("parseConfig() takes what a bucket's settings leave out from AWS's variables", () => {
  const env = { AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 'a secret', AWS_SESSION_TOKEN: 'a token', HOME: '/me' }
  const { artifacts, knownSecrets } = parse({ artifacts: { url: 's3://bucket' } }, { ...env, AWS_REGION: 'eu-1' })
  assert(artifacts !== 'dir')
  assert.deepEqual(artifacts.credentials, { accessKeyId: 'A', secretAccessKey: 'a secret', sessionToken: 'a token' })
  assert.deepEqual([artifacts.endpoint, artifacts.forcePathStyle], ['https://s3.eu-1.amazonaws.com', false])
  assert.deepEqual(knownSecrets, ['a secret'])
  assert.deepEqual(parse({}, env).knownSecrets, ['a secret'])
  const fromFile = parse({ artifacts: s3 }, { HOME: '/me', AWS_PROFILE: 'work' }).artifacts
  assert(fromFile !== 'dir')
  const places = { webIdentity: null, container: null, metadata: 'http://169.254.169.254' }
  const files = { credentials: '/me/.aws/credentials', config: '/me/.aws/config' }
  assert.deepEqual(fromFile.credentials, { files, profile: 'work', ...places })
})

test("parseConfig() takes the places in which a cloud hands out keys from AWS's variables", () => {
  const places = (env: Record<string, string>) => {
    const { artifacts } = parse({ artifacts: s3 }, env)
    assert(artifacts !== 'dir' && 'files' in artifacts.credentials)
    const { webIdentity, container, metadata } = artifacts.credentials
    return { webIdentity, container, metadata }
  }
  const role = { AWS_ROLE_ARN: 'arn:role', AWS_WEB_IDENTITY_TOKEN_FILE: '/token' }
  const identity = { role: 'arn:role', tokenFile: '/token', session: 'metier' }
  const sts = 'https://sts.us-east-1.amazonaws.com'
  assert.deepEqual(places(role).webIdentity, { ...identity, endpoint: sts })
  const named = { ...role, AWS_ENDPOINT_URL_STS: 'http://sts', AWS_ROLE_SESSION_NAME: 'mine' }
  assert.deepEqual(places(named).webIdentity, { ...identity, endpoint: 'http://sts', session: 'mine' })
  const agent = { url: 'http://169.254.170.2/v2/x', token: null, tokenFile: null }
  assert.deepEqual(places({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/x' }).container, agent)
  const full = { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'https://x', AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/t' }
  assert.deepEqual(places(full).container, { url: 'https://x', token: null, tokenFile: '/t' })
  assert.equal(places({ AWS_EC2_METADATA_DISABLED: 'true' }).metadata, null)
  assert.equal(places({ AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://here' }).metadata, 'http://here')
})

test("parseConfig() keeps quiet about every key that AWS's own tools would find", () => {
  const env = { AWS_SESSION_TOKEN: 'session-of-env', AWS_CONTAINER_AUTHORIZATION_TOKEN: 'token-of-task' }
  const profile = (name: string) =>
    `[${name}]\r\naws_access_key_id = AKIDEXAMPLE\r\n\taws_secret_access_key=${name}=key \r\n`
  const awsTexts = [
    `${profile('default')}${profile('work')}# aws_session_token\n`,
    'region = eu\nAWS_SESSION_TOKEN = of-config',
  ]
  const { knownSecrets } = parseConfig({ file: null, text: null, home: '/h', env, directory: '/d', awsTexts })
  const expected = ['default=key', 'of-config', 'session-of-env', 'token-of-task', 'work=key']
  assert.deepEqual([...knownSecrets].sort(), expected)
  const files = { AWS_SHARED_CREDENTIALS_FILE: '/a', AWS_CONFIG_FILE: '/b' }
  assert.deepEqual(awsFiles({ HOME: '/me', ...files }), ['/a', '/b'])
  assert.deepEqual(awsFiles({ HOME: '/me' }), ['/me/.aws/credentials', '/me/.aws/config'])
})

test('parseConfig() refuses a bucket that is none, half of its keys and fields that nobody reads', () => {
  const wrong = { url: 's3://a/b', endpoint: 'host', accessKeyId: 'A', maxBytes: 0, buckets: 'x' }
  assert.deepEqual(Object.keys(problemsOf({ artifacts: wrong })).sort(), [
    '/artifacts/accessKeyId',
    '/artifacts/buckets',
    '/artifacts/endpoint',
    '/artifacts/maxBytes',
    '/artifacts/url',
  ])
  assert.deepEqual(problemsOf({ artifacts: 's3' }), { '/artifacts': '"s3"' })
})
