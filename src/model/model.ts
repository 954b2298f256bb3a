/**
 * The words of Métier as types, its one error and its limits. Nothing enters but data; imports
 * nothing of the product.
 */
export * from '#model/configuration'
export * from '#model/limits'
export * from '#model/primitives'
export * from '#model/terms'
export * from './event.ts'
export * from './stored.ts'
