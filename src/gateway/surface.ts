/** What a host sees of Métier: three tools and a few sentences, constant in text and order, so that no prompt cache ever breaks. */
import type { Tool } from '@modelcontextprotocol/server'
import { limits } from '#model'
import { discoverOutput, executeOutput, resultOutput } from './surface-output.ts'

export const instructions = `Métier finds and runs tools for you. First discover({intent}): it ranks tools and learned capabilities, with their signatures. \
Then execute({intent, implementation}): one TypeScript program or DAG that calls as many of them as the work needs; loop, filter and join inside it, and return only what you want to read. \
result({run}) pages a large result or says how a run stands. \
approval_required: a human decides; tell the user, later execute({resume: run}). \
uncertain: a call may have happened; ask the user, never repeat it blindly.`

const binding = {
  type: 'object',
  properties: { $from: { type: 'string' }, path: { type: 'string' } },
  required: ['$from'],
}

const task = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    tool: { type: 'string', description: 'server:name' },
    arguments: {
      type: 'object',
      description:
        'Any value may be {"$from":"taskId","path":"/pointer"}; inside a string, {{taskId/pointer}}; in a forEach, {"$item":"/pointer"}.',
    },
    dependsOn: { type: 'array', items: { type: 'string' } },
    type: { type: 'string', enum: ['mcp_tool', 'code_execution', 'capability'] },
    code: { type: 'string', description: 'For code_execution; its args are the resolved arguments.' },
    sideEffects: { type: 'boolean', description: 'true asks a human even where policy allows.' },
    retry: { type: 'object', properties: { max: { type: 'integer' }, backoffMs: { type: 'integer' } } },
    timeoutMs: { type: 'integer' },
    when: { ...binding, properties: { ...binding.properties, equals: {}, exists: { type: 'boolean' } } },
    forEach: binding,
  },
  required: ['id'],
}

const discover = {
  name: 'discover',
  title: 'Discover tools',
  description:
    'Find tools and verified capabilities for what you want to do, best first. Describe the goal in plain words, or give an exact id (server:name). Each result has an id, a compact input signature, the output shape if known, its effect (read, idempotent, keyed or unsafe) and why it matched. nothing_fits means that no tool here does this: unmatched lists the words that matched nothing.',
  inputSchema: {
    type: 'object',
    properties: {
      intent: { type: 'string', description: 'What you want to do, or an exact id.' },
      filter: {
        type: 'object',
        properties: {
          type: { type: 'string', enum: ['tool', 'capability', 'all'] },
          server: { type: 'string' },
          effect: { type: 'string' },
          minScore: { type: 'number', minimum: 0, maximum: 1 },
        },
        additionalProperties: false,
      },
      limit: { type: 'integer', minimum: 1, maximum: limits.discoverLimitMax, default: limits.discoverLimitDefault },
      schemas: { type: 'boolean', description: 'true gives whole JSON schemas instead of signatures.' },
    },
    required: ['intent'],
    additionalProperties: false,
  },
  outputSchema: discoverOutput,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  _meta: { 'anthropic/alwaysLoad': true },
} satisfies Tool

const execute = {
  name: 'execute',
  title: 'Execute a plan',
  description:
    'Run a plan in a sandbox. Every call is on the record before and after it happens; after a crash the run goes on, and nothing unsafe is done twice. ' +
    'implementation {type:"code", code}: the body of an async TypeScript function. It sees mcp.<server>.<tool>(args), tool("server:name", args), cap.<name>(args), args, console, sleep(ms) and the language; no files, network or imports. What it returns is the result; an error of a tool is thrown as ToolError {code, message, tool}. ' +
    '{type:"dag", tasks}: tasks bound by $from run as soon as what they need is there. {type:"capability", id}: a verified procedure. Without implementation: recalls a capability for the intent, or suggests a DAG. ' +
    'Answers done, failed, cancelled, suggested, approval_required, uncertain or running; a large result comes as preview and handle, see result.',
  inputSchema: {
    type: 'object',
    properties: {
      intent: { type: 'string', description: 'What this is for, in a sentence.' },
      implementation: {
        type: 'object',
        properties: {
          type: { type: 'string', enum: ['code', 'dag', 'capability'] },
          code: { type: 'string', description: 'For code.' },
          tasks: { type: 'array', items: task, description: 'For dag.' },
          id: { type: 'string', description: 'For capability: cap:name.' },
        },
        required: ['type'],
      },
      args: { type: 'object', description: 'The global args of code; the parameters of a capability.' },
      mode: {
        type: 'string',
        enum: ['run', 'dry-run', 'explore'],
        description: 'dry-run and explore call nothing; results come from mocks, the record or schemas.',
      },
      mocks: {
        type: 'object',
        properties: { args: { type: 'object' }, tools: { type: 'object' }, calls: { type: 'object' } },
      },
      maxBranches: { type: 'integer', minimum: 1, default: 16, description: 'For explore.' },
      resume: { type: 'string', description: 'The id of a run to go on with, or to ask again about.' },
      permissions: { type: 'string', enum: ['minimal', 'standard', 'privileged'], description: 'Can only narrow.' },
      budget: {
        type: 'object',
        properties: { calls: { type: 'integer' }, wallMs: { type: 'integer' }, bytes: { type: 'integer' } },
        description: 'Can only narrow.',
      },
      wait: { type: 'integer', minimum: 0, description: 'Seconds to wait for the end before answering running.' },
      key: { type: 'string', description: 'Names this request: the same key never runs twice.' },
    },
    additionalProperties: false,
  },
  outputSchema: executeOutput,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  _meta: { 'anthropic/alwaysLoad': true },
} satisfies Tool

const result = {
  name: 'result',
  title: 'Read a result',
  description:
    'Read the result of a run, or of one of its calls, whole or in pages: path picks a part of it, offset and limit count characters of a text, items of a list, keys of an object; next is the offset of the next page, null at the end. Of a run that is not finished it answers the status.',
  inputSchema: {
    type: 'object',
    properties: {
      run: { type: 'string' },
      call: {
        anyOf: [{ type: 'string' }, { type: 'integer' }],
        description: 'The number of a call, or the id of a task.',
      },
      path: { type: 'string', description: 'A JSON Pointer, such as /items/0/name.' },
      offset: { type: 'integer', minimum: 0 },
      limit: { type: 'integer', minimum: 1, maximum: limits.resultPageMax },
      format: { type: 'string', enum: ['json', 'text', 'keys'] },
    },
    required: ['run'],
    additionalProperties: false,
  },
  outputSchema: resultOutput,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  _meta: { 'anthropic/alwaysLoad': true },
} satisfies Tool

export const surface: readonly Tool[] = [discover, execute, result]
