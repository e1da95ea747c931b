import type { Product } from '../../shared/catalogue.ts'
import { compositions, type LabelLine } from './compositions.ts'
import type { Ingredient } from './product.ts'

type Compositions = typeof compositions
type Key = { [P in Product]: keyof Compositions[P] }[Product]

/** What each ingredient is. Islands get its texts as props, so that no script carries them. */
export const ingredients: Record<Key, Omit<Ingredient, 'key' | keyof LabelLine>> = {
  q10: {
    picture: { name: 'coenzyme-q10', alt: 'A heap of amber powder on a white dish' },
    text: 'Coenzyme Q10, also called ubiquinone, is a vitamin-like compound that the body makes itself. It dissolves in fat, and the body keeps it in its cells. It is also found in organ meats, oily fish and peanuts, and is better absorbed with a meal that contains some fat.',
    caution: 'If you take warfarin or insulin, ask your doctor first.',
  },
  lycopene: {
    picture: { name: 'lycopene', alt: 'Three ripe tomatoes' },
    text: 'Lycopene is the red carotenoid of tomatoes, watermelon, pink grapefruit and guava. Unlike some carotenoids, it is not a source of vitamin A. Heat and a little fat make it easier to absorb.',
  },
  omega3: {
    picture: { name: 'omega-3', alt: 'Clear golden softgel capsules on a white dish' },
    text: 'Omega-3 fatty acids are polyunsaturated fats. Two of them, EPA and DHA, come mainly from oily fish; a third, ALA, comes from flaxseed and walnuts. The pack names the source.',
    caution: 'If you are allergic to fish or shellfish, or take a blood thinner, ask your doctor first.',
  },
  carotene: {
    picture: { name: 'mixed-carotene', alt: 'Two carrots and a few slices' },
    text: 'Mixed carotene is a blend of plant pigments, alpha- and beta-carotene. The body can make vitamin A from them. They occur in orange and green vegetables.',
  },
  wheatGerm: {
    picture: { name: 'wheat-germ-oil', alt: 'Ears of wheat beside a small glass of oil' },
    text: 'Wheat germ oil is the oil that is pressed from the germ, a small part of each grain of wheat. It contains vitamin E and, like other oils, does not dissolve in water.',
    caution: 'Do not take it if you have a wheat allergy.',
  },
  ascorbate: {
    picture: { name: 'calcium-ascorbate', alt: 'White crystals before half an orange' },
    text: 'Calcium ascorbate is the calcium salt of ascorbic acid, and so a form of vitamin C. It is a pale powder that dissolves in water.',
  },
  piperine: {
    text: 'Piperine is the alkaloid that gives black pepper its pungency.',
    caution: 'Piperine can raise the blood levels of some medicines: tell your doctor what you take.',
  },
  b12: {
    picture: { name: 'vitamin-b12', alt: 'A cluster of deep red crystals' },
    text: 'Vitamin B12 is water-soluble and contains cobalt, which makes its crystals deep red. It is found in meat, fish, eggs and milk.',
  },
  selenium: {
    picture: { name: 'selenium', alt: 'A heap of white powder between two Brazil nuts' },
    text: 'Selenium is a trace element. It is found in seafood, in meat and in Brazil nuts. The label names the compound used: selenium dioxide monohydrate.',
    caution: 'Do not add other selenium without advice.',
  },
  zinc: {
    picture: { name: 'zinc', alt: 'A heap of white powder, red beans and chickpeas' },
    text: 'Zinc is an essential mineral that the body cannot make. It is found in meat, oysters and legumes. The label names the compound used: zinc sulphate monohydrate.',
  },
}

/** The lines of a product's label in their order, and what is said of each. */
export function ingredientsOf<P extends Product>(product: P): Record<keyof Compositions[P], Ingredient> {
  const lines = Object.entries<LabelLine>(compositions[product]).map(([key, line]) => [
    key,
    { key, ...line, ...ingredients[key as Key] },
  ])
  return Object.fromEntries(lines)
}
