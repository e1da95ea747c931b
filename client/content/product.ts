import { type Product, products } from '../../shared/catalogue.ts'
import type { LabelLine } from './compositions.ts'

export type Ground = 'paper' | 'sand' | 'leaf' | 'lycopene'

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
  tagline: string
  paragraph: string
  pictures: { name: string; alt: string; caption: string }[]
  mechanism: Mechanism
  composition: Composition
  dosage: Note[]
  indications: {
    lead: string
    /** On wide screens: a `row` whose open card takes most of the width, or a `stage` for the open one above the others. */
    layout: 'row' | 'stage'
    open: string
    cards: Indication[]
  }
  safety: Note[]
}

export interface Note {
  title: string
  text: string
  icon?: string
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
  /** On the button that shows it on phones, if not its title; a slide without one is told by the lead there. */
  button?: string | false
  text?: string
  /** Names and amounts only. */
  brief?: true
  cards: Ingredient[]
}

/** Said the same on its card and in its line of the label. */
export interface Ingredient extends LabelLine {
  /** Of its card. */
  picture?: { name: string; alt: string }
  /** What it is and where it comes from. */
  text: string
  /** What to mind: never folded away. */
  caution?: string
}

export interface Composition {
  ground: Ground
  caption: string
  rows: Ingredient[]
  footnote: string
}

export interface Indication {
  id: string
  title: string
  picture: string
  alt: string
  text?: string
  bullets?: string[]
}

export const productCards: Record<Product, ProductCard> = {
  [products[0]]: {
    picture: 'quvera-300',
    ground: 'sand',
    alt: `A bottle of ${products[0]} in amber glass with an orange cap, softgel capsules before it`,
    line: 'Three ingredients, each one named and measured.',
  },
  [products[1]]: {
    picture: 'quvera-xt',
    ground: 'leaf',
    alt: `A bottle of ${products[1]} in amber glass with a dark green cap, green and cream capsules before it`,
    line: 'Ten ingredients, from ubiquinone to zinc.',
  },
}
