import { type FormEvent, type ReactNode, type Ref, useId, useState } from 'react'
import { type ActionName, actions, type Options } from './actions.ts'
import { act, type Seen } from './changes.tsx'
import { dayName, daysAfter, nextMonday, todayHere } from './format.ts'

interface ActionButtonProps {
  /** It is idle because it is so already. */
  isChosen?: boolean | undefined
  ref?: Ref<HTMLButtonElement>
  /** It has no effect, or is under way: a click does nothing. */
  isIdle?: boolean
  onClick: () => void
  label?: string | undefined
  className?: string | undefined
  children: ReactNode
}

/** Keeps the focus while it is idle: a disabled button would lose it. Takes a double click for one. */
export function ActionButton({
  ref,
  isIdle = false,
  isChosen,
  onClick,
  label,
  className,
  children,
}: ActionButtonProps) {
  return (
    <button
      ref={ref}
      type="button"
      className={className}
      aria-disabled={isIdle}
      aria-current={isChosen || undefined}
      aria-label={label}
      onClick={({ detail }) => !isIdle && detail < 2 && onClick()}
    >
      {children}
    </button>
  )
}

interface ActProps<Name extends ActionName> {
  name: Name
  seen: Seen
  options: Options<Name>
  label?: string | undefined
  /** On a narrow screen. */
  short?: string
  /** Then its name tells of whom. */
  isInList?: boolean | undefined
  className?: string | undefined
  onPress?: (() => void) | undefined
}

/** The button of an action. */
export function Act<Name extends ActionName>({ name, seen, options, label, short, isInList, ...rest }: ActProps<Name>) {
  const { row, doing } = seen
  const entry = actions[name] as {
    label(options: Options<Name>, row: Seen['row']): string
    when?(row: Seen['row'], options: Options<Name>): boolean
  }
  const text = label ?? entry.label(options, row)
  // How the row stands is not known before what was done to it is taken back.
  const isChosen = entry.when && !entry.when(row, options)
  const isIdle = doing.includes('takeBack') || (isChosen ?? doing.includes(name))
  return (
    <ActionButton
      className={rest.className}
      isIdle={isIdle}
      isChosen={isChosen}
      label={isInList ? `${text}: ${row.name}` : undefined}
      onClick={() => {
        act(name, row, options)
        rest.onPress?.()
      }}
    >
      {short ? (
        <>
          <span className="on-wide">{text}</span>
          <span className="on-narrow">{short}</span>
        </>
      ) : (
        text
      )}
    </ActionButton>
  )
}

function ringWords({ status, remindOn }: Seen['row']): string {
  if (!remindOn) return 'Ring again'
  return status === 'Contacted' ? `Still ring ${dayName(remindOn)}?` : `Ring ${dayName(remindOn)}`
}

/** When to ring again: a press, or a day. */
export function RingAgain({ seen, className = '' }: { seen: Seen; className?: string }) {
  const today = todayHere()
  const { name } = seen.row
  const id = useId()
  const [day, setDay] = useState('')
  const chips = [
    { on: today },
    { on: daysAfter(today, 1) },
    { on: nextMonday(today), label: 'Monday' },
    { on: null, label: 'never' },
  ]
  function setTyped(event: FormEvent) {
    event.preventDefault()
    if (day) act('remind', seen.row, { on: day })
  }
  return (
    <form className={`ring-again labelled ${className}`} aria-label={`Ring ${name} again`} onSubmit={setTyped}>
      <span className="small">{ringWords(seen.row)}</span>
      <p className="buttons">
        {chips.map(({ on, ...options }) => (
          <Act key={options.label ?? on} name="remind" seen={seen} options={{ on, ...options }} />
        ))}
        <label className="visually-hidden" htmlFor={id}>
          Ring again on a day
        </label>
        <input id={id} type="date" min={today} value={day} onChange={({ target }) => setDay(target.value)} />
        <button type="submit" aria-disabled={!day} aria-label="Set day">
          Set
        </button>
      </p>
    </form>
  )
}
