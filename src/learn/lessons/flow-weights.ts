/**
 * The weights by which producers of a value compete, fitted by `node bench/learn.ts --fit flows` on
 * traces with known truth.
 */
export const flowWeights = {
  nobody: -1.28,
  nobodySaid: 4.49,
  nobodyLow: -0.52,
  nobodySaidLow: 0.43,
  nobodyPart: -0.52,
  nobodyRepeated: -0.88,
  isNearest: 0.41,
  rank: -0.53,
  nearness: 0.72,
  isPrevious: 0.08,
  echo: -0.56,
  echoNearest: -0.53,
  echoPrevious: -0.06,
  echoSaid: 0.39,
  isOnly: 0.82,
  isWhole: 0.39,
  isName: 0.82,
  lowNamed: 0.08,
  lowEcho: 0.41,
  saidName: -0.82,
  unconsumed: 1.94,
  isNearestUnconsumed: 0.46,
}
