/**
 * Texts that were once code somewhere: Cypher and SQL in many quotings, look-alikes, control
 * characters, paths that climb, and what serialisers stumble over.
 */
const statements = [
  `MATCH (n) DETACH DELETE n`,
  `DROP TABLE node`,
  `MERGE (x:Task {id: "1"}) SET x.status = "DONE"`,
  `CALL db.labels()`,
  `LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l`,
  `UNION SELECT answer FROM receipt`,
  `CALL apoc.load.json("http://127.0.0.1/") YIELD value RETURN value`,
]
const openers = [
  `'`,
  `"`,
  '`',
  `\\'`,
  `' }) `,
  `" }) `,
  `') `,
  '`}) ',
  `'; `,
  `*/ `,
  `\u02bc`,
  `\uff07`,
  `\u2019`,
  `\n`,
  `{$x} `,
  '<script>',
  '%27',
  ']->() ',
]
const closers = [` //`, ` --`]

const injections = statements.flatMap((statement) =>
  openers.map((opener, index) => `${opener}${statement}${closers[index % closers.length]}`),
)

const paths = [
  '..',
  '../..',
  '/etc/passwd',
  'C:\\x',
  '%2e%2e/',
  '....//',
  'artifacts/../x',
  '\\..\\..',
  '~root',
  'file:///x',
]
const markers = [
  '$id',
  '$',
  '{{x}}',
  '{"$from":"t1"}',
  '${HOME}',
  '$(id)',
  '`id`',
  '%s%n',
  '{}',
  '[]',
  'null',
  'true',
  '0',
  '-1',
]
const keys = [
  '__proto__',
  'constructor',
  'toString',
  'id',
  'properties',
  'Task',
  ':Task',
  'Task:Mission',
  'MATCH',
  'n.status',
]
const characters = [
  'a\0b',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '\u202eevil',
  '\u200b',
  '\ufeff',
  '\u001b[31m',
  '\r\n',
  '\t',
  ' ',
  '\u2028',
  'e\u0301',
  '\u00e9',
  '\u0430dmin',
  '\ud83d\udc69\u200d\ud83d\udc69\u200d\ud83d\udc67',
  'x'.repeat(100),
  'x'.repeat(101),
  '\u{1d11e}'.repeat(100),
  'x'.repeat(2001),
]
const schemes = [
  'tag:',
  'tag:x',
  'capability:',
  'tool:a\0b',
  'tag:`x`',
  'javascript:1',
  '\u00ABsecret:00\u00BB',
  '«secret:x»',
]
const numbers = ['NaN', 'Infinity', '1e999', '0x10', '9007199254740993', '٣', '１', '']
const spellings = [
  'QUEUED',
  'queued',
  'QUEUED ',
  'DΟNE',
  'DONE\n',
  "DONE' OR '1'='1",
  'DEPENDS_ON',
  'DEPENDS_ON`]->() //',
]

export const hostileTexts: readonly string[] = [
  ...characters,
  ...paths,
  ...markers,
  ...keys,
  ...schemes,
  ...numbers,
  ...spellings,
  ...statements,
  ...injections,
]
