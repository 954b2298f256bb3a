/** Statistical models, the thread that fits them, and how well what they say comes true. */
export { askThread } from './ask-thread.ts'
export { type Blend, fitBlend, predictBlend } from './blend.ts'
export { fitTrees, predictTrees } from './boosted-trees.ts'
export { calibrationError, reliabilityOf } from './calibration.ts'
export { diceOf } from './dice.ts'
export { fitLinear, type LinearModel, packLinear, unpackLinear } from './linear-model.ts'
export { fitLogistic, type Logistic, predictLogistic } from './logistic.ts'
