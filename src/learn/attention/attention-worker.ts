/** The thread that trains attention and judges it: seconds of work that nothing else waits for. */
import { parentPort, workerData } from 'node:worker_threads'
import { type AttentionRequest, judgeAttention } from './judge-attention.ts'

parentPort!.postMessage(judgeAttention(workerData as AttentionRequest))
