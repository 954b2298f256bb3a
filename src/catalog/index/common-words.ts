/**
 * Words that tools and intents of any kind have, and how much each says beside a word that few
 * have.
 */
import { stem } from './stem.ts'

/**
 * In a small catalogue every word looks rare: what is common has to be known beforehand. A word's
 * share falls with the logarithm of how often it stands in descriptions and intents, as the median
 * over six public families of tools, so that no single one decides; names and numbers are left out.
 */
const byShare: [share: number, words: string][] = [
  [
    0.45,
    `
    get help information name new provide retrieve search specific using`,
  ],
  [
    0.6,
    `
    assistance based calculate check city create current data date details find generate given including location
    number plan product project rate set status time user`,
  ],
  [
    0.7,
    `
    access additionally analysis analyze application available book code company content customer day design
    development event file finally game identifier image interested know language last list looking make management
    market media next one order organization performance person price query recommend record related report request
    required research results returns service show specified starting suggest system text tool track type update
    value work year`,
  ],
  [
    0.8,
    `
    account activity add additional address allows amount app area assess associated brand budget business called
    car card change collection color community complete conditions connection contact convert count database delete
    departing different distance document duration effects email engine ensure example existing experience explore
    features fetch field financial first flight following food forecast format free function gather genre give go
    group health high history home hotel hours improve industry info initial input insights insurance investment
    issue item job key latest learning level link map match message method mobile model month music needs notes now
    object obtain offers old online open optimize options parameters particular per period phone place platform
    points post potential power predict preferences process profile progress property public purchase quality range
    read receive recent recipe region relevant reservation resources response restaurant review room run sales
    schedule score second security selected send server share size social source state stock store suitable summary
    support target task team tell temperature test title today topic total train transaction travel trends trip two
    unique various vehicle verify version video weather web website well word write`,
  ],
  [
    0.9,
    `
    accommodation achieve action ad adults advanced advertising advice age agent air airport album along analytics
    animal annual another apply appointment archive around art articles artist asset assign attend attractions audio
    authentication author average balance bank basic beach best building buy campaign capacity case catalog category
    center character child children choose class cleaning climate close cloud command common compare comprehensive
    computer concert conduct configuration confirm considering construction consulting contains control conversation
    cooking coordinates correct corresponding cost country course cover coverage creation credit criteria cultural
    curious currency daily days decision degrees delivery deploy description desired destination detect determine
    device digital directed discover discussion display dog domain download drive editing education efficiency end
    energy engagement environment error estimate evaluate every exchange execute exercise expected expression
    extract facilities family fashion feedback film filter finance flow focusing found frequency full funds future
    global goal good graphic great growth handle historical host house human impact important income increase index
    indicate individual ingredients integration intelligence interaction international interview inventory involved
    keep keyword launch law lead least length library life light limit live local log long lookup love machine made
    main maintenance mass material maximum measure meeting members memory menu meters metrics minutes mode modify
    monitor monthly move movie natural nearby necessary network night office operations originally output overall
    package page papers park part participants passenger password past path pattern payment people photo piece plant
    play player policy popular population position possible present press previous professional program promotional
    published purposes quantity questions random ranking real reference regarding register release reminder rent
    rental revenue right risk role route rules savings season see sensor sentence servings session ship shopping
    single skills smart software solutions songs sorted space special speech speed sports standard star station
    statistics stay steps strategy student study style submit successful sure table take tax tech techniques
    technology term theme three ticket tips token top trade traffic transfer translate transportation trying turn
    understand upcoming upload usage username utilizing variable via view virtual visit visually volume watch water
    week weekend weight whether wind world`,
  ],
]

const shares = new Map(
  byShare.flatMap(([share, words]) =>
    words
      .trim()
      .split(/\s+/)
      .map((word) => [stem(word), share] as const),
  ),
)

/** How much a word counts by its stem: 1 for all that are not common. */
export function wordWeight(stem: string): number {
  return shares.get(stem) ?? 1
}
