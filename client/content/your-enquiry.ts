import { brand } from '../../shared/brand.ts'
import type { Act, Standing } from '../../shared/form-outcome.ts'

/* The visitor's own page. Where it stands is said in words for the visitor: of staff no name, reason or number of calls. */

export const yourEnquiry = {
  title: 'Your enquiry',
  description:
    'How your enquiry stands, and what you can correct or end yourself. Only who has its link sees this page.',
  mobile: (digits: string, proposed?: string) => `ends in ${digits}${proposed ? `; new:\u00a0${proposed}` : ''}`,
  proposed: (digits: string) =>
    `You gave us another number, ending in ${digits}. Our team sees both, until it has accepted the new one.`,
  changes: 'What you can do here',
}

/** In the order in which they are shown. */
export function standingTexts({ status, since, rang, eraseAt }: Standing): string[] {
  const number = rang?.mobile ? `the number ending in ${rang.mobile}` : 'you'
  return [
    {
      New: 'We have it.',
      Contacted: `Our team marked it as answered on ${since}. Heard nothing? Call ${brand.phone}.`,
      Closed: `It is finished. Anything left? Call ${brand.phone}.`,
      Withdrawn: `You told us on ${since} that you no longer need it. We will not call you.`,
    }[status],
    ...(rang ? [`We rang ${number} on ${rang.on} and did not reach you.`] : []),
    ...(eraseAt ? [`It will be erased after ${eraseAt}.`] : []),
  ]
}

interface ActTexts {
  title: string
  says?: string
  /** Of a field. @param reference of the enquiry, where it is known */
  label?: (reference?: string) => string
  button: string
  /** Said on the next page, where how it stands does not say it. */
  done?: string
}

export const actTexts: Record<Act, ActTexts> = {
  mobile: {
    title: 'Change the number',
    label: () => 'Mobile, 10 digits',
    button: 'Send the number',
    done: 'We have your new number.',
  },
  quantity: {
    title: 'Change the quantity',
    label: () => 'Quantity, in packs',
    button: 'Send the quantity',
    done: 'The quantity is changed.',
  },
  email: {
    title: 'Change the email address',
    says: 'We send your receipt there, once.',
    label: () => 'Email',
    button: 'Send the address',
    done: 'The address is changed.',
  },
  withdraw: {
    title: 'I no longer need it',
    says: 'We stop calling you about it. You can take this back here.',
    button: 'I no longer need it',
  },
  resume: { title: 'I need it after all', button: 'I need it after all', done: 'We go on with it.' },
  keep: { title: 'Keep it after all', button: 'Keep my enquiry', done: 'It is kept, and not erased.' },
  notMine: {
    title: 'This is not mine',
    says: 'Somebody has typed your address. We send nothing more there about it, and this link ends.',
    button: 'This is not mine',
  },
  erase: {
    title: 'Erase it',
    says: 'All we hold of this enquiry is erased a day later. Until then you can take it back here.',
    label: (reference = 'its reference') => `Type ${reference}, to be sure`,
    button: 'Erase my enquiry',
  },
}

/** In place of an enquiry. */
export const yourEnquiryMessages = {
  gone: { title: 'Nothing here', text: `Erased, or the link is incomplete. In doubt call ${brand.phone}.` },
  notMine: {
    title: 'Thank you',
    text: 'We send nothing more about this enquiry to your address, and the link has ended.',
  },
  notLookedUp: {
    title: 'Please try again',
    text: `We cannot look it up at this moment. Open your link again in a minute, or call ${brand.phone}.`,
  },
  uncertain: {
    title: 'Please try again',
    text: `We cannot say whether this has worked. Send it again in a minute: it counts only once. You can also call ${brand.phone}.`,
  },
}
