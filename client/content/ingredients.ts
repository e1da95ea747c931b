/** The picture of each ingredient, and what it shows. */
export const ingredientPictures = {
  q10: { picture: 'coenzyme-q10', alt: 'A small heap of amber powder' },
  omega3: { picture: 'omega-3', alt: 'Clear golden softgel capsules' },
  lycopene: { picture: 'lycopene', alt: 'Ripe red tomatoes' },
  carotene: { picture: 'mixed-carotene', alt: 'Orange carrots' },
  wheatGerm: { picture: 'wheat-germ-oil', alt: 'Ears of wheat' },
  ascorbate: { picture: 'calcium-ascorbate', alt: 'Pale mineral crystals' },
  b12: { picture: 'vitamin-b12', alt: 'Deep red crystals' },
  selenium: { picture: 'selenium', alt: 'Grey metallic crystals' },
  zinc: { picture: 'zinc', alt: 'Blue-grey mineral crystals' },
} as const
