/**
 * Scripts in boxes. A request goes in and the script's own result comes out, with a report of how well the box was closed; what
 * is too weak, too large or too late is refused with one code each. There is no way to run a script without a box.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AppError, isWeaker, limits } from '#model'
import type { Box } from './box.ts'
import { installInterpreter } from './fix.ts'
import { primeGo } from './go.ts'
import { fillInputs } from './inputs.ts'
import { type Interpreter, interpreters, primer } from './interpreter.ts'
import { outcomeOf, type ScriptResult } from './outcome.ts'
import { parseOutbound } from './outbound.ts'
import { type ScriptTier, scriptTiers } from './plan.ts'
import { openPool, type Pool } from './pool.ts'
import { openRatchet } from './ratchet.ts'
import { withWayOut } from './report.ts'
import { type CheckedRequest, parseRequest, type ScriptRequest } from './request.ts'
import { type MissingTier, type OpenTier, tryTier } from './tier.ts'
import { openWorkshop } from './workshop.ts'
