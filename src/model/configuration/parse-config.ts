/**
 * The text of a configuration file becomes one frozen Config, or one error that names every problem
 * at once.
 */

import { limits } from '#model/limits'
import type { Json } from '#model/primitives'
import { AppError, effectForms, effectKinds, isEffect, tiers } from '#model/terms'
import { awsKeys } from './aws-keys.ts'
import type { Config, OauthConfig, PolicyRule, ServerConfig, ServerSandbox } from './config.ts'
import { Fields, type Findings, isJson, isString, type Problem } from './config-fields.ts'
import { JsoncError, parseJsonc } from './jsonc.ts'
import { readAgent, readProviders } from './parse-agent.ts'
import { readApprovals } from './parse-approvals.ts'
import { readArtifacts } from './parse-artifacts.ts'
import { readBudget } from './parse-budget.ts'
import { readHttp } from './parse-http.ts'
import { readLearn, readSpeculate } from './parse-learn.ts'
import { readTaskGraph } from './parse-task-graph.ts'
import { collectSecrets, type Expansion, expand } from './variables.ts'

export type ConfigSource = {
  file: string | null
  text: string | null
  home: string
  env: Record<string, string | undefined>
  /** The folder of the file: `${PWD}`, `${workspaceFolder}` and where servers start. */
  directory: string
  /** The texts of `awsFiles()`, as far as they can be read. */
  awsTexts?: readonly string[]
}

type Reading = Expansion & Findings

export function parseConfig({ file, text, home, env, directory, awsTexts = [] }: ConfigSource): Config {
  const isShared = file?.endsWith('.mcp.json') === true
  const findings: Findings = { problems: [], unknownFields: [], isShared }
  const reading: Reading = { env, directory, secrets: new Set(awsKeys(env, awsTexts)), unset: new Set(), ...findings }
  const root = new Fields(reading, '', text === null ? {} : parseText(file, text))
  const config = {
    file,
    home,
    servers: readServers(reading, root, isShared),
    expose: root.list('expose', isToolId, 'a list of "server:name"'),
    policy: readPolicy(root.section('policy')),
    sandbox: readSandbox(root.section('sandbox')),
    budget: readBudget(root.section('budget')),
    record: readRecord(root.section('record')),
    approvals: readApprovals(reading, root.section('approvals')),
    artifacts: readArtifacts(reading, root),
    http: readHttp(root.section('http')),
    learn: readLearn(root.section('learn')),
    speculate: readSpeculate(root.section('speculate')),
    ...readTaskGraph(reading, root),
    agent: readAgent(root.section('agent')),
    providers: readProviders(reading, root.section('providers')),
  }
  root.ignore('$schema')
  for (const [name, unset] of Object.entries(notYetRead)) if (isSame(root.values[name], unset)) root.ignore(name)
  root.end()
  if (reading.problems.length > 0) throw invalid(file, reading.problems)
  const { secrets, unset, unknownFields } = reading
  return freeze({ ...config, knownSecrets: [...secrets], unsetVariables: [...unset].sort(), unknownFields })
}

/** Named by the interface and not read yet: any other value is reported as an unknown field. */
const notYetRead = { nats: null }

function parseText(file: string | null, text: string): Json {
  const problem = (found: string, expected: string) => invalid(file, [{ path: '', found, expected }])
  if (Buffer.byteLength(text) > limits.configBytesMax) {
    throw problem('a longer text', `at most ${limits.configBytesMax} bytes`)
  }
  try {
    return parseJsonc(text)
  } catch (error) {
    if (error instanceof JsoncError) throw problem('text that is not JSON', error.message.replace(/^expected /, ''))
    throw error
  }
}

function invalid(file: string | null, problems: Problem[]): AppError {
  const lines = problems.map(
    ({ path, found, expected }) => `${path || 'the file'}: expected ${expected}, found ${found}`,
  )
  const subject = file === null ? 'the configuration' : `the configuration "${file}"`
  return new AppError('CONFIG_INVALID', `Cannot read ${subject}: ${lines.join('; ')}. Correct it and try again`, {
    file,
    problems,
  })
}

