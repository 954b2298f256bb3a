/**
 * Answers of the verbs as a person reads them: plain data enters; lines leave, with nothing in them
 * that a terminal would obey.
 */
export { printAnswer } from './print-answer.ts'
export { questionLine, questionText } from './question-text.ts'
export { timeline } from './timeline.ts'
