import { type FormEvent, useState } from 'react'
import { NOTE_MAX, noteMessages } from '../../shared/desk.ts'
import { Act } from './buttons.tsx'
import { createChange, type Seen, submit } from './changes.tsx'
import { timeOf } from './format.ts'
import { type Draft, dropDraft, keepDraft, readDraft } from './kept.ts'
import type { Enquiry } from './queries.ts'

interface NotesProps {
  seen: Seen
  notes: Enquiry['notes'] | undefined
  you: string | undefined
}

export function Notes({ seen, notes, you }: NotesProps) {
  return (
    <section aria-labelledby="note-title">
      <h2 id="note-title">Notes</h2>
      {notes && notes.length > 0 && (
        <ul className="lines">
          {notes.map(({ key, at, who, text }) => (
            <li key={key} className="note">
              <bdi>{text}</bdi>
              <span className="small">{`${who}, ${timeOf(at)}`}</span>
              <Act name="takeBack" seen={seen} options={{ of: key, label: 'Remove' }} />
            </li>
          ))}
        </ul>
      )}
      {you && <NoteForm seen={seen} you={you} />}
    </section>
  )
}

/** What is typed stays until it is stored: it survives a reload, a lost session and a refusal. */
function NoteForm({ seen, you }: { seen: Seen; you: string }) {
  const { reference } = seen.row
  const [draft, setDraft] = useState<Draft | undefined>(() => readDraft(reference, you))
  const [isEmpty, setIsEmpty] = useState(false)
  const text = draft?.text ?? ''
  const isStoring = seen.doing.includes('addNote')
  const over = text.trim().length - NOTE_MAX
  const underWay = seen.progress === 'waiting' ? 'Not stored yet' : 'Storing …'
  const overMessage = `A note has at most ${NOTE_MAX} characters: this one has ${over} too many.`

  function write(next: Draft) {
    keepDraft(reference, next)
    setDraft(next)
  }
  function type(next: string) {
    setIsEmpty(false)
    write({ ...draft, text: next, author: you, at: Date.now() })
  }
  async function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const note = text.trim()
    if (isStoring || over > 0) return
    if (!note || !draft) return setIsEmpty(true)
    // The same note has the same key, also after an answer that was lost.
    const change = createChange('addNote', [reference], { reference, text: note })
    if (draft.sent?.text === note) change.input.key = draft.sent.key
    write({ ...draft, sent: { key: change.input.key, text: note } })
    const isStored = await submit(change).then(
      () => true,
      () => false, // refuse() has told it
    )
    if (isStored) setDraft(withoutStored(reference, readDraft(reference, you), note))
  }

  return (
    <form onSubmit={add} className="note-form">
      <label htmlFor="note">Add a line. The person may ask to read it.</label>
      <textarea
        id="note"
        rows={2}
        autoComplete="off"
        value={text}
        aria-describedby="note-problem"
        aria-invalid={over > 0 || isEmpty || undefined}
        onChange={({ target }) => type(target.value)}
      />
      <p id="note-problem" className="field-error" role="status">
        {over > 0 ? overMessage : isEmpty && noteMessages.empty}
      </p>
      <p className="buttons">
        <button type="submit" aria-disabled={isStoring || over > 0}>
          {isStoring ? underWay : 'Add note'}
        </button>
      </p>
    </form>
  )
}

/** What was typed while the note was being stored stays. */
function withoutStored(reference: string, draft: Draft | undefined, note: string): Draft | undefined {
  const text = draft?.text.trimStart() ?? ''
  const rest = text.startsWith(note) ? text.slice(note.length).trimStart() : text
  if (!draft || !rest) {
    dropDraft(reference)
    return undefined
  }
  const next = { ...draft, text: rest, sent: undefined }
  keepDraft(reference, next)
  return next
}
