/** The graph of what was learned in the forms that other programs draw. */

type Node = { id: string; type: string; label: string }
type Edge = { from: string; to: string; type: string; count: number; confidence: number; coverage?: string }
type Graph = { nodes: Node[]; edges: Edge[] }

export function graphText(graph: Graph, format: 'json' | 'mermaid' | 'dot' | 'cytoscape'): string {
  switch (format) {
    case 'json':
      return JSON.stringify(graph)
    case 'mermaid':
      return mermaid(graph)
    case 'dot':
      return dot(graph)
    case 'cytoscape':
      return JSON.stringify(cytoscape(graph))
  }
}

/** An alternative has no direction. */
const arrow = ({ type }: Edge) => (type === 'alternative' ? '---' : '-->')

/** How often it was seen, or how much of what is needed it covers. */
const said = ({ type, count, coverage }: Edge) => `${type} ${coverage ?? count}`

/** Names are numbered, since Mermaid reads signs in them; a label has no quotation mark. */
function mermaid({ nodes, edges }: Graph): string {
  const numbers = new Map(nodes.map(({ id }, at) => [id, `n${at + 1}`]))
  const named = nodes.map(({ id, label }) => `  ${numbers.get(id)}["${label.replaceAll('"', '#quot;')}"]`)
  const linked = edges.map(
    (edge) => `  ${numbers.get(edge.from)} ${arrow(edge)}|${said(edge)}| ${numbers.get(edge.to)}`,
  )
  return ['graph LR', ...named, ...linked].join('\n')
}

function dot({ nodes, edges }: Graph): string {
  const quoted = (text: string) => JSON.stringify(text)
  const named = nodes.map(({ id, label }) => `  ${quoted(id)} [label=${quoted(label)}];`)
  const linked = edges.map((edge) => {
    const direction = edge.type === 'alternative' ? ' dir=none' : ''
    return `  ${quoted(edge.from)} -> ${quoted(edge.to)} [label=${quoted(said(edge))}${direction}];`
  })
  return ['digraph learned {', ...named, ...linked, '}'].join('\n')
}

function cytoscape({ nodes, edges }: Graph): object {
  return {
    elements: {
      nodes: nodes.map((data) => ({ data })),
      edges: edges.map(({ from, to, ...rest }, at) => ({
        data: { id: `e${at + 1}`, source: from, target: to, ...rest },
      })),
    },
  }
}
