/**
 * The recipe for Neo4j 5, a real server for tests: its jars from Maven, fetched once; started on
 * loopback with a password of its own, and as often as tests want one that they may kill.
 */
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { freePort } from './free-port.ts'
import type { BuildPlace } from './go-binary.ts'
import { startServer } from './server-process.ts'

const version = '5.26.30'
const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

export type Neo4jServer = { url: string; user: string; password: string; database: string }
type Settings = { port: number; password: string }

/**
 * Fetches the jars where they are not there yet, into a draft folder that is renamed when it is
 * whole.
 */
export function installNeo4j({ folder, path, say }: BuildPlace): void {
  if (existsSync(jarsOf(folder))) return
  const env = { ...process.env, PATH: path }
  for (const tool of ['java', 'mvn']) {
    if (spawnSync(tool, ['-version'], { env }).status === 0) continue
    throw new Error(
      `Cannot install Neo4j: there is no ${tool}. Install Java 17 and Maven (openjdk-17-jre-headless, maven)`,
    )
  }
  say(`fetching org.neo4j:neo4j:${version} with Maven (about a minute, once)`)
  const draft = `${jarsOf(folder)}.draft`
  rmSync(draft, { recursive: true, force: true })
  writeFileSync(join(folder, 'pom.xml'), pom)
  const args = ['-q', '-B', '-C', '-ntp', '-f', join(folder, 'pom.xml'), plugin]
  const options = ['-DincludeScope=runtime', `-DoutputDirectory=${draft}`]
  const { status, stdout, error } = spawnSync('mvn', [...args, ...options], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`Cannot fetch Neo4j: ${error?.message ?? stdout.trim().slice(-2000)}`)
  renameSync(draft, jarsOf(folder))
}

/**
 * Starts a server whose data stands in `folder`, with the jars of `jars`; port and password stay
 * over restarts.
 */
export async function startNeo4j(folder: string, jars: string = folder): Promise<void> {
  const { port } = await settingsOf(folder)
  const home = join(folder, 'home')
  const conf = join(home, 'conf')
  writeFileSync(join(conf, 'neo4j.conf'), configuration(port))
  const java = spawnSync('sh', ['-c', 'command -v java'], { encoding: 'utf8' }).stdout.trim()
  const args = [...javaOptions, '-cp', classPath(jars), entryPoint, `--home-dir=${home}`, `--config-dir=${conf}`]
  // Java's own variable: a test that starts a server again and again asks for a quick start.
  const { JDK_JAVA_OPTIONS } = process.env
  startServer(folder, { executable: java, args, ...(JDK_JAVA_OPTIONS && { env: { JDK_JAVA_OPTIONS } }) })
}

export async function probeNeo4j(folder: string, jars: string = folder): Promise<string | null> {
  if (!existsSync(jarsOf(jars))) return 'it is not installed'
  if (!existsSync(settingsFile(folder))) return 'it was never started'
  const { port } = JSON.parse(readFileSync(settingsFile(folder), 'utf8')) as Settings
  return (await shakesHands(port)) ? null : `it does not answer at port ${port}`
}

/** How to reach the server of this folder; null where it was never started. */
export function neo4jServer(folder: string): Neo4jServer | null {
  if (!existsSync(settingsFile(folder))) return null
  const { port, password } = JSON.parse(readFileSync(settingsFile(folder), 'utf8')) as Settings
  return { url: `bolt://127.0.0.1:${port}`, user: 'neo4j', password, database: 'neo4j' }
}

async function settingsOf(folder: string): Promise<Settings> {
  if (existsSync(settingsFile(folder))) return JSON.parse(readFileSync(settingsFile(folder), 'utf8')) as Settings
  const settings = { port: await freePort(), password: randomBytes(12).toString('hex') }
  for (const inside of ['conf', 'logs', 'data/dbms']) mkdirSync(join(folder, 'home', inside), { recursive: true })
  writeFileSync(join(folder, 'home/data/dbms/auth.ini'), authLine(settings.password), { mode: 0o600 })
  writeFileSync(settingsFile(folder), JSON.stringify(settings), { mode: 0o600 })
  return settings
}

/** What Neo4j's own tool for the first password writes: 1,024 rounds of SHA-256 with a salt. */
function authLine(password: string): string {
  const salt = randomBytes(32)
  let digest = createHash('sha256').update(salt).update(password).digest()
  for (let round = 1; round < 1024; round++) digest = createHash('sha256').update(digest).digest()
  return `neo4j:SHA-256,${digest.toString('hex')},${salt.toString('hex')},1024:\n`
}

/**
 * The Bolt handshake: a magic number and four offered versions; the server answers with the one it
 * chose.
 */
function shakesHands(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(2000, () => end(false))
    socket.on('error', () => end(false))
    socket.on('close', () => end(false))
    socket.on('connect', () => socket.write(Buffer.from(`6060b01700040405${'0'.repeat(24)}`, 'hex')))
    socket.on('data', (bytes) => end(bytes.length >= 4 && bytes.readUInt32BE(0) !== 0))
  })
}

const entryPoint = 'org.neo4j.server.CommunityEntryPoint'

const javaOptions = [
  '-Xms512m',
  '-Xmx512m',
  '-XX:+ExitOnOutOfMemoryError',
  '--add-opens=java.base/java.nio=ALL-UNNAMED',
  '--add-opens=java.base/java.io=ALL-UNNAMED',
  '--add-opens=java.base/sun.nio.ch=ALL-UNNAMED',
]

/** Loopback only, no log files of 256 MB, and a SIGTERM that takes less than a second. */
function configuration(port: number): string {
  return [
    'server.default_listen_address=127.0.0.1',
    `server.bolt.listen_address=127.0.0.1:${port}`,
    `server.bolt.advertised_address=127.0.0.1:${port}`,
    'server.http.enabled=false',
    'server.https.enabled=false',
    'dbms.security.auth_enabled=true',
    'dbms.usage_report.enabled=false',
    'server.memory.pagecache.size=128m',
    'db.tx_log.preallocate=false',
    'internal.dbms.bolt.netty_server_shutdown_quiet_period=0',
    'internal.server.bolt.connection_shutdown_wait_time=1s',
    'internal.server.bolt.thread_pool_shutdown_wait_time=1s',
    '',
  ].join('\n')
}

const pom = `<project><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>neo4j-run</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>${version}</version></dependency></dependencies>
</project>
`

function classPath(jars: string): string {
  const folder = jarsOf(jars)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.jar'))
    .sort()
    .map((file) => join(folder, file))
    .join(delimiter)
}

function jarsOf(folder: string): string {
  return join(folder, `jars-${version}`)
}

function settingsFile(folder: string): string {
  return join(folder, 'settings.json')
}
