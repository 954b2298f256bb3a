/** Tests of the stemmer by words whose stems Porter published. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { stem } from './stem.ts'

test('stem() cuts words as Porter does', () => {
  const table = `caresses caress, ponies poni, ties ti, caress caress, cats cat, feed feed, agreed agre, plastered plaster, bled bled,
    motoring motor, sing sing, conflated conflat, troubled troubl, sized size, hopping hop, tanned tan, falling fall, hissing hiss,
    fizzed fizz, failing fail, filing file, happy happi, sky sky, relational relat, conditional condit, rational ration,
    valenci valenc, digitizer digit, conformabli conform, radicalli radic, differentli differ, vileli vile, analogousli analog,
    vietnamization vietnam, predication predic, operator oper, feudalism feudal, decisiveness decis, hopefulness hope,
    callousness callous, formaliti formal, sensitiviti sensit, sensibiliti sensibl, triplicate triplic, formative form,
    formalize formal, electriciti electr, electrical electr, hopeful hope, goodness good, revival reviv, allowance allow,
    inference infer, airliner airlin, adjustable adjust, defensible defens, irritant irrit, replacement replac, adjustment adjust,
    dependent depend, adoption adopt, communism commun, activate activ, angulariti angular, homologous homolog, effective effect,
    bowdlerize bowdler, probate probat, rate rate, cease ceas, controll control, roll roll`
  for (const pair of table.split(',')) {
    const [word, expected] = pair.trim().split(/\s+/)
    assert.equal(stem(word!), expected, word)
  }
})

test('stem() gives the forms of one word one stem', () => {
  for (const forms of [
    'create creates created creating',
    'file files',
    'delete deletes deleting deletion',
    'read reads reading',
  ]) {
    assert.equal(new Set(forms.split(' ').map(stem)).size, 1, forms)
  }
})

test('stem() leaves short words, numbers and other scripts alone', () => {
  for (const word of ['is', 'gas', 'v2', '2024s', 'größe', 'números', '検索']) assert.equal(stem(word), word)
})
