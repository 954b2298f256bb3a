/** The fitted model of providesOf(): made by `node bench/learn.ts --fit provides`. */
import type { Blend } from '#learn/models'
import model from './provides-model.json' with { type: 'json' }

export const providesModel: Blend = model
