/**
 * What a host sees of Métier: three tools and a few sentences, constant in text and order, so that
 * no prompt cache ever breaks.
 */

import type { Tool } from '@modelcontextprotocol/server'
import type { PermissionSet } from '#model'
import { effectKinds } from '#model'
import { discoverOutput, executeOutput, resultOutput } from './surface-output.ts'

export const instructions = `Métier finds and runs tools for you. First discover({intent}). \
Then execute({intent, implementation}): one TypeScript program or DAG that calls all you need; loop, filter and join inside it, return only what you must read. \
result({run}) pages a large result or tells how a run stands. \
approval_required: a human decides; tell the user, later execute({resume: run}). \
uncertain: a call may have happened; ask the user, never repeat it blindly.`

/**
 * Written out as a schema, the shape of a task alone would cost a model as much as all the rest of
 * this tool.
 */
const tasks =
  '{id, tool: "server:name", arguments, dependsOn?, type?: mcp_tool|code_execution|capability, code? (its args are the resolved arguments), ' +
  'sideEffects? (true asks a human), retry?: {max, backoffMs}, timeoutMs?, when?: {$from, path?, equals?|exists?}, forEach?: {$from, path}}. ' +
  'Values in arguments: {"$from":"taskId","path":"/pointer"}, in a string {{taskId/pointer}}, in forEach {"$item":"/pointer"}'

const discover = {
  name: 'discover',
  title: 'Discover tools',
  description:
    'Find tools and verified capabilities for a goal in plain words, or by id (server:name). Best first, with signature, effect and why it matched; brief ones are less likely, discover their id to see all. ' +
    'unsure: none clearly fits, why says what is against it. nothing_fits: a fit is improbable, try other words. silent: servers still starting, ask again.',
  inputSchema: {
    type: 'object',
    properties: {
      intent: { type: 'string' },
      filter: {
        type: 'object',
        description: `{type?: tool|capability, server?, effect?: ${effectKinds.join('|')}, minScore?: 0-1}`,
      },
      limit: { type: 'integer' },
      schemas: { type: 'boolean', description: 'JSON schemas instead of signatures.' },
    },
    required: ['intent'],
  },
  outputSchema: discoverOutput,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  _meta: { 'anthropic/alwaysLoad': true },
} satisfies Tool

const execute = {
  name: 'execute',
  title: 'Execute a plan',
  description:
    'Run a plan in a sandbox; after a crash it goes on, and nothing unsafe happens twice. ' +
    'code: body of an async TypeScript function with mcp.<server>.<tool>(args), tool("server:name", args), cap.<name>(args), args, console, sleep(ms); no files, network or imports. It returns the result; a tool\'s error is thrown as ToolError {code, message, tool}. ' +
    'dag: a task runs as soon as what it needs is there. Without implementation: recalls a capability for the intent or suggests a DAG. ' +
    'A large result comes as a preview: see result. running: ask again with resume.',
  inputSchema: {
    type: 'object',
    properties: {
      intent: { type: 'string' },
      implementation: {
        type: 'object',
        properties: {
          type: { type: 'string', enum: ['code', 'dag', 'capability'] },
          code: { type: 'string' },
          tasks: { type: 'array', items: { type: 'object' }, description: tasks },
          id: { type: 'string', description: 'cap:name' },
        },
        required: ['type'],
      },
      args: { type: 'object' },
      mode: {
        type: 'string',
        enum: ['run', 'dry-run', 'explore'],
        description: 'dry-run and explore call nothing.',
      },
      mocks: { type: 'object', description: '{args?, tools?: {"server:name": value}, calls?}' },
      maxBranches: { type: 'integer' },
      resume: { type: 'string', description: 'A run to go on with.' },
      permissions: { type: 'string', enum: ['minimal', 'standard', 'privileged'] },
      budget: { type: 'object', description: '{calls?, wallMs?, bytes?}; like permissions it only narrows.' },
      wait: { type: 'integer', description: 'Seconds.' },
      key: { type: 'string', description: 'The same key never runs twice.' },
    },
  },
  outputSchema: executeOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  _meta: { 'anthropic/alwaysLoad': true },
} satisfies Tool

const result = {
  name: 'result',
  title: 'Read a result',
  description:
    'Read the result of a run or of one of its calls in pages: offset and limit count characters of a text, items of a list, keys of an object; next is the next offset or null.',
  inputSchema: {
    type: 'object',
    properties: {
      run: { type: 'string' },
      call: { type: ['string', 'integer'], description: 'Number, or task id.' },
      path: { type: 'string', description: 'JSON Pointer.' },
      offset: { type: 'integer' },
      limit: { type: 'integer' },
      format: { type: 'string', enum: ['json', 'text', 'keys'] },
    },
    required: ['run'],
  },
  outputSchema: resultOutput,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  _meta: { 'anthropic/alwaysLoad': true },
} satisfies Tool

export const surface: readonly Tool[] = [discover, execute, result]

/**
 * What a host may read from the annotations of `execute`: what it does without asking a human.
 * Whatever may destroy asks through us, call by call, and a host that asks by itself (Codex does
 * for either hint) would ask the same person twice. Under `privileged` we ask nothing, so the hints
 * say what may happen, and the host asks.
 */
export function surfaceUnder(permissions: PermissionSet): readonly Tool[] {
  if (permissions !== 'privileged') return surface
  const annotations = { ...execute.annotations, destructiveHint: true, openWorldHint: true }
  return [discover, { ...execute, annotations }, result]
}
