/** Scripts in bubblewrap and in gVisor keep the same contract. */
import { scriptBoxesContract } from './script-boxes.ts'

scriptBoxesContract('os')
scriptBoxesContract('gvisor')
