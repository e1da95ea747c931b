import { type FormEvent, type Ref, useRef, useState } from 'react'
import { toast } from 'react-toastify/unstyled'
import { type DeskStatus, deskStatuses, NOTE_MAX } from '../../shared/desk.ts'
import { type Enquiry, type Row, trpc, useChange } from './queries.ts'

type StatusInput = Parameters<typeof trpc.desk.setStatus.mutate>[0]

/** A button that sets a status. What was done can be taken back for a while. */
export function SetStatus({ row, status, isInList }: { row: Row; status: DeskStatus; isInList?: boolean }) {
  const { reference, name, status: was } = row
  const pressed = useRef<HTMLButtonElement>(null)
  const change = useChange<StatusInput>({
    send: (input) => trpc.desk.setStatus.mutate(input),
    preview: (_row, input) => ({ status: input.status }),
    onDone: tell,
  })
  function tell({ status: now, was: before }: StatusInput) {
    const earlier = deskStatuses.find((each) => each === before)
    toast.success(({ closeToast }) => (
      <>
        <span>
          <bdi>{name}</bdi>: {now}
        </span>
        {earlier && (
          <button
            type="button"
            onClick={() => {
              closeToast()
              const place = pressed.current ?? document.getElementById('main') // where the row has left the list
              place?.focus()
              change.mutate({ reference, status: earlier, was: now })
            }}
          >
            Undo
          </button>
        )}
      </>
    ))
  }
  const label = status === 'New' ? 'New again' : status
  return (
    <ActionButton
      ref={pressed}
      isIdle={change.isPending || was === status}
      onClick={() => change.mutate({ reference, status, was })}
      label={isInList ? `${label}: ${name}` : undefined}
    >
      {label}
    </ActionButton>
  )
}

interface ActionButtonProps {
  ref?: Ref<HTMLButtonElement>
  /** It is being done, or was: a click does nothing. */
  isIdle: boolean
  onClick: () => void
  label?: string | undefined
  children: string
}

/** Keeps the focus while it is idle: a disabled button would lose it. Takes a double click for one. */
function ActionButton({ ref, isIdle, onClick, label, children }: ActionButtonProps) {
  return (
    <button
      ref={ref}
      type="button"
      aria-disabled={isIdle}
      aria-label={label}
      onClick={({ detail }) => !isIdle && detail < 2 && onClick()}
    >
      {children}
    </button>
  )
}

export function AddCall({ reference }: { reference: string }) {
  const { isPending, mutate } = useChange<{ reference: string }>({
    send: (input) => trpc.desk.addCall.mutate(input),
    preview: (row) => ({ calls: row.calls + 1 }),
    onDone: () => toast.success('Noted: rang, no answer'),
  })
  return (
    <ActionButton isIdle={isPending} onClick={() => mutate({ reference })}>
      Rang, no answer
    </ActionButton>
  )
}

/** In the list it only takes the mark off. */
export function SetSpam({ row, isInList = false }: { row: Row; isInList?: boolean }) {
  const { reference, name, suspectedSpam: was } = row
  const { isPending, mutate } = useChange<{ reference: string; spam: boolean; was: boolean }>({
    send: (input) => trpc.desk.setSpam.mutate(input),
    preview: (_row, { spam }) => ({ suspectedSpam: spam }),
    onDone: ({ spam }) => toast.success(spam ? 'Marked as spam' : 'Not spam'),
  })
  const label = was || isInList ? 'Not spam' : 'Spam'
  return (
    <ActionButton
      isIdle={isPending || (isInList && !was)}
      onClick={() => mutate({ reference, spam: !was, was })}
      label={isInList ? `${label}: ${name}` : undefined}
    >
      {label}
    </ActionButton>
  )
}

export function SendAgain({ reference, mail }: { reference: string; mail: Enquiry['mails'][number] }) {
  const { isPending, mutate } = useChange<{ reference: string }>({
    send: () => trpc.desk.sendAgain.mutate({ mail: mail.id }),
    onDone: () => toast.success('It is sent again'),
  })
  return (
    <ActionButton isIdle={isPending} onClick={() => mutate({ reference })} label={`Send again: ${mail.means}`}>
      Send again
    </ActionButton>
  )
}

/** What is typed stays until it is stored: main.tsx makes the browser ask before the page is left. */
export function Notes({ row: { reference, note } }: { row: Row }) {
  const form = useRef<HTMLFormElement>(null)
  const addition = useChange<{ reference: string; text: string }>({
    send: (input) => trpc.desk.addNote.mutate(input),
    onDone: () => form.current?.reset(),
  })
  const removal = useChange<{ reference: string; was: string }>({
    send: (input) => trpc.desk.removeNote.mutate(input),
    preview: () => ({ note: '' }),
    onDone: () => toast.success('All notes are removed'),
  })
  const [asked, setAsked] = useState('')
  const count = note?.split('\n').length
  function remove(was: string) {
    setAsked('')
    removal.mutate({ reference, was })
    form.current?.querySelector('textarea')?.focus() // the button goes
  }
  function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('text')).trim()
    if (text && !addition.isPending) addition.mutate({ reference, text })
  }
  return (
    <section aria-labelledby="note-title">
      <h2 id="note-title">Note</h2>
      {note && (
        <p className="note">
          <bdi>{note}</bdi>
        </p>
      )}
      <form ref={form} onSubmit={add} className="note-form">
        <label htmlFor="note">Add a line. The person may ask to read it.</label>
        <textarea id="note" name="text" rows={2} maxLength={NOTE_MAX} autoComplete="off" required />
        <p className="buttons">
          <button type="submit" aria-disabled={addition.isPending}>
            Add note
          </button>
        </p>
      </form>
      {note && (
        <div className="removal">
          <p role="status">
            {asked === note && `${count} ${count === 1 ? 'line goes' : 'lines go'} for good, out of the history too.`}
          </p>
          <p className="buttons">
            <ActionButton isIdle={removal.isPending} onClick={() => (asked === note ? remove(note) : setAsked(note))}>
              {asked === note ? 'Yes, remove them' : 'Remove all notes'}
            </ActionButton>
            {asked === note && (
              <button type="button" onClick={() => setAsked('')}>
                Keep them
              </button>
            )}
          </p>
        </div>
      )}
    </section>
  )
}
