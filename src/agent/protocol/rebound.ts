/**
 * The rebound protocol (specs/rebound-protocol.md): an answer is one JSON object with files to
 * write and at most one next action. Strict where something would be done, tolerant elsewhere.
 */

import { extractJson } from '#agent/models'
import { isObject, type Json, type JsonObject } from '#model'
import { type Draft, mistake, type Reading, withoutThoughts } from './reading.ts'

/** Where it is wrong, as a JSON Pointer, and how. */
class Wrong extends Error {
  constructor(path: string, problem: string) {
    super(`${path} ${problem}`)
  }
}

export function readRebound(text: string): Reading {
  const found = extractJson(text, (value) => isObject(value) && 'thought_process' in value)
  if (blocksIn(withoutThoughts(text)) > blocksIn(found.ok ? JSON.stringify(found.value) : ''))
    return mistake(`it uses <tool_code>, which belongs to another protocol${found.ok ? '' : `; ${found.reason}`}`)
  if (!found.ok) return mistake(found.reason)
  try {
    return readAnswer(found.value)
  } catch (error) {
    if (error instanceof Wrong) return mistake(error.message)
    throw error
  }
}

const blocksIn = (text: string) => text.match(/<\s*tool_code/gi)?.length ?? 0

function readAnswer(value: Json): Reading {
  if (!isObject(value)) throw new Wrong('the answer', 'must be one object, not a list')
  const {
    thought_process: thought,
    artifacts = [],
    next_action: action = null,
    final_result: final,
  } = value as JsonObject
  if (typeof thought !== 'string') throw new Wrong('/thought_process', 'must be a text')
  if (!Array.isArray(artifacts)) throw new Wrong('/artifacts', 'must be a list')
  if (final !== undefined && typeof final !== 'string') throw new Wrong('/final_result', 'must be a text')
  const drafts = artifacts.map(readDraft)
  if (action === null) return { kind: 'final', text: final ?? thought, thought, drafts }
  return { kind: 'script', thought, drafts, ...readAction(action) }
}

function readDraft(value: Json, index: number): Draft {
  const at = `/artifacts/${index}`
  const { path, content, encoding = 'utf8' } = membersOf(at, value, ['path', 'content', 'encoding'])
  if (typeof path !== 'string' || path === '') throw new Wrong(`${at}/path`, 'must be the path of a file')
  if (typeof content !== 'string') throw new Wrong(`${at}/content`, 'must be a text')
  if (encoding !== 'utf8' && encoding !== 'base64') throw new Wrong(`${at}/encoding`, 'must be "utf8" or "base64"')
  if (encoding === 'base64' && Buffer.from(content, 'base64').toString('base64') !== content.trim())
    throw new Wrong(`${at}/content`, 'is not base64')
  return { path, content, encoding }
}

const actionType = 'exec_and_chain'

function readAction(value: Json): { target: string; prompt: string } {
  if (Array.isArray(value))
    throw new Wrong('/next_action', 'must be one action or null: several at once are not possible')
  if (isObject(value) && value.type !== undefined && value.type !== actionType)
    throw new Wrong('/next_action/type', `must be "${actionType}", the one action there is: no commands and no graphs`)
  const members = ['type', 'target_script', 'continuation_prompt']
  const { type, target_script: target, continuation_prompt: prompt } = membersOf('/next_action', value, members)
  if (type !== actionType) throw new Wrong('/next_action/type', `must be "${actionType}"`)
  if (typeof target !== 'string' || target === '')
    throw new Wrong('/next_action/target_script', 'must be the path of a script')
  if (typeof prompt !== 'string' || prompt.trim() === '')
    throw new Wrong('/next_action/continuation_prompt', 'must say how to go on')
  return { target, prompt }
}

function membersOf(at: string, value: Json, names: string[]): JsonObject {
  if (!isObject(value)) throw new Wrong(at, 'must be an object')
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Wrong(`${at}/${unknown}`, `is not known: only ${names.join(', ')} are`)
  return value as JsonObject
}

const suffix = '.py'
const place = 'workbench/scripts/'

/** Why a script is not run, whatever stands there; null where its path may be. */
export function forbiddenTarget(path: string): string | null {
  const parts = path.split('/')
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..')
  if (!path.startsWith(place) || !isPlain || path.includes('\\') || path.includes('\0'))
    return `it must lie below ${place}, as a relative path without "..": nothing else is run`
  return path.endsWith(suffix) && path.length > place.length + suffix.length
    ? null
    : 'only files that end in .py are run'
}
