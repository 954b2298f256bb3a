/** Commands about boxes: prepare them, try them, and run a script in one. */
import { join } from 'node:path'
import { type Config, type Tier, tiers, toAppError } from '#model'
import type { ScriptBoxes } from '#sandbox'
import { bad, type Command, type Context, exit, good, UsageError } from '#show/cli'
import { runScript } from './run-script.ts'

export const sandboxCommands: Record<string, Command> = {
  'sandbox build': {
    group: 'Boxes',
    usage: 'sandbox build [--image FOLDER|ARCHIVE|none]',
    does: 'prepare the root of boxes and what Go compiles ahead; an image (debootstrap, docker export) takes the place of /usr',
    options: { image: { type: 'string' } },
    words: [0, 0],
    run: build,
  },
  'sandbox test': {
    group: 'Boxes',
    usage: 'sandbox test',
    does: 'try every tier of box on this machine',
    words: [0, 0],
    run: (context) =>
      withBoxes(context, async (boxes) => {
        const scripts = await boxes.test()
        const tested = { tiers: [await wasmTier(), ...scripts.tiers] }
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
      const { acceptTier } = await import('#sandbox')
      acceptTier(folderOf(config), tier)
      print(json ? JSON.stringify({ accepted: tier }) : `Accepted ${tier}: code and scripts may run there again.`)
      return exit.done
    },
  },
  'sandbox run': {
    group: 'Boxes',
    usage:
      'sandbox run --language python|bash|go [--tier T] [--timeout S] [--network NONE|OUTBOUND_LIMITED] [--input ID …] FILE|-',
    does: 'run a script in a box, as a run of one call',
    options: {
      language: { type: 'string' },
      tier: { type: 'string' },
      timeout: { type: 'string' },
      network: { type: 'string' },
      input: { type: 'string', multiple: true },
    },
    words: [1, 1],
    run: runScript,
  },
}

/** An image is remembered only after a box was tried on it. */
async function build(context: Context): Promise<number> {
  const { chosenImage, openImage, rememberImage } = await import('#sandbox')
  const { image } = context.options as { image?: string }
  const folder = folderOf(context.config)
  context.note('Preparing boxes; the first time this may take a minute …')
  const named = image === undefined ? chosenImage(folder) : image === 'none' ? null : image
  const chosen = named && (await openImage(folder, named))
  const use = async (boxes: ScriptBoxes) => {
    const { tier } = await boxes.isolation()
    const built = await boxes.build()
    if (image !== undefined) rememberImage(folder, chosen)
    const lines = built.languages.map(({ language, ok, detail, fix }) =>
      ok ? `${good('✓')} ${language}: ${detail}` : `${bad('✗')} ${language}: ${detail}${fix ? `\n    ${fix}` : ''}`,
    )
    const ready = `Boxes are ready at tier ${tier}${chosen === null ? '' : `, with the system of ${chosen}`}.`
    context.print(context.json ? JSON.stringify({ ...built, tier, image: chosen }) : [ready, ...lines].join('\n'))
  }
  return withBoxes(context, use, { image: chosen })
}

/** The tier that needs nothing of the system, for code alone. */
async function wasmTier(): Promise<{ tier: Tier; ok: boolean; detail: string; fix?: string }> {
  const { openBoxes } = await import('#sandbox')
  const boxes = openBoxes({ bwrap: null, runsc: null })
  try {
    const { runtime, layers } = await boxes.isolation()
    return {
      tier: 'wasm',
      ok: true,
      detail: `${runtime.name} ${runtime.version} with ${layers.join(', ')} (code only)`,
    }
  } catch (thrown) {
    return { tier: 'wasm', ok: false, detail: toAppError(thrown).message }
  } finally {
    await boxes.close()
  }
}

const folderOf = ({ home }: Config) => join(home, 'sandbox')

async function withBoxes(
  { config }: Context,
  use: (boxes: ScriptBoxes) => Promise<void>,
  more: { image?: string | null } = {},
): Promise<number> {
  const { openScriptBoxes } = await import('#sandbox')
  const { minTier, outbound } = config.sandbox
  const boxes = openScriptBoxes({
    folder: folderOf(config),
    minTier: minTier === 'wasm' ? 'os' : minTier,
    outbound,
    ...more,
  })
  try {
    await use(boxes)
  } finally {
    await boxes.close()
  }
  return exit.done
}
