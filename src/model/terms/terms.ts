/** The nouns of the product as types: plans, programs, tools, effects, ids, errors, isolation. */
export * from './effect.ts'
export * from './errors.ts'
export * from './ids.ts'
export * from './isolation.ts'
export * from './operations.ts'
export * from './plan.ts'
export * from './program.ts'
export * from './tool.ts'
