import { products } from '../../../shared/catalogue.ts'
import { compositions, ingredientPictures, omega3 } from '../compositions.ts'
import { type Indication, type Ingredient, type ProductContent, productCards, type Slide } from '../product.ts'

const name = products[1]
const card = productCards[name]
const label = compositions[name]

/** As on the label, and in its order. */
const ingredients = {
  ubiquinone: {
    ...label.q10,
    picture: ingredientPictures.q10,
    text: 'Ubiquinone is Coenzyme Q10, a vitamin-like compound that the body makes itself. It dissolves in fat, and the body keeps it in its cells. It is also found in organ meats, oily fish and peanuts.',
    caution: 'If you take warfarin or insulin, ask your doctor first.',
  },
  lycopene: {
    ...label.lycopene,
    picture: ingredientPictures.lycopene,
    text: 'Lycopene is the red carotenoid of tomatoes, watermelon, pink grapefruit and guava. Unlike some carotenoids, it is not a source of vitamin A. It dissolves in fat, and heat makes it easier to absorb.',
  },
  omega3: {
    ...label.omega3,
    picture: ingredientPictures.omega3,
    text: `EPA and DHA are the two ${omega3} fatty acids that come mainly from oily fish. They are polyunsaturated fats; a third one, ALA, comes from flaxseed and walnuts. The pack names the source.`,
    caution: 'If you are allergic to fish or shellfish, or take a blood thinner, ask your doctor first.',
  },
  carotene: {
    ...label.carotene,
    picture: ingredientPictures.carotene,
    text: 'Mixed carotene is a blend of plant pigments, alpha- and beta-carotene. The body can make vitamin A from them. They occur in orange and green vegetables. “10%” is the strength of the ingredient used.',
  },
  wheatGerm: {
    ...label.wheatGerm,
    picture: ingredientPictures.wheatGerm,
    text: 'Wheat germ oil is pressed from the germ of the wheat grain. It contains vitamin E.',
    caution: 'Do not take it if you have a wheat allergy.',
  },
  ascorbate: {
    ...label.ascorbate,
    picture: ingredientPictures.ascorbate,
    text: 'Calcium ascorbate is the calcium salt of ascorbic acid, and so a form of vitamin C. It is a pale powder that dissolves in water.',
  },
  piperine: {
    ...label.piperine,
    text: 'Piperine is the alkaloid that gives black pepper its pungency.',
    caution: 'It can raise the blood levels of some medicines: tell your doctor what you take.',
  },
  b12: {
    ...label.b12,
    picture: ingredientPictures.b12,
    text: 'Vitamin B12 is water-soluble and contains cobalt, which makes its crystals deep red. It is found in meat, fish, eggs and milk.',
  },
  selenium: {
    ...label.selenium,
    picture: ingredientPictures.selenium,
    text: 'Selenium is a trace element found in seafood, meat and Brazil nuts.',
    caution: 'Do not add other selenium without advice.',
  },
  zinc: {
    ...label.zinc,
    picture: ingredientPictures.zinc,
    text: 'Zinc is an essential mineral that the body cannot make. It is found in meat, oysters and legumes.',
  },
} as const satisfies Record<string, Ingredient>
const { ubiquinone, lycopene, omega3: epaAndDha, carotene, wheatGerm, ascorbate, b12, selenium, zinc } = ingredients

const slides: Slide[] = [
  { id: 'cardiovascular', title: 'Cardiovascular Health', cards: [ubiquinone, lycopene, epaAndDha] },
  { id: 'gynaecology', title: 'Gynaecology', cards: [wheatGerm, b12, ubiquinone, epaAndDha] },
  { id: 'oncology', title: 'Oncology', cards: [lycopene, selenium] },
  { id: 'general-surgery', title: 'General Surgery', cards: [ascorbate, zinc] },
  {
    id: 'ophthalmology',
    title: 'Macular Degeneration / Ophthalmology',
    button: 'Macular Degeneration (Ophthalmology)',
    cards: [lycopene, carotene],
  },
]

const indications: Indication[] = [
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

export const content: ProductContent = {
  product: name,
  ...card,
  mechanism: {
    lead: 'Five areas and their ingredients. The cards say what a substance is, where it comes from, and what to know before you take it.',
    open: 'cardiovascular',
    draggable: true,
    slides,
  },
  indications: {
    lead: 'Areas in which a physician may advise it.',
    layout: 'stage',
    open: 'neurological',
    cards: indications,
  },
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
  composition: {
    ground: 'leaf',
    caption: 'Each dose contains',
    rows: Object.values(ingredients),
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
      text: 'Seek medical advice if you have kidney impairment. Have your kidney function monitored.',
    },
    {
      title: 'Liver health',
      text: 'Consult an expert if you have existing liver issues or take other medications. Piperine can raise the blood levels of some medicines.',
    },
  ],
}
