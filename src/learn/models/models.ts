/** The statistical models that are fitted offline, and how well their probabilities come true. */
export { fitTrees, predictTrees, type Trees } from './boosted-trees.ts'
export { calibrationError, reliabilityOf } from './calibration.ts'
export { fitLinear, type LinearModel } from './linear-model.ts'
export { fitLogistic, type Logistic, predictLogistic } from './logistic.ts'
