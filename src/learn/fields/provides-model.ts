/** The fitted model of providesOf(): made by `node bench/learn.ts --fit provides`. */
import type { Trees } from '#learn/models'
import model from './provides-model.json' with { type: 'json' }

export const providesModel: Trees = model
