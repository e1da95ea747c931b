import { brand } from '../../../shared/brand.ts'
import { products } from '../../../shared/catalogue.ts'
import { CONDITIONS_SHOWN } from '../advisory.ts'
import { omega3 } from '../compositions.ts'
import { ingredientsOf } from '../ingredients.ts'
import { type ProductContent, productCards, type Slide } from '../product.ts'

const name = products[1]
const ingredients = ingredientsOf(name)
const { q10, lycopene, omega3: epaAndDha, carotene, wheatGerm, ascorbate, b12, selenium, zinc } = ingredients

const slides: Slide[] = [
  { id: 'cardiovascular', title: 'Cardiovascular Health', cards: [q10, lycopene, epaAndDha] },
  { id: 'gynaecology', title: 'Gynaecology', cards: [wheatGerm, b12, q10, epaAndDha] },
  { id: 'oncology', title: 'Oncology', cards: [lycopene, selenium] },
  { id: 'general-surgery', title: 'General Surgery', cards: [ascorbate, zinc] },
  {
    id: 'ophthalmology',
    title: CONDITIONS_SHOWN ? 'Macular Degeneration / Ophthalmology' : 'Ophthalmology',
    button: CONDITIONS_SHOWN ? 'Macular Degeneration (Ophthalmology)' : 'Ophthalmology',
    cards: [lycopene, carotene],
  },
]

export const content: ProductContent = {
  product: name,
  ...productCards[name],
  description: `${name} by ${brand.company}: ten ingredients, from Coenzyme Q10 and omega-3 to selenium and zinc, each with its amount. Directions and safety information.`,
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
  paragraph: `${name} is our broader formula: ten active ingredients, from ubiquinone and ${omega3} to carotenoids, wheat germ oil, vitamin B12, selenium and zinc, each with the amount on the label.`,
  capsulesAlt: 'Green and cream capsules',
  labelAlt: `The label of ${name}, with its ingredients and amounts`,
  composition: {
    ground: 'leaf',
    rows: Object.values(ingredients),
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
      'Consult an expert if you have existing liver issues or take other medications. Piperine can raise the blood levels of some medicines: tell your doctor what you take.',
  },
}
