/** Commands about the record: verify it, read it, keep it, and the files beside it. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { AppError, type ArtifactId, parseId, type RunId } from '#model'
import { artifactsOf, bad, type Command, counted, exit, good, oneLine, table, UsageError } from '#show/cli'
import { exportRun, keysFolder, restoreRecord, verifyRecord } from '#verbs'

/** The owner of what a person stores by hand: the nil UUID. */
const nobody = '00000000-0000-0000-0000-000000000000'

const whole = (bytes: Uint8Array) => ({ bytes: bytes.length, content: Readable.from([bytes]) })

async function opened(file: string) {
  const found = await stat(file).catch(() => null)
  if (found === null || !found.isFile()) {
    throw new UsageError(`Cannot read ${file}: ${found === null ? 'there is no such file' : 'it is no file'}`)
  }
  return { bytes: found.size, content: createReadStream(file) }
}

export const recordCommands: Record<string, Command> = {
  'audit verify': {
    group: 'Keep',
    usage: 'audit verify [RUN]',
    does: 'check every event of the record; exit 7 names the first bad one',
    ids: 'run',
    words: [0, 1],
    // The store is not opened for it: that would refuse what is to be told.
    run: async ({ config, words, json, print }) => {
      const answer = await verifyRecord(config, words[0])
      const { ok, events, firstBad, reason, artifactsNotChecked = 0 } = answer
      const elsewhere = `; not checked: ${counted(artifactsNotChecked, 'artifact')} in S3`
      if (json) print(JSON.stringify(answer))
      else if (ok) print(`${good('✓')} ${events} events verify${artifactsNotChecked === 0 ? '' : elsewhere}`)
      else
        print(
          `${bad('✗')} the record does not verify${firstBad === undefined ? '' : `: event ${firstBad.n} of ${firstBad.run}`}: ${reason}`,
        )
      return ok ? exit.done : exit.ledger
    },
  },
  'audit show': {
    group: 'Keep',
    usage: 'audit show RUN',
    does: 'the exact events of a run ("home" for those of the home)',
    ids: 'run',
    words: [1, 1],
    run: async ({ record, words, json, print }) => {
      const lines = (await record()).linesOf(words[0]!)
      if (lines.length === 0)
        throw new AppError(
          'RUN_NOT_FOUND',
          `Cannot show the events of "${words[0]}": there are none; "metier runs" lists the runs`,
          {
            run: words[0]!,
          },
        )
      for (const line of lines) print(json ? line : eventLine(line))
      return exit.done
    },
  },
  'audit export': {
    group: 'Keep',
    usage: 'audit export RUN -o FILE',
    does: 'a run as a .tar.gz that anyone can verify: events, blobs, artifacts, a signed manifest, and programs that check it',
    options: { output: { type: 'string', short: 'o' } },
    ids: 'run',
    words: [1, 1],
    run: async ({ config, words, options, json, print, note }) => {
      const run = parseId<RunId>('RUN', words[0], '; "metier runs" lists them')
      const { output } = options
      if (typeof output !== 'string' || output === '') throw new UsageError('usage: metier audit export RUN -o FILE')
      const done = await exportRun(config, run, output)
      const { file, count, status, complete, key } = done
      if (!complete) note(`The run is not finished (${status}): the archive ends where its record ends now.`)
      if (json) print(JSON.stringify(done))
      else
        print(
          `Wrote ${file}: ${count} events, ${complete ? status : 'not finished'}, signed with key ${key}.\nVerify it: unpack it, then "node verify.mjs" or "python3 verify.py".`,
        )
      return exit.done
    },
  },
  'audit checkpoint': {
    group: 'Keep',
    usage: 'audit checkpoint',
    does: 'sign the heads of everything that moved',
    words: [0, 0],
    run: async ({ verbs, json, print }) => {
      const done = await (await verbs()).checkpoint()
      const said = `Signed ${done.heads} heads in event ${done.n} of the home.`
      print(
        json ? JSON.stringify(done) : done.heads === 0 ? 'Nothing to sign: nothing moved since the last time.' : said,
      )
      return exit.done
    },
  },
  purge: {
    group: 'Keep',
    usage: 'purge RUN',
    does: 'remove a finished run whole; its head and count stay',
    ids: 'run',
    words: [1, 1],
    run: async ({ verbs, words, caller, json, print }) => {
      const run = parseId<RunId>('RUN', words[0], '; "metier runs" lists them')
      await (await verbs()).purge(run, caller)
      print(json ? JSON.stringify({ run, purged: true }) : `Purged ${run}.`)
      return exit.done
    },
  },
  backup: {
    group: 'Set up',
    usage: 'backup FILE',
    does: 'copy the record while it is in use, and verify the copy: FILE and FILE.files/',
    words: [1, 1],
    run: async ({ config, verbs, words, json, print, note }) => {
      const done = await (await verbs()).backup(words[0]!)
      const { file, files, events } = done
      if (json) print(JSON.stringify(done))
      else
        print(
          `Wrote ${file} (the database) and ${files}/ (blobs, artifacts, checkpoints, tasks): ${events} events verify.`,
        )
      note(`Keys are not in it. Keep a copy of ${keysFolder(config.home)} elsewhere: restoring needs it.`)
      return exit.done
    },
  },
  restore: {
    group: 'Set up',
    usage: 'restore FILE',
    does: 'put a backup in the place of a record that is gone; its keys/ must be there',
    words: [1, 1],
    run: async ({ config, words, json, print, note }) => {
      const done = await restoreRecord(config, words[0]!)
      const { file, home, events, unfinished } = done
      print(json ? JSON.stringify(done) : `Restored ${events} events from ${file} into ${home}.`)
      if (unfinished.length > 0)
        note(
          `${unfinished.length} runs were not finished when the backup was made. What they did since then is not in it: look before you resume one.`,
        )
      return exit.done
    },
  },
  'artifact put': {
    group: 'Keep',
    usage: 'artifact put FILE|- [--name NAME]',
    does: 'store a file',
    options: { name: { type: 'string' } },
    words: [1, 1],
    run: async ({ record, words, options, stdinBytes, json, print, signal }) => {
      const file = words[0]!
      const { bytes, content } = file === '-' ? whole(await stdinBytes()) : await opened(file)
      const name = typeof options.name === 'string' ? options.name : file === '-' ? 'stdin.txt' : basename(file)
      const type = 'application/octet-stream'
      const stored = await (await record()).storeArtifact({ owner: nobody, name, type, bytes, content, signal })
      print(json ? JSON.stringify(stored) : `${stored.path}  ${counted(bytes, 'byte')}`)
      return exit.done
    },
  },
  'artifact get': {
    group: 'Keep',
    usage: 'artifact get ID|PATH',
    does: 'write a stored file to stdout',
    ids: 'artifact',
    words: [1, 1],
    run: async ({ config, words, write, signal }) => {
      const given = words[0]!
      const isPath = given.includes('/')
      const id = isPath ? given : parseId<ArtifactId>('ID', given, '; "metier artifacts" lists them')
      const found = await (await artifactsOf(config)).get(id, signal)
      if (found === null)
        throw new AppError('S3_ARTIFACT_NOT_FOUND', `Cannot get the artifact ${id}: there is none`, { id })
      for await (const chunk of found.content) await write(chunk)
      return exit.done
    },
  },
  artifacts: {
    group: 'Keep',
    usage: 'artifacts',
    does: 'the stored files',
    words: [0, 0],
    run: async ({ config, json, print, signal }) => {
      const list = await (await artifactsOf(config)).list(signal)
      if (json) print(JSON.stringify(list))
      else
        print(
          list.length === 0
            ? 'No file is stored.'
            : table(list.map(({ path, bytes }) => [path, counted(bytes, 'byte')])),
        )
      return exit.done
    },
  },
}

function eventLine(line: string): string {
  const { n, at, type, body } = JSON.parse(line)
  return `${String(n).padStart(4)}  ${at}  ${type.padEnd(18)} ${oneLine(JSON.stringify(body))}`
}
