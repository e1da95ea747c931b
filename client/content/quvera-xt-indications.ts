import type { Indication } from './product.ts'

export const xtIndications: Indication[] = [
  {
    id: 'neurological',
    title: 'Neurological Health',
    picture: 'neurological',
    alt: 'Fine amber glass threads that branch',
    bullets: ['Migraine', 'Headache', 'Parkinson’s', 'Alzheimer’s', 'Stroke'],
  },
  {
    id: 'cardiovascular',
    title: 'Cardiovascular Health',
    picture: 'cardiovascular',
    alt: 'Two red glass forms that lean on each other',
    bullets: ['Heart failure', 'Atherosclerosis', 'Cardiotoxicity', 'Hypertension', 'Arrhythmia', 'Angina pectoris'],
  },
  {
    id: 'oncology',
    title: 'Oncology',
    picture: 'oncological',
    alt: 'Folded paper forms in warm light',
    bullets: ['Prostate cancer', 'Colorectal cancer', 'Brain cancer'],
  },
  {
    id: 'gynaecology',
    title: 'Gynaecology',
    picture: 'gynaecological',
    alt: 'Nested curved forms in rose and cream',
    bullets: ['Infertility', 'Other gynaecological conditions'],
  },
  {
    id: 'general-surgery',
    title: 'General surgery',
    picture: 'general-surgery',
    alt: 'Two paper edges joined by a fine seam',
    bullets: ['Convalescence'],
  },
  {
    id: 'ophthalmology',
    title: 'Ophthalmology',
    picture: 'ophthalmology',
    alt: 'A clear glass lens over a ring of colour',
    bullets: ['Macular degeneration'],
  },
]
