/**
 * A model that answers from a file of recorded answers, one JSON line each, found by the digest of
 * the request; with a model behind it, it records what is missing.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { AppError, escapeLineSeparators, type Json, limits, redactedSecret, sha256 } from '#model'
import { type Model, type ModelAnswer, ModelError, type ModelRequest } from './model.ts'
import { readModelFile } from './model-file.ts'

/** None of `secrets` gets into the file, whatever a provider answers. */
export function openCassette(title: string, file: string, recorded: Model | null, secrets: readonly string[]): Model {
  const answers = existsSync(file) || recorded === null ? answersIn(readModelFile(file), title) : new Map()

  async function complete(request: ModelRequest): Promise<ModelAnswer> {
    const digest = digestOf(request)
    const known = answers.get(digest)
    if (known !== undefined) {
      if (known.text !== '') request.onText?.(known.text)
      return known
    }
    if (recorded === null) {
      const message = `The cassette of "${title}" has no answer to this request. Record it with --model ${title}=MODEL`
      throw new ModelError('answered', 'TOOL_ERROR', message, { model: title, digest })
    }
    const answer = await recorded.complete(request)
    const line = withoutSecrets(escapeLineSeparators(JSON.stringify({ digest, answer })), secrets)
    appendFileSync(file, `${line}\n`, { mode: 0o600, flush: true })
    answers.set(digest, answer)
    return answer
  }

  // The same with a model behind it and without: else a replay would shorten its history elsewhere.
  return { name: title, contextTokens: limits.scriptedContextTokens, complete }
}

function withoutSecrets(line: string, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => text.replaceAll(JSON.stringify(secret).slice(1, -1), redactedSecret), line)
}

/**
 * Of what the model is asked. Left out is what differs each time: how much it may say, since
 * budgets change; and of ids and of times in the names of steps all but which of them are equal.
 */
function digestOf({ system, messages, tools = [], schema = {} }: ModelRequest): string {
  const names = new Map<string, number>()
  const numbered = (name: string) => `#${names.get(name) ?? names.set(name, names.size + 1).size}`
  return sha256(JSON.stringify(sorted({ system, messages, tools, schema })).replace(varying, numbered))
}

const varying = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=step_)\d{8}_\d{6}(?=_tool_request)/g

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(
    names.filter((name) => value[name] !== undefined).map((name) => [name, sorted(value[name]!)]),
  )
}

/** A last line without its end was cut off by a kill, and is recorded again. */
function answersIn(text: string, title: string): Map<string, ModelAnswer> {
  const lines = text.split('\n')
  const answers = new Map<string, ModelAnswer>()
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    try {
      const { digest, answer } = JSON.parse(line)
      if (typeof digest === 'string' && typeof answer?.text === 'string') answers.set(digest, answer)
      else throw new Error('it has no digest or no answer')
    } catch (error) {
      if (index === lines.length - 1) continue
      const details = `line ${index + 1} cannot be read: ${(error as Error).message}`
      throw new AppError('INVALID_INPUT_PARAM', `Cannot use "${title}": ${details}`, { param: 'model', details })
    }
  }
  return answers
}
