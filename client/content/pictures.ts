interface PictureSet {
  names: readonly string[]
  widths: readonly number[]
  /** Height divided by width. */
  ratio: number
}

const sets: readonly PictureSet[] = [
  { names: ['home-pair'], widths: [480, 800, 1200], ratio: 1 },
  { names: ['not-found'], widths: [480, 960], ratio: 2 / 3 },
  {
    names: ['cardiovascular', 'oncological', 'neurological', 'gynaecological', 'general-surgery', 'ophthalmology'],
    widths: [320, 640, 960],
    ratio: 1.25,
  },
  {
    names: [
      'coenzyme-q10',
      'omega-3',
      'lycopene',
      'mixed-carotene',
      'wheat-germ-oil',
      'calcium-ascorbate',
      'piperine',
      'vitamin-b12',
      'selenium',
      'zinc',
    ],
    widths: [240, 480, 800],
    ratio: 1,
  },
]

/** The bottles, their capsules and labels. */
const products: PictureSet = { names: [], widths: [400, 640, 960], ratio: 1.25 }

/** The widths a picture was rendered in, and its shape. */
export function pictures(name: string): PictureSet {
  return sets.find((set) => set.names.includes(name)) ?? products
}
