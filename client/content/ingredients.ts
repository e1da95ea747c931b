/** Within a sentence: no line ends after its hyphen. */
export const omega3 = 'omega-\u20603'

/** The picture of each ingredient, and what it shows. */
export const ingredientPictures = {
  q10: { picture: 'coenzyme-q10', alt: 'A heap of amber powder on a white dish' },
  omega3: { picture: 'omega-3', alt: 'Clear golden softgel capsules in a glass bowl' },
  lycopene: { picture: 'lycopene', alt: 'Three ripe tomatoes' },
  carotene: { picture: 'mixed-carotene', alt: 'Two carrots and a few slices' },
  wheatGerm: { picture: 'wheat-germ-oil', alt: 'Ears of wheat beside a small glass of oil' },
  ascorbate: { picture: 'calcium-ascorbate', alt: 'White crystals before half an orange' },
  b12: { picture: 'vitamin-b12', alt: 'A cluster of deep red crystals' },
  selenium: { picture: 'selenium', alt: 'Dark grey crystals between two Brazil nuts' },
  zinc: { picture: 'zinc', alt: 'Blue-grey crystals and pumpkin seeds' },
} as const
