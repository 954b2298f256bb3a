/**
 * The paths of an explored plan as a tree of lines: what they share stands once, and each ends with
 * its number and its outcome.
 */

import { counted, oneLine } from '#show/cli'
import type { Exploration, GraphEdge, GraphNode } from '#verbs'

type Stop = { node: GraphNode; label: string; paths: number[]; next: Stop[] }

export function exploreTree({ paths, graph, uncovered, isWhole }: Exploration): string {
  const outcomes = paths.map(({ result, preview, error }) => error?.message ?? preview ?? JSON.stringify(result))
  const roots = childrenOf(
    graph,
    'start',
    undefined,
    paths.map((_, index) => index + 1),
    new Set(),
  )
  const more = isWhole ? '' : ', and there is more to try'
  const never = uncovered.map((what) => `never taken: ${oneLine(what, 140)}`)
  return [`${counted(paths.length, 'path')}${more}`, ...drawn(roots, '', outcomes), ...never].join('\n')
}

/** Only along the paths that came this far: what merges further on is drawn for each of them. */
function childrenOf(
  graph: Exploration['graph'],
  from: string,
  out: string | undefined,
  paths: number[],
  above: Set<string>,
): Stop[] {
  const leading = graph.edges.filter((edge) => edge.from === from && (out === undefined || edge.label === out))
  return leading.flatMap((edge): Stop[] => {
    const mine = edge.paths.filter((path) => paths.includes(path))
    const node = graph.nodes.find(({ id }) => id === edge.to)!
    if (mine.length === 0 || above.has(keyOf(edge))) return []
    const seen = new Set([...above, keyOf(edge)])
    const outs = [...new Set(graph.edges.filter(({ from: source }) => source === node.id).map(({ label }) => label))]
    const next = outs.flatMap((label) => childrenOf(graph, node.id, label, mine, seen))
    return [{ node, label: edge.label ?? '', paths: mine, next }]
  })
}

const keyOf = ({ from, to, label }: GraphEdge) => JSON.stringify([from, to, label])

function drawn(stops: Stop[], indent: string, outcomes: string[]): string[] {
  return stops.flatMap(({ node, label, paths, next }, index) => {
    const isLast = index === stops.length - 1
    const head = `${indent}${isLast ? '└─' : '├─'} ${label === '' ? '' : `[${label}] `}${said(node, paths, outcomes)}`
    return [head, ...drawn(next, `${indent}${isLast ? '   ' : '│  '}`, outcomes)]
  })
}

function said({ kind, label, line }: GraphNode, paths: number[], outcomes: string[]): string {
  if (kind === 'end')
    return paths.map((path) => `${label} ${oneLine(outcomes[path - 1] ?? '', 60)} (path ${path})`).join(', ')
  return kind === 'branch' ? `${line === undefined ? '' : `line ${line}: `}${label}?` : label
}
