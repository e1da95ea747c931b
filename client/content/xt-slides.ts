import { ingredientPictures } from './ingredients.ts'
import type { Slide } from './product.ts'

const EPA_AND_DHA = 'EPA 90 mg\nDHA 60 mg'

export const xtSlides: Slide[] = [
  {
    id: 'cardiovascular',
    title: 'Cardiovascular Health',
    button: 'Cardiovascular Health',
    cards: [
      {
        name: 'Ubiquinone Q10',
        amount: '100 mg',
        ...ingredientPictures.q10,
        text: 'Ubiquinone is another name for Coenzyme Q10, a fat-soluble, vitamin-like compound that the body makes and keeps in its cells. If you take warfarin or insulin, ask your doctor first.',
      },
      {
        name: 'Lycopene',
        amount: '5000 mcg',
        ...ingredientPictures.lycopene,
        text: 'Lycopene is the carotenoid that colours tomatoes, watermelon, pink grapefruit and guava. It dissolves in fat, and heat makes it easier to absorb: a cooked tomato gives it up more readily than a raw one.',
      },
      {
        name: 'Omega-3 EPA and DHA',
        amount: EPA_AND_DHA,
        ...ingredientPictures.omega3,
        text: 'EPA and DHA are the two omega-3 fatty acids that come mainly from oily fish. If you are allergic to fish or shellfish, or take a blood thinner, ask your doctor first.',
      },
    ],
  },
  {
    id: 'gynaecology',
    title: 'Gynaecology',
    button: 'Gynaecology',
    cards: [
      {
        name: 'Wheat Germ Oil',
        amount: '25 mg',
        ...ingredientPictures.wheatGerm,
        text: 'Wheat germ oil is pressed from the germ of the wheat grain, the part from which the plant would grow. It contains vitamin E. Do not take it if you have a wheat allergy.',
      },
      {
        name: 'Vitamin B12',
        amount: '5 mcg',
        ...ingredientPictures.b12,
        text: 'Vitamin B12 is water-soluble and contains cobalt, which gives its crystals their deep red. It is found in animal foods: meat, fish, eggs and milk.',
      },
      {
        name: 'Q10',
        amount: '100 mg',
        ...ingredientPictures.q10,
        text: 'The body makes Coenzyme Q10 itself, and it is present in organ meats, oily fish and peanuts. It is better absorbed with a meal that contains some fat.',
      },
      {
        name: 'Omega-3',
        amount: EPA_AND_DHA,
        ...ingredientPictures.omega3,
        text: 'Omega-3 fatty acids are polyunsaturated fats. EPA and DHA come mainly from oily fish; a third, ALA, comes from flaxseed and walnuts. Check the pack for the source used.',
      },
    ],
  },
  {
    id: 'oncology',
    title: 'Oncology',
    button: 'Oncology',
    cards: [
      {
        name: 'Lycopene',
        amount: '5000 mcg',
        ...ingredientPictures.lycopene,
        text: 'A red plant pigment that takes its name from the tomato. Lycopene is a carotenoid but, unlike some of its relatives, not a source of vitamin A.',
      },
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
    button: 'General Surgery',
    cards: [
      {
        name: 'Calcium Ascorbate',
        amount: '75 mcg',
        ...ingredientPictures.ascorbate,
        text: 'Calcium ascorbate is the calcium salt of ascorbic acid, and so a form of vitamin C. It is a pale, crystalline powder that dissolves in water.',
      },
      {
        name: 'Zinc',
        amount: '27.45 mg',
        ...ingredientPictures.zinc,
        text: 'Zinc is an essential mineral: the body needs it but cannot make it. It is found in meat, oysters and legumes. Here it is present as Zinc Sulphate Monohydrate.',
      },
    ],
  },
  {
    id: 'ophthalmology',
    title: 'Macular Degeneration / Ophthalmology',
    button: 'Macular Degeneration (Ophthalmology)',
    cards: [
      {
        name: 'Lycopene',
        amount: '5000 mcg',
        ...ingredientPictures.lycopene,
        text: 'The pigment behind the red of tomatoes, watermelon, pink grapefruit and guava. Lycopene dissolves in fat, so a meal that contains some fat makes it easier to absorb.',
      },
      {
        name: 'Mixed Carotene',
        amount: '10.33 mg',
        ...ingredientPictures.carotene,
        text: 'Mixed carotene is a blend of plant pigments, alpha- and beta-carotene, from which the body can make vitamin A. They occur in orange and green vegetables. “10%” is the strength of the ingredient.',
      },
    ],
  },
]
