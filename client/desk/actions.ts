import type { ClosingReason } from '../../shared/desk.ts'
import { dayName, isDue } from './format.ts'
import { type Inputs, type Row, shortName, you } from './queries.ts'

/* What people can do with an enquiry, an entry each: its button, when it has an effect, how the row looks meanwhile, and what is said when it is stored. */

export type Preview = { [Column in keyof Row]?: Row[Column] | undefined }

interface Action<Input, Options> {
  /** What the server gets, but for the key, for a row as it is shown. */
  input(row: Row, options: Options): Omit<Input, 'key'>
  label(options: Options, row: Row): string
  /** Whether it has an effect. */
  when?(row: Row, options: Options): boolean
  preview?(row: Row, input: Input): Preview
  done(row: Row, input: Input): string
}

const action = <Input, Options>(entry: Action<Input, Options>) => entry

const of = ({ reference }: Row) => ({ references: [reference] })

export const actions = {
  setStatus: action<Inputs['setStatus'], { status: 'New' | 'Contacted' | 'Closed'; closedAs?: ClosingReason }>({
    input: (row, { status, closedAs }) => ({
      ...of(row),
      was: row.status,
      status,
      ...(closedAs && { closedAs }),
      ...(row.status === 'Closed' && { wasClosedAs: row.closedAs ?? null }),
    }),
    label: ({ status, closedAs }) =>
      closedAs ?? { New: 'New again', Contacted: 'Mark contacted', Closed: 'Close' }[status],
    // Contacted again ends a reminder that is due.
    when: (row, { status, closedAs }) =>
      row.status !== status || row.closedAs !== closedAs || (status === 'Contacted' && isDue(row.remindOn)),
    preview({ remindOn }, { status, closedAs }) {
      const isOver = status === 'Closed' || (status === 'Contacted' && isDue(remindOn))
      return { status, closedAs, statusBy: undefined, statusAt: undefined, ...(isOver && { remindOn: undefined }) }
    },
    done({ remindOn }, { status, closedAs }) {
      if (closedAs) return `${status}, ${closedAs}`
      return status === 'Contacted' && remindOn ? `${status}. Still to be rung ${dayName(remindOn)}` : status
    },
  }),
  setSpam: action<Inputs['setSpam'], { spam: boolean }>({
    input: (row, { spam }) => ({ ...of(row), spam, was: row.suspectedSpam }),
    label: ({ spam }) => (spam ? 'Spam' : 'Not spam'),
    when: (row, { spam }) => row.suspectedSpam !== spam,
    preview: (_, { spam }) => ({ suspectedSpam: spam }),
    done({ releases = [], email }, { spam }) {
      if (spam) return 'marked as spam'
      const to = releases.map((kind) => (kind === 'Notice' ? 'staff' : email)).join(' and to ')
      const goes = to ? `In 30 seconds mails go to ${to}` : 'No mails go out'
      if (!email || releases.includes('Acknowledgement')) return `not spam. ${goes}`
      return `not spam. ${goes}. ${email} gets no acknowledgement: it has had one, has waited for two days, or rang`
    },
  }),
  addCall: action<Inputs['addCall'], object>({
    input: ({ reference, status }) => ({ reference, was: status }),
    label: () => 'No answer',
    preview: ({ calls, flags }) => ({ calls: calls + 1, flags: [...flags, 'no answer'] }),
    done: ({ remindOn }) => `no answer${remindOn ? `. Ring ${dayName(remindOn)}` : ''}`,
  }),
  remind: action<Inputs['remind'], { on: string | null; label?: string }>({
    input: ({ reference }, { on }) => ({ reference, on }),
    label: ({ on, label }) => label ?? (on ? dayName(on) : 'never'),
    when: ({ remindOn }, { on }) => (remindOn ?? null) !== on,
    preview: (_, { on }) => ({ remindOn: on ?? undefined }),
    done: (_, { on }) => (on ? `ring again ${dayName(on)}` : 'not to be rung again'),
  }),
  addNote: action<Inputs['addNote'], { text: string }>({
    input: ({ reference }, { text }) => ({ reference, text }),
    label: () => 'Add note',
    done: () => 'note stored',
  }),
  correct: action<Inputs['correct'], Pick<Inputs['correct'], 'was' | 'now'>>({
    input: ({ reference }, { was, now }) => ({ reference, was, now }),
    label: () => 'Store correction',
    preview: (_, { now }) => now as Preview,
    done: () => 'corrected',
  }),
  accept: action<Inputs['accept'], object>({
    input: ({ reference, proposal }) => ({ reference, ...(proposal && { of: proposal.key }) }),
    label: () => 'Accept',
    when: ({ proposal }) => proposal !== undefined,
    preview: ({ mobile, proposal }) => ({ mobile: proposal?.mobile ?? mobile, proposal: undefined }),
    done: () => 'new number accepted',
  }),
  erase: action<Inputs['erase'], { references: string[]; subscription: boolean }>({
    input: (_, { references, subscription }) => ({ references, subscription }),
    label: ({ references }) => (references.length === 1 ? 'Erase 1 enquiry' : `Erase ${references.length} enquiries`),
    done: () => 'is erased in a day. Until then it can be taken back',
  }),
  keep: action<Inputs['keep'], object>({
    input: of,
    label: () => 'Keep it',
    when: ({ eraseAt }) => eraseAt !== undefined,
    preview: () => ({ eraseAt: undefined }),
    done: () => 'is kept',
  }),
  sendAgain: action<Inputs['sendAgain'], { mail: string }>({
    input: ({ reference }, { mail }) => ({ reference, mail }),
    label: () => 'Send again',
    done: () => 'the mail is sent again',
  }),
  takeBack: action<Inputs['takeBack'], { of: string; label?: string }>({
    input: (_, { of }) => ({ of }),
    label: ({ label }, { last }) => label ?? (last ? takeBackLabel(last) : 'Take back'),
    done: ({ last }) => last?.what ?? 'taken back',
  }),
}

/** Tells whose change it is, if it is a colleague's. */
function takeBackLabel({ who, what }: NonNullable<Row['last']>): string {
  const verb = what.startsWith('taken back') ? 'Put back' : 'Take back'
  return who === you() ? verb : `${verb} ${shortName(who)}’s`
}

export type ActionName = keyof typeof actions
export type Options<Name extends ActionName> = Parameters<(typeof actions)[Name]['label']>[0]
