/**
 * What a script finds in its environment: nothing of ours, only what its language and its way out
 * need.
 */
import type { Interpreter } from './interpreter.ts'

const always = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' }

/**
 * The same when the standard library is compiled ahead and when a script is: else nothing of it
 * would be found again.
 */
const go = {
  GOCACHE: '/box/go-cache',
  GOPATH: '/tmp/go',
  GOTOOLCHAIN: 'local',
  GOPROXY: 'off',
  GOTELEMETRY: 'off',
  GOFLAGS: '-buildvcs=false',
  CGO_ENABLED: '0',
}

type EnvironmentOptions = {
  interpreter: Interpreter
  outbound: boolean
  /** Where Go is in the box. */
  goRoot: string | null
}

export function environmentOf({ interpreter, outbound, goRoot }: EnvironmentOptions): Record<string, string> {
  return {
    ...always,
    ...(interpreter === 'python' ? { PYTHONPATH: '/box/python', PYTHONDONTWRITEBYTECODE: '1' } : {}),
    ...(interpreter === 'go' && goRoot ? { ...go, GOROOT: goRoot } : {}),
    ...(outbound ? wayOut('http://127.0.0.1:3128') : {}),
  }
}

/** Some programs read the names in capitals, some only the others. */
function wayOut(proxy: string): Record<string, string> {
  const names = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']
  const certificates = { SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt' }
  return { ...Object.fromEntries(names.map((name) => [name, proxy])), ...certificates }
}