const serverName = /^[A-Za-z0-9_-]+$/
/**
 * What our own tools, capabilities and chains are called, and what no object should have as a key.
 */
const reservedNames = new Set([
  'metier',
  'cap',
  'code',
  'home',
  'model',
  'workspace',
  '__proto__',
  'constructor',
  'prototype',
])

/** In a file that hosts write too, a server `metier` is ourselves, and passed over. */
function readServers(reading: Reading, root: Fields, isHosts: boolean): Record<string, ServerConfig> {
  const servers: Record<string, ServerConfig> = {}
  for (const key of ['mcpServers', 'servers']) {
    const entries = root.section(key)
    for (const name of Object.keys(entries.values)) {
      if (isHosts && name === 'metier') entries.section(name)
      else if (!serverName.test(name)) entries.report(name, 'a name with other characters', 'a name of A-Z a-z 0-9 _ -')
      else if (reservedNames.has(name)) entries.report(name, 'a reserved name', 'another name')
      else if (Object.hasOwn(servers, name)) entries.report(name, 'a name used before', 'each name once')
      else {
        const server = readServer(reading, entries.section(name))
        if (server !== null) servers[name] = server
      }
    }
  }
  return servers
}

/** Null for a server that the file itself switches off. */
function readServer(reading: Reading, fields: Fields): ServerConfig | null {
  const stateful = fields.boolean('stateful', false)
  const concurrency = stateful ? limits.statefulConcurrencyDefault : limits.upstreamConcurrencyDefault
  const common = {
    effects: fields.map('effects', isEffect, `one of ${effectForms.join(', ')}`),
    stateful,
    concurrency: fields.integer('concurrency', concurrency, 1, limits.upstreamConcurrencyMax),
    idleMs: fields.integer('idleMs', limits.upstreamIdleMsDefault, 0, limits.timerMsMax),
  }
  const disabled = fields.boolean('disabled', false)
  const types = ['stdio', 'http', 'sse', 'streamable-http'] as const
  const type = fields.oneOf('type', types, fields.has('url') ? 'http' : 'stdio')
  const server =
    type === 'stdio' ? readStdio(reading, fields) : readRemote(reading, fields, type === 'sse' ? 'sse' : 'http')
  fields.end()
  return disabled ? null : { ...common, ...server }
}

function readStdio(reading: Reading, fields: Fields) {
  const command = fields.string('command')
  const args = fields.list('args', isString, 'a list of strings').map((arg) => expand(reading, arg))
  const env = expandMap(reading, fields.map('env', isString, 'an object of strings'))
  const cwd = fields.string('cwd', '.')
  collectSecrets(reading, argumentPairs(args))
  collectSecrets(reading, Object.entries(env))
  const sandbox = fields.has('sandbox') ? readServerSandbox(reading, fields.section('sandbox')) : null
  return { type: 'stdio' as const, command: expand(reading, command), args, env, cwd: within(reading, cwd), sandbox }
}

/**
 * A word that is written wrong would leave the server less confined than was meant: it is refused.
 */
function readServerSandbox(reading: Reading, fields: Fields): ServerSandbox {
  const tier = fields.oneOf('tier', ['os'], 'os')
  const paths = (name: string) => fields.list(name, isString, 'a list of folders').map((path) => within(reading, path))
  const [folders, write] = [paths('folders'), paths('write')]
  const hosts = fields.list('hosts', isHost, 'a list of "host" or "host:port"')
  fields.only(['tier', 'folders', 'write', 'hosts'])
  return { tier, folders, write, hosts }
}

function isHost(value: Json): value is string {
  return isString(value) && /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/.test(value)
}

function readRemote(reading: Reading, fields: Fields, type: 'http' | 'sse') {
  if (fields.has('sandbox')) {
    fields.ignore('sandbox')
    fields.report('sandbox', 'a box around an address', 'none: that server runs elsewhere')
  }
  const unset = reading.unset.size
  const url = expand(reading, fields.string('url'))
  const headers = expandMap(reading, fields.map('headers', isString, 'an object of strings'))
  collectSecrets(reading, Object.entries(headers))
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed !== null) collectSecrets(reading, [['password', parsed.password], ...parsed.searchParams])
  const complete = reading.unset.size === unset && fields.has('url')
  if (complete && parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    fields.report('url', 'something else', 'an address that begins with http:// or https://')
  }
  return { type, url, headers, oauth: readOauth(reading, fields.section('oauth')) }
}

