/**
 * JSON schemas of tools: arguments judged before a call, signatures and declarations for authors of
 * calls, and shapes inferred from answers. In go schemas and values; out come problems, texts and
 * schemas. What a schema cannot say it leaves to the server.
 */
export { declarationsOf } from './declarations.ts'
export { definiteProblems } from './definite-problems.ts'
export { openShapes, type Shapes } from './observed-shapes.ts'
export { refersTo, signatureOf } from './signature.ts'
export { fitsOutput, problemOf } from './validate.ts'
