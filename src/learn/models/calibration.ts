/** How far stated confidence is from what came true. */

type Outcome = { confidence: number; isRight: boolean }
type ReliabilityBin = { confidence: number; accuracy: number; count: number }

/** The reliability curve in bins of equal count, from the least sure to the surest. */
export function reliabilityOf(outcomes: readonly Outcome[], binCount = 10): ReliabilityBin[] {
  const sorted = [...outcomes].sort((a, b) => a.confidence - b.confidence)
  return Array.from({ length: Math.min(binCount, sorted.length) }, (_, bin) => {
    const place = (part: number) => Math.floor((part * sorted.length) / Math.min(binCount, sorted.length))
    const part = sorted.slice(place(bin), place(bin + 1))
    const sum = (of: (outcome: Outcome) => number) => part.reduce((total, outcome) => total + of(outcome), 0)
    const accuracy = sum(({ isRight }) => Number(isRight)) / part.length
    return { confidence: sum(({ confidence }) => confidence) / part.length, accuracy, count: part.length }
  })
}

/** Expected calibration error: the distance of the curve from the diagonal, weighted by count. */
export function calibrationError(outcomes: readonly Outcome[], binCount = 10): number {
  const gap = ({ confidence, accuracy, count }: ReliabilityBin) => count * Math.abs(confidence - accuracy)
  return reliabilityOf(outcomes, binCount).reduce((sum, bin) => sum + gap(bin), 0) / Math.max(1, outcomes.length)
}
