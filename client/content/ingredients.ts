/** Within a sentence: no line ends after its hyphen. */
export const omega3 = 'omega-\u20603'

/** The picture of each ingredient, and what it shows. */
export const ingredientPictures = {
  q10: { name: 'coenzyme-q10', alt: 'A heap of amber powder on a white dish' },
  omega3: { name: 'omega-3', alt: 'Clear golden softgel capsules in a glass bowl' },
  lycopene: { name: 'lycopene', alt: 'Three ripe tomatoes' },
  carotene: { name: 'mixed-carotene', alt: 'Two carrots and a few slices' },
  wheatGerm: { name: 'wheat-germ-oil', alt: 'Ears of wheat beside a small glass of oil' },
  ascorbate: { name: 'calcium-ascorbate', alt: 'White crystals before half an orange' },
  b12: { name: 'vitamin-b12', alt: 'A cluster of deep red crystals' },
  selenium: { name: 'selenium', alt: 'Dark grey crystals between two Brazil nuts' },
  zinc: { name: 'zinc', alt: 'Blue-grey crystals and pumpkin seeds' },
} as const
