/**
 * Sends the spans of settled runs to a collector; what cannot be sent is said, and never holds up a
 * run.
 */
import type { RunId } from '#model'
import type { Verbs } from '#verbs'
import type { Telemetry } from './spans.ts'

const sendMsMax = 2000

/** Hand `sent` to the end of the process, so that the last run is not lost. */
export function exportSpans(
  telemetry: Telemetry,
  note: (text: string) => void,
): { settled(verbs: Verbs, run: RunId): void; sent(): Promise<void> } {
  const open = new Set<Promise<void>>()
  const send = async (verbs: Verbs, run: RunId): Promise<void> => {
    const events = verbs.eventsOf(run)
    const { traceOf } = await import('./spans.ts')
    const response = await fetch(`${telemetry.endpoint.replace(/\/$/, '')}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...telemetry.headers },
      body: JSON.stringify(traceOf(events, telemetry)),
      signal: AbortSignal.timeout(sendMsMax),
    })
    if (!response.ok) throw new Error(`the collector answered ${response.status}`)
  }
  return {
    settled(verbs, run) {
      const sending = send(verbs, run)
        .catch((error) => note(`Cannot send the spans of run ${run}: ${(error as Error).message}`))
        .finally(() => open.delete(sending))
      open.add(sending)
    },
    async sent() {
      await Promise.all(open)
    },
  }
}

/**
 * From the variables that OpenTelemetry defines; null where there is no endpoint, or it is switched
 * off.
 */
export function readTelemetry(env: Record<string, string | undefined>): Telemetry | null {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT
  if (endpoint === undefined || endpoint === '' || env.OTEL_SDK_DISABLED === 'true') return null
  return {
    endpoint,
    headers: pairsOf(env.OTEL_EXPORTER_OTLP_HEADERS),
    service: env.OTEL_SERVICE_NAME ?? 'metier',
    attributes: pairsOf(env.OTEL_RESOURCE_ATTRIBUTES),
  }
}

function pairsOf(text = ''): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.split('='))
  return Object.fromEntries(
    pairs
      .filter(([key, value]) => key?.trim() && value !== undefined)
      .map(([key, value]) => [key!.trim(), decodeURIComponent(value!.trim())]),
  )
}
