/**
 * Words in which people ask, and the words in which tools answer to them: who wants to undo
 * something may need a reset.
 */
import { contentWords, stemOf } from '#catalog/index'
import { kindsOfThings } from './kinds-of-things.ts'

/** Two words for the same thing, wherever tools speak of it. */
const same = `
bug issue
delete remove erase
directory folder
email mail
execute run
find search
image picture photo
move rename
page webpage
picture screenshot
pr pull
reply answer
repository repo
reset undo
save write store
select choose pick
show display view
subfolder directory
terminal shell
timestamp epoch
update change modify edit`

/**
 * Each word of a line is related to all others of it; a word may stand in several lines. Unlike
 * synonyms (`synonyms.ts`) these are looked up at query time, and are not part of the index.
 */
const mutual = `
add append insert attach
alert popup dialog confirmation prompt notification
answer reply respond comment
approve accept review
archive compress zip gzip tar
article blog story post
ask question query
author creator writer blame wrote
begin start launch open
big large size
branch fork
browse navigate visit go open
browser page tab window
bug issue ticket defect problem
build compile make
buy purchase order checkout
call invoke request
cancel abort stop
change modify edit update alter replace
chart graph plot diagram
chat message conversation dm
check verify validate test
choose select pick option dropdown
cleanup clean remove
click press tap hit push button
clock time timezone hour now
close shut end quit exit
column field schema
combine merge join unite
commit save record snapshot
compare diff difference
computer machine host device
conversation thread
convert transform translate
copy duplicate clone fork
count number total many
crash error exception failure
create make new generate add set
database sql table row record
deadline due date
delete remove erase drop forget clear discard
dependency package library module
deploy release publish ship
describe explain detail info
directory folder subfolder path
disk storage drive
download fetch get retrieve pull
draw paint sketch
duration long elapsed interval relative
email mail inbox
empty clear blank
encrypt cipher
entity person thing node
environment variable env
epoch unix timestamp
error warning console log
execute run command script shell
export save download
fact observation note remember
file document
find search lookup locate seek
fix repair patch correct
follow subscribe watch
form field input
history log changelog past commit
hover mouse cursor pointer
image picture photo screenshot
import load upload
inspect look view examine
install setup add
javascript script code evaluate
join connect link relation
key keyboard
know remember memory knowledge
label tag mark
leak heap memory
list show enumerate all
listen play
location place address
lock protect
login signin authenticate credential
manage administer
markdown text
meeting appointment event calendar
memory knowledge graph remember
menu dropdown list
mobile phone emulate device
money payment pay
move rename transfer relocate
name title
network request traffic
newest latest recent
note memo remember
notify alert remind
open read view
overview summary structure tree
page site website webpage url
pause wait sleep delay
performance speed fast slow trace profile
permission allowed access right
plus sum add addition
pr pull
print show output display
problem issue error
program command executable
project repository repo
rate price
read show view open contents inside see
reason think thought
record capture
refresh reload update
relation relationship link edge
reminder alarm
repeat echo
repository repo project codebase
reset undo revert rollback restore
resize dimension width height
result output
reviewer review
revision version commit
save store write persist keep put
scan check audit
schedule plan book
screen display viewport screencast
screenshot picture capture photo
send post submit deliver
server host
share publish
sheet spreadsheet excel
show display view print list see
shrink reduce compress
sign subscribe register
software program app application
source html code
space size storage
stage add index
stash shelve aside unfinished
status state progress changed
subtitle transcript caption
summarize summary digest
switch checkout change
talk speak say said speech
terminal shell console command bash
todo task
track monitor watch
transcript said youtube
translate language
type write enter text
undo reset revert
upload attach send push
user account member people
video film recording screencast
wait until appear
weather forecast
write create save put
year month day date week calendar`

