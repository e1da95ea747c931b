import { ingredientPictures, omega3 } from './ingredients.ts'
import type { Slide } from './product.ts'

/** What stands in several areas says the same in each. */
const q10 = {
  amount: '100 mg',
  ...ingredientPictures.q10,
  text: 'Ubiquinone is Coenzyme Q10, a fat-soluble, vitamin-like compound that the body makes and keeps in its cells. It is found in organ meats, oily fish and peanuts. If you take warfarin or insulin, ask your doctor first.',
}
const lycopene = {
  name: 'Lycopene',
  amount: '5000 mcg',
  ...ingredientPictures.lycopene,
  text: 'Lycopene is the red carotenoid of tomatoes, watermelon, pink grapefruit and guava. Unlike some carotenoids, it is not a source of vitamin A. It dissolves in fat, and heat makes it easier to absorb.',
}
const epaAndDha = {
  amount: 'EPA 90 mg\nDHA 60 mg',
  ...ingredientPictures.omega3,
  text: `EPA and DHA are the two ${omega3} fatty acids that come mainly from oily fish; the pack names the source. If you are allergic to fish or shellfish, or take a blood thinner, ask your doctor first.`,
}

export const xtSlides: Slide[] = [
  {
    id: 'cardiovascular',
    title: 'Cardiovascular Health',
    cards: [{ name: 'Ubiquinone Q10', ...q10 }, lycopene, { name: 'Omega-3 EPA and DHA', ...epaAndDha }],
  },
  {
    id: 'gynaecology',
    title: 'Gynaecology',
    cards: [
      {
        name: 'Wheat Germ Oil',
        amount: '25 mg',
        ...ingredientPictures.wheatGerm,
        text: 'Wheat germ oil is pressed from the germ of the wheat grain. It contains vitamin E. Do not take it if you have a wheat allergy.',
      },
      {
        name: 'Vitamin B12',
        amount: '5 mcg',
        ...ingredientPictures.b12,
        text: 'Vitamin B12 is water-soluble and contains cobalt, which makes its crystals deep red. It is found in meat, fish, eggs and milk.',
      },
      { name: 'Q10', ...q10 },
      { name: 'Omega-3', ...epaAndDha },
    ],
  },
  {
    id: 'oncology',
    title: 'Oncology',
    cards: [
      lycopene,
      {
        name: 'Selenium',
        amount: '75 mcg',
        ...ingredientPictures.selenium,
        text: 'Selenium is a trace element found in seafood, meat and Brazil nuts. Here it is present as Selenium Dioxide Monohydrate. Do not add other selenium without advice.',
      },
    ],
  },
  {
    id: 'general-surgery',
    title: 'General Surgery',
    cards: [
      {
        name: 'Calcium Ascorbate',
        amount: '75 mcg',
        ...ingredientPictures.ascorbate,
        text: 'Calcium ascorbate is the calcium salt of ascorbic acid, and so a form of vitamin C. It is a pale powder that dissolves in water.',
      },
      {
        name: 'Zinc',
        amount: '27.45 mg',
        ...ingredientPictures.zinc,
        text: 'Zinc is an essential mineral that the body cannot make. It is found in meat, oysters and legumes. Here it is present as Zinc Sulphate Monohydrate.',
      },
    ],
  },
  {
    id: 'ophthalmology',
    title: 'Macular Degeneration / Ophthalmology',
    button: 'Macular Degeneration (Ophthalmology)',
    cards: [
      lycopene,
      {
        name: 'Mixed Carotene',
        amount: '10.33 mg',
        ...ingredientPictures.carotene,
        text: 'Mixed carotene is a blend of plant pigments, alpha- and beta-carotene, from which the body can make vitamin A. It occurs in orange and green vegetables.',
      },
    ],
  },
]
