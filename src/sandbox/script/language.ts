/** Which languages a box can run: what the system it sees has of them. */
import { lstatSync } from 'node:fs'
import { AppError } from '#model'
import { sudo } from '#sandbox/host'
import type { View } from '#sandbox/script-box'
import type { BoxFactory } from './box-factory.ts'
import { type Interpreter, interpreters } from './interpreter.ts'

export type LanguageState = { language: Interpreter; ok: boolean; detail: string; fix?: string }

const programs = { python: 'python3', bash: 'bash' }

export function languageStates(factory: BoxFactory): LanguageState[] {
  return interpreters.map((language) => languageState(factory, language))
}

function languageState(factory: BoxFactory, language: Interpreter): LanguageState {
  if (language !== 'go') {
    const name = programs[language]
    if (has(factory.view, name)) return { language, ok: true, detail: name }
    return { language, ok: false, detail: `the box has no ${name}`, fix: `${sudo()}apt-get install ${name}` }
  }
  const go = factory.go()
  if (go === null) {
    const fix = `${sudo()}apt-get install golang-go && metier sandbox build`
    return { language, ok: false, detail: 'this machine has no Go toolchain', fix }
  }
  const version = go.version.split('\n')[0]!
  if (go.cache) return { language, ok: true, detail: version }
  return { language, ok: false, detail: `${version} is not prepared`, fix: 'metier sandbox build' }
}

export function refuseMissing(factory: BoxFactory, languages: Interpreter[]): void {
  for (const language of languages) {
    const { ok, detail, fix } = languageState(factory, language)
    if (ok) continue
    const message = `Cannot run a script in ${language}: ${detail}. Run: ${fix}`
    throw new AppError('SANDBOX_SETUP_FAILED', message, { interpreter: language, fix })
  }
}

/** Where the box looks for programs, seen from here; a link may lead anywhere inside. */
function has({ binds }: View, name: string): boolean {
  return binds.some(({ from, to }) => {
    const folders = to === '/usr' ? ['bin', 'local/bin'] : to === '/bin' ? ['.'] : []
    return folders.some((folder) => lstatSync(`${from}/${folder}/${name}`, { throwIfNoEntry: false }) !== undefined)
  })
}
