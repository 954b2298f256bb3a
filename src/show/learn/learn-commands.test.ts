/** What was learned at a terminal: how far it is, the graph in each form, and what a run shows. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { metier, workspace } from '#test'

test('learn, graph and run show tell what a run taught', async (t) => {
  const space = workspace(t)
  const input = `const was = await mcp.fx.read({ key: 'a' }); return mcp.fx.read({ key: String(was ?? 'b') })`
  const done = await metier(space, ['execute', 'read a and what it names', '--code', '-', '--json'], { input })
  assert.equal(done.code, 0, done.stderr)
  const json = async (...words: string[]) => {
    const { code, stdout, stderr } = await metier(space, [...words, '--json'])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const status = await json('learn', 'status')
  assert.deepEqual([status.n, status.rows.run, status.rows.tool], [status.of, 1, 1])
  assert.equal((await json('learn', 'rebuild')).digest, status.digest)
  const shown = await json('run', 'show', '@last')
  assert.deepEqual(
    shown.path.filter(({ tool }: { tool?: string }) => tool).map(({ call }: { call: string }) => call),
    ['1', '2'],
  )
  assert.deepEqual(
    shown.flows.map(({ from, to, how }: Record<string, { call: string }>) => [from!.call, to!.call, how]),
    [['1', '2', 'computed']],
  )
  assert.deepEqual(
    shown.dag.tasks.map(({ id }: { id: string }) => id),
    ['c1', 'a2', 'c2'],
  )
  const graph = await json('graph', '--view', 'invocation')
  assert.deepEqual(
    graph.edges.map(({ from, to, type, weight }: Record<string, unknown>) => [from, to, type, weight]),
    [['fx:read_1', 'fx:read_2', 'sequence', 0.5]],
  )
  const drawn = async (format: string) => (await metier(space, ['graph', '--run', '@last', '--format', format])).stdout
  assert.match(
    await drawn('mermaid'),
    /^graph LR\n {2}n1\["fx:read"\]\n {2}n2\["fx:read"\]\n {2}n1 -->\|sequence 1\| n2/,
  )
  assert.match(await drawn('dot'), /"fx:read_1" -> "fx:read_2" \[label="sequence 1"\]/)
  assert.equal(JSON.parse(await drawn('cytoscape')).elements.edges[0].data.target, 'fx:read_2')
  const refused = await metier(space, ['graph', '--format', 'png'])
  assert.equal(refused.code, 1, refused.stdout)
})
