import { products } from '../../../shared/catalogue.ts'
import { omega3 } from '../ingredients.ts'
import type { ProductContent } from '../product.ts'
import { productCards } from '../product-cards.ts'
import { xtIndications } from '../xt-indications.ts'
import { xtSlides } from '../xt-slides.ts'

const name = products[1]
const card = productCards[name]

export const content: ProductContent = {
  product: name,
  ...card,
  tagline: 'Revitalize your health with precision formulation',
  paragraph: `${name} is our broader formula: ten ingredients, from ubiquinone and ${omega3} to carotenoids, wheat germ oil, vitamin B12, selenium and zinc, each with its exact amount.`,
  pictures: [
    { name: card.picture, alt: card.alt, caption: 'The bottle' },
    { name: `${card.picture}-capsules`, alt: 'Green and cream capsules', caption: 'The capsules' },
    {
      name: `${card.picture}-label-wide`,
      alt: `The label of ${name}, with its ingredients and amounts`,
      caption: 'The label',
    },
  ],
  mechanism: {
    lead: 'Five areas and their ingredients. The cards say what a substance is, where it comes from, and what to know before you take it.',
    open: 'cardiovascular',
    draggable: true,
    slides: xtSlides,
  },
  composition: {
    ground: 'leaf',
    caption: 'Each dose contains',
    rows: [
      { name: 'Ubiquinone', note: 'Coenzyme Q10', amount: '100 mg', hue: 'amber' },
      { name: 'Lycopene', amount: '5000 mcg', hue: 'lycopene' },
      { name: 'Omega-3 EPA', amount: '90 mg', hue: 'gold' },
      { name: 'Omega-3 DHA', amount: '60 mg', hue: 'straw' },
      { name: 'Mixed Carotene 10%', amount: '10.33 mg', hue: 'orange' },
      { name: 'Wheat Germ Oil', amount: '25 mg', hue: 'wheat' },
      { name: 'Calcium Ascorbate', amount: '75 mcg', hue: 'cream' },
      { name: 'Piperine', amount: '5 mg', hue: 'pepper' },
      { name: 'Vitamin B12', amount: '5 mcg', hue: 'rose' },
      { name: 'Selenium Dioxide Monohydrate', amount: '75 mcg', hue: 'slate' },
      { name: 'Zinc Sulphate Monohydrate', amount: '27.45 mg', hue: 'zinc' },
    ],
    footnote: '“10%” is the strength of the carotene ingredient. 1 mg is 1000 mcg.',
  },
  dosage: [
    { title: 'Dosage', icon: 'dose', text: 'As Directed by Physician' },
    {
      title: 'Administration',
      icon: 'glass',
      text: 'Do not chew or crush the capsule; swallow it whole with water.',
    },
    { title: 'Storage', icon: 'shade', text: 'Store in a cool, dry place, away from sunlight and moisture.' },
    { title: 'General', icon: 'reach', text: 'Keep out of reach of children.' },
  ],
  indications: {
    lead: 'Areas in which a physician may advise it.',
    layout: 'stage',
    open: 'neurological',
    cards: xtIndications,
  },
  safety: [
    {
      title: 'Allergies',
      text: 'Consult a doctor if you are allergic to any component. EPA and DHA may come from fish, wheat germ oil from wheat; check the pack.',
    },
    {
      title: 'Pregnancy and lactation',
      text: 'Take it only if a physician guides the dosage.',
    },
    { title: 'Alcohol consumption', text: 'Drink in moderation, if at all, while you take it.' },
    {
      title: 'Renal health',
      text: 'Seek medical advice if you have kidney impairment. Kidney function is monitored.',
    },
    {
      title: 'Liver health',
      text: 'Consult an expert if you have existing liver issues or take other medications. Piperine can raise the blood levels of some medicines.',
    },
  ],
}
