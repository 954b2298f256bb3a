/**
 * Questions and printed lines as text: data of an answer enters, lines for a person leave. Opens
 * nothing, so that a command can print them without a record.
 */
export { answerLogs, lineText } from './answer-logs.ts'
export { argumentsHandle, argumentsSuffix } from './arguments-handle.ts'
export { adviceLines, argumentsLine, argumentsText, mayCallLines, originLine, originLines } from './question.ts'
