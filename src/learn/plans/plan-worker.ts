/** The thread that fits the planner: seconds of work that nothing else waits for. */
import { parentPort, workerData } from 'node:worker_threads'
import { fitPlans, type PlannerRequest } from './fit-plans.ts'
import { writePlanner } from './planner.ts'

parentPort!.postMessage(writePlanner(fitPlans(workerData as PlannerRequest)))