/** On the right what tools say, on the left what people say; not the other way round. */
const oneWay = `
accessibility seo > audit lighthouse
am pm noon midnight > time convert timezone
bash ls cd grep npm pip yarn python node make docker cargo > command run shell terminal execute
christmas easter birthday tomorrow yesterday > relative date time
customers orders products invoices rows tables > sql query database
forget > delete memory entities
install > command run
modified created touched > info metadata changed
readme > file contents
remote > repository
rename > move
slow fast > performance network throttle
subfolders recursively > tree recursive directory
untracked > clean
weekday > week day date
written writes > author write`

/** Of small words, which do not count by themselves, the ones that ask for something together. */
const phrases: [phrase: RegExp, words: string][] = [
  [/\bhow (?:long|soon)\b|\buntil\b|\bago\b|\bsince when\b/i, 'relative duration'],
  [/\bhow (?:big|large|heavy)\b|\bhow much space\b/i, 'size'],
  [/\bhow (?:many|often)\b/i, 'count number query'],
  [/\bhow (?:much|expensive)\b/i, 'price cost amount'],
  [/\bwho (?:wrote|changed|made|did|touched)\b/i, 'author blame'],
  [/\bwhat time\b|\btime is it\b/i, 'current clock timezone'],
  [/\bwhat(?:'s| is| was)? (?:inside|in (?:the )?file)\b/i, 'read contents'],
  [/\bmouse over\b/i, 'hover'],
  [/\bstep by step\b/i, 'sequential thinking'],
  [/\bat once\b|\ball together\b|\bin one go\b/i, 'multiple batch'],
]

/** What a value is, by its form: tools say that they take a path or a url, people give one. */
const forms: [form: RegExp, words: string][] = [
  [/(?<![\w:/.])(?:~|\.{0,2})\/[\w.-]|\b[\w-]+\.(?!(?:com|org|net|io|dev|ai)\b)[a-z]{1,5}\b/i, 'file path'],
  [/https?:\/\/|\bwww\.|\b[\w-]+\.(?:com|org|net|io|dev|ai)\b/i, 'url page website'],
  [/(?<![\w./:@-])[\w-]+\/[\w.-]+(?![\w/])/, 'repository owner path'],
  [/[\w.+-]@[\w-]+\.\w/, 'email address'],
  [/\b\d{4}-\d\d-\d\d\b/, 'date'],
]

/** By stem: the words it may stand for, and how much each of them is worth beside it. */
const byStem = new Map<string, Map<string, number>>()
const sameShare = 0.5
const relatedShare = 0.2
/** Who names a thing surely means its kind; the other way round it may be any of many. */
const oneWayShare = 0.4

function relate(lines: string, share: number): void {
  for (const line of lines.trim().split('\n')) {
    const [left = '', right = left] = line.split(' > ')
    for (const word of left.split(' ')) for (const other of right.split(' ')) relateOne(word, other, share)
  }
}

function relateOne(word: string, other: string, share: number): void {
  const stem = stemOf(word)
  if (stem === stemOf(other)) return
  const known = byStem.get(stem) ?? new Map<string, number>()
  known.set(other, Math.max(share, known.get(other) ?? 0))
  byStem.set(stem, known)
}

relate(same, sameShare)
relate(mutual, relatedShare)
relate(oneWay, oneWayShare)
relate(kindsOfThings.replaceAll('\n  ', ' '), oneWayShare)

/**
 * A word of tools, the word of the intent that may stand for it, and what it is worth beside that.
 */
type RelatedWord = { other: string; word: string; share: number }

/**
 * All that the words, phrases and values of an intent may stand for; two of them may stand for the
 * same word.
 */
export function relatedWords(intent: string): RelatedWord[] {
  const byWord = [...new Set(contentWords(intent))].flatMap((word) =>
    [...(byStem.get(stemOf(word)) ?? [])].map(([other, share]) => ({ other, word, share })),
  )
  const byForm = [...phrases, ...forms].flatMap(([form, words]) => {
    const [said] = form.exec(intent) ?? []
    return said === undefined
      ? []
      : words.split(' ').map((other) => ({ other, word: said.toLowerCase(), share: relatedShare }))
  })
  return [...byWord, ...byForm]
}
