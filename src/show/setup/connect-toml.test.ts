/**
 * A table in a TOML file of another program: put in, it says what it should; taken out, no byte is
 * another than before.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '#model'
import { withTable } from './connect-toml.ts'
import { parseToml } from './init-toml.ts'

const path = 'mcp_servers.metier'
const values = { command: 'a b', args: ['"c"', 'd\\e'] }

test('withTable() puts a table in, once, and gives the file back to the byte', () => {
  const table = [
    'model = "x"',
    'model = "x"\n',
    'model = "x"\n\n',
    'model = "x"\n\n\n\n',
    'model = "x"\r\n[a]\r\nb = 1\r\n',
    'model = "x"\r\n[a]\r\nb = 1',
    '\uFEFF# mine\n[mcp_servers.other]\ncommand = "x" # y\n',
    '[mcp_servers]\n',
    '[[a]]\nb = """\n[c]\n"""\n# end',
    ' ',
  ]
  for (const text of table) {
    const put = withTable(text, path, values)!
    const { mcp_servers: servers } = parseToml(put) as { mcp_servers: JsonObject }
    assert.deepEqual({ ...(servers.metier as object) }, values, put)
    assert.equal(put.startsWith(text.trimEnd()), true)
    assert.equal(put.includes('\r\n'), text.includes('\r\n'))
    assert.equal(/[^\r]\n/.test(put), /[^\r]\n/.test(text) || !text.includes('\r\n'), 'one kind of line end')
    assert.equal(withTable(put, path, values), put)
    assert.equal(withTable(withTable(put, path, { url: 'x' })!, path, values), put)
    assert.equal(withTable(put, path, null), text)
    assert.equal(withTable(text, path, null), text)
  }
  assert.equal(withTable(withTable('', path, values)!, path, null), null, 'nothing is left of a file of ours')
})

test('withTable() does not touch what it does not understand, and nothing inside a long string', () => {
  const refused = [
    'a = ',
    'mcp_servers = { metier = { command = "x" } }',
    '[mcp_servers]\nmetier.command = "x"\n',
    'text = """\n[mcp_servers.metier]\ncommand = "x"\n"""\n[b]\n',
  ]
  for (const text of refused) assert.throws(() => withTable(text, path, values), text)
  const quoted = '[mcp_servers."metier"]\ncommand = "old"\n[ mcp_servers . metier . env ]\nA = "b"\n[last]\n'
  assert.equal(withTable(quoted, path, null), '[last]\n')
})
