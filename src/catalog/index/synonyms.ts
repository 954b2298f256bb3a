/**
 * Words for nearly the same thing, of the kinds of things that tools are about: who asks for a film
 * may find the movies.
 */
import { stem } from './stem.ts'

/**
 * Each word in one group only. What tools do (get, fetch, find) is not here: it tells them apart
 * too little.
 */
export const synonymGroups = `
address location place area
analysis analytics insight
animal pet dog cat
article news headline
bank account
bill invoice payment
book novel literature
brief summary abstract
bug error problem issue
business company firm corporation organization
buy purchase order shop
calendar meeting appointment schedule event
calculation math arithmetic
call phone telephone mobile
car vehicle auto automobile
child kid baby
cinema film movie
citation quote reference
class course lesson school education student
client customer user member person people
clothes clothing fashion outfit
code program software script programming
comparison difference versus
conversion transform
cost price fee fare
coupon discount deal promotion
credit loan mortgage debt
credential password login
currency money dollar euro
day date month year
delivery shipping shipment parcel package
diet nutrition calorie
direction map route navigation
doctor physician health hospital clinic
document file pdf paper
dish meal food restaurant cuisine dining
drug medicine medication pharmacy
email mail message
employment job career vacancy position
equity stock share market
exercise fitness workout gym
feedback review rating opinion
flight airline plane aircraft airport
forecast weather temperature climate
game match sport team player
gift present
home house property apartment estate
hotel accommodation lodging stay
image picture photo photograph
insurance coverage
journey trip travel tour vacation
language translation translate
law legal lawyer attorney regulation
link url website site webpage web
melody music song track tune
recipe cook ingredient
recommendation suggestion
teacher tutor instructor
video clip`
  .trim()
  .split('\n')
  .map((line) => line.split(' '))

const groupByStem = new Map(synonymGroups.flatMap((words) => words.map((word) => [stem(word), words[0]!])))

/** The first word of the group of a stem; undefined where it has none. */
export function synonymGroup(stem: string): string | undefined {
  return groupByStem.get(stem)
}
