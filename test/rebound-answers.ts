/** Answers of a model in the rebound protocol, as a test writes them down. */

/** An answer that writes a script below `workbench/scripts/` and has it run. */
export const scriptAnswer = (name: string, content: string, continuation_prompt = 'Go on.') => ({
  thought_process: `run ${name}`,
  artifacts: [{ path: `workbench/scripts/${name}`, content }],
  next_action: { type: 'exec_and_chain', target_script: `workbench/scripts/${name}`, continuation_prompt },
})

export const lastAnswer = (text: string) => ({
  thought_process: 'done',
  artifacts: [],
  next_action: null,
  final_result: text,
})
