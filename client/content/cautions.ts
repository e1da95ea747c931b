import type { Product } from '../../shared/catalogue.ts'
import { ingredientsOf } from './ingredients.ts'

/** Something a reader may say of himself, and the words by which what warns him names it. */
export interface Chip {
  id: string
  label: string
  words: RegExp
  /** It begins the line “Medicines I take” on the sheet. */
  isMedicine?: true
}

const ANY_MEDICINE = 'medicine|medication'

/**
 * Touched, a chip marks every text that holds one of its words, on the page and on the sheet. Warfarin is a blood thinner,
 * and both are medicines: who takes one is shown what is said of the other too. Nothing is sent or kept.
 */
export const chips: Chip[] = [
  {
    id: 'thinner',
    label: 'Blood thinner',
    words: new RegExp(`blood thinner|warfarin|${ANY_MEDICINE}`, 'i'),
    isMedicine: true,
  },
  {
    id: 'warfarin',
    label: 'Warfarin or insulin',
    words: new RegExp(`warfarin|insulin|blood thinner|${ANY_MEDICINE}`, 'i'),
    isMedicine: true,
  },
  { id: 'medicine', label: 'Another medicine', words: new RegExp(ANY_MEDICINE, 'i'), isMedicine: true },
  { id: 'fish', label: 'Fish or shellfish allergy', words: /fish/i },
  { id: 'wheat', label: 'Wheat allergy', words: /wheat/i },
  { id: 'selenium', label: 'Other selenium', words: /other selenium/i },
  { id: 'pregnant', label: 'Pregnant or breastfeeding', words: /pregnan|breastfeeding/i },
  { id: 'surgery', label: 'Surgery planned', words: /surgery|operation/i },
]

/** The ids of the chips that mark this text, for `data-about`. */
export function chipsOf(text = ''): string | undefined {
  const ids = chips.filter(({ words }) => words.test(text)).map(({ id }) => id)
  return ids.join(' ') || undefined
}

/** The ingredients whose caution is about a medicine. */
export function medicineCautions(product: Product): { name: string; caution: string }[] {
  const medicines = chips.filter(({ isMedicine }) => isMedicine)
  return Object.values(ingredientsOf(product)).flatMap(({ name, caution = '' }) =>
    medicines.some(({ words }) => words.test(caution)) ? [{ name, caution }] : [],
  )
}

export const otherMedicines = {
  title: 'Other medicines',
  question: 'Do you take any medicine, for blood pressure for example? Ask your physician first.',
}

/** Beside the label, and on the sheet. */
export const ownSheet = {
  title: 'What concerns you?',
  hint: 'Touch it, and what this page says about it is marked, here and on the sheet. Nothing is sent or kept.',
  marked: 'Marked:',
  print: 'Print or save',
  send: 'Send it',
  sheet: 'A sheet for your physician',
  lines: { medicines: 'Medicines I take:', also: 'Also:' },
}
