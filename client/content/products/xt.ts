import { brand } from '../../../shared/brand.ts'
import { products } from '../../../shared/catalogue.ts'
import { omega3 } from '../compositions.ts'
import { describeIngredients, type ProductContent, productCards, type Slide } from '../product.ts'

const name = products[1]
const ingredients = describeIngredients(name, {
  q10: {
    text: 'Ubiquinone is Coenzyme Q10, a vitamin-like compound that the body makes itself. It dissolves in fat, and the body keeps it in its cells. It is also found in organ meats, oily fish and peanuts.',
    caution: 'If you take warfarin or insulin, ask your doctor first.',
  },
  lycopene: {
    text: 'Lycopene is the red carotenoid of tomatoes, watermelon, pink grapefruit and guava. Unlike some carotenoids, it is not a source of vitamin A. It dissolves in fat, and heat makes it easier to absorb.',
  },
  omega3: {
    text: `EPA and DHA are the two ${omega3} fatty acids that come mainly from oily fish. They are polyunsaturated fats; a third one, ALA, comes from flaxseed and walnuts. The pack names the source.`,
    caution: 'If you are allergic to fish or shellfish, or take a blood thinner, ask your doctor first.',
  },
  carotene: {
    text: 'Mixed carotene is a blend of plant pigments, alpha- and beta-carotene. The body can make vitamin A from them. They occur in orange and green vegetables. “10%” is the strength of the ingredient used.',
  },
  wheatGerm: {
    text: 'Wheat germ oil is pressed from the germ of the wheat grain. It contains vitamin E.',
    caution: 'Do not take it if you have a wheat allergy.',
  },
  ascorbate: {
    text: 'Calcium ascorbate is the calcium salt of ascorbic acid, and so a form of vitamin C. It is a pale powder that dissolves in water.',
  },
  piperine: {
    text: 'Piperine is the alkaloid that gives black pepper its pungency.',
    caution: 'It can raise the blood levels of some medicines: tell your doctor what you take.',
  },
  b12: {
    text: 'Vitamin B12 is water-soluble and contains cobalt, which makes its crystals deep red. It is found in meat, fish, eggs and milk.',
  },
  selenium: {
    text: 'Selenium is a trace element found in seafood, meat and Brazil nuts.',
    caution: 'Do not add other selenium without advice.',
  },
  zinc: {
    text: 'Zinc is an essential mineral that the body cannot make. It is found in meat, oysters and legumes.',
  },
})
const { q10, lycopene, omega3: epaAndDha, carotene, wheatGerm, ascorbate, b12, selenium, zinc } = ingredients

const slides: Slide[] = [
  { id: 'cardiovascular', title: 'Cardiovascular Health', cards: [q10, lycopene, epaAndDha] },
  { id: 'gynaecology', title: 'Gynaecology', cards: [wheatGerm, b12, q10, epaAndDha] },
  { id: 'oncology', title: 'Oncology', cards: [lycopene, selenium] },
  { id: 'general-surgery', title: 'General Surgery', cards: [ascorbate, zinc] },
  {
    id: 'ophthalmology',
    title: 'Macular Degeneration / Ophthalmology',
    button: 'Macular Degeneration (Ophthalmology)',
    cards: [lycopene, carotene],
  },
]

export const content: ProductContent = {
  product: name,
  ...productCards[name],
  description: `${name} by ${brand.company}: ten ingredients, from Coenzyme Q10 and omega-3 to selenium and zinc, each with its exact amount. Full composition, directions and safety information.`,
  mechanism: {
    lead: 'Five areas and their ingredients. The cards say what a substance is, where it comes from, and what to know before you take it.',
    open: 'cardiovascular',
    draggable: true,
    slides,
  },
  indications: {
    open: 'neurological',
    cards: {
      neurological: {
        title: 'Neurological Health',
        bullets: ['Migraine', 'Headache', 'Parkinson’s', 'Alzheimer’s', 'Stroke'],
      },
      cardiovascular: {
        title: 'Cardiovascular Health',
        bullets: [
          'Heart failure',
          'Atherosclerosis',
          'Cardiotoxicity',
          'Hypertension',
          'Arrhythmia',
          'Angina pectoris',
        ],
      },
      oncological: { title: 'Oncology', bullets: ['Prostate cancer', 'Colorectal cancer', 'Brain cancer'] },
      gynaecological: { title: 'Gynaecology', bullets: ['Infertility', 'Other gynaecological conditions'] },
      'general-surgery': { title: 'General surgery', bullets: ['Convalescence'] },
      ophthalmology: { title: 'Ophthalmology', bullets: ['Macular degeneration'] },
    },
  },
  paragraph: `${name} is our broader formula: ten ingredients, from ubiquinone and ${omega3} to carotenoids, wheat germ oil, vitamin B12, selenium and zinc, each with its exact amount.`,
  capsulesAlt: 'Green and cream capsules',
  labelAlt: `The label of ${name}, with its ingredients and amounts`,
  composition: {
    ground: 'leaf',
    rows: Object.values(ingredients),
    footnote: '“10%” is the strength of the carotene ingredient. 1 mg is 1000 mcg.',
  },
  dosage: {
    Dosage: 'As Directed by Physician',
    Administration: 'Do not chew or crush the capsule; swallow it whole with water.',
    Storage: 'Store in a cool, dry place, away from sunlight and moisture.',
    General: 'Keep out of reach of children.',
  },
  safety: {
    Allergies:
      'Consult a doctor if you are allergic to any component. EPA and DHA may come from fish, wheat germ oil from wheat; check the pack.',
    'Pregnancy and lactation': 'Take it only if a physician guides the dosage.',
    'Alcohol consumption': 'Drink in moderation, if at all, while you take it.',
    'Renal health': 'Seek medical advice if you have kidney impairment. Have your kidney function monitored.',
    'Liver health':
      'Consult an expert if you have existing liver issues or take other medications. Piperine can raise the blood levels of some medicines.',
  },
}
