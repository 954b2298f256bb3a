/**
 * The nouns of the product as types: plans, programs, capabilities, tools, effects, ids, errors,
 * isolation.
 */
export * from './capability.ts'
export * from './effect.ts'
export * from './errors.ts'
export * from './ids.ts'
export * from './isolation.ts'
export * from './operations.ts'
export * from './plan.ts'
export * from './program.ts'
export * from './tool.ts'
