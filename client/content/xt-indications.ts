import type { Indication } from './product.ts'

export const xtIndications: Indication[] = [
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