function readOauth(reading: Reading, fields: Fields): OauthConfig {
  const names = ['clientId', 'clientSecret', 'privateKey', 'scope', 'issuer', 'clientMetadataUrl'] as const
  const texts = names.filter((name) => fields.has(name)).map((name) => [name, expand(reading, fields.string(name))])
  collectSecrets(reading, texts as [string, string][])
  const grant = fields.oneOf('grant', ['authorization_code', 'client_credentials'], 'authorization_code')
  const redirectPort = fields.integer('redirectPort', 0, 0, 65_535)
  if (
    grant === 'client_credentials' &&
    !(fields.has('clientId') && (fields.has('clientSecret') || fields.has('privateKey')))
  )
    fields.report('grant', '"client_credentials" alone', 'clientId, and clientSecret or privateKey, beside it')
  fields.end()
  return { grant, redirectPort, ...Object.fromEntries(texts) }
}

function expandMap(reading: Reading, map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, expand(reading, value)]))
}

/** `--token VALUE` and `--token=VALUE` as pairs of name and value. */
function argumentPairs(args: string[]): [string, string][] {
  return args.flatMap((arg, index): [string, string][] => {
    const match = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(arg)
    return match === null ? [] : [[match[1]!, match[2] ?? args[index + 1] ?? '']]
  })
}

function within(reading: Reading, path: string): string {
  const folder = expand(reading, path)
  if (folder === '.') return reading.directory
  return folder.startsWith('/') ? folder : `${reading.directory}/${folder}`
}

function readPolicy(fields: Fields): Config['policy'] {
  const permissions = fields.oneOf('permissions', ['minimal', 'standard', 'privileged'], 'standard')
  const rules = fields.sections('rules').map(readRule)
  fields.only(['permissions', 'rules'])
  return { permissions, rules }
}

/**
 * A word that is written wrong would make a rule hold for nothing, or for everything: it is
 * refused, not left unread.
 */
function readRule(rule: Fields): PolicyRule {
  const read: PolicyRule = { then: rule.oneOf('then', ['allow', 'ask', 'deny']) }
  if (rule.has('tool')) read.tool = rule.string('tool')
  if (read.tool !== undefined && !/[:*]/.test(read.tool)) rule.report('tool', 'no tool', 'a pattern of "server:name"')
  if (rule.has('effect')) read.effect = rule.oneOf('effect', effectKinds)
  if (rule.has('args')) read.args = rule.map('args', isJson, 'an object by JSON Pointer')
  for (const pointer of Object.keys(read.args ?? {})) {
    if (!/^(\/|$)/.test(pointer)) rule.report('args', 'a key that is no JSON Pointer', 'keys that begin with "/"')
  }
  rule.only(['tool', 'effect', 'args', 'then'])
  return read
}

function readSandbox(fields: Fields): Config['sandbox'] {
  const minTier = fields.oneOf('minTier', tiers, 'os')
  const engine = fields.oneOf('engine', ['quickjs', 'v8'], 'quickjs')
  const outbound = fields.list('outbound', isString, 'a list of "host:port"')
  fields.end()
  return { minTier, engine, outbound }
}

function readRecord(fields: Fields): Config['record'] {
  const keepsAll = fields.values.retentionDays === null
  if (keepsAll) fields.ignore('retentionDays')
  const retentionDays = keepsAll ? null : fields.integer('retentionDays', limits.retentionDaysDefault, 1)
  const secrets = fields.list('secrets', isPattern, 'a list of regular expressions')
  const operations = fields.boolean('operations', true)
  fields.end()
  return { retentionDays, secrets, operations }
}

function isToolId(value: Json): value is string {
  return isString(value) && /^[A-Za-z0-9_-]+:.+$/.test(value)
}

function isPattern(value: Json): value is string {
  try {
    return isString(value) && new RegExp(value, 'u') !== null
  } catch {
    return false
  }
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null)
    for (const member of Object.values(Object.freeze(value))) freeze(member)
  return value
}
