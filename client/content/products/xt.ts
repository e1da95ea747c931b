import { products } from '../../../shared/catalogue.ts'
import { ingredientPictures, omega3 } from '../ingredients.ts'
import type { Indication, ProductContent, Slide } from '../product.ts'
import { productCards } from '../product-cards.ts'

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

const xtSlides: Slide[] = [
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

const xtIndications: Indication[] = [
  {
    id: 'neurological',
    title: 'Neurological Health',
    picture: 'neurological',
    alt: 'A fan of folded paper in amber and cream',
    bullets: ['Migraine', 'Headache', 'Parkinson’s', 'Alzheimer’s', 'Stroke'],
  },
  {
    id: 'cardiovascular',
    title: 'Cardiovascular Health',
    picture: 'cardiovascular',
    alt: 'Red paper rings, one inside the other',
    bullets: ['Heart failure', 'Atherosclerosis', 'Cardiotoxicity', 'Hypertension', 'Arrhythmia', 'Angina pectoris'],
  },
  {
    id: 'oncology',
    title: 'Oncology',
    picture: 'oncological',
    alt: 'Cream shells nested around a red core',
    bullets: ['Prostate cancer', 'Colorectal cancer', 'Brain cancer'],
  },
  {
    id: 'gynaecology',
    title: 'Gynaecology',
    picture: 'gynaecological',
    alt: 'A paper flower in rose and cream',
    bullets: ['Infertility', 'Other gynaecological conditions'],
  },
  {
    id: 'general-surgery',
    title: 'General surgery',
    picture: 'general-surgery',
    alt: 'Two white panels sewn together with orange thread',
    bullets: ['Convalescence'],
  },
  {
    id: 'ophthalmology',
    title: 'Ophthalmology',
    picture: 'ophthalmology',
    alt: 'A glass lens before a sheet of fine lines',
    bullets: ['Macular degeneration'],
  },
]

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
