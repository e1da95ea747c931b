// Every caution has a chip that marks it, and no chip marks nothing.
import { expect, it } from 'vitest'
import { advisory } from '../../client/content/advisory.ts'
import { chips, chipsOf, medicineCautions } from '../../client/content/cautions.ts'
import { compositions } from '../../client/content/compositions.ts'
import { ingredients } from '../../client/content/ingredients.ts'
import { products } from '../../shared/catalogue.ts'

const cautions = Object.entries(ingredients).flatMap(([key, { caution }]) => (caution ? [[key, caution] as const] : []))

it('each caution is marked by the chips that it names', () => {
  expect(Object.fromEntries(cautions.map(([key, caution]) => [key, chipsOf(caution)]))).toEqual({
    q10: 'thinner warfarin',
    omega3: 'thinner warfarin fish',
    wheatGerm: 'wheat',
    piperine: 'thinner warfarin medicine',
    selenium: 'selenium',
  })
})

it('a caution without a chip would be seen', () => {
  expect(chipsOf('If you keep bees, ask your doctor first.')).toBeUndefined()
})

it('every chip marks something', () => {
  const said = [...cautions.map(([, caution]) => caution), ...products.flatMap((name) => advisory.paragraphs(name))]
  for (const { id, words } of chips)
    expect(
      said.some((text) => words.test(text)),
      id,
    ).toBe(true)
})

it('the row of other medicines has each caution that is about one', () => {
  const aboutMedicine = ['q10', 'omega3', 'piperine']
  for (const name of products) {
    const lines = Object.entries(compositions[name]).filter(([key]) => aboutMedicine.includes(key))
    expect(medicineCautions(name).map(({ name: ingredient }) => ingredient)).toEqual(lines.map(([, line]) => line.name))
  }
})
