/** The program of the mission: it makes three tasks, claims one after the other, and does them. */
export const missionProgram = `
const call = (name, given) => tool('metier:' + name, given)
const { missionID } = await call('create_mission', { name: args.name })
const add = async (taskName) =>
  (await call('create_task_node', { parentNodeID: missionID, taskName, description: taskName + ' the numbers' })).taskID
const [collect, add_up, report] = [await add('collect'), await add('add up'), await add('report')]
await call('add_relationship', { fromNodeID: add_up, toNodeID: collect, relationshipType: 'DEPENDS_ON' })
await call('add_relationship', { fromNodeID: report, toNodeID: add_up, relationshipType: 'DEPENDS_ON' })
const { nodeID: agentID } = await call('ensure_node', { kind: 'Agent', name: args.name })

const work = {
  collect: async (taskID) =>
    (await call('store_artifact', { ownerEntityID: taskID, artifactName: 'numbers.txt', contentType: 'text/plain', content: '40 2' })).storagePath,
  'add up': async (taskID, numbers) => {
    const scriptContent = 'open("/outputs/sum.txt", "w").write(str(sum(map(int, open("/inputs/n").read().split()))))'
    const config = { tier: args.tier, inputArtifacts: { [numbers]: '/inputs/n' }, outputs: ['/outputs/sum.txt'] }
    const { artifacts, isolation } = await call('execute_script_in_sandbox', { interpreter: 'python', scriptContent, config })
    tier = isolation.tier
    return artifacts[0].storagePath
  },
  report: async (taskID, sum) => (await call('retrieve_artifact', { storagePath: sum })).artifact.content,
}
let last, tier
for (;;) {
  const { task } = await call('claim_ready_task', { agentID, missionID })
  if (task === null) break
  last = await work[task.name](task.id, last)
  await call('update_task_status', { taskID: task.id, newStatus: 'DONE', expectedStatus: 'IN_PROGRESS' })
}
await call('update_mission_status', { missionID, newStatus: 'DONE' })
return { missionID, last, tier }`
