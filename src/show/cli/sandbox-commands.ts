/** Commands about boxes: prepare them, try them, and run a script in one. */
import { join } from 'node:path'
import { AppError, type ArtifactId, type Config, parseId, tiers } from '#model'
import { homePaths, openArtifactFolder } from '#record'
import { acceptTier, openScriptBoxes, type ScriptBoxes, type ScriptInput, type ScriptTier } from '#sandbox'
import { type Command, type Context, UsageError } from './command.ts'
import { exit } from './exit.ts'
import { bad, good } from './paint.ts'

export const sandboxCommands: Record<string, Command> = {
  'sandbox build': {
    group: 'Boxes',
    usage: 'sandbox build',
    does: 'prepare the root of boxes and what Go compiles ahead',
    words: [0, 0],
    run: (context) =>
      withBoxes(context, async (boxes) => {
        context.note('Preparing boxes; the first time this may take a minute …')
        const built = await boxes.build()
        const lines = built.languages.map(
          ({ language, ok, detail }) => `${ok ? good('✓') : bad('✗')} ${language}: ${detail}`,
        )
        context.print(context.json ? JSON.stringify(built) : lines.join('\n'))
      }),
  },
  'sandbox test': {
    group: 'Boxes',
    usage: 'sandbox test',
    does: 'try every tier of box on this machine',
    words: [0, 0],
    run: (context) =>
      withBoxes(context, async (boxes) => {
        const tested = await boxes.test()
        const line = ({ tier, ok, detail, fix }: (typeof tested.tiers)[number]) =>
          `${ok ? good('✓') : bad('✗')} ${tier}: ${detail}${fix === undefined ? '' : `\n    ${fix}`}`
        context.print(context.json ? JSON.stringify(tested) : tested.tiers.map(line).join('\n'))
      }),
  },
  'sandbox accept': {
    group: 'Boxes',
    usage: 'sandbox accept TIER',
    does: 'say that this tier will do, though a stronger one was used before',
    words: [1, 1],
    run: async ({ config, words, json, print }) => {
      const tier = tiers.find((one) => one === words[0])
      if (tier === undefined) throw new UsageError(`"${words[0]}" is no tier: ${tiers.join(', ')}`)
      acceptTier(join(config.home, 'sandbox'), tier)
      print(json ? JSON.stringify({ accepted: tier }) : `Accepted ${tier}: code and scripts may run there again.`)
      return exit.done
    },
  },
  'sandbox run': {
    group: 'Boxes',
    usage:
      'sandbox run --language python|bash|go [--tier T] [--timeout S] [--network NONE|OUTBOUND_LIMITED] [--input ID …] FILE|-',
    does: 'run a script in a box',
    options: {
      language: { type: 'string' },
      tier: { type: 'string' },
      timeout: { type: 'string' },
      network: { type: 'string' },
      input: { type: 'string', multiple: true },
    },
    words: [1, 1],
    run: (context) => withBoxes(context, (boxes) => runScript(context, boxes)),
  },
}

async function runScript(context: Context, boxes: ScriptBoxes): Promise<void> {
  const { language, tier, timeout, network, input } = context.options
  if (typeof language !== 'string') throw new UsageError('say which: --language python|bash|go')
  const from = context.words[0]!
  const { firstByteMs: _, ...result } = await boxes.run({
    interpreter: language,
    script: from === '-' ? await context.stdin() : await context.readFile(from),
    inputs: await Promise.all(((input as string[] | undefined) ?? []).map((id) => inputOf(context.config, id))),
    ...(timeout === undefined ? {} : { timeoutSeconds: Number(timeout) }),
    ...(network === undefined ? {} : { network: network as 'NONE' }),
    ...(tier === undefined ? {} : { tier: tier as ScriptTier }),
    signal: context.signal,
  })
  if (context.json) return context.print(JSON.stringify(result))
  if (result.stdout !== '') context.print(result.stdout.replace(/\n$/, ''))
  if (result.stderr !== '') context.note(result.stderr.replace(/\n$/, ''))
  const { exitCode, ms, isolation, truncated } = result
  context.note(
    `exit ${exitCode} · ${Math.round(ms)} ms · ${isolation.tier} (${isolation.layers.join(' in ')})${truncated ? ' · output cut' : ''}`,
  )
}

async function inputOf({ home }: Config, text: string): Promise<ScriptInput> {
  const id = parseId<ArtifactId>('--input', text)
  const found = await openArtifactFolder(homePaths(home).artifacts).get(id)
  if (found === null)
    throw new AppError('S3_ARTIFACT_NOT_FOUND', `Cannot hand over the artifact ${id}: there is none`, { id })
  return { path: `/inputs/${found.name}`, source: found.content }
}

async function withBoxes({ config }: Context, use: (boxes: ScriptBoxes) => Promise<void>): Promise<number> {
  const { minTier, outbound } = config.sandbox
  const boxes = openScriptBoxes({
    folder: join(config.home, 'sandbox'),
    minTier: minTier === 'wasm' ? 'os' : minTier,
    outbound,
  })
  try {
    await use(boxes)
  } finally {
    await boxes.close()
  }
  return exit.done
}
