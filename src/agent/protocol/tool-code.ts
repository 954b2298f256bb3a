/**
 * The glass box (specs/tooling-protocol.md): an answer with exactly one well-formed
 * `<tool_code>` block runs it; one without any is the last word; everything else is a mistake.
 */
import { extractJson } from '#agent/models'
import { isObject } from '#model'
import { mistake, type Reading, withoutThoughts } from './reading.ts'

/** Whatever looks like a tag, also one that is cut off, written otherwise or has attributes. */
const likeTag = /<\s*\/?\s*tool_code\b[^<>]*>?/gi

export function readToolCode(text: string): Reading {
  const tags = [...text.matchAll(likeTag)]
  if (tags.length === 0) return lastWord(text)
  const odd = tags.find(([tag]) => tag !== '<tool_code>' && tag !== '</tool_code>')
  if (odd !== undefined) return mistake(`"${odd[0]}" is not a tag: write exactly <tool_code> and </tool_code>`)
  const [open, close, ...more] = tags
  if (more.length > 0) return mistake('it holds several <tool_code> tags: send exactly one block, not nested')
  if (close === undefined) return mistake('its <tool_code> block is not complete: it needs both tags')
  if (open![0] !== '<tool_code>' || close[0] !== '</tool_code>') return mistake('its tags are in the wrong order')
  const code = text.slice(open!.index + open![0].length, close.index)
  if (isFenced(text.slice(0, open!.index)))
    return mistake('its block stands inside of a code fence: leave out the fence')
  if (/^\s*(?:```|~~~)/.test(code)) return mistake('a code fence stands inside of its block: leave out the fence')
  if (code.trim() === '') return mistake('its block is empty')
  return { kind: 'tool', thought: text.slice(0, open!.index).trim(), code: `${code.replace(/^\r?\n/, '').trimEnd()}\n` }
}

/** An answer of the other protocol wants to go on: it is not the end. */
function lastWord(text: string): Reading {
  const { value } = { value: null, ...extractJson(text) }
  if (isObject(value) && 'thought_process' in value && isObject(value.next_action))
    return mistake('it has a next_action, which belongs to another protocol: write a <tool_code> block')
  return { kind: 'final', text: withoutThoughts(text).trim() || text.trim(), thought: '', drafts: [] }
}

function isFenced(before: string): boolean {
  return (before.match(/^\s*(?:```|~~~)/gm) ?? []).length % 2 === 1
}
