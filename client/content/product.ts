import { COMPOSITION_ID, type Product, products } from '../../shared/catalogue.ts'
import type { LabelLine } from './compositions.ts'

/** Background of a section: the classes on-… in tokens.css. */
export type Ground = 'paper' | 'sand' | 'leaf' | 'lycopene' | 'gold'

/** What the home page shows of a product. */
export interface ProductCard {
  /** The first part of the names of its pictures. */
  picture: string
  ground: Ground
  /** What the picture of the bottle shows. */
  alt: string
  line: string
}

/** All that a product page says. */
export interface ProductContent extends ProductCard {
  product: Product
  /** For search engines and shared links. */
  description: string
  paragraph: string
  /** What the pictures of the capsules and of the label show. */
  capsulesAlt: string
  labelAlt: string
  mechanism: Mechanism
  composition: Composition
  /** Texts by the titles of their cards. */
  dosage: Record<string, string>
  indications: Indications
  safety: Record<string, string>
}

export interface Mechanism {
  lead: string
  /** The slide shown first on phones, by its id. */
  open: string
  draggable: boolean
  slides: Slide[]
}

export interface Slide {
  id: string
  title: string
  /** The text of its button on phones; if absent, the title is the text. `false` leaves out the button. */
  button?: string | false
  text?: string
  /** Names and amounts only. */
  brief?: true
  cards: Ingredient[]
}

/** The texts of its card and its line on the label. */
export interface Ingredient extends LabelLine {
  key: string
  /** The picture of its card. */
  picture?: { name: string; alt: string }
  /** What it is and where it comes from. */
  text: string
  /** A warning. Always shown in full. */
  caution?: string
}

interface Composition {
  ground: Ground
  rows: Ingredient[]
}

/**
 * In page order. The first one is the hero and has no number, so the index of a section is its number. The list of sections
 * shows only the word of `short` where room is scarce.
 */
export const productSections = [
  { id: 'description', title: 'Product Description', short: 'Description' },
  { id: 'mechanism', title: 'Mechanism Of Action', short: 'Mechanism' },
  { id: COMPOSITION_ID, title: 'Salt Composition', short: 'Composition' },
  { id: 'dosage', title: 'Dosage & Instructions', short: 'Dosage' },
  { id: 'indications', title: 'Indications', short: 'Indications' },
  { id: 'safety', title: 'Safety Information', short: 'Safety' },
]

/** Stands above the amounts: what a dose is, nobody has told us. */
export const LABEL_CAPTION = 'Active ingredients, as on the label'
/** Follows it. */
export const MICROGRAMS = '1000 mcg are 1 mg.'
/** Under the name of each product. */
export const TAGLINE = 'Revitalize your health with precision formulation'
export const INDICATIONS_LEAD = 'Ask your physician.'
/** Ingredients of the label that no area of the mechanism names. */
export const ALSO_ON_THE_LABEL = 'Also on the label'

/** Also the name of its picture. */
export type Indication = keyof typeof indicationAlts

export interface Indications {
  open: Indication
  cards: Partial<Record<Indication, { title: string; text?: string; bullets?: string[] }>>
}

/** What each picture shows. */
export const indicationAlts = {
  cardiovascular: 'Red paper rings, one inside the other',
  oncological: 'Cream shells nested around a red core',
  neurological: 'A fan of folded paper in amber and cream',
  gynaecological: 'A paper flower in rose and cream',
  'general-surgery': 'Two white panels sewn together with orange thread',
  ophthalmology: 'A glass lens before a sheet of fine lines',
}

export const productCards: Record<Product, ProductCard> = {
  [products[0]]: {
    picture: 'quvera-300',
    ground: 'sand',
    alt: `A bottle of ${products[0]} in amber glass with an orange cap, softgel capsules before it`,
    line: 'Three active ingredients, named and measured.',
  },
  [products[1]]: {
    picture: 'quvera-xt',
    ground: 'leaf',
    alt: `A bottle of ${products[1]} in amber glass with a dark green cap, green and cream capsules before it`,
    line: 'Ten active ingredients, from ubiquinone to zinc.',
  },
}
