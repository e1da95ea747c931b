import { brand } from '../../../shared/brand.ts'
import { products } from '../../../shared/catalogue.ts'
import { joinWords, omega3 } from '../compositions.ts'
import { ingredientsOf } from '../ingredients.ts'
import { type ProductContent, productCards } from '../product.ts'

const name = products[0]
const ingredients = ingredientsOf(name)

/** By their short names. */
const q10 = { ...ingredients.q10, name: 'CoQ10' }
const acids = { ...ingredients.omega3, name: 'Omega-3' }
const lycopene = { ...ingredients.lycopene, name: 'Lycopene' }

const rows = Object.values(ingredients)
const amounts = rows.map((row) => `${row.name} ${row.amount}`)

export const content: ProductContent = {
  product: name,
  ...productCards[name],
  description: `${name} by ${brand.company}: ${joinWords(amounts)}. Directions and safety information.`,
  mechanism: {
    lead: 'Three ingredients in one formula: what each one is, where it comes from, and what to know before you take it.',
    open: 'coq10',
    draggable: false,
    slides: [
      {
        id: 'overview',
        title: 'Overview',
        button: false,
        text: 'One formula, three ingredients: a compound your body makes, a family of fats found mainly in oily fish, and the pigment that turns tomatoes red. Here they are, one by one.',
        brief: true,
        cards: [q10, acids, lycopene],
      },
      { id: 'coq10', title: 'CoQ10', cards: [q10] },
      { id: 'omega-3', title: 'Omega-3', cards: [acids] },
      { id: 'lycopene', title: 'Lycopene', cards: [lycopene] },
    ],
  },
  indications: {
    open: 'cardiovascular',
    cards: {
      cardiovascular: {
        title: 'Cardiovascular Health',
        text: 'As advised by your physician, who knows your history and the medicines you take.',
      },
      oncological: {
        title: 'Oncological Health',
        text: 'As advised by your physician, and never instead of the care you receive.',
      },
      neurological: {
        title: 'Neurological Health',
        text: 'As advised by your physician, who should know about every other medicine and supplement you take.',
      },
      gynaecological: {
        title: 'Gynaecological Health',
        text: 'As advised by your physician, especially if you are pregnant, planning a pregnancy or breastfeeding.',
      },
      'general-surgery': {
        title: 'General surgeon',
        text: 'As advised by your physician or surgeon, who should know about every supplement you take before an operation.',
      },
    },
  },
  paragraph: `${name} brings together three active ingredients: Coenzyme Q10, a compound your body also makes; ${omega3} fatty acids, found in oily fish; and lycopene, the pigment that makes tomatoes red. This page gives the amounts on the label, so you and your physician read the same.`,
  capsulesAlt: 'Translucent orange softgel capsules, filling the picture',
  labelAlt: `The label of ${name}, with its three ingredients and amounts`,
  composition: {
    ground: 'lycopene',
    rows,
  },
  dosage: {
    Dosage: 'As Directed by Physician',
    Instructions: 'Do not chew or crush the capsule; swallow it whole with water, with a meal that contains some fat.',
    Storage: 'Store in a cool, dry place, away from sunlight and moisture.',
    'General Instructions': 'Keep out of reach of children. Close the bottle tightly after each use.',
  },
  safety: {
    Allergies:
      'Do not take it if you are allergic to any component. EPA and DHA may come from fish; check the pack for the source.',
    'Pregnancy and lactation':
      'Ask a physician first. Whether to take it, and how much, is for the physician to decide.',
    Alcohol: 'Limit alcohol while you take it.',
    'Renal health':
      'Consult a doctor if you have kidney impairment or are on dialysis. Have your kidney function monitored.',
    'Liver health':
      'Have your liver function monitored, and limit alcohol. Tell your doctor about every medicine you take.',
  },
}
