import { products } from '../../../shared/catalogue.ts'
import { compositions, ingredientPictures, omega3 } from '../compositions.ts'
import { type Ingredient, type ProductContent, productCards } from '../product.ts'

const name = products[0]
const card = productCards[name]
const label = compositions[name]

const q10: Ingredient = {
  ...label.q10,
  picture: ingredientPictures.q10,
  text: 'Coenzyme Q10, also called ubiquinone, is a vitamin-like compound that the body makes itself. It dissolves in fat, and the body keeps it in its cells. It is also found in organ meats, oily fish and peanuts, and is better absorbed with a meal that contains some fat.',
  caution: 'If you take warfarin or insulin, ask your doctor first.',
}
const omega3Acids: Ingredient = {
  ...label.omega3,
  picture: ingredientPictures.omega3,
  text: 'Omega-3 fatty acids are polyunsaturated fats. Two of them, EPA and DHA, come mainly from oily fish; a third, ALA, comes from flaxseed and walnuts. The pack names the source.',
  caution: 'If you are allergic to fish or shellfish, or take a blood thinner, ask your doctor first.',
}
const lycopene: Ingredient = {
  ...label.lycopene,
  picture: ingredientPictures.lycopene,
  text: 'Lycopene is the red carotenoid in tomatoes, watermelon, pink grapefruit and guava. Unlike some other carotenoids, it is not a source of vitamin A. Heat and a little fat make it easier to absorb. “10%” is the strength of the ingredient used.',
}

export const content: ProductContent = {
  product: name,
  ...card,
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
        cards: [q10, omega3Acids, lycopene],
      },
      { id: 'coq10', title: 'CoQ10', cards: [q10] },
      { id: 'omega-3', title: 'Omega-3', cards: [omega3Acids] },
      { id: 'lycopene', title: 'Lycopene', cards: [lycopene] },
    ],
  },
  indications: {
    lead: 'Areas in which a physician may advise it.',
    layout: 'row',
    open: 'cardiovascular',
    cards: [
      {
        id: 'cardiovascular',
        title: 'Cardiovascular Health',
        picture: 'cardiovascular',
        alt: 'Red paper rings, one inside the other',
        text: 'As advised by your physician, who knows your history and the medicines you take.',
      },
      {
        id: 'oncological',
        title: 'Oncological Health',
        picture: 'oncological',
        alt: 'Cream shells nested around a red core',
        text: 'As advised by your physician, alongside the care you receive and never instead of it.',
      },
      {
        id: 'neurological',
        title: 'Neurological Health',
        picture: 'neurological',
        alt: 'A fan of folded paper in amber and cream',
        text: 'As advised by your physician, together with the rest of your care.',
      },
      {
        id: 'gynaecological',
        title: 'Gynaecological Health',
        picture: 'gynaecological',
        alt: 'A paper flower in rose and cream',
        text: 'As advised by your physician, especially if you are pregnant, planning a pregnancy or breastfeeding.',
      },
      {
        id: 'general-surgery',
        title: 'General surgery',
        picture: 'general-surgery',
        alt: 'Two white panels sewn together with orange thread',
        text: 'As advised by your physician or surgeon, who should know about every supplement you take before an operation.',
      },
    ],
  },
  tagline: 'Revitalize your health with precision formulation',
  paragraph: `${name} brings together three ingredients: Coenzyme Q10, a compound your body also makes; ${omega3} fatty acids, found in oily fish; and lycopene, the pigment that makes tomatoes red. This page gives the exact amount of each, so you and your physician read the same label.`,
  pictures: [
    { name: card.picture, alt: card.alt, caption: 'The bottle' },
    {
      name: `${card.picture}-capsules`,
      alt: 'Translucent orange softgel capsules, filling the picture',
      caption: 'The capsules',
    },
    {
      name: `${card.picture}-label-wide`,
      alt: `The label of ${name}, with its three ingredients and amounts`,
      caption: 'The label',
    },
  ],
  composition: {
    ground: 'lycopene',
    caption: 'Each dose contains',
    rows: [q10, omega3Acids, lycopene],
    footnote: '“10%” is the strength of the lycopene ingredient. 1 mg is 1000 mcg.',
  },
  dosage: [
    { title: 'Dosage', icon: 'dose', text: 'As Directed by Physician' },
    {
      title: 'Instructions',
      icon: 'glass',
      text: 'Do not chew or crush the capsule; swallow it whole with water, with a meal that contains some fat.',
    },
    { title: 'Storage', icon: 'shade', text: 'Store in a cool, dry place, away from sunlight and moisture.' },
    {
      title: 'General Instructions',
      icon: 'reach',
      text: 'Keep out of reach of children. Close the bottle tightly after each use.',
    },
  ],
  safety: [
    {
      title: 'Allergies',
      text: 'Do not take it if you are allergic to any component. EPA and DHA may come from fish; check the pack for the source.',
    },
    {
      title: 'Pregnancy and lactation',
      text: 'Ask a physician first. Whether to take it, and how much, is for the physician to decide.',
    },
    { title: 'Alcohol', text: 'Limit alcohol while you take it.' },
    {
      title: 'Renal health',
      text: 'Consult a doctor if you have kidney impairment or are on dialysis. Have your kidney function monitored.',
    },
    {
      title: 'Liver health',
      text: 'Have your liver function monitored, and limit alcohol. Tell your doctor about every medicine you take.',
    },
  ],
}
