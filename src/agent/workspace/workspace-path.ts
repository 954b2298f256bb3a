/** Which files of a workspace a model may write, and which of them a script does not see. */
import { AppError, limits } from '#model'

/** The books of a session: written by us, hidden from scripts. */
export const books = ['ledger', 'manifests', 'sessions']
/** What the session itself keeps there, by first name. */
const ours = ['artifacts', ...books]
/** Histories, and what configures us or a host, wherever it stands. */
const kept = [
  ...['.git', '.metier', 'metier.json', 'metier.jsonc', '.mcp.json', '.claude', '.claude.json', '.cursor', '.codex'],
  ...['.gemini', '.vscode', '.zed', '.windsurf', 'claude_desktop_config.json', 'opencode.json'],
]

/** Protected beside those names: paths of this machine inside the workspace, relative to it. */
export type Guarded = readonly string[]

/** The parts of a path that may be written; throws where it may not. */
export function partsOf(path: string, guarded: Guarded): string[] {
  const parts = path.split('/')
  const problem = unsound(path, parts) ?? forbidden(parts, guarded)
  if (problem !== null) throw refused(path, problem)
  return parts
}

function unsound(path: string, parts: string[]): string | null {
  if (Buffer.byteLength(path) > limits.agentPathBytesMax) return 'is too long'
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'must be relative to the workspace'
  if (/[\u0000-\u001f\u007f\\]/.test(path)) return 'holds a character that no file name should have'
  if (parts.some((part) => part === '' || part === '.' || part === '..')) return 'must not hold "..", "." or "//"'
  return parts.some((part) => /[. ]$/.test(part)) ? 'has a name that ends in a dot or a space' : null
}

function forbidden(parts: string[], guarded: Guarded): string | null {
  const names = parts.map(plain)
  if (ours.includes(names[0]!)) return `lies in "${parts[0]}", which the session keeps itself`
  const name = names.find((one) => kept.includes(one) || one === 'node_modules')
  if (name !== undefined) return `touches "${name}", which is not for a model to write`
  const whole = names.join('/')
  const inside = guarded.some((one) => whole === plain(one) || whole.startsWith(`${plain(one)}/`))
  return inside ? 'lies in what belongs to Métier itself' : null
}

/** As a file system that folds case and forms, and leaves out what has no width, would see it. */
function plain(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
}

/** Whether a script must not see it: secrets, histories, configurations, our own books. */
export function isHidden(path: string, guarded: Guarded): boolean {
  const name = plain(path.slice(path.lastIndexOf('/') + 1))
  if (name.startsWith('.env') || kept.includes(name) || guarded.includes(path)) return true
  return books.includes(path)
}

export function refused(path: string, problem: string): AppError {
  const shown = path.slice(0, limits.previewCharactersMax)
  return new AppError('PERMISSION_DENIED', `Cannot write ${JSON.stringify(shown)}: its path ${problem}`, {
    path: shown,
  })
}
