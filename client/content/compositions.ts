import { type Product, products } from '../../shared/catalogue.ts'

/** A line of the label. */
export interface LabelLine {
  name: string
  /** Its other name, in brackets behind it. */
  note?: string
  /** One line per part, such as EPA and DHA. */
  amount: string
  hue: keyof typeof hues
}

/** The colours of the ingredients. */
export const hues = {
  lycopene: '#a92b1d',
  carrot: '#dc661c',
  amber: '#c9781c',
  gold: '#e9a63c',
  wheat: '#c8a878',
  cream: '#efe3cb',
  pepper: '#3b302a',
  rose: '#cf6f76',
  slate: '#66686a',
  zinc: '#a9b6bb',
}

/** What is in a dose, as on the label and in its order. What two products share has the same key. */
export const compositions = {
  [products[0]]: {
    q10: { name: 'Coenzyme Q10', amount: '300 mg', hue: 'amber' },
    omega3: { name: 'Omega-3 Fatty Acids', amount: '250 mg', hue: 'gold' },
    lycopene: { name: 'Lycopene (10%)', amount: '5000 mcg', hue: 'lycopene' },
  },
  [products[1]]: {
    q10: { name: 'Ubiquinone', note: 'Coenzyme Q10', amount: '100 mg', hue: 'amber' },
    lycopene: { name: 'Lycopene', amount: '5000 mcg', hue: 'lycopene' },
    omega3: { name: 'Omega-3', amount: 'EPA 90 mg\nDHA 60 mg', hue: 'gold' },
    carotene: { name: 'Mixed Carotene 10%', amount: '10.33 mg', hue: 'carrot' },
    wheatGerm: { name: 'Wheat Germ Oil', amount: '25 mg', hue: 'wheat' },
    ascorbate: { name: 'Calcium Ascorbate', amount: '75 mcg', hue: 'cream' },
    piperine: { name: 'Piperine', amount: '5 mg', hue: 'pepper' },
    b12: { name: 'Vitamin B12', amount: '5 mcg', hue: 'rose' },
    selenium: { name: 'Selenium Dioxide Monohydrate', amount: '75 mcg', hue: 'slate' },
    zinc: { name: 'Zinc Sulphate Monohydrate', amount: '27.45 mg', hue: 'zinc' },
  },
} as const satisfies Record<Product, Record<string, LabelLine>>

export function fullName({ name, note }: LabelLine): string {
  return note ? `${name} (${note})` : name
}

/** The name within a sentence. U+2060 keeps it from breaking after the hyphen. */
export const omega3 = 'omega-\u20603'

/** Names of ingredients within a sentence. */
const inSentence: Record<string, string> = { q10: 'Coenzyme Q10', omega3, lycopene: 'lycopene' }

/** Every ingredient of any product, with each product's line of it. The label with the most ingredients names it. */
export function compareProducts(
  of: readonly Product[] = products,
): { key: string; name: string; inSentence: string; lines: (LabelLine | undefined)[] }[] {
  const lists: Record<string, LabelLine>[] = of.map((product) => compositions[product])
  const byLength = [...lists].sort((a, b) => Object.keys(b).length - Object.keys(a).length)
  const named = new Map<string, LabelLine>()
  for (const list of byLength) for (const [key, line] of Object.entries(list)) if (!named.has(key)) named.set(key, line)
  return [...named].map(([key, line]) => ({
    key,
    name: fullName(line),
    inSentence: inSentence[key] ?? line.name.toLowerCase(),
    lines: lists.map((list) => list[key]),
  }))
}

/** "this, that and the other". */
export function joinWords(parts: string[]): string {
  return new Intl.ListFormat('en-GB').format(parts)
}
